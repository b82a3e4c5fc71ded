//! Which origins may read.

use std::borrow::Cow;

use regex::bytes::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use sluicegate_core::InvalidConfig;
use sluicegate_http1::host_and_port;

/// An origin as it is configured.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OriginRule {
    /// `https://a.example`, `https://*.example.com` or `*`.
    Text(String),
    /// A pattern.
    Pattern(Pattern),
}

/// A pattern of origins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pattern {
    /// A regular expression that has to match the whole origin (syntax of the Rust crate `regex`).
    regex: String,
}

/// All that may read.
pub(super) enum Origins {
    Everybody,
    Listed(Listed),
}

/// Origins in the form in which browsers write them.
#[derive(Default)]
pub(super) struct Listed {
    exact: Vec<Box<[u8]>>,
    wildcards: Vec<Wildcard>,
    patterns: Vec<Regex>,
}

/// What stands before and behind a subdomain: `https://`, `.example.com:8443`.
struct Wildcard {
    front: Box<[u8]>,
    end: Box<[u8]>,
}

/// An origin that nobody means.
const STRANGER: &[u8] = b"https://nobody.invalid";

const EXPECTED: &str = "an origin as browsers write it, such as https://a.example, \
    https://*.example.com or http://localhost:3000; or {regex: …}; or \"*\" alone";

impl Origins {
    pub(super) fn new(rules: Vec<OriginRule>, credentials: bool) -> Result<Self, InvalidConfig> {
        let count = rules.len();
        if count == 0 {
            return Err(InvalidConfig::new("/origins", "no origin is allowed").expecting(EXPECTED));
        }
        let mut listed = Listed::default();
        for (index, rule) in rules.into_iter().enumerate() {
            let at = format!("/origins/{index}");
            match rule {
                OriginRule::Text(text) if text == "*" => {
                    if count > 1 {
                        return Err(InvalidConfig::new(at, "`*` makes all the others pointless")
                            .expecting("`*` alone, or origins without it"));
                    }
                    if credentials {
                        return Err(InvalidConfig::new(
                            at,
                            "every site could act with the cookies of its visitors: `*` and `credentials` exclude each other",
                        )
                        .expecting("the origins that may send credentials, or `credentials: false`"));
                    }
                    return Ok(Self::Everybody);
                }
                OriginRule::Text(text) => listed.add(&text, &at)?,
                OriginRule::Pattern(pattern) => {
                    let at = format!("{at}/regex");
                    let pattern = compiled(&pattern.regex, &at)?;
                    if credentials && pattern.is_match(STRANGER) {
                        return Err(InvalidConfig::new(
                            at,
                            "the pattern matches every origin, and every site could act with the cookies of its visitors",
                        )
                        .expecting("a pattern of the origins that may send credentials"));
                    }
                    listed.patterns.push(pattern);
                }
            }
        }
        Ok(Self::Listed(listed))
    }

    pub(super) const fn everybody(&self) -> bool {
        matches!(self, Self::Everybody)
    }

    pub(super) fn contain(&self, origin: &[u8]) -> bool {
        match self {
            Self::Everybody => true,
            Self::Listed(listed) => listed.contain(origin),
        }
    }
}

impl Listed {
    fn add(&mut self, text: &str, at: &str) -> Result<(), InvalidConfig> {
        let refused = |message: String| InvalidConfig::new(at, message).expecting(EXPECTED);
        if text == "null" {
            return Err(refused(
                "`null` is the origin of every sandboxed frame: anybody can have it".to_owned(),
            ));
        }
        let (scheme, authority) = text
            .split_once("://")
            .ok_or_else(|| refused(format!("`{}` is not an origin", text.escape_debug())))?;
        if let Some(parent) = authority.strip_prefix("*.") {
            let name = parent.split(':').next().unwrap_or(parent);
            if !name.contains('.') {
                return Err(refused(format!("`{text}` is every site below `{name}`")));
            }
            let plain = format!("{scheme}://{parent}");
            check_plain(&plain).map_err(refused)?;
            self.wildcards.push(Wildcard {
                front: format!("{scheme}://").into_bytes().into(),
                end: format!(".{parent}").into_bytes().into(),
            });
            return Ok(());
        }
        check_plain(text).map_err(refused)?;
        self.exact.push(text.as_bytes().into());
        Ok(())
    }

