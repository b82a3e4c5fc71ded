//! WebSocket connections: the handshake that opens one, and what passes until it closes.

mod direction;
mod handshake;
mod relay;

pub(crate) use self::handshake::{Handshake, Tunnel};
