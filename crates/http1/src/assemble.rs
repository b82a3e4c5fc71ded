//! Heads put together from parts that another version of HTTP has brought, under the rules of a parsed one.

use crate::fields::Fields;
use crate::limits::HeadLimits;
use crate::malformed::{Fault, Malformed};
use crate::octets::is_token_text;
use crate::request::{RequestHead, Version};
use crate::response::ResponseHead;
use crate::target::Target;

/// What stands in front of the fields of a request in HTTP/2 (RFC 9113 section 8.3.1).
#[derive(Clone, Copy, Debug)]
pub struct RequestParts<'a> {
    /// `:method`
    pub method: &'a str,
    /// `:path`
    pub target: &'a str,
    /// `:authority`
    pub authority: Option<&'a str>,
}

/// Fills `head` with a request that came by HTTP/2. The authority becomes `Host`, in front; a `Host`
/// beside it has to say the same (RFC 9113 section 8.3.1). Crumbs of a cookie become one field (8.2.3).
///
/// # Errors
///
/// As for a parsed head: a part has a byte that it may not have, a limit is passed, there is no
/// valid host, or there are two.
pub fn assemble_request<'a>(
    head: &mut RequestHead,
    parts: RequestParts<'_>,
    fields: impl Iterator<Item = (&'a str, &'a [u8])>,
    limits: &HeadLimits,
) -> Result<(), Malformed> {
    head.begin(parts.method, parts.target, Version::Http2);
    if parts.target.len() > limits.target {
        return Err(Fault::TargetTooLong.into());
    }
    if !is_token_text(parts.method.as_bytes()) {
        return Err(Fault::RequestLine.into());
    }
    if let Some(authority) = parts.authority {
        head.fields
            .append("Host", authority.as_bytes())
            .map_err(|_| Fault::HostInvalid)?;
    }
    let mut cookie: Vec<u8> = Vec::new();
    let mut budget = Budget::of(limits, parts.target.len());
    for (name, value) in fields {
        budget.spend(name, value)?;
        if name.eq_ignore_ascii_case("cookie") {
            if !cookie.is_empty() {
                cookie.extend_from_slice(b"; ");
            }
            cookie.extend_from_slice(value);
        } else if name.eq_ignore_ascii_case("host") && parts.authority.is_some() {
            let is_same = parts
                .authority
                .is_some_and(|authority| value.eq_ignore_ascii_case(authority.as_bytes()));
            if !is_same {
                return Err(Fault::HostTwice.into());
            }
        } else {
            append(&mut head.fields, name, value)?;
        }
    }
    if !cookie.is_empty() {
        append(&mut head.fields, "cookie", &cookie)?;
    }
    let form = Target::parse(parts.method, parts.target)?;
    if matches!(form, Target::Absolute { .. }) {
        return Err(Fault::TargetForm.into());
    }
    head.check_host()?;
    Ok(())
}

/// Fills `head` with an answer that came by HTTP/2.
///
/// # Errors
///
/// A part has a byte that it may not have, or a limit is passed.
pub fn assemble_response<'a>(
    head: &mut ResponseHead,
    status: u16,
    fields: impl Iterator<Item = (&'a str, &'a [u8])>,
    limits: &HeadLimits,
) -> Result<(), Malformed> {
    head.reset(status);
    let mut budget = Budget::of(limits, 0);
    for (name, value) in fields {
        budget.spend(name, value)?;
        append(&mut head.fields, name, value)?;
    }
    Ok(())
}

fn append(fields: &mut Fields, name: &str, value: &[u8]) -> Result<(), Fault> {
    if !is_token_text(name.as_bytes()) {
        return Err(Fault::FieldName);
    }
    fields
        .append(name, value.trim_ascii())
        .map_err(|_| Fault::FieldValue)
}

/// What is left of the limits, counted as the lines would be in HTTP/1.1.
struct Budget {
    bytes: usize,
    fields: usize,
}

impl Budget {
    fn of(limits: &HeadLimits, target: usize) -> Self {
        Self {
            bytes: limits.bytes().saturating_sub(target),
            fields: limits.fields(),
        }
    }

    fn spend(&mut self, name: &str, value: &[u8]) -> Result<(), Fault> {
        let line = name.len() + value.len() + 4;
        self.bytes = self.bytes.checked_sub(line).ok_or(Fault::HeadTooLarge)?;
        self.fields = self.fields.checked_sub(1).ok_or(Fault::TooManyFields)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: RequestParts<'_> = RequestParts {
        method: "GET",
        target: "/a?b",
        authority: Some("a.test"),
    };

    fn assemble(
        parts: RequestParts<'_>,
        fields: &[(&str, &str)],
    ) -> Result<RequestHead, &'static str> {
        let mut head = RequestHead::default();
        let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes()));
        assemble_request(&mut head, parts, fields, &HeadLimits::default())
            .map(|()| head)
            .map_err(|malformed| malformed.reason())
    }

    #[test]
    fn the_authority_becomes_the_host() {
        let head = assemble(GET, &[("x-a", "1"), ("host", "A.test")]).unwrap();

        assert_eq!(head.authority(), Some("a.test"));
        assert_eq!((head.path(), head.query()), ("/a", Some("b")));
        assert_eq!(head.fields.count("Host"), 1);
        assert_eq!(head.version(), Version::Http2);
    }

    #[test]
    fn two_hosts_none_and_one_that_is_none_are_refused() {
        let without = RequestParts {
            authority: None,
            ..GET
        };

        assert!(assemble(GET, &[("host", "b.test")]).is_err());
        assert!(assemble(without, &[]).is_err());
        assert!(assemble(without, &[("host", "a b")]).is_err());
        assert!(assemble(without, &[("host", "b.test")]).is_ok());
    }

    #[test]
    fn crumbs_of_a_cookie_become_one_field() {
        let head = assemble(GET, &[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]).unwrap();

        assert_eq!(head.fields.get("Cookie"), Some(&b"a=1; b=2"[..]));
        assert_eq!(head.fields.count("Cookie"), 1);
    }

    #[test]
    fn what_a_line_could_not_hold_is_refused() {
        for (name, value) in [("x", "a\r\nb: c"), ("x y", "1"), ("", "1"), ("x", "\0")] {
            assert!(
                assemble(GET, &[(name, value)]).is_err(),
                "{name:?}: {value:?}"
            );
        }
        for target in ["http://b.test/", "a", "/a b", ""] {
            assert!(
                assemble(RequestParts { target, ..GET }, &[]).is_err(),
                "{target:?}"
            );
        }
        let many = vec![("x", "1"); 101];
        assert!(assemble(GET, &many).is_err());
        let large = "x".repeat(17 << 10);
        assert!(assemble(GET, &[("x", &large)]).is_err());
    }
}
