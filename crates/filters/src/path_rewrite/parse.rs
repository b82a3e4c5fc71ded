//! From the configuration of `path_rewrite` to one way of rewriting.

use regex::Regex;
use sluicegate_core::InvalidConfig;

use super::{Config, Piece, Replace, Way};
use crate::normal_path::restored;

/// Reads the one way that is configured.
///
/// # Errors
/// There is none or more than one, or it cannot give a path in normal form.
pub(super) fn way(config: Config) -> Result<Way, InvalidConfig> {
    let Config {
        strip_segments,
        strip_prefix,
        prefix,
        replace,
        template,
    } = config;
    match (strip_segments, strip_prefix, prefix, replace, template) {
        (Some(count), None, None, None, None) => Ok(Way::StripSegments(count)),
        (None, Some(text), None, None, None) => {
            Ok(Way::StripPrefix(start("/strip_prefix", &text)?))
        }
        (None, None, Some(text), None, None) => Ok(Way::Prefix(start("/prefix", &text)?)),
        (None, None, None, Some(rule), None) => replacement(&rule),
        (None, None, None, None, Some(text)) => Ok(Way::Template(pieces(&text)?)),
        _ => Err(
            InvalidConfig::new("", "exactly one way of rewriting is needed")
                .expecting("one of: strip_segments, strip_prefix, prefix, replace, template"),
        ),
    }
}

/// The front of a path, without its trailing slash.
fn start(pointer: &str, text: &str) -> Result<Box<str>, InvalidConfig> {
    let normal = restored(text).is_some_and(|path| path == text);
    if !normal || text == "/" {
        let message = format!("`{}` cannot be the front of a path", text.escape_debug());
        return Err(InvalidConfig::new(pointer, message).expecting(
            "whole segments in normal form, such as /svc/v2: no `//`, `..`, `?`, no escape that is not needed",
        ));
    }
    Ok(text.trim_end_matches('/').into())
}

fn replacement(rule: &Replace) -> Result<Way, InvalidConfig> {
    let pattern = Regex::new(&rule.pattern).map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        InvalidConfig::new("/replace/pattern", format!("this is no pattern: {reason}"))
    })?;
    for group in groups(&rule.with) {
        let known = match group.parse::<usize>() {
            Ok(index) => index < pattern.captures_len(),
            Err(_) => pattern.capture_names().flatten().any(|name| name == group),
        };
        if !known {
            let message = format!("the pattern has no group `{group}`");
            return Err(InvalidConfig::new("/replace/with", message).expecting(
                "a group of the pattern; write ${1} where a letter, a digit or _ follows",
            ));
        }
    }
    Ok(Way::Replace {
        pattern,
        with: rule.with.as_str().into(),
    })
}

/// The groups a replacement names, as the crate `regex` reads it: the longest possible word.
fn groups(with: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = with;
    while let Some((_, after)) = rest.split_once('$') {
        rest = if let Some(escaped) = after.strip_prefix('$') {
            escaped
        } else if let Some((name, tail)) = after.strip_prefix('{').and_then(|t| t.split_once('}')) {
            names.push(name);
            tail
        } else {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
            let (name, tail) = after.split_at_checked(end).unwrap_or((after, ""));
            names.extend(Some(name).filter(|name| !name.is_empty()));
            tail
        };
    }
    names
}

fn pieces(template: &str) -> Result<Box<[Piece]>, InvalidConfig> {
    let refused = |message: String| {
        InvalidConfig::new("/template", message)
            .expecting("a path such as /b/{id}, with parameters of the route in braces")
    };
    let mut pieces = Vec::new();
    let mut shape = String::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else {
            return Err(refused(format!(
                "`{template}` has a brace that is not closed"
            )));
        };
        let name = name.strip_prefix('*').unwrap_or(name);
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if name.is_empty() || !name.bytes().all(is_word) {
            return Err(refused(format!("`{name}` is no name of a parameter")));
        }
        shape.extend([text, "x"]);
        pieces.push(Piece::Text(text.into()));
        pieces.push(Piece::Param(name.into()));
        rest = tail;
    }
    shape.push_str(rest);
    pieces.push(Piece::Text(rest.into()));
    if restored(&shape).is_none_or(|path| path != shape) {
        return Err(refused(format!("`{template}` is no path in normal form")));
    }
    Ok(pieces.into())
}
