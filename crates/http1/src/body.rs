//! `BodyDecoder`: from the bytes of a connection to those of a body.

use std::ops::Range;

use crate::chunked::Chunked;
use crate::fields::Fields;
use crate::framing::Framing;
use crate::malformed::{Fault, Malformed};
use crate::trailers::is_forbidden;

/// What one call of [`BodyDecoder::decode`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// How many bytes of the input are done with: the data, and framing around it.
    pub consumed: usize,
    /// Where in the input the body's bytes are.
    pub data: Range<usize>,
    /// Whether the body, its trailers included, has ended; the next message begins behind
    /// `consumed`.
    pub done: bool,
}

/// Finds the bytes of one body in what the connection brings, without copying them.
///
/// It keeps no data and reserves nothing for a declared size. Reusable by [`BodyDecoder::reset`].
#[derive(Debug)]
pub struct BodyDecoder {
    state: State,
    chunked: Chunked,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Length(u64),
    Chunked,
    UntilClose,
    Done,
}

impl From<Framing> for State {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Empty | Framing::Length(0) => Self::Done,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked,
            Framing::UntilClose => Self::UntilClose,
        }
    }
}

impl BodyDecoder {
    /// A decoder for one body.
    pub fn new(framing: Framing) -> Self {
        Self {
            state: framing.into(),
            chunked: Chunked::default(),
        }
    }

    /// Starts over with another body, keeping the buffers.
    pub fn reset(&mut self, framing: Framing) {
        self.state = framing.into();
        self.chunked.reset();
    }

    /// Finds the next piece of the body: at most one range of data a call. Call again while
    /// input is left over; a call that consumes nothing needs more input.
    ///
    /// # Errors
    ///
    /// The chunks are malformed, at the first byte that cannot be right; data before it has been
    /// given by then.
    pub fn decode(&mut self, input: &[u8]) -> Result<Decoded, Malformed> {
        match self.state {
            State::Done => Ok(Decoded {
                consumed: 0,
                data: 0..0,
                done: true,
            }),
            State::UntilClose => Ok(Decoded {
                consumed: input.len(),
                data: 0..input.len(),
                done: false,
            }),
            State::Length(left) => {
                let taken = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
                let left = left - taken as u64;
                self.state = if left == 0 {
                    State::Done
                } else {
                    State::Length(left)
                };
                Ok(Decoded {
                    consumed: taken,
                    data: 0..taken,
                    done: left == 0,
                })
            }
            State::Chunked => {
                let decoded = self.chunked.decode(input)?;
                if decoded.done {
                    self.state = State::Done;
                }
                Ok(decoded)
            }
        }
    }

    /// Whether the body has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Tells the decoder that the sender has closed.
    ///
    /// # Errors
    ///
    /// The body ended early: more was announced than came. What was passed on is a torso, and
    /// whoever got it must be able to see that.
    pub fn finish(&mut self) -> Result<(), Malformed> {
        match self.state {
            State::Done => Ok(()),
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Length(_) | State::Chunked => Err(Fault::BodyEndedEarly.into()),
        }
    }

    /// The trailers of a chunked body, complete once it is done. Fields that may not be trailers
    /// (RFC 9110 section 6.5.1: framing, routing, authentication, content) are left out.
    pub fn trailers(&self) -> &Fields {
        self.chunked.trailers()
    }

    /// The trailers, to be edited before they are passed on.
    pub fn trailers_mut(&mut self) -> &mut Fields {
        self.chunked.trailers_mut()
    }

    /// Adds a trailer that came beside the body, unless it may not be one or cannot be a field.
    pub fn add_trailer(&mut self, name: &str, value: &[u8]) {
        if !is_forbidden(name.as_bytes()) {
            let _ = self.trailers_mut().append(name, value.trim_ascii());
        }
    }

    /// How many bytes will still come, when that is known.
    pub fn remaining(&self) -> Option<u64> {
        match self.state {
            State::Done => Some(0),
            State::Length(left) => Some(left),
            State::Chunked | State::UntilClose => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_takes_that_many_bytes_and_no_more() {
        let mut decoder = BodyDecoder::new(Framing::Length(5));

        assert_eq!(
            decoder.decode(b"he"),
            Ok(Decoded {
                consumed: 2,
                data: 0..2,
                done: false
            })
        );
        assert_eq!(decoder.remaining(), Some(3));
        assert_eq!(
            decoder.decode(b"lloGET /"),
            Ok(Decoded {
                consumed: 3,
                data: 0..3,
                done: true
            })
        );
        assert_eq!(
            decoder.decode(b"GET /"),
            Ok(Decoded {
                consumed: 0,
                data: 0..0,
                done: true
            })
        );
        assert!(decoder.is_done());
    }

    // case: KA-03
    #[test]
    fn a_body_that_ends_early_is_an_error() {
        for (framing, torso) in [
            (Framing::Length(10), &b"hello"[..]),
            (Framing::Chunked, b"5\r\nhello\r\n"),
        ] {
            let mut decoder = BodyDecoder::new(framing);
            let piece = decoder.decode(torso).unwrap();

            let ended = decoder.finish();

            assert_eq!(torso.get(piece.data), Some(&b"hello"[..]));
            assert_eq!(
                ended.map_err(|fault| fault.reason()),
                Err("body ended early")
            );
        }
    }

    #[test]
    fn a_body_until_close_ends_by_it() {
        let mut decoder = BodyDecoder::new(Framing::UntilClose);

        assert_eq!(
            decoder.decode(b"abc"),
            Ok(Decoded {
                consumed: 3,
                data: 0..3,
                done: false
            })
        );
        assert_eq!(decoder.finish(), Ok(()));
        assert!(decoder.is_done());
    }

    #[test]
    fn no_body_is_done_at_once() {
        for framing in [Framing::Empty, Framing::Length(0)] {
            assert!(BodyDecoder::new(framing).is_done());
        }
    }
}
