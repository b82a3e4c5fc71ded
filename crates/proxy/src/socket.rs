//! A stream of bytes with what is unread of it, for either side: a TCP connection, or an HTTP/2 stream's body.

use std::{
    io,
    task::{Context, Poll, ready},
};

use tokio::{io::Interest, net::TcpStream};

use crate::{buffers::Buffers, http2::Stream};

/// A socket and what was read from it but not yet understood.
pub(crate) struct Socket {
    carrier: Carrier,
    input: Vec<u8>,
    /// Where the unread bytes begin.
    start: usize,
    /// The peer will send no more.
    pub(crate) ended: bool,
}

/// What carries the bytes.
enum Carrier {
    /// A connection of its own.
    Tcp(TcpStream),
    /// The DATA frames of one stream of an HTTP/2 connection; heads travel beside them.
    Stream(Box<Stream>),
    /// It has gone elsewhere.
    Closed,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self::over(Carrier::Tcp(stream))
    }

    /// The body bytes of an HTTP/2 stream.
    pub(crate) fn of_stream(stream: Stream) -> Self {
        Self::over(Carrier::Stream(Box::new(stream)))
    }

    /// A place from which a socket was taken.
    pub(crate) fn closed() -> Self {
        Self::over(Carrier::Closed)
    }

    fn over(carrier: Carrier) -> Self {
        Self {
            carrier,
            input: Vec::new(),
            start: 0,
            ended: false,
        }
    }

    /// The TCP connection, unless this is one stream of many on it.
    pub(crate) fn tcp(&self) -> Option<&TcpStream> {
        match &self.carrier {
            Carrier::Tcp(stream) => Some(stream),
            Carrier::Stream(_) | Carrier::Closed => None,
        }
    }

    /// The HTTP/2 stream, when this is one.
    pub(crate) fn http2(&mut self) -> Option<&mut Stream> {
        match &mut self.carrier {
            Carrier::Stream(stream) => Some(stream),
            Carrier::Tcp(_) | Carrier::Closed => None,
        }
    }

    /// The fields after the body that has just ended, where they travel beside it.
    pub(crate) fn trailers(&self) -> Option<&http::HeaderMap> {
        match &self.carrier {
            Carrier::Stream(stream) => stream.trailers(),
            Carrier::Tcp(_) | Carrier::Closed => None,
        }
    }

    /// Whether heads travel beside the bytes, in frames of their own.
    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.carrier, Carrier::Stream(_))
    }

    /// What was read and not yet consumed.
    pub(crate) fn unread(&self) -> &[u8] {
        self.input.get(self.start..).unwrap_or_default()
    }

    /// Marks the first bytes of [`Self::unread`] as understood.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.input.len());
        if self.start == self.input.len() {
            self.input.clear();
            self.start = 0;
        }
    }

    /// Reads once. `Ok(0)` is the peer's end of stream. An idle socket holds no buffer: one is
    /// taken when the kernel says that there is something.
    pub(crate) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        large: bool,
    ) -> Poll<io::Result<usize>> {
        let Carrier::Tcp(stream) = &self.carrier else {
            return self.poll_fill_from_stream(cx, buffers, large);
        };
        ready!(stream.poll_read_ready(cx))?;
        self.make_room(buffers, large);
        let room = self.input.capacity() - self.input.len();
        let Carrier::Tcp(stream) = &self.carrier else {
            return Poll::Pending;
        };
        loop {
            match stream.try_read_buf(&mut self.input) {
                Ok(count) => {
                    self.ended |= count == 0;
                    if count < room {
                        forget_readiness(stream);
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(stream.poll_read_ready(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_fill_from_stream(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        large: bool,
    ) -> Poll<io::Result<usize>> {
        if let Carrier::Stream(stream) = &mut self.carrier {
            ready!(stream.poll_piece(cx))?;
        }
        self.make_room(buffers, large);
        let Carrier::Stream(stream) = &mut self.carrier else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        let count = stream.take_piece(&mut self.input);
        self.ended |= count == 0;
        Poll::Ready(Ok(count))
    }

    /// Writes what the kernel takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stream = match &mut self.carrier {
            Carrier::Tcp(stream) => stream,
            Carrier::Stream(stream) => return stream.poll_write(cx, bytes),
            Carrier::Closed => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        };
        loop {
            match stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(stream.poll_write_ready(cx))?;
                }
                written => return Poll::Ready(written),
            }
        }
    }

    /// Whether the peer has closed or sent something while nothing was expected, as far as the
    /// runtime has already been told: no system call unless there is something to see.
    pub(crate) fn is_disturbed(&self) -> bool {
        match &self.carrier {
            Carrier::Tcp(stream) => match stream.try_read(&mut [0]) {
                Err(error) => error.kind() != io::ErrorKind::WouldBlock,
                Ok(_) => true,
            },
            Carrier::Stream(_) => false,
            Carrier::Closed => true,
        }
    }

    /// Gives the buffer back when nothing is unread.
    pub(crate) fn rest(&mut self, buffers: &Buffers) {
        if self.start == self.input.len() {
            self.start = 0;
            buffers.give(std::mem::take(&mut self.input));
        }
    }

    fn make_room(&mut self, buffers: &Buffers, large: bool) {
        if self.input.capacity() == 0 {
            self.input = if large {
                buffers.large()
            } else {
                buffers.small()
            };
        } else if self.input.is_empty() && large && self.input.capacity() < crate::buffers::LARGE {
            buffers.give(std::mem::replace(&mut self.input, buffers.large()));
        } else if self.input.len() == self.input.capacity() {
            if self.start > 0 {
                self.input.drain(..self.start);
                self.start = 0;
            } else {
                // The caller bounds what may be unread: a head by its limit, a body piece by the buffer.
                self.input.reserve(crate::buffers::SMALL);
            }
        }
    }
}

/// A read that did not fill its buffer has emptied the socket: what comes after it is told
/// anew, and no system call has to find out that there is nothing.
fn forget_readiness(stream: &TcpStream) {
    let nothing_left = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
    let _ = stream.try_io(Interest::READABLE, nothing_left);
}
