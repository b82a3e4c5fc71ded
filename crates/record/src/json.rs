//! Strings of strangers inside JSON.

/// Bytes of one value that are kept; what is cut off is told by its length.
pub(crate) const LONGEST: usize = 1024;

/// Appends `"text"` with everything escaped that could end a line, a string, or trouble a terminal.
pub(crate) fn string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut value = Value::new(out);
    value.text(text);
    value.end();
    out.push(b'"');
}

/// The inside of one string value, written in pieces and bounded.
#[derive(Debug)]
pub(crate) struct Value<'a> {
    out: &'a mut Vec<u8>,
    left: usize,
    cut: usize,
}

impl<'a> Value<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            left: LONGEST,
            cut: 0,
        }
    }

    /// One that is bounded by whoever writes it, who also says how much more came.
    pub(crate) fn bounded_elsewhere(out: &'a mut Vec<u8>, cut: u64) -> Self {
        Self {
            out,
            left: usize::MAX,
            cut: usize::try_from(cut).unwrap_or(usize::MAX),
        }
    }

    /// Appends a piece, or as much of it as there is room for.
    pub(crate) fn text(&mut self, piece: &[u8]) {
        let kept = match piece.get(..self.left) {
            Some(kept) if kept.len() < piece.len() => whole_characters(kept),
            Some(_) | None => piece,
        };
        escape(kept, self.out);
        self.left -= kept.len();
        if kept.len() < piece.len() {
            self.cut += piece.len() - kept.len();
            self.left = 0;
        }
    }

    /// Stands for something that may not be shown.
    pub(crate) fn mask(&mut self) {
        if self.left > 0 {
            self.out.extend_from_slice(b"***");
            self.left = self.left.saturating_sub(3);
        }
    }

    /// There is no room for anything more.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Marks what was cut off: `…+9000` says that 9,000 bytes more came.
    pub(crate) fn end(self) {
        if self.cut > 0 {
            self.out.extend_from_slice("…+".as_bytes());
            self.out
                .extend_from_slice(itoa::Buffer::new().format(self.cut).as_bytes());
        }
    }
}

/// Without a character of which only the beginning is there.
pub(crate) fn whole_characters(text: &[u8]) -> &[u8] {
    let begun = text
        .iter()
        .rev()
        .take(3)
        .position(|byte| byte & 0xC0 != 0x80);
    let Some((head, last)) = begun.and_then(|back| text.split_at_checked(text.len() - back - 1))
    else {
        return text;
    };
    let needed = match last.first() {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xFF) => 4,
        _ => 1,
    };
    if last.len() < needed { head } else { text }
}

/// Appends the inside of a JSON string.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    if is_plain(text) {
        out.extend_from_slice(text);
        return;
    }
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            escape_character(character, out);
        }
        for byte in chunk.invalid() {
            out.extend_from_slice(b"\\\\x");
            hex(u32::from(*byte), 2, out);
        }
    }
}

fn escape_character(character: char, out: &mut Vec<u8>) {
    match character {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        // C0, DEL and C1 control characters; the line and paragraph separators, which end lines in
        // JavaScript; and what turns the direction of the text that follows.
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            out.extend_from_slice(b"\\u");
            hex(character.into(), 4, out);
        }
        _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

fn hex(number: u32, digits: u32, out: &mut Vec<u8>) {
    for place in (0..digits).rev() {
        let digit = char::from_digit((number >> (place * 4)) & 15, 16).unwrap_or('0');
        out.extend(u8::try_from(digit));
    }
}

/// Nearly all text is printable ASCII without quotes: eight bytes are looked at together, and the
/// end in a word that overlaps the one before.
fn is_plain(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let Some(last) = text.last_chunk::<8>() else {
        let mut word = [b' '; 8];
        for (place, byte) in word.iter_mut().zip(rest) {
            *place = *byte;
        }
        return special(word) == 0;
    };
    let found = words
        .iter()
        .fold(special(*last), |found, word| found | special(*word));
    found == 0
}

/// Not zero when one of the bytes has to be escaped. The top bit of each byte is the verdict on it:
/// in `x - n` it is set by a borrow, so for `x < n`, which `& !x` keeps apart from `x >= 0x80`. A
/// borrow can spoil the verdict on the next byte, but only next to one that counts already.
fn special(word: [u8; 8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_ne_bytes(word);
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let not_ascii = word | word.wrapping_add(ONES);
    (below(word, 0x20) | is(b'"') | is(b'\\') | not_ascii) & (ONES * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &[u8]) -> String {
        let mut out = Vec::new();
        string(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    // case: LG-01
    #[test]
    fn what_could_forge_a_record_is_escaped() {
        for (text, expected) in [
            (&b"plain"[..], r#""plain""#),
            (b"x\" 200 \"y", r#""x\" 200 \"y""#),
            (b"a\r\nFAKE line", r#""a\u000d\u000aFAKE line""#),
            (b"\0\x1b[2J", r#""\u0000\u001b[2J""#),
            (b"\xff\xfe", r#""\\xff\\xfe""#),
            (b"back\\slash", r#""back\\slash""#),
            ("\u{2028}\u{2029}".as_bytes(), r#""\u2028\u2029""#),
            ("\u{7f}\u{9b}31m".as_bytes(), r#""\u007f\u009b31m""#),
            ("\u{202e}cod.exe".as_bytes(), r#""\u202ecod.exe""#),
            ("订单".as_bytes(), "\"订单\""),
        ] {
            assert_eq!(written(text), expected);
        }
    }

    // case: LG-01
    #[test]
    fn the_fast_look_agrees_with_the_slow_one_on_every_byte_in_every_place() {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=255_u8 {
                    let mut text = vec![b'a'; length];
                    text[place] = byte;
                    let plain = (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
                    assert_eq!(is_plain(&text), plain, "{byte:#x} at {place} of {length}");
                }
            }
        }
        assert!(is_plain(b""));
    }

    // case: LG-01
    #[test]
    fn a_value_that_is_too_long_is_cut_between_characters() {
        assert_eq!(written(&[b'a'; 1024]).len(), 1026);
        assert_eq!(
            written(&[b'a'; 10_000]),
            format!("\"{}…+8976\"", "a".repeat(1024))
        );
        let wide = "订".repeat(400);
        assert_eq!(
            written(wide.as_bytes()),
            format!("\"{}…+177\"", "订".repeat(341))
        );
        let invalid = [0x80; 2000];
        assert_eq!(
            written(&invalid),
            format!("\"{}…+976\"", r"\\x80".repeat(1024))
        );
    }
}
