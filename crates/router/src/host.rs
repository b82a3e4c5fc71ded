//! Host names of routes and of requests, and the index from one to the other.

use std::collections::HashMap;
use std::fmt;
use std::net::Ipv6Addr;

use foldhash::fast::RandomState;

/// No DNS name is longer; what is longer can only be for routes with any host.
const LONGEST_NAME: usize = 253;

/// The hosts a route is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HostPattern {
    /// One name, in lower case, or an IPv6 address in brackets.
    Exact(Box<str>),
    /// Every name that ends with a dot and this.
    Under(Box<str>),
    /// Every host, and a request without one.
    Any,
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => f.write_str(name),
            Self::Under(suffix) => write!(f, "*.{suffix}"),
            Self::Any => f.write_str("any host"),
        }
    }
}

/// Why a host cannot be read, and what would be right.
pub(crate) type Complaint = (&'static str, &'static str);

impl HostPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, Complaint> {
        if text == "*" {
            return Err(("is not a host", "no `host` at all, which is any host"));
        }
        if let Some(address) = text.strip_prefix('[') {
            let address: Option<Ipv6Addr> = address
                .strip_suffix(']')
                .and_then(|inner| inner.parse().ok());
            return address
                .map(|address| Self::Exact(format!("[{address}]").into()))
                .ok_or(("is not an IPv6 address in brackets", "such as [::1]"));
        }
        if text.contains(':') {
            return Err((
                "has a port; a route is for a host on every port",
                "the name without the port",
            ));
        }

        let lower = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if let Some(suffix) = lower.strip_prefix("*.") {
            check_name(suffix)?;
            return Ok(Self::Under(suffix.into()));
        }
        check_name(&lower)?;
        Ok(Self::Exact(lower.into()))
    }

    /// Whether it takes a name as [`request_host`] gives it.
    pub(crate) fn takes(&self, host: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => host == Some(name),
            Self::Under(suffix) => host
                .and_then(|host| host.strip_suffix(&**suffix))
                .and_then(|labels| labels.strip_suffix('.'))
                .is_some_and(|labels| !labels.is_empty()),
        }
    }
}

/// The host of a request without port and trailing dot, in lower case.
///
/// `None` for what no route can name. `scratch` is written only when there are capitals.
pub(crate) fn request_host<'a>(authority: &'a str, scratch: &'a mut String) -> Option<&'a str> {
    let end = if authority.starts_with('[') {
        authority.find(']').map(|bracket| bracket + 1)
    } else {
        authority.bytes().position(|byte| byte == b':')
    };
    let host = authority.get(..end.unwrap_or(authority.len()))?;
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.len() > LONGEST_NAME {
        return None;
    }
    let has_capital = |found, byte: u8| found | byte.is_ascii_uppercase();
    if !host.bytes().fold(false, has_capital) {
        return Some(host);
    }
    scratch.clear();
    scratch.push_str(host);
    scratch.make_ascii_lowercase();
    Some(scratch)
}

/// From host to the root of the tree of its routes.
#[derive(Debug, Default)]
pub(crate) struct HostIndex {
    exact: HashMap<Box<str>, u32, RandomState>,
    under: HashMap<Box<str>, u32, RandomState>,
    any: Option<u32>,
}

impl HostIndex {
    /// The root for a pattern, made by `new_root` when it has none yet.
    pub(crate) fn root(&mut self, pattern: &HostPattern, new_root: impl FnOnce() -> u32) -> u32 {
        match pattern {
            HostPattern::Exact(name) => *self.exact.entry(name.clone()).or_insert_with(new_root),
            HostPattern::Under(suffix) => {
                *self.under.entry(suffix.clone()).or_insert_with(new_root)
            }
            HostPattern::Any => *self.any.get_or_insert_with(new_root),
        }
    }

    /// Whether every route is for any host, so that nobody needs to read it.
    pub(crate) fn is_indifferent(&self) -> bool {
        self.exact.is_empty() && self.under.is_empty()
    }

    /// The roots for a host: its own, then the wildcards from the longest, then any host's.
    pub(crate) fn roots(&self, host: Option<&str>) -> impl Iterator<Item = u32> {
        let exact = host.and_then(|host| self.exact.get(host));
        let wild = host.filter(|_| !self.under.is_empty());
        let under = wild.into_iter().flat_map(|host| {
            host.match_indices('.')
                .filter(|(label_end, _)| *label_end > 0)
                .filter_map(|(label_end, _)| self.under.get(host.get(label_end + 1..)?))
        });
        exact.into_iter().chain(under).copied().chain(self.any)
    }
}

fn check_name(name: &str) -> Result<(), Complaint> {
    if !name.is_ascii() {
        return Err((
            "holds characters outside ASCII, which no client sends",
            "the xn-- form of the name",
        ));
    }
    if name.len() > LONGEST_NAME {
        return Err(("is longer than a DNS name", "at most 253 characters"));
    }
    for label in name.split('.') {
        if label.is_empty() {
            return Err(("has an empty label", "labels with one dot between them"));
        }
        if label.contains('*') {
            return Err((
                "has a `*` elsewhere than as its whole first label",
                "such as *.example.com",
            ));
        }
        if label.len() > 63 {
            return Err(("has a label of more than 63 characters", "a DNS name"));
        }
        if !label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        {
            return Err((
                "holds a character that no host name holds",
                "letters, digits, hyphens and dots",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RT-04
    #[test]
    fn port_case_and_trailing_dot_of_a_request_do_not_count() {
        for (authority, host) in [
            ("api.example.com", Some("api.example.com")),
            ("API.Example.com:8443", Some("api.example.com")),
            ("api.example.com.", Some("api.example.com")),
            ("api.example.com.:80", Some("api.example.com")),
            ("[::1]:8080", Some("[::1]")),
            ("[::1]", Some("[::1]")),
            ("10.0.0.1:80", Some("10.0.0.1")),
            (":80", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(
                request_host(authority, &mut String::new()),
                host,
                "{authority}"
            );
        }
    }

    // spec: RT-04
    #[test]
    fn a_wildcard_takes_any_number_of_labels_but_not_none() {
        let pattern = HostPattern::parse("*.Example.com").unwrap();

        let taken = [
            "a.example.com",
            "b.a.example.com",
            "example.com",
            "xexample.com",
            ".example.com",
        ]
        .map(|host| pattern.takes(Some(host)));

        assert_eq!(taken, [true, true, false, false, false]);
    }

    // spec: RT-04
    #[test]
    fn a_host_that_no_request_can_have_is_refused() {
        for bad in [
            "",
            "*",
            "*.",
            "a..b",
            ".a",
            "a.*.b",
            "*a.b",
            "a:80",
            "[::1",
            "[x]",
            "a b",
            "münchen.example",
            "http://a",
            "a/b",
            "*.*.a",
        ] {
            assert!(HostPattern::parse(bad).is_err(), "{bad}");
        }
    }
}
