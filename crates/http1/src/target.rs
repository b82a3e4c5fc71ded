//! The four forms of a request target (RFC 9112 section 3.2).

use crate::authority::host_and_port;
use crate::malformed::Fault;
use crate::octets::is_target_text;

/// A request target taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// `/path?query`
    Origin,
    /// `http://authority/path?query`; the rest may be empty or begin with `?`.
    Absolute { authority: &'a str, rest: &'a str },
    /// `host:port`, of CONNECT only.
    Authority,
    /// `*`, of OPTIONS only.
    Asterisk,
}

impl<'a> Target<'a> {
    pub(crate) fn parse(method: &str, text: &'a str) -> Result<Self, Fault> {
        if !is_target_text(text.as_bytes()) || text.is_empty() {
            return Err(Fault::Target);
        }
        if method == "CONNECT" {
            let has_port = host_and_port(text).is_some_and(|(_, port)| port.is_some());
            return if has_port {
                Ok(Self::Authority)
            } else {
                Err(Fault::TargetForm)
            };
        }
        if text.starts_with('/') {
            return Ok(Self::Origin);
        }
        if text == "*" {
            return if method == "OPTIONS" {
                Ok(Self::Asterisk)
            } else {
                Err(Fault::TargetForm)
            };
        }
        Self::absolute(text)
    }

    fn absolute(text: &'a str) -> Result<Self, Fault> {
        let (scheme, behind) = text.split_once("://").ok_or(Fault::Target)?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err(Fault::Target);
        }
        let end = behind.find(['/', '?']).unwrap_or(behind.len());
        let (authority, rest) = behind.split_at_checked(end).ok_or(Fault::Target)?;
        if host_and_port(authority).is_none() {
            return Err(Fault::HostInvalid);
        }
        Ok(Self::Absolute { authority, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_belongs_to_its_methods() {
        let absolute = |authority, rest| Ok(Target::Absolute { authority, rest });
        let table = [
            ("GET", "/a?b", Ok(Target::Origin)),
            ("GET", "//a", Ok(Target::Origin)),
            ("GET", "http://a.test/x?y", absolute("a.test", "/x?y")),
            ("GET", "HTTPS://a.test:1?y", absolute("a.test:1", "?y")),
            ("OPTIONS", "http://a.test", absolute("a.test", "")),
            ("OPTIONS", "*", Ok(Target::Asterisk)),
            ("CONNECT", "a.test:443", Ok(Target::Authority)),
            ("CONNECT", "a.test", Err(Fault::TargetForm)),
            ("CONNECT", "/", Err(Fault::TargetForm)),
            ("GET", "*", Err(Fault::TargetForm)),
            ("GET", "a.test:443", Err(Fault::Target)),
            ("GET", "x", Err(Fault::Target)),
            ("GET", "", Err(Fault::Target)),
            ("GET", "?x", Err(Fault::Target)),
            ("GET", "/a#b", Err(Fault::Target)),
            ("GET", "/ä", Err(Fault::Target)),
            ("GET", "ftp://a.test/", Err(Fault::Target)),
            ("GET", "http:///x", Err(Fault::HostInvalid)),
            ("GET", "http://user@a.test/x", Err(Fault::HostInvalid)),
        ];

        for (method, text, expected) in table {
            assert_eq!(Target::parse(method, text), expected, "{method} {text}");
        }
    }
}
