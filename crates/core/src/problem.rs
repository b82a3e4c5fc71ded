//! What is wrong with a configuration, where, and what would be right.

use serde::Serialize;

/// One mistake in a document; all of them are reported together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// RFC 6901 pointer to the place, such as `/routes/3/upstream`.
    pub pointer: String,
    /// A stable word for the kind of mistake.
    pub code: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, message: message.into(), expected: None }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// The same problem seen from further out: `prefix` goes before the pointer.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }
}
