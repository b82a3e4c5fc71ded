//! The policies that are small languages of their own: mistakes in them are silent in browsers.

use sluicegate_core::{InvalidConfig, closest};

const AT: &str = "/content_security_policy";

/// Directives of Content Security Policy, level 3, and its companions.
const DIRECTIVES: [&str; 25] = [
    "base-uri",
    "block-all-mixed-content",
    "child-src",
    "connect-src",
    "default-src",
    "fenced-frame-src",
    "font-src",
    "form-action",
    "frame-ancestors",
    "frame-src",
    "img-src",
    "manifest-src",
    "media-src",
    "object-src",
    "report-to",
    "report-uri",
    "require-trusted-types-for",
    "sandbox",
    "script-src",
    "script-src-attr",
    "script-src-elem",
    "style-src",
    "style-src-attr",
    "style-src-elem",
    "trusted-types",
];

/// Words that mean something in quotes only.
const KEYWORDS: [&str; 6] = [
    "self",
    "none",
    "unsafe-inline",
    "unsafe-eval",
    "strict-dynamic",
    "report-sample",
];

/// The policy, with `frame-ancestors` as the frame options say it (`ancestors`).
///
/// # Errors
/// A browser would ignore a part of it, or it contradicts the frame options.
pub(super) fn content_security(
    policy: &str,
    ancestors: Option<&'static str>,
) -> Result<String, InvalidConfig> {
    check_text(policy, AT)?;
    let mut names: Vec<String> = Vec::new();
    let mut framed = false;
    for directive in policy.split(';').map(str::trim) {
        let mut words = directive.split_ascii_whitespace();
        let Some(name) = words.next().map(str::to_ascii_lowercase) else {
            continue;
        };
        let known = DIRECTIVES.contains(&name.as_str());
        // The worker and worklet sources, and what comes after this table, pass.
        if !known && let Some(meant) = closest(&name, DIRECTIVES).filter(|_| name != "worker-src") {
            let message = format!("browsers know no directive `{name}`");
            return Err(InvalidConfig::new(AT, message).suggesting(Some(meant)));
        }
        if names.contains(&name) {
            let message = format!("`{name}` stands twice: browsers obey the first only");
            return Err(InvalidConfig::new(AT, message).expecting("one directive with all sources"));
        }
        let is_value = !matches!(name.as_str(), "sandbox" | "report-to" | "trusted-types");
        for word in words.clone().filter(|_| is_value) {
            if KEYWORDS.contains(&word) {
                let message = format!("`{word}` without quotes is a host");
                return Err(InvalidConfig::new(AT, message).expecting(format!("'{word}'")));
            }
        }
        if name == "frame-ancestors" {
            framed = true;
            let said = words.collect::<Vec<_>>().join(" ");
            let wanted = ancestors.and_then(|text| text.split_once(' '));
            if let Some((_, wanted)) = wanted.filter(|(_, wanted)| *wanted != said) {
                let message = format!("`frame-ancestors {said}` contradicts `frame_options`");
                return Err(InvalidConfig::new(AT, message).expecting(format!(
                    "`frame-ancestors {wanted}`, or no `frame_options`: old browsers know no more"
                )));
            }
        }
        names.push(name);
    }
    if names.is_empty() {
        return Err(
            InvalidConfig::new(AT, "the policy has no directive").expecting("default-src 'self'")
        );
    }
    let mut policy = policy.trim().trim_end_matches([';', ' ']).to_owned();
    if let Some(ancestors) = ancestors.filter(|_| !framed) {
        policy.push_str("; ");
        policy.push_str(ancestors);
    }
    Ok(policy)
}

/// Checks the form: a structured dictionary (RFC 9651) of allow lists.
///
/// # Errors
/// A browser would ignore it; mostly it is written like the older `Feature-Policy`.
pub(super) fn check_permissions(policy: &str) -> Result<(), InvalidConfig> {
    let at = "/permissions_policy";
    check_text(policy, at)?;
    for member in policy.split(',').map(str::trim) {
        let sound = member.split_once('=').is_some_and(|(name, list)| {
            let name_is_key = !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            let is_list = list.starts_with('(') && list.ends_with(')');
            name_is_key && (is_list || matches!(list, "*" | "self"))
        });
        if !sound {
            let message = format!("`{member}` is no member of the policy");
            return Err(InvalidConfig::new(at, message)
                .expecting("such as geolocation=(), camera=(self \"https://a.example\")"));
        }
    }
    Ok(())
}

fn check_text(policy: &str, at: &str) -> Result<(), InvalidConfig> {
    let readable = |byte: u8| (b' '..=b'~').contains(&byte);
    if policy.bytes().all(readable) && policy.trim() == policy && !policy.is_empty() {
        return Ok(());
    }
    Err(
        InvalidConfig::new(at, "this cannot stand in a header field")
            .expecting("one line of ASCII, without space around it"),
    )
}
