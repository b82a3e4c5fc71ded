//! The data plane: sockets, snapshots, the life of a request, and what is remembered of it.
//!
//! Start reading in `life_of_a_request.rs`.

mod alarm;
mod announcement;
mod answers;
mod buffers;
mod client;
mod clock;
mod conversation;
mod core;
mod engine;
mod error;
mod explain;
mod gate;
mod grpc;
mod housekeeping;
mod http2;
mod journey;
mod life_of_a_request;
mod operations;
mod passage;
mod prove;
mod relay;
mod schema;
mod server;
mod snapshot;
mod socket;
mod sockets;
mod subject;
mod thread;
mod told;
mod tunnel;
mod turn;
mod upstream;
mod view;
mod worker;

pub use engine::{Engine, Settings};
pub use error::EngineError;
pub use explain::explain;
pub use prove::prove;
pub use schema::schema;
