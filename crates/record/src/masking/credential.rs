//! Credentials that are known by their form: `Bearer …`, `Basic …`, and JSON Web Tokens.

use std::ops::Range;

/// Shorter words after `Bearer` are prose.
const SHORTEST: usize = 8;
/// Longer ones are credentials even without a digit or a capital letter.
const CERTAIN: usize = 20;

/// Finds what authentication schemes send.
#[derive(Debug)]
pub(super) struct Credentials<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Credentials<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Credentials<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.text.get(self.at..)?;
            // The letters with which a scheme or, behind `ey`, a JWT begins.
            let hit = self.at + memchr::memchr3(b'B', b'b', b'J', rest)?;
            self.at = hit + 1;
            let found = match self.text.get(hit) {
                Some(b'J') => web_token(self.text, hit),
                _ => after_scheme(self.text, hit),
            };
            if let Some(found) = found {
                self.at = found.end;
                return Some(found);
            }
        }
    }
}

/// `eyJ` is `{"` in base64url: the header of a JWS or JWE in compact form, with dots between its parts.
fn web_token(text: &[u8], capital: usize) -> Option<Range<usize>> {
    let start = capital.checked_sub(2)?;
    let token = text.get(start..)?;
    if !token.starts_with(b"eyJ") {
        return None;
    }
    let length = token
        .iter()
        .take_while(|byte| super::is_word(**byte) || **byte == b'.')
        .count();
    let dot = memchr::memchr(b'.', token.get(..length)?)?;
    (dot >= SHORTEST).then_some(start..start + length)
}

fn after_scheme(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let length = [&b"bearer"[..], b"basic"]
        .into_iter()
        .find(|scheme| {
            rest.get(..scheme.len())
                .is_some_and(|word| word.eq_ignore_ascii_case(scheme))
        })?
        .len();
    let rest = rest.get(length..)?;
    let gap = separator(rest)?;
    let token = rest.get(gap..)?;
    let end = token.iter().take_while(|byte| is_token68(**byte)).count();
    let token = token.get(..end)?;
    let looks_random = token
        .iter()
        .skip(1)
        .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let secret = token.len() >= CERTAIN || (token.len() >= SHORTEST && looks_random);
    let start = start + length + gap;
    secret.then_some(start..start + end)
}

/// Blanks in any of the forms in which they stand in a header or a target.
fn separator(text: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        let rest = text.get(length..)?;
        length += match rest {
            [b' ' | b'+' | b':' | b'=' | b'"', ..] => 1,
            [b'%', b'2', b'0', ..] | [b'%', b'3', b'A' | b'a' | b'D' | b'd', ..] => 3,
            _ => return (length > 0).then_some(length),
        };
    }
}

/// `token68` (RFC 9110, §11.2), and the percent sign of its escapes in a target.
fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'%')
}
