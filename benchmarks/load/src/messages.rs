//! Cuts the bytes of a connection into messages: a head, a body of `Content-Length`, the next head.

use std::fmt;

use memchr::{memchr_iter, memmem};

/// Why a connection cannot go on.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The peer closed it although keep-alive was agreed.
    Closed,
    /// A head without end, or a length that is not a number.
    Malformed,
    /// A body whose length cannot be known, because it is chunked or runs to the close.
    NoLength,
    /// The first line of an answer that is not `200`.
    Status(String),
    /// The announced length is not that of the body the upstream sends.
    Length(usize),
    /// A body that is not the one the upstream sent.
    Body,
    /// More answers than requests.
    Unasked,
    /// The answer had not come when the run was over.
    Late,
    /// The socket failed.
    Socket(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection was closed"),
            Self::Malformed => f.write_str("a head could not be read"),
            Self::NoLength => f.write_str("a message had no Content-Length"),
            Self::Status(line) => write!(f, "the answer was `{line}`"),
            Self::Length(bytes) => write!(f, "an answer announced {bytes} bytes"),
            Self::Body => f.write_str("a body differs from what the upstream sent"),
            Self::Unasked => f.write_str("an answer came that nobody asked for"),
            Self::Late => f.write_str("an answer had not come when the run was over"),
            Self::Socket(error) => write!(f, "the socket failed: {error}"),
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Socket(error.to_string())
    }
}

/// A part of a message, in the order of the wire.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The head with its empty line, and its `Content-Length` if it has one.
    Head(&'a [u8], Option<usize>),
    /// Some bytes of the body.
    Body(&'a [u8]),
    /// The message is complete.
    End,
}

/// Where a connection stands between two reads.
#[derive(Debug, Default)]
pub struct Messages {
    /// A head that was cut by the end of a read.
    cut_head: Vec<u8>,
    body_left: usize,
}

impl Messages {
    /// Hands the parts found in `bytes` to `each`.
    ///
    /// # Errors
    ///
    /// The bytes are not HTTP/1.1, or `each` refuses a part.
    pub fn take(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Piece<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        while !bytes.is_empty() {
            if self.body_left > 0 {
                let (body, rest) = bytes.split_at(self.body_left.min(bytes.len()));
                self.body_left -= body.len();
                each(Piece::Body(body))?;
                bytes = rest;
            } else {
                let Some((length, rest)) = self.take_head(bytes, &mut each)? else {
                    return Ok(());
                };
                self.body_left = length;
                bytes = rest;
            }
            if self.body_left == 0 {
                each(Piece::End)?;
            }
        }
        Ok(())
    }

    /// The length of the body and what follows the head; `None` if the head goes on in the next read.
    fn take_head<'a>(
        &mut self,
        bytes: &'a [u8],
        each: &mut impl FnMut(Piece<'_>) -> Result<(), Fault>,
    ) -> Result<Option<(usize, &'a [u8])>, Fault> {
        const LONGEST_HEAD: usize = 64 * 1024;

        if self.cut_head.is_empty() {
            let Some((head, rest)) = end_of_head(bytes).and_then(|end| bytes.split_at_checked(end))
            else {
                self.cut_head.extend_from_slice(bytes);
                return Ok(None);
            };
            let length = content_length(head)?;
            each(Piece::Head(head, length))?;
            return Ok(Some((length.unwrap_or(0), rest)));
        }

        let known = self.cut_head.len();
        self.cut_head.extend_from_slice(bytes);
        let Some(end) = end_of_head(&self.cut_head) else {
            return if self.cut_head.len() > LONGEST_HEAD {
                Err(Fault::Malformed)
            } else {
                Ok(None)
            };
        };
        self.cut_head.truncate(end);
        let length = content_length(&self.cut_head)?;
        each(Piece::Head(&self.cut_head, length))?;
        self.cut_head.clear();
        let rest = bytes.get(end - known..).unwrap_or_default();
        Ok(Some((length.unwrap_or(0), rest)))
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memmem::find(bytes, b"\r\n\r\n").map(|start| start + 4)
}

/// The value of a field, compared without regard to case; the first one if there are several.
pub fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut start = 0;
    for end in memchr_iter(b'\n', head) {
        let line = head.get(start..end)?;
        start = end + 1;
        if let Some((before, after)) = line.split_at_checked(name.len())
            && before.eq_ignore_ascii_case(name)
            && let Some(value) = after.strip_prefix(b":")
        {
            return Some(value.trim_ascii());
        }
    }
    None
}

fn content_length(head: &[u8]) -> Result<Option<usize>, Fault> {
    field(head, b"content-length")
        .map(|value| {
            str::from_utf8(value)
                .ok()
                .and_then(|digits| digits.parse().ok())
                .ok_or(Fault::Malformed)
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\n\r\nabcHTTP/1.1 204 No\r\nDate: x\r\n\r\n";

    fn pieces(reads: &[&[u8]]) -> (Vec<Option<usize>>, Vec<u8>, usize) {
        let (mut lengths, mut body, mut ends) = (Vec::new(), Vec::new(), 0);
        let mut messages = Messages::default();
        for bytes in reads {
            messages
                .take(bytes, |piece| {
                    match piece {
                        Piece::Head(_, length) => lengths.push(length),
                        Piece::Body(bytes) => body.extend_from_slice(bytes),
                        Piece::End => ends += 1,
                    }
                    Ok(())
                })
                .unwrap();
        }
        (lengths, body, ends)
    }

    #[test]
    fn any_cut_gives_the_same_messages() {
        for cut in 0..=TWO.len() {
            let (lengths, body, ends) = pieces(&[&TWO[..cut], &TWO[cut..]]);

            assert_eq!(lengths, [Some(3), None], "cut at {cut}");
            assert_eq!(body, b"abc", "cut at {cut}");
            assert_eq!(ends, 2, "cut at {cut}");
        }
    }

    #[test]
    fn a_length_that_is_no_number_is_refused() {
        let taken =
            Messages::default().take(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", |_| Ok(()));

        assert_eq!(taken, Err(Fault::Malformed));
    }

    #[test]
    fn a_field_is_its_whole_name() {
        assert_eq!(
            field(b"GET / HTTP/1.1\r\nX-Host: a\r\nhOST:b \r\n\r\n", b"host"),
            Some(&b"b"[..])
        );
    }
}
