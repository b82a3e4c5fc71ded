//! One direction of a WebSocket connection, frame by frame, in pieces as they come.

use super::{
    CloseCode, close_code,
    frame::{CONTROL_MAX, Head, Opcode, unmask},
};

/// Who sends in this direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// Its frames are masked (RFC 6455 section 5.3).
    Client,
    /// Its frames are not.
    Server,
}

/// Follows one direction. What it has let pass always ends inside a payload or at the end of a
/// frame, never inside a head, so at the end of a frame another one may be put in.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about another part of the stream"
)]
pub struct Scanner {
    sender: Sender,
    /// The longest frame, in bytes of payload.
    max_frame: u64,
    /// An extension uses the first reserved bit (RFC 7692).
    compresses: bool,
    /// Payload bytes of the current data frame that are still to come.
    left: u64,
    /// The current data frame is the last of its message.
    ends_message: bool,
    /// A message has begun and not ended.
    in_message: bool,
    closed: bool,
}

/// What comes next, and how many of the bytes it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Not enough is here.
    Wait,
    /// Head or payload of a data frame; `ends_message` when a message is complete with it.
    Data {
        /// How many bytes.
        size: usize,
        /// A message has ended.
        ends_message: bool,
    },
    /// A whole ping.
    Ping {
        /// How many bytes.
        size: usize,
    },
    /// A whole pong.
    Pong {
        /// How many bytes.
        size: usize,
    },
    /// A whole close frame.
    Close {
        /// How many bytes.
        size: usize,
        /// The code, if it gives one.
        code: Option<CloseCode>,
    },
}

/// The sender broke the protocol or a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// What to close the connection with.
    pub code: CloseCode,
    /// Why, for the log.
    pub reason: &'static str,
}

impl Scanner {
    /// Nothing has come yet.
    pub const fn new(sender: Sender, max_frame: u64, compresses: bool) -> Self {
        Self {
            sender,
            max_frame,
            compresses,
            left: 0,
            ends_message: false,
            in_message: false,
            closed: false,
        }
    }

    /// Whether all that has passed ends with the end of a frame.
    pub const fn is_at_boundary(&self) -> bool {
        self.left == 0
    }

    /// Whether a close frame has passed: nothing may follow it.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Looks at the next bytes, which are to be given again in part as long as they do not make a
    /// head, or a control frame, whole.
    ///
    /// # Errors
    /// What the sender did wrong. Nothing of the frame has passed.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Piece, Violation> {
        if bytes.is_empty() {
            return Ok(Piece::Wait);
        }
        if self.left > 0 {
            return Ok(self.data(bytes.len()));
        }
        if self.closed {
            return Err(violation("bytes after a close frame"));
        }
        let Some(head) = Head::parse(bytes).map_err(violation)? else {
            return Ok(Piece::Wait);
        };
        self.check(&head)?;
        if head.opcode.is_control() {
            return self.control(bytes, &head);
        }
        self.in_message = !head.fin;
        self.ends_message = head.fin;
        self.left = head.length;
        let payload = bytes.len() - head.size;
        Ok(match self.data(payload) {
            Piece::Data { size, ends_message } => Piece::Data {
                size: size + head.size,
                ends_message,
            },
            other => other,
        })
    }

    /// Passes on what is here of a payload.
    fn data(&mut self, here: usize) -> Piece {
        let here = here as u64;
        let size = here.min(self.left);
        self.left -= size;
        Piece::Data {
            size: usize::try_from(size).unwrap_or_default(),
            ends_message: self.left == 0 && self.ends_message,
        }
    }

    fn check(&self, head: &Head) -> Result<(), Violation> {
        let masked = head.mask.is_some();
        if masked != (self.sender == Sender::Client) {
            return Err(violation(if masked {
                "a server's frame is masked"
            } else {
                "a client's frame is not masked"
            }));
        }
        // RFC 7692 section 6: the bit stands on the first frame of a message only.
        let may_compress = self.compresses && head.opcode == Opcode::Data;
        if head.rsv & if may_compress { 0b011 } else { 0b111 } != 0 {
            return Err(violation("a reserved bit is set"));
        }
        if head.opcode.is_control() {
            return if head.fin && head.length <= CONTROL_MAX as u64 {
                Ok(())
            } else {
                Err(violation("a control frame is long or in fragments"))
            };
        }
        if (head.opcode == Opcode::Continuation) != self.in_message {
            return Err(violation("a fragment without its message"));
        }
        if head.length > self.max_frame {
            return Err(Violation {
                code: CloseCode::TOO_BIG,
                reason: "a frame is too long",
            });
        }
        Ok(())
    }

    fn control(&mut self, bytes: &[u8], head: &Head) -> Result<Piece, Violation> {
        let size = head.size + usize::try_from(head.length).unwrap_or_default();
        let Some(payload) = bytes.get(head.size..size) else {
            return Ok(Piece::Wait);
        };
        Ok(match head.opcode {
            Opcode::Ping => Piece::Ping { size },
            Opcode::Pong => Piece::Pong { size },
            Opcode::Close | Opcode::Continuation | Opcode::Data => {
                let payload: Vec<u8> = unmask(payload, head.mask).collect();
                let code = close_code(&payload).map_err(|code| Violation {
                    code,
                    reason: "a close frame is not in order",
                })?;
                self.closed = true;
                Piece::Close { size, code }
            }
        })
    }
}

const fn violation(reason: &'static str) -> Violation {
    Violation {
        code: CloseCode::PROTOCOL_ERROR,
        reason,
    }
}

#[cfg(test)]
mod tests;
