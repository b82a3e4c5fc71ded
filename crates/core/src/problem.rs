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
    /// The word that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            code,
            message: message.into(),
            expected: None,
            suggestion: None,
        }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds the word that was probably meant, if there is one.
    #[must_use]
    pub fn suggesting(mut self, suggestion: Option<&str>) -> Self {
        self.suggestion = suggestion.map(Into::into);
        self
    }

    /// The same problem seen from further out: `prefix` goes before the pointer.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }
}

/// The candidate that `word` was probably meant to be: at most one edit for every three characters
/// (inserting, deleting, replacing one or exchanging two neighbours).
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = word.chars().count().div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance, row by row.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, character) in from.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, target) in to.iter().enumerate() {
            let at =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&above, column) + usize::from(character != *target);
            let mut best = replaced
                .min(at(&above, column + 1) + 1)
                .min(at(&current, column) + 1);
            let left = column.checked_sub(1).and_then(|index| to.get(index));
            if previous == Some(*target) && left == Some(&character) {
                best = best.min(at(&before, column - 1) + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
        previous = Some(character);
    }
    above.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        let known = ["request_id", "trace_context", "header_rewrite"];

        assert_eq!(closest("reqest_id", known), Some("request_id"));
        assert_eq!(closest("trace_contxet", known), Some("trace_context"));
        assert_eq!(closest("cors", known), None);
        assert_eq!(edits("ab", "ba"), 1);
        assert_eq!(edits("", "abc"), 3);
    }
}
