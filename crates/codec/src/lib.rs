//! Bytes to values and back, for protocols other than HTTP/1.1. No I/O, and nobody of ours is known here.

pub mod proxy_protocol;
pub mod websocket;
