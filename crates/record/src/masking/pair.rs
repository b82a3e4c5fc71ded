//! Values that are secret because of their names: `token=…`, `"phone":"…"`, `sign%3D…`.

use std::ops::Range;

use super::names::Names;

/// Finds the values of sensitive names.
#[derive(Debug)]
pub(super) struct Pairs<'a> {
    text: &'a [u8],
    /// Where the query of a target begins; the end, when there is none.
    query: usize,
    names: &'a Names,
    at: usize,
    /// Where the name that comes next can begin at the earliest.
    bound: usize,
}

/// What stands between name and value, and so how the value ends.
#[derive(Debug, Clone, Copy)]
enum Separator {
    /// `=` of a query parameter: everything up to the next parameter is its value.
    Parameter,
    /// `=` anywhere else.
    Equals,
    /// `%3D`: a parameter of a target inside a target.
    Encoded,
    /// `:`, plain or encoded, as in JSON.
    Colon,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(text: &'a [u8], query: usize, names: &'a Names) -> Self {
        Self {
            text,
            query,
            names,
            at: 0,
            bound: 0,
        }
    }

    /// The separator at `at`, and its length.
    fn separator(&self, at: usize) -> Option<(Separator, usize)> {
        match self.text.get(at..)? {
            [b'=', ..] if at >= self.query => Some((Separator::Parameter, 1)),
            [b'=', ..] => Some((Separator::Equals, 1)),
            [b':', ..] => Some((Separator::Colon, 1)),
            [b'%', b'3', b'D' | b'd', ..] => Some((Separator::Encoded, 3)),
            [b'%', b'3', b'A' | b'a', ..] => Some((Separator::Colon, 3)),
            _ => None,
        }
    }

    /// What stands before a separator, back to something that no name has.
    fn name(&self, end: usize) -> &'a [u8] {
        let before = self.text.get(self.bound..end).unwrap_or_default();
        let blanks = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let before = before.get(..before.len() - blanks).unwrap_or_default();
        let stop = |byte: &u8| {
            matches!(
                byte,
                b'&' | b'?' | b';' | b',' | b'{' | b'/' | b'=' | b' ' | b'('
            )
        };
        let start = before.iter().rposition(stop).map_or(0, |stop| stop + 1);
        before.get(start..).unwrap_or_default()
    }

    fn value(&self, start: usize, separator: Separator) -> Range<usize> {
        let rest = self.text.get(start..).unwrap_or_default();
        let length = match separator {
            Separator::Parameter => until(rest, |tail| matches!(tail, [b'&' | b'#', ..])),
            Separator::Encoded => until(rest, |tail| {
                matches!(tail, [b'&' | b'#', ..] | [b'%', b'2', b'6', ..])
            }),
            Separator::Equals => words(rest),
            Separator::Colon => {
                let gap = opening(rest);
                let opened = rest.get(..gap).unwrap_or_default();
                let rest = rest.get(gap..).unwrap_or_default();
                let length = match (opened.last(), rest.first()) {
                    (Some(b'"'), _) => json_text(rest),
                    _ if ends_in_quote(opened) => until(rest, is_quote),
                    (_, Some(b'{' | b'[')) => json_group(rest),
                    _ => words(rest),
                };
                return start + gap..start + gap + length;
            }
        };
        start..start + length
    }
}

impl Iterator for Pairs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.text.get(self.at..)?;
            let hit = self.at + memchr::memchr3(b'=', b':', b'%', rest)?;
            let Some((separator, length)) = self.separator(hit) else {
                self.at = hit + 1;
                continue;
            };
            self.at = hit + length;
            let before = self.text.get(..hit)?;
            if !(self.names.may_end(before) && self.names.contain(self.name(hit))) {
                // The next name may not reach back over this one: that would make long text quadratic.
                self.bound = hit;
                continue;
            }
            let value = self.value(self.at, separator);
            self.at = value.end;
            self.bound = value.end;
            if !value.is_empty() {
                return Some(value);
            }
        }
    }
}

/// A word; two, when the first is only an authentication scheme.
fn words(text: &[u8]) -> usize {
    let first = until(text, ends_word);
    let Some((word, [b' ', rest @ ..])) = text.split_at_checked(first) else {
        return first;
    };
    let is_scheme = [&b"bearer"[..], b"basic", b"digest"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme));
    if is_scheme {
        first + 1 + until(rest, ends_word)
    } else {
        first
    }
}

fn until(text: &[u8], mut ends: impl FnMut(&[u8]) -> bool) -> usize {
    (0..text.len())
        .find(|at| ends(text.get(*at..).unwrap_or_default()))
        .unwrap_or(text.len())
}

fn ends_word(tail: &[u8]) -> bool {
    is_quote(tail)
        || matches!(
            tail,
            [
                b' ' | b'&'
                    | b','
                    | b';'
                    | b'}'
                    | b')'
                    | b']'
                    | b'>'
                    | b'#'
                    | b'\t'
                    | b'\r'
                    | b'\n',
                ..
            ] | [b'%', b'2', b'0' | b'6' | b'C' | b'c', ..]
                | [b'%', b'7', b'D' | b'd', ..]
        )
}

fn is_quote(tail: &[u8]) -> bool {
    matches!(tail, [b'"' | b'\'', ..] | [b'%', b'2', b'2', ..])
}

fn ends_in_quote(gap: &[u8]) -> bool {
    gap.ends_with(b"\"") || gap.ends_with(b"'") || gap.ends_with(b"%22")
}

/// Blanks and an opening quote after a colon.
fn opening(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length += match text.get(length..) {
            Some([b' ' | b'+' | b'\t' | b'\r' | b'\n', ..]) => 1,
            Some([b'%', b'2', b'0', ..]) => 3,
            Some([b'"' | b'\'', ..]) => return length + 1,
            Some([b'%', b'2', b'2', ..]) => return length + 3,
            _ => return length,
        };
    }
}

/// The inside of a JSON string, up to the quote that ends it.
fn json_text(text: &[u8]) -> usize {
    let mut escaped = false;
    until(text, |tail| {
        let ends = !escaped && tail.first() == Some(&b'"');
        escaped = !escaped && tail.first() == Some(&b'\\');
        ends
    })
}

/// An array or object of JSON, its brackets included; everything, when it does not end.
fn json_group(text: &[u8]) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}
