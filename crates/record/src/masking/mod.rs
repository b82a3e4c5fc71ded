//! What must never be read in a log: credentials, phone numbers, identity card numbers (OB-14, SE-25).
//!
//! Three scanners look for it: numbers, credentials by their form, and values by their name. On text
//! that has nothing of the kind each of them is one vectorised search, and nothing is copied.

mod credential;
mod names;
mod number;
mod pair;
mod pattern;

use std::{iter::Peekable, ops::Range};

use self::{credential::Credentials, names::Names, number::Numbers, pair::Pairs, pattern::finds};
use crate::json::{Value, whole_characters};

pub use self::{
    names::SENSITIVE_NAMES,
    pattern::{BadPattern, Pattern},
};

/// Hides secrets in free text.
#[derive(Debug, Clone)]
pub struct Masking {
    names: Names,
    patterns: Vec<Pattern>,
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
            patterns: Vec::new(),
        }
    }

    /// Hides what these find as well, in every text of the record.
    #[must_use]
    pub fn and_patterns(mut self, patterns: Vec<Pattern>) -> Self {
        self.patterns = patterns;
        self
    }

    /// Whether the value of a field or parameter with this name is never shown.
    pub fn covers(&self, name: &str) -> bool {
        self.names.contain(name.as_bytes())
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
        self.show(target, (query, target.len()), value);
    }

    /// A query, without its question mark.
    pub(crate) fn query(&self, query: &[u8], value: &mut Value<'_>) {
        self.show(query, (0, query.len()), value);
    }

    /// Any other text.
    pub(crate) fn text(&self, text: &[u8], value: &mut Value<'_>) {
        self.show(text, (text.len(), text.len()), value);
    }

    /// The first `limit` bytes of a body. What comes behind them is looked at too, so that a secret
    /// which the limit cuts in two is known.
    pub(crate) fn body(&self, text: &[u8], is_form: bool, limit: usize, value: &mut Value<'_>) {
        let shown = whole_characters(text.get(..limit).unwrap_or(text)).len();
        let query = if is_form { 0 } else { text.len() };
        self.show(text, (query, shown), value);
    }

    /// Shows what stands before `end`. From `query` on, a raw `&` is all that ends a value.
    fn show(&self, text: &[u8], (query, end): (usize, usize), value: &mut Value<'_>) {
        let mut own = if self.patterns.is_empty() {
            Vec::new()
        } else {
            finds(&self.patterns, text)
        }
        .into_iter()
        .peekable();
        let mut secrets = Secrets {
            pairs: Pairs::new(text, query, &self.names).peekable(),
            credentials: Credentials::new(text).peekable(),
            numbers: Numbers::new(text).peekable(),
        };
        let mut shown = 0;
        while !value.is_full() {
            while own.next_if(|find| find.range.end <= shown).is_some() {}
            let begins = |range: &Range<usize>| range.start.max(shown);
            let secret = secrets.next_from(shown).filter(|secret| secret.start < end);
            let find = own.next_if(|find| {
                let start = begins(&find.range);
                start < end && secret.as_ref().is_none_or(|secret| start < secret.start)
            });
            let hidden = match (&find, secret) {
                (Some(find), _) => begins(&find.range)..find.range.end,
                (None, Some(secret)) => secret,
                (None, None) => break,
            };
            value.text(text.get(shown..hidden.start).unwrap_or_default());
            match find {
                Some(find) if find.range.start >= shown => value.text(&find.replace),
                Some(_) | None => value.mask(),
            }
            shown = hidden.end;
        }
        value.text(text.get(shown..end).unwrap_or_default());
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
