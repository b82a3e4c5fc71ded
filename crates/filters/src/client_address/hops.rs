//! What hops have written of the hop before them.

use std::net::{IpAddr, SocketAddr};

use sluicegate_core::Scheme;
use sluicegate_http1::valid_authority;

/// One entry of a list of hops.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hop<'f> {
    /// `None` for a name, `unknown`, or anything else that is no address.
    pub(super) address: Option<IpAddr>,
    pub(super) scheme: Option<Scheme>,
    pub(super) host: Option<&'f str>,
}

impl Hop<'_> {
    /// An entry that is an address and nothing else.
    pub(super) fn plain(entry: &[u8]) -> Self {
        Self {
            address: address(entry),
            ..Self::default()
        }
    }
}

/// The members of one field value, the last first.
pub(super) fn from_the_right(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .rsplit(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|member| !member.is_empty())
}

/// The member that has `behind` others to its right, over all lines of a field; the leftmost when
/// there are fewer.
pub(super) fn nth_from_the_right<'f>(
    lines: impl Iterator<Item = &'f [u8]>,
    behind: usize,
) -> Option<&'f [u8]> {
    let lines: Vec<_> = lines.collect();
    lines
        .into_iter()
        .rev()
        .flat_map(from_the_right)
        .take(behind + 1)
        .last()
}

/// An address, perhaps with brackets and a port.
pub(super) fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    let address = bare
        .parse::<IpAddr>()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|end| end.ip()));
    address.map(|address| address.to_canonical())
}

pub(super) fn scheme(text: &[u8]) -> Option<Scheme> {
    if text.eq_ignore_ascii_case(b"https") || text.eq_ignore_ascii_case(b"wss") {
        Some(Scheme::Https)
    } else if text.eq_ignore_ascii_case(b"http") || text.eq_ignore_ascii_case(b"ws") {
        Some(Scheme::Http)
    } else {
        None
    }
}

/// The elements of one `Forwarded` value (RFC 7239 section 4), the last first. A comma or a
/// semicolon inside quotes separates nothing.
pub(super) fn elements_from_the_right(value: &[u8]) -> impl Iterator<Item = Hop<'_>> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let elements: Vec<_> = outside_quotes(text, ',').map(element).collect();
    elements.into_iter().rev()
}

fn element(text: &str) -> Hop<'_> {
    let mut hop = Hop::default();
    for pair in outside_quotes(text, ';') {
        let Some((name, value)) = pair.split_once('=') else {
            continue;
        };
        let value = value.trim();
        // Addresses and hosts need no escapes inside their quotes; one that has some is not read.
        let value = value
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or(value);
        match name.trim() {
            name if name.eq_ignore_ascii_case("for") => hop.address = address(value.as_bytes()),
            name if name.eq_ignore_ascii_case("proto") => hop.scheme = scheme(value.as_bytes()),
            name if name.eq_ignore_ascii_case("host") => {
                hop.host = Some(value).filter(|host| valid_authority(host));
            }
            _ => {}
        }
    }
    hop
}

fn outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |c: char| {
        if escaped {
            escaped = false;
            return false;
        }
        match c {
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        c == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_in_many_forms() {
        for (text, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            (" 192.0.2.1:8080 ", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("unknown", None),
            ("_hidden", None),
            ("", None),
            ("192.0.2.1 192.0.2.2", None),
            ("fe80::1%eth0", None),
        ] {
            let expected = expected.map(|text| text.parse::<IpAddr>().unwrap());
            assert_eq!(address(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn elements_of_forwarded_are_read_from_the_right() {
        // RFC 7239 section 4, and a comma inside quotes.
        let value =
            b"for=192.0.2.43;host=\"a,b\", FOR=\"[2001:db8:cafe::17]:4711\"; proto=https;by=x";

        let hops: Vec<_> = elements_from_the_right(value).collect();

        assert_eq!(hops.len(), 2);
        assert_eq!(hops[0].address, Some("2001:db8:cafe::17".parse().unwrap()));
        assert_eq!(hops[0].scheme, Some(Scheme::Https));
        assert_eq!(hops[1].address, Some("192.0.2.43".parse().unwrap()));
        assert_eq!(hops[1].host, None, "a comma is no part of a host");
    }
}
