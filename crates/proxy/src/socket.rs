//! A TCP stream with its unread bytes, for either side.

use std::{
    io,
    task::{Context, Poll, ready},
};

use tokio::{io::Interest, net::TcpStream};

use crate::buffers::Buffers;

/// A socket and what was read from it but not yet understood.
pub(crate) struct Socket {
    stream: TcpStream,
    input: Vec<u8>,
    /// Where the unread bytes begin.
    start: usize,
    /// The peer will send no more.
    pub(crate) ended: bool,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            input: Vec::new(),
            start: 0,
            ended: false,
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
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
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            self.make_room(buffers, large);
            let room = self.input.capacity() - self.input.len();
            match self.stream.try_read_buf(&mut self.input) {
                Ok(count) => {
                    self.ended |= count == 0;
                    if count < room {
                        self.forget_readiness();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// A read that did not fill its buffer has emptied the socket: what comes after it is told
    /// anew, and no system call has to find out that there is nothing.
    fn forget_readiness(&self) {
        let nothing_left = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
        let _ = self.stream.try_io(Interest::READABLE, nothing_left);
    }

    /// Writes what the kernel takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.stream.poll_write_ready(cx))?;
                }
                written => return Poll::Ready(written),
            }
        }
    }

    /// Whether the peer has closed or sent something while nothing was expected, as far as the
    /// runtime has already been told: no system call unless there is something to see.
    pub(crate) fn is_disturbed(&self) -> bool {
        match self.stream.try_read(&mut [0]) {
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
            Ok(_) => true,
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
