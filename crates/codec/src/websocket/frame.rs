//! Frames (RFC 6455 section 5.2): reading their heads, writing control frames.

use super::CloseCode;

/// The key that a client's frames are masked with; a server's have none.
pub type Mask = Option<[u8; 4]>;

/// Payloads of control frames are never longer (RFC 6455 section 5.5).
pub(super) const CONTROL_MAX: usize = 125;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation,
    Data,
    Close,
    Ping,
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Self::Continuation),
            1 | 2 => Some(Self::Data),
            8 => Some(Self::Close),
            9 => Some(Self::Ping),
            10 => Some(Self::Pong),
            _ => None,
        }
    }

    pub(super) const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) fin: bool,
    pub(super) rsv: u8,
    pub(super) opcode: Opcode,
    pub(super) mask: Mask,
    /// Bytes of payload.
    pub(super) length: u64,
    /// Bytes of the head itself.
    pub(super) size: usize,
}

impl Head {
    /// Reads a head; `None` when it is not all here.
    ///
    /// # Errors
    /// An unknown opcode, a length that is not written in the shortest form, or one beyond 2^63.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, &'static str> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let opcode = Opcode::from_bits(first & 0x0f).ok_or("an opcode that nobody knows")?;
        let (length, rest, extra) = match second & 0x7f {
            126 => {
                let Some((bytes, rest)) = rest.split_first_chunk::<2>() else {
                    return Ok(None);
                };
                let length = u64::from(u16::from_be_bytes(*bytes));
                if length < 126 {
                    return Err("a length that is not in its shortest form");
                }
                (length, rest, 2)
            }
            127 => {
                let Some((bytes, rest)) = rest.split_first_chunk::<8>() else {
                    return Ok(None);
                };
                let length = u64::from_be_bytes(*bytes);
                if u16::try_from(length).is_ok() || length >> 63 != 0 {
                    return Err("a length that is not in its shortest form, or too large");
                }
                (length, rest, 8)
            }
            short => (u64::from(short), rest, 0),
        };
        let mask = if second & 0x80 == 0 {
            None
        } else {
            let Some(key) = rest.first_chunk::<4>() else {
                return Ok(None);
            };
            Some(*key)
        };
        Ok(Some(Self {
            fin: first & 0x80 != 0,
            rsv: first >> 4 & 0x07,
            opcode,
            mask,
            length,
            size: 2 + extra + if mask.is_some() { 4 } else { 0 },
        }))
    }
}

/// Takes the mask off, or puts it on.
pub(super) fn unmask(payload: &[u8], mask: Mask) -> impl Iterator<Item = u8> {
    let key = mask.unwrap_or_default();
    payload
        .iter()
        .zip(key.into_iter().cycle())
        .map(|(byte, key)| byte ^ key)
}

/// The payload of a whole control frame, without its mask; empty for anything else.
pub fn control_payload(frame: &[u8]) -> Vec<u8> {
    match Head::parse(frame) {
        Ok(Some(head)) if head.opcode.is_control() => {
            let payload = frame.get(head.size..).unwrap_or_default();
            unmask(payload, head.mask).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes a ping.
pub fn write_ping(payload: &[u8], mask: Mask, out: &mut Vec<u8>) {
    write_control(0x89, payload, mask, out);
}

/// Writes a close frame; the reason is cut to what fits, at a character.
pub fn write_close(code: CloseCode, reason: &str, mask: Mask, out: &mut Vec<u8>) {
    let mut payload = code.0.to_be_bytes().to_vec();
    let mut end = reason.len().min(CONTROL_MAX - payload.len());
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    payload.extend_from_slice(reason.get(..end).unwrap_or_default().as_bytes());
    write_control(0x88, &payload, mask, out);
}

fn write_control(first: u8, payload: &[u8], mask: Mask, out: &mut Vec<u8>) {
    let payload = payload.get(..CONTROL_MAX).unwrap_or(payload);
    let length = u8::try_from(payload.len()).unwrap_or_default();
    out.push(first);
    out.push(length | if mask.is_some() { 0x80 } else { 0 });
    if let Some(key) = mask {
        out.extend_from_slice(&key);
    }
    out.extend(unmask(payload, mask));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        // RFC 6455 section 5.7.
        let head = |bytes: &[u8]| Head::parse(bytes).unwrap().unwrap();

        let text = head(&[0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
        assert_eq!((text.fin, text.length, text.size), (true, 5, 2));
        let masked = [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
        ];
        let text = head(&masked);
        assert_eq!((text.mask, text.size), (Some([0x37, 0xfa, 0x21, 0x3d]), 6));
        let payload: Vec<u8> = unmask(&masked[6..], text.mask).collect();
        assert_eq!(payload, b"Hello");
        let first = head(&[0x01, 0x03, 0x48, 0x65, 0x6c]);
        assert_eq!((first.fin, first.opcode), (false, Opcode::Data));
        let binary = head(&[0x82, 0x7e, 0x01, 0x00]);
        assert_eq!((binary.length, binary.size), (256, 4));
        let long = head(&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!((long.length, long.size), (65536, 10));
    }

    #[test]
    fn a_head_in_pieces_is_waited_for() {
        let whole = [0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4];
        for end in 0..whole.len() {
            assert_eq!(Head::parse(&whole[..end]), Ok(None), "{end}");
        }
        assert_eq!(Head::parse(&whole).unwrap().unwrap().size, 14);
    }

    #[test]
    fn lengths_have_one_form() {
        for bad in [
            &[0x82, 126, 0, 125][..],
            &[0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
            &[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
            &[0x83, 0],
            &[0x8b, 0],
        ] {
            assert!(Head::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn control_frames_are_written_within_their_limit() {
        let mut out = Vec::new();
        write_close(CloseCode::GOING_AWAY, &"é".repeat(100), None, &mut out);
        assert_eq!(&out[..2], &[0x88, 124]);
        assert!(std::str::from_utf8(&out[4..]).is_ok());

        out.clear();
        write_ping(b"hi", Some([1, 2, 3, 4]), &mut out);
        assert_eq!(out, [0x89, 0x82, 1, 2, 3, 4, b'h' ^ 1, b'i' ^ 2]);
        assert_eq!(control_payload(&out), b"hi");
    }
}
