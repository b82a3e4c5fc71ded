//! Host and port of a message, in the one form that all decisions share.

use std::net::Ipv6Addr;

use crate::octets::is_host;

/// Longest host that is accepted: that of a name in the DNS, with its trailing dot.
const LONGEST_HOST: usize = 254;

/// Whether this is `host` or `host:port` with a name, an IPv4 or a bracketed IPv6 address.
///
/// Stricter than RFC 3986: no user, no escapes, no delimiters (a comma would be a list), no empty
/// label, a port between 1 and 65535. An empty port (`a.test:`) is allowed.
pub fn valid_authority(authority: &str) -> bool {
    host_and_port(authority).is_some()
}

/// Host and port, if the authority is valid.
///
/// One trailing dot of a name is dropped; brackets of an IPv6 address stay; case stays, compare
/// without it.
pub fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let length = rest.find(']')?;
            rest.get(..length)?.parse::<Ipv6Addr>().ok()?;
            authority.split_at_checked(length + 2)?
        }
        None => match memchr::memchr(b':', authority.as_bytes()) {
            Some(colon) => (name(authority.get(..colon)?)?, authority.get(colon..)?),
            None => (name(authority)?, ""),
        },
    };
    Some((host, port_of(port)?))
}

/// The host without its trailing dot, if its labels are not empty.
fn name(host: &str) -> Option<&str> {
    let name = host.strip_suffix('.').unwrap_or(host);
    if host.len() > LONGEST_HOST {
        return None;
    }
    let mut before = b'.';
    for octet in name.bytes() {
        if !is_host(octet) || (octet == b'.' && before == b'.') {
            return None;
        }
        before = octet;
    }
    (before != b'.').then_some(name)
}

/// The port behind `:`; none if there is nothing, or nothing behind the colon.
#[expect(
    clippy::option_option,
    reason = "no port is one thing, an invalid one another"
)]
fn port_of(text: &str) -> Option<Option<u16>> {
    if text.is_empty() || text == ":" {
        return Some(None);
    }
    let digits = text.strip_prefix(':')?;
    if digits.len() > 5 || !digits.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    let port = digits.parse().ok().filter(|&port| port != 0)?;
    Some(Some(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    // case: SM-13
    #[test]
    fn a_host_is_one_name_with_a_port_at_most() {
        let table = [
            ("a.test", Some(("a.test", None))),
            ("A.TEST.:80", Some(("A.TEST", Some(80)))),
            ("a.test:", Some(("a.test", None))),
            ("a_b-c~d.test:65535", Some(("a_b-c~d.test", Some(65535)))),
            ("127.0.0.1:8080", Some(("127.0.0.1", Some(8080)))),
            ("[::1]", Some(("[::1]", None))),
            ("[::1]:8080", Some(("[::1]", Some(8080)))),
            ("", None),
            (".", None),
            (":80", None),
            (".a.test", None),
            ("a..test", None),
            ("a.test..", None),
            ("a.test, b.test", None),
            ("a.test,b.test", None),
            ("a.test/x", None),
            ("user@a.test", None),
            ("a.test?x", None),
            ("a.test#x", None),
            ("a.test:99999", None),
            ("a.test:0", None),
            ("a.test:+80", None),
            ("a.test:80:80", None),
            ("a.test:8 0", None),
            ("a%2etest", None),
            ("[::1", None),
            ("[::1]x", None),
            ("[::1]:", Some(("[::1]", None))),
            ("[a.test]", None),
            ("[fe80::1%25eth0]", None),
            ("::1", None),
            ("ä.test", None),
        ];

        for (authority, expected) in table {
            assert_eq!(host_and_port(authority), expected, "{authority:?}");
            assert_eq!(
                valid_authority(authority),
                expected.is_some(),
                "{authority:?}"
            );
        }
    }

    #[test]
    fn a_host_longer_than_any_name_is_refused() {
        assert!(!valid_authority(&"a".repeat(255)));
        assert!(valid_authority(&format!("{}.", "a".repeat(253))));
    }
}
