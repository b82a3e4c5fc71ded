//! A few texts that a regular expression matches, found without solving it.

use regex_syntax::hir::{Class, Hir, HirKind};

/// How many different ways are gone through a pattern.
const WAYS: usize = 5;
/// Longer ones would not be read.
const LONGEST: usize = 256;

/// Candidates to be tried: an assertion within the pattern is not looked at.
pub(super) fn candidates(pattern: &str) -> Vec<String> {
    let Ok(tree) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for way in 0..WAYS {
        let mut text = Vec::new();
        if write(&tree, way, &mut text).is_none() {
            continue;
        }
        if let Ok(text) = String::from_utf8(text)
            && !found.contains(&text)
        {
            found.push(text);
        }
    }
    found
}

fn write(tree: &Hir, way: usize, out: &mut Vec<u8>) -> Option<()> {
    if out.len() > LONGEST {
        return None;
    }
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend_from_slice(&literal.0),
        HirKind::Class(class) => out.extend_from_slice(letter(class, way)?.as_bytes()),
        HirKind::Capture(capture) => write(&capture.sub, way, out)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, way, out)?;
            }
        }
        HirKind::Alternation(parts) => write(parts.get(way % parts.len())?, way, out)?,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let wanted = repetition.min.max(u32::try_from((way + 1) % 3).ok()?);
            for _ in 0..wanted.min(most) {
                write(&repetition.sub, way, out)?;
            }
        }
    }
    Some(())
}

/// A member of a class, a letter or digit if it has one.
fn letter(class: &Class, way: usize) -> Option<String> {
    const LIKED: [char; 9] = ['1', 'a', 'x', '2', 'A', 'b', '0', '-', '_'];
    let has = |wanted: char| match class {
        Class::Unicode(class) => class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(&wanted)),
        Class::Bytes(class) => u8::try_from(wanted).is_ok_and(|wanted| {
            let mut ranges = class.iter();
            ranges.any(|range| (range.start()..=range.end()).contains(&wanted))
        }),
    };
    let liked: Vec<char> = LIKED.into_iter().filter(|one| has(*one)).collect();
    if !liked.is_empty() {
        return liked.get(way % liked.len()).map(char::to_string);
    }
    match class {
        Class::Unicode(class) => {
            let range = class.ranges().get(way % class.ranges().len().max(1))?;
            Some(range.start().to_string())
        }
        Class::Bytes(class) => {
            let range = class.ranges().get(way % class.ranges().len().max(1))?;
            let first = range.start();
            first.is_ascii().then(|| char::from(first).to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::candidates;
    use regex::Regex;

    #[test]
    fn usual_patterns_give_texts_that_they_match() {
        for pattern in [
            r"\A(?:v[0-9]+)\z",
            r"\A(?:gray|canary)\z",
            r"\A(?:Bearer [A-Za-z0-9._-]{20,})\z",
            r"\A(?:.*curl.*)\z",
            r"\A(?:(?i)mobile)\z",
            r"\A(?:[^;]+)\z",
            r"\A(?:\d{3}-\d{4})\z",
        ] {
            let regex = Regex::new(pattern).unwrap();

            assert!(
                candidates(pattern).iter().any(|text| regex.is_match(text)),
                "{pattern}"
            );
        }
    }
}
