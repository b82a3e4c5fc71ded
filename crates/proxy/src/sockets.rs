//! Opening listeners: one socket a thread on one port, and nobody else's port.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::EngineError;

/// How many connections may wait to be accepted, per socket; the kernel caps it at `somaxconn`.
const BACKLOG: i32 = 4096;

/// The sockets of one listener.
pub(crate) struct Bound {
    pub(crate) id: String,
    pub(crate) address: SocketAddr,
    pub(crate) sockets: Vec<TcpListener>,
}

/// Opens `count` sockets on one address.
///
/// A second bind with `SO_REUSEPORT` succeeds silently, so a trial without it comes first: two
/// gateways must not share a port by accident.
pub(crate) fn bind(id: &str, address: &str, count: usize) -> Result<Bound, EngineError> {
    let wanted: SocketAddr = address.parse().map_err(|_| EngineError::PortTaken {
        address: address.to_owned(),
        source: io::ErrorKind::InvalidInput.into(),
    })?;
    let trial = open(wanted, false).map_err(|error| EngineError::port(&wanted, error))?;
    let address = trial
        .local_addr()
        .map_err(|error| EngineError::port(&wanted, error))?;
    drop(trial);
    let sockets = (0..count)
        .map(|_| open(address, true))
        .collect::<io::Result<Vec<_>>>();
    let sockets = sockets.map_err(|error| EngineError::port(&address, error))?;
    Ok(Bound {
        id: id.to_owned(),
        address,
        sockets,
    })
}

/// One listening socket. `shared` sockets may have siblings on the same port.
pub(crate) fn open(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_an_error_though_the_kernel_would_share_it() {
        let first = bind("a", "127.0.0.1:0", 2).unwrap();
        assert_eq!(first.sockets.len(), 2);
        let again = bind("b", &first.address.to_string(), 1);
        assert!(matches!(again, Err(EngineError::PortTaken { .. })));
        drop(first);
    }
}
