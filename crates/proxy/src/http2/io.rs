//! A socket as the `h2` crate wants it.

use std::{
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{buffers::Buffers, socket::Socket};

/// A connection, from its first byte that nobody has understood yet.
pub(crate) struct Io {
    socket: Socket,
    buffers: Rc<Buffers>,
}

impl Io {
    pub(crate) fn new(socket: Socket, buffers: Rc<Buffers>) -> Self {
        Self { socket, buffers }
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { socket, buffers } = &mut *self;
        if socket.unread().is_empty() {
            match socket.poll_fill(cx, buffers, false) {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    // A silent connection holds no buffer.
                    socket.rest(buffers);
                    return Poll::Pending;
                }
            }
        }
        let unread = socket.unread();
        let count = unread.len().min(into.remaining());
        into.put_slice(unread.get(..count).unwrap_or_default());
        socket.consume(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_flush(cx))?;
        Poll::Ready(Ok(()))
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        let Self { socket, buffers } = self;
        let unread = socket.unread().len();
        socket.consume(unread);
        socket.rest(buffers);
    }
}
