//! What users want hidden besides: their own patterns, compiled once per snapshot (OB-16, SE-29).

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

/// The longest pattern a user may write.
const LONGEST: usize = 1_000;
/// Memory of one compiled pattern; a pattern that needs more repeats too much.
const COMPILED: usize = 1 << 20;
/// Memory for what a pattern learns while it searches; beyond it goes slower, still in linear time.
const LEARNED: usize = 2 << 20;

/// One pattern and what stands in the place of what it finds.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    replace: Box<[u8]>,
}

/// Why something cannot be a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPattern {
    /// The field it is about: `regex` or `replace`.
    pub field: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub expected: &'static str,
}

impl Pattern {
    /// Compiles a pattern. Searching takes time in proportion to the text, whatever the pattern.
    ///
    /// # Errors
    /// It is no regular expression, too large, finds nothing in particular, or `replace` names a
    /// group that it does not have.
    pub fn new(regex: &str, replace: &str) -> Result<Self, BadPattern> {
        let bad = |message: String, expected| BadPattern {
            field: "regex",
            message,
            expected,
        };
        if regex.len() > LONGEST {
            let message = format!("the pattern has {} characters", regex.len());
            return Err(bad(message, "at most 1000"));
        }
        let compiled = RegexBuilder::new(regex)
            .size_limit(COMPILED)
            .dfa_size_limit(LEARNED)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => bad(
                    "the pattern is too large when compiled".to_owned(),
                    "fewer or shorter repetitions",
                ),
                error => bad(reason(&error), "a regular expression without look-around"),
            })?;
        if compiled.is_match(b"") {
            return Err(bad(
                "the pattern also finds the empty text".to_owned(),
                "a pattern that needs at least one character",
            ));
        }
        if let Some(group) = unknown_group(&compiled, replace) {
            return Err(BadPattern {
                field: "replace",
                message: format!("the pattern has no group `{group}`"),
                expected: "$1 or ${name} of a group in the pattern; $$ for a dollar sign",
            });
        }
        Ok(Self {
            regex: compiled,
            replace: replace.as_bytes().into(),
        })
    }
}

/// The last line of the message tells why; the lines before draw the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

/// The first reference to a group that is not there; it would silently become nothing.
fn unknown_group<'a>(regex: &Regex, replace: &'a str) -> Option<&'a str> {
    let mut rest = replace;
    while let Some((_, behind)) = rest.split_once('$') {
        if let Some(behind) = behind.strip_prefix('$') {
            rest = behind;
            continue;
        }
        let braced = behind
            .strip_prefix('{')
            .and_then(|inner| inner.split_once('}'));
        let (name, behind) = braced.unwrap_or_else(|| {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            behind.split_at(behind.find(|c| !is_name(c)).unwrap_or(behind.len()))
        });
        let known = match name.parse::<usize>() {
            Ok(number) => number < regex.captures_len(),
            Err(_) => regex.capture_names().flatten().any(|known| known == name),
        };
        if !name.is_empty() && !known {
            return Some(name);
        }
        rest = behind;
    }
    None
}

/// Something that a pattern found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) range: Range<usize>,
    pub(super) replace: Vec<u8>,
}

/// What all patterns find in a text, by its place; of finds that begin together the longest first.
pub(super) fn finds(patterns: &[Pattern], text: &[u8]) -> Vec<Find> {
    let mut finds = Vec::new();
    for pattern in patterns {
        for captures in pattern.regex.captures_iter(text) {
            let Some(whole) = captures.get(0).filter(|whole| !whole.is_empty()) else {
                continue;
            };
            let mut replace = Vec::new();
            captures.expand(&pattern.replace, &mut replace);
            finds.push(Find {
                range: whole.range(),
                replace,
            });
        }
    }
    finds.sort_by_key(|find| (find.range.start, usize::MAX - find.range.end));
    finds
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: OB-16, SE-29
    #[test]
    fn a_pattern_that_cannot_work_is_refused_with_the_reason() {
        for (regex, replace, field, message) in [
            ("(a", "", "regex", "unclosed group"),
            ("a*", "", "regex", "the pattern also finds the empty text"),
            ("(?=a)b", "", "regex", "look-around"),
            (
                "(?:[a-z]{900}){900}",
                "",
                "regex",
                "too large when compiled",
            ),
            ("a", "$1", "replace", "no group `1`"),
            ("(?<n>a)", "${m}", "replace", "no group `m`"),
        ] {
            let bad = Pattern::new(regex, replace).unwrap_err();
            assert_eq!(bad.field, field, "{regex}");
            assert!(bad.message.contains(message), "{regex}: {}", bad.message);
        }
        let long = "a".repeat(LONGEST + 1);
        assert!(
            Pattern::new(&long, "")
                .unwrap_err()
                .message
                .contains("1001")
        );
        for (regex, replace) in [
            ("a", "$$5"),
            ("(a)", "$1"),
            ("(?<n>a)", "<${n}>"),
            ("a", "5$"),
        ] {
            assert!(Pattern::new(regex, replace).is_ok(), "{regex} {replace}");
        }
    }

    #[test]
    fn finds_stand_in_their_order() {
        let patterns = [("b+", "B"), ("a(b)", "<$1>")].map(|(r, t)| Pattern::new(r, t).unwrap());

        let found = finds(&patterns, b"abb b");

        let told: Vec<_> = found
            .iter()
            .map(|find| (find.range.clone(), &*find.replace))
            .collect();
        assert_eq!(told, [(0..2, &b"<b>"[..]), (1..3, b"B"), (4..5, b"B")]);
    }
}
