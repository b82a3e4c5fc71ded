//! Media types in configurations and requests.

use std::fmt;

use sluicegate_core::InvalidConfig;

/// `application/json`, `image/*` or `*/*`; parameters do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MediaRange {
    /// In lower case.
    kind: Box<str>,
    /// In lower case; none for `*`.
    subtype: Option<Box<str>>,
}

impl MediaRange {
    /// Reads a list.
    ///
    /// # Errors
    /// It is empty, or one of them is no media type.
    pub(crate) fn list(texts: &[String], at: &str) -> Result<Box<[Self]>, InvalidConfig> {
        if texts.is_empty() {
            return Err(InvalidConfig::new(at, "no media type would pass")
                .expecting("at least one, or no such list"));
        }
        let read = |(index, text): (usize, &String)| {
            Self::parse(text).ok_or_else(|| {
                let message = format!("`{}` is no media type", text.escape_debug());
                InvalidConfig::new(format!("{at}/{index}"), message)
                    .expecting("a type without parameters, such as application/json or image/*")
            })
        };
        texts.iter().enumerate().map(read).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, subtype) = text.split_once('/')?;
        let valid = |part: &str| part == "*" || is_token(part.as_bytes());
        if !valid(kind) || !valid(subtype) || (kind == "*" && subtype != "*") {
            return None;
        }
        Some(Self {
            kind: kind.to_ascii_lowercase().into(),
            subtype: (subtype != "*").then(|| subtype.to_ascii_lowercase().into()),
        })
    }

    /// Whether the value of a `Content-Type` is of this range.
    pub(crate) fn contains(&self, value: &[u8]) -> bool {
        let end = value.iter().position(|byte| *byte == b';');
        let essence = value.get(..end.unwrap_or(value.len())).unwrap_or_default();
        let essence = essence.trim_ascii();
        let Some(slash) = essence.iter().position(|byte| *byte == b'/') else {
            return false;
        };
        let (kind, subtype) = (essence.get(..slash), essence.get(slash + 1..));
        let (kind, subtype) = (kind.unwrap_or_default(), subtype.unwrap_or_default());
        let same = |wanted: &str, found: &[u8]| wanted.as_bytes().eq_ignore_ascii_case(found);
        is_token(kind)
            && is_token(subtype)
            && (&*self.kind == "*" || same(&self.kind, kind))
            && self
                .subtype
                .as_ref()
                .is_none_or(|wanted| same(wanted, subtype))
    }
}

impl fmt::Display for MediaRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}",
            self.kind,
            self.subtype.as_deref().unwrap_or("*")
        )
    }
}

fn is_token(text: &[u8]) -> bool {
    let is_char = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'+-.^_`|~".contains(b);
    !text.is_empty() && text.iter().all(is_char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_contains_its_types_whatever_their_parameters() {
        let json = MediaRange::parse("application/JSON").unwrap();
        let image = MediaRange::parse("image/*").unwrap();

        for (range, value, contains) in [
            (&json, "application/json", true),
            (&json, "Application/Json; charset=utf-8", true),
            (&json, "application/json-seq", false),
            (&json, "application/json, text/html", false),
            (&json, "application", false),
            (&json, "", false),
            (&image, "image/png", true),
            (&image, "image/", false),
            (&image, "images/png", false),
            (&MediaRange::parse("*/*").unwrap(), "a/b", true),
        ] {
            assert_eq!(range.contains(value.as_bytes()), contains, "{value}");
        }
        for bad in ["json", "*/json", "a/b; c=d", "a b/c", "/", ""] {
            assert_eq!(MediaRange::parse(bad), None, "{bad}");
        }
    }
}
