//! Names of one request: its id and its place in a trace.

/// A request id: 1 to 64 characters of `[A-Za-z0-9._-]`, so that it can stand in any log line or header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestId {
    bytes: [u8; Self::MAX],
    length: u8,
}

impl RequestId {
    /// The longest id taken over from a client (LG-01).
    pub const MAX: usize = 64;

    /// Takes over an id from outside; `None` when it is empty, too long or has other characters.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= Self::MAX
            && text
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if !fits {
            return None;
        }
        let mut bytes = [0; Self::MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self {
            bytes,
            length: u8::try_from(text.len()).ok()?,
        })
    }

    /// A new id of 32 hexadecimal digits from 128 random bits.
    pub fn from_random(high: u64, low: u64) -> Self {
        let mut bytes = [0; Self::MAX];
        let (halves, _) = bytes.as_chunks_mut::<32>();
        if let Some(half) = halves.first_mut() {
            *half = hex_of_two(high, low);
        }
        Self { bytes, length: 32 }
    }

    /// The id's characters, as a field value.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }

    /// The id's characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl std::fmt::Debug for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A W3C `traceparent` (Trace Context, §3.2): trace id, the id of our span, and the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 32],
    span_id: [u8; 16],
    /// The trace flags; bit 0 is *sampled*.
    pub flags: u8,
}

impl TraceContext {
    /// A new trace; both ids are forced to be non-zero, as the standard demands.
    pub fn from_random(high: u64, low: u64, span: u64, flags: u8) -> Self {
        Self {
            trace_id: hex_of_two(high, low | 1),
            span_id: hex(span | 1),
            flags,
        }
    }

    /// Reads a `traceparent`; `None` when it is not valid, then the receiver starts a new trace.
    ///
    /// A version above `00` is read by its first four fields (§3.2.4); `ff` is invalid.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let version = text.get(..2)?;
        let known = version == b"00";
        let length_fits = if known {
            text.len() == 55
        } else {
            text.len() == 55 || text.get(55) == Some(&b'-')
        };
        let dashes = [2, 35, 52].iter().all(|at| text.get(*at) == Some(&b'-'));
        if !length_fits || !dashes || version == b"ff" || !is_hex(version) {
            return None;
        }
        let flags = text.get(53..55).filter(|flags| is_hex(flags))?;
        let flags = u8::from_str_radix(std::str::from_utf8(flags).ok()?, 16).ok()?;
        Self::from_hex(text.get(3..35)?, text.get(36..52)?, flags)
    }

    /// A trace by its ids in small hexadecimal digits: 32 of the trace, or 16 of one with 64 bits,
    /// and 16 of the span. `None` when one has another form or is zero.
    pub fn from_hex(trace: &[u8], span: &[u8], flags: u8) -> Option<Self> {
        let mut trace_id = [b'0'; 32];
        let at = trace_id.len().checked_sub(trace.len())?;
        if !matches!(trace.len(), 16 | 32) || !is_id(trace) || !is_id(span) {
            return None;
        }
        trace_id.get_mut(at..)?.copy_from_slice(trace);
        Some(Self {
            trace_id,
            span_id: span.try_into().ok()?,
            flags,
        })
    }

    /// The same trace with a span of our own.
    #[must_use]
    pub fn with_span(mut self, span: u64) -> Self {
        self.span_id = hex(span | 1);
        self
    }

    /// 32 lower-case hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        std::str::from_utf8(&self.trace_id).unwrap_or_default()
    }

    /// As [`TraceContext::trace_id`], for whoever writes bytes.
    pub fn trace_id_bytes(&self) -> &[u8] {
        &self.trace_id
    }

    /// 16 lower-case hexadecimal digits.
    pub fn span_id(&self) -> &str {
        std::str::from_utf8(&self.span_id).unwrap_or_default()
    }

    /// The `traceparent` value to send on.
    pub fn to_header(&self) -> [u8; 55] {
        let mut text = *b"00-00000000000000000000000000000000-0000000000000000-00";
        if let Some(place) = text.get_mut(3..35) {
            place.copy_from_slice(&self.trace_id);
        }
        if let Some(place) = text.get_mut(36..52) {
            place.copy_from_slice(&self.span_id);
        }
        let [.., high, low] = &mut text;
        *high = digit(self.flags >> 4);
        *low = digit(self.flags & 15);
        text
    }
}

fn is_id(text: &[u8]) -> bool {
    is_hex(text) && text.iter().any(|b| *b != b'0')
}

fn is_hex(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The digit of a number below 16; arithmetic, so that a row of digits is computed at once.
const fn digit(nibble: u8) -> u8 {
    if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' - 10 + nibble
    }
}

#[inline]
fn hex(value: u64) -> [u8; 16] {
    let mut text = [0; 16];
    let (halves, _) = text.as_chunks_mut::<8>();
    for (half, digits) in halves.iter_mut().zip([value >> 32, value & 0xffff_ffff]) {
        *half = eight_digits(digits).to_be_bytes();
    }
    text
}

/// The digits of 32 bits, all eight computed in one word.
#[inline]
const fn eight_digits(value: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // One nibble to a byte.
    let pairs = (value << 16 | value) & 0x0000_ffff_0000_ffff;
    let bytes = (pairs << 8 | pairs) & 0x00ff_00ff_00ff_00ff;
    let nibbles = (bytes << 4 | bytes) & (ONES * 0x0f);
    // 1 for `a` to `f`: adding six carries into the high half of the byte.
    let letters = ((nibbles + ONES * 6) >> 4) & ONES;
    nibbles + ONES * b'0' as u64 + letters * (b'a' - b'0' - 10) as u64
}

fn hex_of_two(high: u64, low: u64) -> [u8; 32] {
    let mut text = [0; 32];
    let (halves, _) = text.as_chunks_mut::<16>();
    for (half, value) in halves.iter_mut().zip([high, low]) {
        *half = hex(value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_is_written_in_every_place() {
        for place in 0..16 {
            for nibble in 0..16_u64 {
                let value = nibble << (place * 4);
                assert_eq!(hex(value), *format!("{value:016x}").as_bytes());
            }
        }
        assert_eq!(&hex(0x0123_4567_89ab_cdef), b"0123456789abcdef");
    }

    #[test]
    fn an_id_is_taken_over_only_when_it_is_harmless() {
        assert_eq!(
            RequestId::parse(b"req-abc.1_2").unwrap().as_str(),
            "req-abc.1_2"
        );
        for bad in [&b""[..], b"a b", b"a\tb", b"\xff", b"a\"b", &[b'a'; 65]] {
            assert_eq!(RequestId::parse(bad), None, "{bad:?}");
        }
        assert_eq!(
            RequestId::from_random(0xabc, 1).as_str(),
            "0000000000000abc0000000000000001"
        );
    }

    // W3C Trace Context §3.2: the example of the standard, and the invalid ones of its test suite.
    #[test]
    fn a_traceparent_is_read_and_written_back() {
        let text = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trace = TraceContext::parse(text).unwrap();
        assert_eq!(trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.span_id(), "00f067aa0ba902b7");
        assert_eq!(&trace.to_header(), text);
        assert_ne!(trace.with_span(7).span_id(), trace.span_id());
        for bad in [
            "",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::parse(bad.as_bytes()), None, "{bad}");
        }
        let future = b"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes";
        assert!(TraceContext::parse(future).is_some());
    }
}
