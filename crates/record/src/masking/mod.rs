//! What must never be read in a log: credentials, phone numbers, identity card numbers (OB-14, SE-25).
//!
//! Three scanners look for it: numbers, credentials by their form, and values by their name. On text
//! that has nothing of the kind each of them is one vectorised search, and nothing is copied.

mod credential;
mod names;
mod number;
mod pair;

use std::{iter::Peekable, ops::Range};

use self::{credential::Credentials, names::Names, number::Numbers, pair::Pairs};
use crate::json::Value;

pub use self::names::SENSITIVE_NAMES;

/// Hides secrets in free text.
#[derive(Debug, Clone)]
pub struct Masking {
    names: Names,
}

impl Default for Masking {
    fn default() -> Self {
        Self::with_names([])
    }
}

impl Masking {
    /// Masks the values of [`SENSITIVE_NAMES`] and of these. Case, `_` and `-` make no difference,
    /// and a name of five letters or more also covers the names that end in it.
    pub fn with_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            names: Names::new(SENSITIVE_NAMES.iter().copied().chain(names)),
        }
    }

    /// A request target as it came. What stands before the host in the absolute form goes too.
    pub(crate) fn target(&self, target: &[u8], value: &mut Value<'_>) {
        let target = match user_information(target) {
            Some(range) => {
                value.text(target.get(..range.start).unwrap_or_default());
                value.mask();
                target.get(range.end..).unwrap_or_default()
            }
            None => target,
        };
        let query = memchr::memchr(b'?', target).map_or(target.len(), |mark| mark + 1);
        self.show(target, query, value);
    }

    /// Any other text.
    pub(crate) fn text(&self, text: &[u8], value: &mut Value<'_>) {
        self.show(text, text.len(), value);
    }

    /// From `query` on, a raw `&` is all that ends a value.
    fn show(&self, text: &[u8], query: usize, value: &mut Value<'_>) {
        let mut secrets = Secrets {
            pairs: Pairs::new(text, query, &self.names).peekable(),
            credentials: Credentials::new(text).peekable(),
            numbers: Numbers::new(text).peekable(),
        };
        let mut shown = 0;
        while !value.is_full()
            && let Some(secret) = secrets.next_from(shown)
        {
            value.text(text.get(shown..secret.start).unwrap_or_default());
            value.mask();
            shown = secret.end;
        }
        value.text(text.get(shown..).unwrap_or_default());
    }
}

/// The finds of all scanners in order; each scanner passes over the text once.
struct Secrets<'a> {
    pairs: Peekable<Pairs<'a>>,
    credentials: Peekable<Credentials<'a>>,
    numbers: Peekable<Numbers<'a>>,
}

impl Secrets<'_> {
    /// The next secret at or after `from`. One that overlaps what is hidden already gives its rest.
    fn next_from(&mut self, from: usize) -> Option<Range<usize>> {
        let nearest = [
            peek(&mut self.pairs, from),
            peek(&mut self.credentials, from),
            peek(&mut self.numbers, from),
        ];
        nearest
            .into_iter()
            .flatten()
            .min_by_key(|range| range.start)
    }
}

fn peek(
    finds: &mut Peekable<impl Iterator<Item = Range<usize>>>,
    from: usize,
) -> Option<Range<usize>> {
    while finds.next_if(|find| find.end <= from).is_some() {}
    let find = finds.peek()?;
    Some(find.start.max(from)..find.end)
}

/// `user:password@` in `scheme://user:password@host/`.
fn user_information(target: &[u8]) -> Option<Range<usize>> {
    if target.first() == Some(&b'/') {
        return None;
    }
    let start = memchr::memmem::find(target, b"://")? + 3;
    let authority = target.get(start..)?;
    let end = authority
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let authority = authority.get(..end.unwrap_or(authority.len()))?;
    let at = memchr::memrchr(b'@', authority)?;
    Some(start..start + at)
}

/// Whether a byte can stand in a name.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests;
