//! WebSocket (RFC 6455): the handshake's proof, and frames as far as somebody in the middle needs them.
//!
//! Payloads pass untouched and unread. Control frames are looked at whole, because the one in the
//! middle may have to answer, replace or count them; they are at most 125 bytes.

mod close;
mod frame;
mod handshake;
mod scanner;

pub use close::{CloseCode, close_code};
pub use frame::{Mask, control_payload, write_close, write_ping};
pub use handshake::{accept_for, is_key};
pub use scanner::{Piece, Scanner, Sender, Violation};
