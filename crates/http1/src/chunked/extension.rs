//! Chunk extensions, checked and dropped: no two readers may disagree where the line ends.

use crate::octets::{is_token, is_value};

/// Where in `*( BWS ";" BWS name [ BWS "=" BWS value ] )` the reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    /// Before `;`.
    Before,
    NameStart,
    Name,
    AfterName,
    ValueStart,
    Value,
    Quoted,
    Escaped,
    AfterQuoted,
    /// The line's CR has come.
    Ended,
}

impl Extension {
    /// The place behind this byte; `None` if it may not stand here.
    pub(crate) fn step(self, octet: u8) -> Option<Self> {
        match (self, octet) {
            (
                Self::Before | Self::Name | Self::AfterName | Self::Value | Self::AfterQuoted,
                b';',
            ) => Some(Self::NameStart),
            (Self::Name | Self::Value | Self::AfterQuoted, b'\r') => Some(Self::Ended),
            (Self::Before | Self::NameStart | Self::AfterName | Self::ValueStart, b' ' | b'\t') => {
                Some(self)
            }
            (Self::Name, b' ' | b'\t') => Some(Self::AfterName),
            (Self::Value | Self::AfterQuoted, b' ' | b'\t') => Some(Self::Before),
            (Self::Name | Self::AfterName, b'=') => Some(Self::ValueStart),
            (Self::NameStart | Self::Name, _) if is_token(octet) => Some(Self::Name),
            (Self::ValueStart, b'"') | (Self::Escaped, _) if is_value(octet) => Some(Self::Quoted),
            (Self::ValueStart | Self::Value, _) if is_token(octet) => Some(Self::Value),
            (Self::Quoted, b'"') => Some(Self::AfterQuoted),
            (Self::Quoted, b'\\') => Some(Self::Escaped),
            (Self::Quoted, _) if is_value(octet) => Some(Self::Quoted),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(text: &str) -> bool {
        let end = text
            .bytes()
            .chain(*b"\r")
            .try_fold(Extension::Before, Extension::step);
        end == Some(Extension::Ended)
    }

    #[test]
    fn extensions_follow_the_grammar() {
        for text in [
            ";a",
            ";a=b",
            " ; a = b ;c",
            ";a=\"x;y\\\"z\"",
            ";a=\"\" ;b",
            ";a;b=c",
        ] {
            assert!(is_valid(text), "{text:?}");
        }
        for text in [
            "",
            " ",
            ";",
            ";=b",
            ";a=",
            ";a b",
            ";a=b c",
            ";a=\"x",
            ";a=\"x\"y",
            ";a\n",
            ";a=\"\r\"",
        ] {
            assert!(!is_valid(text), "{text:?}");
        }
    }
}
