//! One keep-alive connection of the load generator, which checks every answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use crate::messages::{Fault, Messages, Piece};

/// A connection with at most one request under way.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    messages: Messages,
    /// What the socket has not taken yet: the number of a request, and how much of it has gone.
    unsent: Option<(usize, usize)>,
    /// From when the latency of the request under way counts.
    since: Option<Instant>,
    body_seen: usize,
}

impl Client {
    /// Connects, waiting; reading and writing will not wait.
    ///
    /// # Errors
    ///
    /// Nobody listens there.
    pub fn connect(target: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect_timeout(&target, Duration::from_secs(5))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            messages: Messages::default(),
            unsent: None,
            since: None,
            body_seen: 0,
        })
    }

    /// Whether a request is under way.
    pub fn is_busy(&self) -> bool {
        self.since.is_some()
    }

    /// Sends a request whose latency counts from `since`.
    ///
    /// # Errors
    ///
    /// The socket failed.
    pub fn send(
        &mut self,
        requests: &[Vec<u8>],
        number: usize,
        since: Instant,
    ) -> Result<(), Fault> {
        self.since = Some(since);
        self.unsent = Some((number, 0));
        self.flush(requests)
    }

    /// Sends what the socket did not take before.
    ///
    /// # Errors
    ///
    /// The socket failed.
    pub fn flush(&mut self, requests: &[Vec<u8>]) -> Result<(), Fault> {
        while let Some((number, gone)) = self.unsent {
            let rest = requests
                .get(number)
                .and_then(|request| request.get(gone..))
                .unwrap_or_default();
            if rest.is_empty() {
                self.unsent = None;
                return Ok(());
            }
            match self.stream.write(rest) {
                Ok(written) if written == rest.len() => self.unsent = None,
                Ok(written) => self.unsent = Some((number, gone + written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads until the socket is empty; gives the start of the request whose answer is complete.
    ///
    /// # Errors
    ///
    /// The answer is not `200` with exactly `expected` as its body, or the connection ended.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        expected: &[u8],
    ) -> Result<Option<Instant>, Fault> {
        let mut answered = None;
        loop {
            let got = match self.stream.read(buffer) {
                Ok(0) => return Err(Fault::Closed),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(answered),
                Err(error) => return Err(error.into()),
            };
            let (since, body_seen) = (&mut self.since, &mut self.body_seen);
            self.messages
                .take(buffer.get(..got).unwrap_or_default(), |piece| match piece {
                    Piece::Head(head, length) => check_head(head, length, expected.len()),
                    Piece::Body(bytes) => check_body(bytes, expected, body_seen),
                    Piece::End => {
                        *body_seen = 0;
                        answered = since.take();
                        answered.map(|_| ()).ok_or(Fault::Unasked)
                    }
                })?;
            // A short read emptied the socket (epoll(7)): the read that says so is saved.
            if got < buffer.len() {
                return Ok(answered);
            }
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn check_head(head: &[u8], length: Option<usize>, expected: usize) -> Result<(), Fault> {
    if !head.starts_with(b"HTTP/1.1 200 ") {
        let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
        return Err(Fault::Status(String::from_utf8_lossy(line).into_owned()));
    }
    match length {
        Some(length) if length == expected => Ok(()),
        Some(length) => Err(Fault::Length(length)),
        None => Err(Fault::NoLength),
    }
}

fn check_body(bytes: &[u8], expected: &[u8], seen: &mut usize) -> Result<(), Fault> {
    let until = *seen + bytes.len();
    if expected.get(*seen..until) != Some(bytes) {
        return Err(Fault::Body);
    }
    *seen = until;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_200_with_the_expected_length_passes() {
        let head = b"HTTP/1.1 503 Busy\r\n\r\n";

        assert_eq!(check_head(b"HTTP/1.1 200 OK\r\n\r\n", Some(3), 3), Ok(()));
        assert_eq!(
            check_head(b"HTTP/1.1 200 OK\r\n\r\n", Some(4), 3),
            Err(Fault::Length(4))
        );
        assert_eq!(
            check_head(b"HTTP/1.1 200 OK\r\n\r\n", None, 3),
            Err(Fault::NoLength)
        );
        assert_eq!(
            check_head(head, Some(3), 3),
            Err(Fault::Status("HTTP/1.1 503 Busy".to_owned()))
        );
    }

    #[test]
    fn a_changed_byte_in_a_later_piece_is_seen() {
        let mut seen = 0;

        assert_eq!(check_body(b"ab", b"abcd", &mut seen), Ok(()));
        assert_eq!(check_body(b"cX", b"abcd", &mut seen), Err(Fault::Body));
    }
}
