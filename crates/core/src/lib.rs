//! The vocabulary of the gateway: exchange, filter, phase, reject, and the effects a filter may ask for.
//!
//! Nouns and traits only: no sockets, no runtime, no clock of its own. `filters` and its tests
//! know nothing below this crate.

mod address;
mod dry;
mod effects;
mod exchange;
mod filter;
mod identifier;
mod network;
mod params;
mod phase;
mod problem;
mod reject;
mod response;
mod secret;
mod units;

pub use address::{Peer, write_address};
pub use dry::DryEffects;
pub use effects::{Effects, Event, Unavailable, Wait};
pub use exchange::{Attempt, Debug, Exchange, Principal, RouteFacts, Scheme, Times};
pub use filter::{BodyNeed, Cx, Filter, Flow, Intent, InvalidConfig, Outcome, Step};
pub use identifier::{RequestId, TraceContext};
pub use network::Network;
pub use params::Params;
pub use phase::{Phase, Stage};
pub use problem::{Problem, closest};
pub use reject::{Code, Reject, codes};
pub use response::{Body, Response};
pub use secret::Secret;
pub use units::{ByteSize, Span};