    fn contain(&self, origin: &[u8]) -> bool {
        if self.exact.iter().any(|known| **known == *origin) {
            return true;
        }
        if self.wildcards.is_empty() && self.patterns.is_empty() {
            return false;
        }
        // Only what is an origin is compared with patterns: no list, no path, no user.
        if !std::str::from_utf8(origin).is_ok_and(is_origin) {
            return false;
        }
        self.wildcards
            .iter()
            .any(|wildcard| wildcard.matches(origin))
            || self.patterns.iter().any(|pattern| pattern.is_match(origin))
    }
}

impl Wildcard {
    fn matches(&self, origin: &[u8]) -> bool {
        origin
            .strip_prefix(&*self.front)
            .and_then(|rest| rest.strip_suffix(&*self.end))
            .is_some_and(|labels| !labels.is_empty() && !labels.contains(&b':'))
    }
}

/// `scheme://host` or `scheme://host:port` and nothing else.
fn is_origin(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, authority)| {
        !scheme.is_empty()
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
            && host_and_port(authority).is_some()
    })
}

/// Whether browsers write an origin so: an allow list with a slip in it allows nobody, silently.
fn check_plain(text: &str) -> Result<(), String> {
    let shown = text.escape_debug();
    if let Some(shorter) = text.strip_suffix('/').filter(|shorter| is_origin(shorter)) {
        return Err(format!("an origin has no path: write `{shorter}`"));
    }
    if !is_origin(text) {
        return Err(format!("`{shown}` is not an origin"));
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(format!(
            "browsers write origins in lower case: `{}`",
            text.to_ascii_lowercase()
        ));
    }
    let default = [("http://", ":80"), ("https://", ":443")]
        .into_iter()
        .find(|(scheme, port)| text.starts_with(scheme) && text.ends_with(port));
    if let Some((_, port)) = default {
        let shorter = text.strip_suffix(port).unwrap_or(text);
        return Err(format!("browsers leave the default port out: `{shorter}`"));
    }
    if text.ends_with([':', '.']) {
        return Err(format!("`{shown}` is not an origin"));
    }
    Ok(())
}

fn compiled(pattern: &str, at: &str) -> Result<Regex, InvalidConfig> {
    if let Some(place) = wild_dot(pattern) {
        let message = format!("the dot in `…{place}` stands for any character");
        return Err(InvalidConfig::new(at, message).expecting("`\\.` for a dot of a name"));
    }
    // The whole origin: an unanchored `https://a\.example` would allow https://a.example.evil.test.
    let whole = format!("^(?:{pattern})$");
    Regex::new(&whole).map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        InvalidConfig::new(at, format!("this is no pattern: {reason}"))
    })
}

/// The first dot outside of a class that is neither escaped nor repeated, and what follows: such a
/// dot was meant to be a dot.
fn wild_dot(pattern: &str) -> Option<&str> {
    let mut escaped = false;
    let mut class = false;
    for (at, character) in pattern.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match character {
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '.' if !class => {
                let rest = pattern.get(at..).unwrap_or_default();
                if !rest
                    .get(1..)
                    .is_some_and(|next| next.starts_with(['*', '+', '?', '{']))
                {
                    return Some(rest);
                }
            }
            _ => {}
        }
    }
    None
}

impl JsonSchema for OriginRule {
    fn schema_name() -> Cow<'static, str> {
        "OriginRule".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pattern = generator.subschema_for::<Pattern>();
        json_schema!({
            "anyOf": [
                {"type": "string", "minLength": 1, "examples": ["https://a.example", "https://*.example.com"]},
                pattern,
            ],
        })
    }
}
