//! Who is at the other end of a connection.

use std::net::SocketAddr;

/// The two ends of the client's connection, as the kernel names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The address the connection came from: the previous hop, not necessarily the client (SE-16).
    pub remote: SocketAddr,
    /// The address of the listener it was accepted on.
    pub local: SocketAddr,
}

impl Default for Peer {
    fn default() -> Self {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Self {
            remote: nowhere,
            local: nowhere,
        }
    }
}
