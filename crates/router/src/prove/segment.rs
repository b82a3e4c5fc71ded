//! Samples of one path segment that keep their sides.

use crate::normal_form::{Normal, normalize};
use crate::template::Segment;

use super::sides::{Sample, Sides};

const FILLERS: [&str; 6] = ["1", "x", "2", "y", "ab", "x7"];

/// A segment; an empty one only where the path may end with a slash.
pub(super) fn sample(sides: &Sides<&Segment>, may_be_empty: bool) -> Sample<String> {
    let keeps = |text: &str| is_segment(text, may_be_empty) && sides.keeps(|one| one.takes(text));
    let one_or_none = |found: Option<String>| found.map_or(Sample::None, Sample::One);

    let literal = sides.held.iter().find_map(|segment| match segment {
        Segment::Literal(text) => Some(text.to_string()),
        Segment::Parameter { .. } => None,
    });
    if literal.is_some() {
        return one_or_none(literal.filter(|text| keeps(text)));
    }
    let Some((prefix, suffix)) = around(sides.held.iter().copied()) else {
        return Sample::None;
    };

    let usual = FILLERS
        .iter()
        .map(|filler| format!("{prefix}{filler}{suffix}"));
    if let Some(found) = usual
        .chain(overlapping(prefix, suffix))
        .find(|one| keeps(one))
    {
        return Sample::One(found);
    }
    let takes_all = |one: &&Segment| is_within(prefix, suffix, one);
    if sides.broken.iter().any(takes_all) {
        // What is longer than both texts is taken; all that is not has been tried.
        let empty = (sides.held.is_empty() && keeps("")).then(String::new);
        return one_or_none(empty);
    }
    // Longer than every literal, and neither beginning nor ending as a form would have it.
    let longest = sides.broken.iter().map(|one| length(one)).max();
    let found = ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .map(|letter| {
            let filler = letter.to_string().repeat(longest.unwrap_or(0) + 1);
            format!("{prefix}{filler}{suffix}")
        })
        .find(|one| keeps(one));
    found.map_or(Sample::Unknown, Sample::One)
}

/// Whether one takes all that the other takes.
pub(super) fn covers(broad: &Segment, narrow: &Segment) -> bool {
    match narrow {
        Segment::Literal(text) => broad.takes(text),
        Segment::Parameter { prefix, suffix, .. } => is_within(prefix, suffix, broad),
    }
}

/// Whether some segment is taken by both.
pub(super) fn meet(one: &Segment, other: &Segment) -> bool {
    match (one, other) {
        (Segment::Literal(text), other) | (other, Segment::Literal(text)) => other.takes(text),
        (Segment::Parameter { .. }, Segment::Parameter { .. }) => {
            around([one, other].into_iter()).is_some()
        }
    }
}

/// Whether all segments with these texts around something are taken.
fn is_within(prefix: &str, suffix: &str, by: &Segment) -> bool {
    match by {
        Segment::Literal(_) => false,
        Segment::Parameter {
            prefix: before,
            suffix: after,
            ..
        } => {
            prefix.starts_with(&**before)
                && suffix.ends_with(&**after)
                && by.takes(&format!("{prefix}~{suffix}"))
        }
    }
}

/// The longest texts before and after, when all agree on them.
fn around<'s>(forms: impl Iterator<Item = &'s Segment>) -> Option<(&'s str, &'s str)> {
    let (mut before, mut after) = ("", "");
    for form in forms {
        let Segment::Parameter { prefix, suffix, .. } = form else {
            continue;
        };
        before = longer(before, prefix, |long, short| long.starts_with(short))?;
        after = longer(after, suffix, |long, short| long.ends_with(short))?;
    }
    Some((before, after))
}

fn longer<'s>(one: &'s str, other: &'s str, fits: fn(&str, &str) -> bool) -> Option<&'s str> {
    if fits(one, other) {
        Some(one)
    } else {
        fits(other, one).then_some(other)
    }
}

/// The segments in which both texts share characters or have nothing between them.
fn overlapping<'s>(prefix: &'s str, suffix: &'s str) -> impl Iterator<Item = String> + 's {
    (0..=prefix.len().min(suffix.len())).filter_map(move |shared| {
        let (common, rest) = suffix.split_at_checked(shared)?;
        prefix
            .ends_with(common)
            .then(|| format!("{prefix}{rest}"))
            .filter(|text| !text.is_empty())
    })
}

fn is_segment(text: &str, may_be_empty: bool) -> bool {
    if text.is_empty() {
        return may_be_empty;
    }
    normalize(&format!("/{text}"), &mut String::new()) == Ok(Normal::Unchanged)
}

fn length(segment: &Segment) -> usize {
    match segment {
        Segment::Literal(text) => text.len(),
        Segment::Parameter { prefix, suffix, .. } => prefix.len() + suffix.len(),
    }
}
