//! How a value is written so that it stays a value.

/// Where a value is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// As it is.
    Nothing,
    /// Text of HTML or XML, attributes included.
    Markup,
    /// The inside of a JSON string.
    Json,
    /// One component of a URL: all but unreserved characters (RFC 3986 §2.3).
    Component,
}

impl Escape {
    pub(crate) fn write(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Nothing => out.extend_from_slice(value),
            Self::Markup => markup(value, out),
            Self::Json => json(value, out),
            Self::Component => component(value, out),
        }
    }
}

fn markup(value: &[u8], out: &mut Vec<u8>) {
    for character in String::from_utf8_lossy(value).chars() {
        let entity = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            other => {
                out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        out.extend_from_slice(entity.as_bytes());
    }
}

fn json(value: &[u8], out: &mut Vec<u8>) {
    for character in String::from_utf8_lossy(value).chars() {
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            // `<` could end a script element that carries the JSON.
            '<' | '\0'..='\x1f' => {
                out.extend_from_slice(b"\\u00");
                let byte = u32::from(character) & 0xff;
                out.extend([byte >> 4, byte & 0xf].map(|digit| hex(digit, b'a')));
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn component(value: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            let byte = u32::from(byte);
            out.push(b'%');
            out.extend([byte >> 4, byte & 0xf].map(|digit| hex(digit, b'A')));
        }
    }
}

/// A hexadecimal digit; `ten` is the letter for 10.
fn hex(digit: u32, ten: u8) -> u8 {
    let digit = u8::try_from(digit).unwrap_or_default();
    match digit {
        0..=9 => b'0' + digit,
        _ => ten + (digit - 10),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(escape: Escape, value: &[u8]) -> String {
        let mut out = Vec::new();
        escape.write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_value_cannot_leave_its_place() {
        assert_eq!(
            written(Escape::Markup, br#"<a href='x'>"&"#),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"
        );
        assert_eq!(
            written(Escape::Json, b"a\"b\\\n</script>"),
            r#"a\"b\\\u000a\u003c/script>"#
        );
        assert_eq!(
            written(Escape::Component, "/a b?c=d%20&é".as_bytes()),
            "%2Fa%20b%3Fc%3Dd%2520%26%C3%A9"
        );
        assert_eq!(written(Escape::Json, b"\xff"), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn json_reads_back_what_was_written(text in ".*") {
            let quoted = format!("\"{}\"", written(Escape::Json, text.as_bytes()));

            prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        }
    }
}
