//! Parameters in the notation of other routers, which are plain text in ours.

use crate::template::{Segment, Tail, Template};

/// The template as it was probably meant, when a segment looks like a parameter and is none.
pub(super) fn corrected(template: &Template) -> Option<String> {
    let mut is_other = false;
    let mut text = String::new();
    for (place, segment) in template.segments().iter().enumerate() {
        text.push('/');
        match segment {
            Segment::Literal(literal) => match name_in(literal) {
                Some(name) => {
                    is_other = true;
                    let name = if name.is_empty() {
                        format!("p{}", place + 1)
                    } else {
                        name
                    };
                    text.extend(["{", &name, "}"]);
                }
                None => text.push_str(literal),
            },
            Segment::Parameter {
                prefix,
                name,
                suffix,
            } => {
                // `${id}` of shells and templates.
                let before = prefix.strip_suffix('$').unwrap_or(prefix);
                is_other |= before.len() != prefix.len();
                text.extend([before, "{", name, "}", suffix]);
            }
        }
    }
    match template.tail() {
        Tail::End => {}
        Tail::Rest(None) => text.push_str("/**"),
        Tail::Rest(Some(name)) => text.extend(["/{*", name, "}"]),
    }
    is_other.then_some(text)
}

/// The name of a parameter that a literal segment looks like; empty when it has none.
fn name_in(literal: &str) -> Option<String> {
    let within = |open: &str, close: &str| literal.strip_prefix(open)?.strip_suffix(close);
    // `/:id`, `/$id`, `/<id>`, `/<int:id>`, `/[id]`, and braces that an editor has escaped.
    let inner = literal
        .strip_prefix(':')
        .or_else(|| literal.strip_prefix('$'))
        .or_else(|| within("<", ">").map(|inner| inner.rsplit(':').next().unwrap_or(inner)))
        .or_else(|| within("%3C", "%3E"))
        .or_else(|| within("[", "]"))
        .or_else(|| within("%5B", "%5D"))
        .or_else(|| within("%7B", "%7D"));
    if let Some(inner) = inner.filter(|inner| is_name(inner)) {
        return Some(inner.to_owned());
    }
    let is_pattern = literal.contains("[0-9]")
        || literal.contains("[a-z")
        || literal.contains("[^")
        || literal.ends_with(".+")
        || (literal.starts_with('(') && literal.ends_with(')'));
    is_pattern.then(String::new)
}

fn is_name(text: &str) -> bool {
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins_well
        && text
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || one == '_')
}
