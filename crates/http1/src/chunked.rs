//! The chunked transfer coding (RFC 9112 section 7.1), read one byte of framing at a time.

mod extension;

use crate::body::Decoded;
use crate::fields::Fields;
use crate::malformed::{Fault, Malformed};
use crate::octets::{is_value, trim};
use crate::trailers::is_forbidden;
use extension::Extension;

/// Digits of the largest chunk size that is read: it then always fits in 64 bits.
const MOST_SIZE_DIGITS: u8 = 16;
/// Longest line of a chunk's size with its extension.
const LONGEST_SIZE_LINE: u32 = 512;
/// How many bytes of size lines a chunk is granted, besides twice its size ...
const FREE_OVERHEAD: u64 = 16;
/// ... and how much more a whole body may have: extensions on tiny chunks cost the reader much
/// and the sender little (as in CVE-2023-39326).
const MOST_OVERHEAD: u64 = 16 << 10;
/// Most bytes of a trailer section.
const MOST_TRAILER_BYTES: usize = 8 << 10;
/// Most fields of a trailer section, dropped ones included.
const MOST_TRAILERS: usize = 64;

/// Reads chunks; knows no more of them than where it stands.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    state: State,
    /// Size of the chunk whose size line is read, then what is left of its data.
    left: u64,
    line_length: u32,
    overhead: u64,
    trailer: Vec<u8>,
    trailer_bytes: usize,
    trailer_count: usize,
    trailers: Fields,
}

/// What must come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    FirstDigit,
    Size {
        digits: u8,
    },
    Extension(Extension),
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    Done,
}

impl Chunked {
    pub(crate) fn reset(&mut self) {
        self.state = State::FirstDigit;
        self.left = 0;
        self.line_length = 0;
        self.overhead = 0;
        self.trailer.clear();
        self.trailer_bytes = 0;
        self.trailer_count = 0;
        self.trailers.clear();
    }

    pub(crate) fn trailers(&self) -> &Fields {
        &self.trailers
    }

    pub(crate) fn trailers_mut(&mut self) -> &mut Fields {
        &mut self.trailers
    }

    pub(crate) fn decode(&mut self, input: &[u8]) -> Result<Decoded, Malformed> {
        let mut consumed = 0;
        let mut data = 0..0;
        while let Some(rest) = input.get(consumed..).filter(|rest| !rest.is_empty()) {
            if self.state == State::Done || (self.state == State::Data && !data.is_empty()) {
                break;
            }
            if self.state == State::Data {
                let taken = self.take_data(rest.len());
                data = consumed..consumed + taken;
                consumed += taken;
                continue;
            }
            match rest
                .first()
                .map_or(Ok(self.state), |&octet| self.step(octet))
            {
                Ok(next) => {
                    self.state = next;
                    consumed += 1;
                }
                // The data before the fault is given first; the fault will still be there.
                Err(_) if !data.is_empty() => break,
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(Decoded {
            consumed,
            data,
            done: self.state == State::Done,
        })
    }

    /// How much of so many bytes is data of this chunk.
    fn take_data(&mut self, available: usize) -> usize {
        let taken = usize::try_from(self.left).map_or(available, |left| left.min(available));
        self.left -= taken as u64;
        if self.left == 0 {
            self.state = State::DataCr;
        }
        taken
    }

    /// Takes one byte of framing. A fault leaves everything as it was.
    fn step(&mut self, octet: u8) -> Result<State, Fault> {
        match self.state {
            State::FirstDigit => self.size_digit(octet, 0),
            State::Size { digits } => match octet {
                b'\r' => Ok(State::SizeLf),
                b';' | b' ' | b'\t' => self.extension(Extension::Before, octet),
                _ => self.size_digit(octet, digits),
            },
            State::Extension(extension) => self.extension(extension, octet),
            State::SizeLf => self.size_line_ended(octet),
            State::DataCr => expect(octet, b'\r', State::DataLf, Fault::ChunkBadEnd),
            State::DataLf => expect(octet, b'\n', State::FirstDigit, Fault::ChunkBadEnd),
            State::TrailerStart if octet == b'\r' => Ok(State::LastLf),
            State::TrailerStart | State::Trailer => self.trailer_octet(octet),
            State::TrailerLf => self.trailer_ended(octet),
            State::LastLf => expect(octet, b'\n', State::Done, Fault::BadLineEnd),
            State::Data | State::Done => Ok(self.state),
        }
    }

    fn size_digit(&mut self, octet: u8, digits: u8) -> Result<State, Fault> {
        let digit = char::from(octet).to_digit(16).ok_or(Fault::ChunkBadSize)?;
        if digits == MOST_SIZE_DIGITS {
            return Err(Fault::ChunkSizeTooLarge);
        }
        if digits == 0 {
            self.left = 0;
            self.line_length = 0;
        }
        self.left = self.left << 4 | u64::from(digit);
        self.line_length += 1;
        Ok(State::Size { digits: digits + 1 })
    }

    fn extension(&mut self, extension: Extension, octet: u8) -> Result<State, Fault> {
        if self.line_length >= LONGEST_SIZE_LINE {
            return Err(Fault::ChunkLineTooLong);
        }
        let next = extension.step(octet).ok_or(Fault::ChunkBadExtension)?;
        self.line_length += 1;
        Ok(if next == Extension::Ended {
            State::SizeLf
        } else {
            State::Extension(next)
        })
    }

    fn size_line_ended(&mut self, octet: u8) -> Result<State, Fault> {
        let granted = self.left.saturating_mul(2).saturating_add(FREE_OVERHEAD);
        let overhead = (self.overhead + u64::from(self.line_length)).saturating_sub(granted);
        if overhead > MOST_OVERHEAD {
            return Err(Fault::ChunkOverhead);
        }
        let next = if self.left == 0 {
            State::TrailerStart
        } else {
            State::Data
        };
        let next = expect(octet, b'\n', next, Fault::BadLineEnd)?;
        self.overhead = overhead;
        Ok(next)
    }

    fn trailer_octet(&mut self, octet: u8) -> Result<State, Fault> {
        if octet == b'\r' {
            return Ok(State::TrailerLf);
        }
        if !is_value(octet) {
            return Err(Fault::TrailerInvalid);
        }
        if self.trailer_bytes == MOST_TRAILER_BYTES {
            return Err(Fault::TrailersTooLarge);
        }
        self.trailer_bytes += 1;
        self.trailer.push(octet);
        Ok(State::Trailer)
    }

    fn trailer_ended(&mut self, octet: u8) -> Result<State, Fault> {
        let next = expect(octet, b'\n', State::TrailerStart, Fault::BadLineEnd)?;
        if self.trailer_count == MOST_TRAILERS {
            return Err(Fault::TrailersTooLarge);
        }
        let colon = memchr::memchr(b':', &self.trailer).ok_or(Fault::TrailerInvalid)?;
        let (name, value) = self
            .trailer
            .split_at_checked(colon)
            .ok_or(Fault::TrailerInvalid)?;
        let value = trim(value.get(1..).unwrap_or_default());
        // Dropped, not refused: senders append harmless ones such as `Date`.
        if !is_forbidden(name) {
            self.trailers
                .append_bytes(name, value)
                .map_err(|_| Fault::TrailerInvalid)?;
        }
        self.trailer_count += 1;
        self.trailer.clear();
        Ok(next)
    }
}

fn expect(octet: u8, expected: u8, next: State, otherwise: Fault) -> Result<State, Fault> {
    if octet == expected {
        Ok(next)
    } else {
        Err(otherwise)
    }
}
