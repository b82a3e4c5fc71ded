//! Strict HTTP/1.1 without I/O: bytes in, heads and pieces of bodies out, for both roles.
//!
//! Nothing here reads, waits or keeps time. A head is parsed into buffers that the caller
//! recycles; a body is decoded in place, as ranges of the caller's buffer. What can be read in
//! two ways is an error, never a guess: two hops that read one message differently are how
//! requests are smuggled.

mod assemble;
mod authority;
mod body;
mod chunked;
mod expectations;
mod field_name;
mod fields;
mod framing;
#[doc(hidden)]
pub mod fuzz;
mod hop_by_hop;
mod keep_alive;
mod known;
mod limits;
mod list;
mod malformed;
mod octets;
mod parse;
mod persistence;
mod reason_phrase;
mod request;
mod response;
mod target;
mod trailers;
mod upgrade;
mod write;

pub use assemble::{RequestParts, assemble_request, assemble_response};
pub use authority::{host_and_port, valid_authority};
pub use body::{BodyDecoder, Decoded};
pub use expectations::{accepts_trailers, expects_continue};
pub use field_name::FieldName;
pub use fields::{Fields, InvalidField};
pub use framing::{Framing, request_framing, response_framing};
pub use hop_by_hop::strip_hop_by_hop;
pub use keep_alive::keep_alive_timeout;
pub use limits::HeadLimits;
pub use malformed::Malformed;
pub use parse::{parse_request, parse_response};
pub use persistence::{Persistence, request_keep_alive, response_keep_alive};
pub use request::{RequestHead, Version};
pub use response::ResponseHead;
pub use upgrade::{agrees_to_websocket, asks_for_websocket};
pub use write::{write_chunk, write_chunk_head, write_last_chunk, write_request, write_response};
