//! Samples of the values of one header, parameter or cookie that keep their sides.
//!
//! A client may send a header twice, and one value that passes is enough. So `a` and `b` can both
//! be asked of one header; a sample has one value if that can be, else one for each test.

use crate::predicate::Test;

use super::pattern;
use super::sides::{Sample, Sides};

/// Where a condition looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Header,
    Query,
    Cookie,
}

const USUAL: [&str; 6] = ["1", "x", "2", "other", "Zz9", ""];

/// Values for one name; empty when it has to be absent, or need not be there.
pub(super) fn sample(kind: Kind, sides: &Sides<&Test>) -> Sample<Vec<String>> {
    let asks_absence = |test: &&Test| matches!(test, Test::Present(false));
    let asks_presence = |test: &&Test| !asks_absence(test);
    let says_present = |test: &&Test| matches!(test, Test::Present(true));
    let is_absent = sides.held.iter().any(asks_absence) || sides.broken.iter().any(says_present);
    let is_present = sides.held.iter().any(asks_presence) || sides.broken.iter().any(asks_absence);
    match (is_absent, is_present) {
        (true, true) => return Sample::None,
        (_, false) => return Sample::One(Vec::new()),
        (false, true) => {}
    }

    let is_free = |value: &str| {
        let broken = sides.broken.iter().filter(|test| !asks_absence(test));
        can_be_sent(kind, value)
            && !broken
                .into_iter()
                .any(|test| test.accepts(value.as_bytes()))
    };
    let passes_all = |value: &String| {
        is_free(value) && sides.held.iter().all(|test| test.accepts(value.as_bytes()))
    };
    let candidates: Vec<Vec<String>> = sides.held.iter().map(|test| of(test)).collect();
    let usual = || USUAL.into_iter().map(ToOwned::to_owned);
    let alone = candidates
        .iter()
        .flatten()
        .cloned()
        .chain(usual())
        .find(passes_all);
    if let Some(value) = alone {
        return Sample::One(vec![value]);
    }

    let mut values: Vec<String> = Vec::new();
    for (test, candidates) in sides.held.iter().zip(&candidates) {
        if values.iter().any(|value| test.accepts(value.as_bytes())) {
            continue;
        }
        match candidates.iter().find(|value| is_free(value)) {
            Some(value) => values.push(value.clone()),
            None if is_taken_away(test, &sides.broken) => return Sample::None,
            None => return Sample::Unknown,
        }
    }
    if values.is_empty() {
        // Present, but every value that was thought of is taken.
        return Sample::Unknown;
    }
    Sample::One(values)
}

/// Whether a broken test accepts all that a held one does.
fn is_taken_away(held: &Test, broken: &[&Test]) -> bool {
    broken
        .iter()
        .any(|test| implies(held, test) && !matches!(test, Test::Present(_)))
}

/// Whether whoever passes the one passes the other; `false` also when nobody knows.
pub(super) fn implies(one: &Test, other: &Test) -> bool {
    match (one, other) {
        (Test::Present(one), Test::Present(other)) => one == other,
        (Test::Equals(_) | Test::Matches(_), Test::Present(is_present)) => *is_present,
        (Test::Equals(value), Test::Equals(_) | Test::Matches(_)) => {
            other.accepts(value.as_bytes())
        }
        (Test::Matches(one), Test::Matches(other)) => one.as_str() == other.as_str(),
        (Test::Matches(_) | Test::Present(_), Test::Equals(_))
        | (Test::Present(_), Test::Matches(_)) => false,
    }
}

/// Whether values can pass both: `Some(true)` when one value can, `Some(false)` when only two
/// can, `None` when none do.
pub(super) fn meet(one: &Test, other: &Test) -> Option<bool> {
    match (one, other) {
        (Test::Present(one), Test::Present(other)) => (one == other).then_some(true),
        (Test::Present(is_present), _) | (_, Test::Present(is_present)) => {
            is_present.then_some(true)
        }
        (Test::Equals(value), other) | (other, Test::Equals(value)) => {
            Some(other.accepts(value.as_bytes()))
        }
        (Test::Matches(_), Test::Matches(_)) => Some(true),
    }
}

fn of(test: &Test) -> Vec<String> {
    match test {
        Test::Equals(value) => vec![value.clone()],
        Test::Matches(regex) => pattern::candidates(regex.as_str())
            .into_iter()
            .filter(|text| regex.is_match(text))
            .collect(),
        Test::Present(_) => USUAL.into_iter().map(ToOwned::to_owned).collect(),
    }
}

/// Whether a value arrives as it was sent.
fn can_be_sent(kind: Kind, value: &str) -> bool {
    match kind {
        Kind::Query => true,
        Kind::Header | Kind::Cookie => {
            let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
            let may_hold = |byte: u8| kind == Kind::Header || byte != b';';
            value.trim_ascii() == value
                && value.bytes().all(|byte| is_plain(byte) && may_hold(byte))
        }
    }
}
