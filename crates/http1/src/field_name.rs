//! `FieldName`: the name of a field, checked once.

use crate::fields::InvalidField;
use crate::known::Known;
use crate::octets::is_token_text;

/// A field name that edits need not check again: what it is made of, and whether it is one of the
/// names that framing or the connection depends on, was found out when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldName {
    text: Box<str>,
    last: u8,
    known: Known,
}

impl FieldName {
    /// A name in the case in which it is to be written.
    ///
    /// # Errors
    ///
    /// It is not a token, or longer than a head can be.
    pub fn new(text: &str) -> Result<Self, InvalidField> {
        if !is_token_text(text.as_bytes()) || u16::try_from(text.len()).is_err() {
            return Err(InvalidField);
        }
        Ok(Self {
            text: text.into(),
            last: last_of(text.as_bytes()),
            known: Known::of(text.as_bytes()),
        })
    }

    /// A name that stands in our own code, where a test would see that it is none.
    pub fn of_ours(text: &'static str) -> Self {
        debug_assert!(
            is_token_text(text.as_bytes()),
            "`{text}` is not a field name"
        );
        Self {
            text: text.into(),
            last: last_of(text.as_bytes()),
            known: Known::of(text.as_bytes()),
        }
    }

    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn borrowed(&self) -> Name<'_> {
        Name {
            text: self.text.as_bytes(),
            last: self.last,
            known: self.known,
        }
    }
}

/// A name with what is asked about it for every line.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) text: &'a [u8],
    /// Its last byte in lower case: tells most names of one length apart.
    pub(crate) last: u8,
    pub(crate) known: Known,
}

impl<'a> Name<'a> {
    /// A name of which nothing is known.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            last: last_of(text),
            known: Known::of(text),
        }
    }
}

pub(crate) fn last_of(name: &[u8]) -> u8 {
    name.last().map_or(0, u8::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_token_and_keeps_its_case() {
        assert_eq!(
            FieldName::new("X-Id").map(|n| n.as_str().to_owned()),
            Ok("X-Id".to_owned())
        );
        for bad in ["", "X Y", "X:", "X\r\n", "Größe", &"x".repeat(70_000)] {
            assert_eq!(FieldName::new(bad), Err(InvalidField), "{bad:.9}");
        }
    }
}
