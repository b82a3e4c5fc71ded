//! Where the gateway may connect to, whatever a document or a name server says (SE-23).

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Network, Problem};

use crate::snapshot::{document, split_address};

/// Addresses that no upstream has: what a cloud tells its machines (credentials among it), the
/// link, several receivers, nobody. A policy opens one only by a network that lies within.
static SPECIAL: LazyLock<Vec<Network>> = LazyLock::new(|| {
    let v4 = |a, b, c, d, prefix| Network::around(Ipv4Addr::new(a, b, c, d).into(), prefix);
    let v6 = |first: u128, prefix| Network::around(Ipv6Addr::from_bits(first).into(), prefix);
    vec![
        // RFC 6890: this network, link-local, multicast, reserved and broadcast.
        v4(0, 0, 0, 0, 8),
        v4(169, 254, 0, 0, 16),
        v4(224, 0, 0, 0, 4),
        v4(240, 0, 0, 0, 4),
        // Metadata of Alibaba Cloud, Azure and Oracle Cloud; that of the others is link-local.
        v4(100, 100, 100, 200, 32),
        v4(168, 63, 129, 16, 32),
        v4(192, 0, 0, 192, 32),
        v6(0, 128),
        v6(0xfe80 << 112, 10),
        v6(0xff00 << 112, 8),
        // fd00:ec2::254 of AWS, fd20:ce::254 of Google Cloud.
        v6(0xfd00_0ec2 << 96, 32),
        v6((0xfd20_00ce << 96) | 0x254, 128),
    ]
});

/// `upstream_policy` of the document. An empty list allows everything that is not special.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UpstreamPolicy {
    pub(crate) networks: Vec<Network>,
    pub(crate) hosts: Vec<String>,
    pub(crate) ports: Vec<Ports>,
}

/// One port or a range of them, both ends included.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(try_from = "PortsWritten")]
pub(crate) struct Ports {
    first: u16,
    last: u16,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum PortsWritten {
    One(u16),
    Range(String),
}

impl TryFrom<PortsWritten> for Ports {
    type Error = String;

    fn try_from(written: PortsWritten) -> Result<Self, String> {
        let (first, last) = match &written {
            PortsWritten::One(port) => (Some(*port), Some(*port)),
            PortsWritten::Range(text) => {
                let (first, last) = text.split_once('-').unwrap_or((text, text));
                (first.parse().ok(), last.parse().ok())
            }
        };
        match (first, last) {
            (Some(first), Some(last)) if 0 < first && first <= last => Ok(Self { first, last }),
            _ => Err("ports are a number or a range such as 8000-8999".to_owned()),
        }
    }
}

impl UpstreamPolicy {
    /// Whether the gateway may connect to this address.
    pub(crate) fn allows(&self, address: IpAddr) -> bool {
        let address = plain(address);
        let inside = |network: &Network| network.contains(address);
        let special = SPECIAL.iter().find(|special| special.contains(address));
        self.networks
            .iter()
            .filter(|network| inside(network))
            .any(|network| special.is_none_or(|special| is_within(*network, *special)))
            || (self.networks.is_empty() && special.is_none())
    }

    fn allows_host(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.hosts.is_empty()
            || self.hosts.iter().any(|pattern| {
                let pattern = pattern.trim_end_matches('.').to_ascii_lowercase();
                match pattern.strip_prefix('*') {
                    Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
                    None => host == pattern,
                }
            })
    }

    fn allows_port(&self, port: u16) -> bool {
        self.ports.is_empty()
            || (self.ports.iter()).any(|ports| (ports.first..=ports.last).contains(&port))
    }

    /// What a document alone shows: addresses, names and ports of the endpoints. What the names
    /// stand for is looked at whenever they are resolved.
    pub(crate) fn check(&self, upstreams: &[document::Upstream], problems: &mut Vec<Problem>) {
        for (index, upstream) in upstreams.iter().enumerate() {
            for (number, endpoint) in upstream.endpoints.iter().enumerate() {
                let Some((host, port)) = split_address(&endpoint.address) else {
                    continue;
                };
                if let Some((message, expected)) = self.complaint(host, port) {
                    let at = format!("/upstreams/{index}/endpoints/{number}/address");
                    problems
                        .push(Problem::new(at, "address_not_allowed", message).expecting(expected));
                }
            }
        }
    }

    fn complaint(&self, host: &str, port: u16) -> Option<(String, String)> {
        let listed = |field: &str| format!("what `upstream_policy.{field}` lists");
        if !self.allows_port(port) {
            return Some((format!("the port {port} is not allowed"), listed("ports")));
        }
        let Ok(address) = host.parse::<IpAddr>() else {
            return (!self.allows_host(host))
                .then(|| (format!("the host `{host}` is not allowed"), listed("hosts")));
        };
        if self.allows(address) {
            return None;
        }
        let special = SPECIAL
            .iter()
            .find(|special| special.contains(plain(address)));
        Some(match special {
            Some(special) => (
                format!(
                    "{address} is in {special}, where no upstream is: link-local, metadata, multicast or nobody"
                ),
                format!(
                    "another address, or a network within {special} in `upstream_policy.networks`"
                ),
            ),
            None => (
                format!("the address {address} is not allowed"),
                listed("networks"),
            ),
        })
    }
}

/// The address that a connection really reaches: IPv4 is also written as IPv6 (RFC 4291, sections
/// 2.5.5.1 and 2.5.5.2) and reached through translators (RFC 6052, section 2.1).
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    let bits = v6.to_bits();
    let low = u32::try_from(bits & u128::from(u32::MAX)).unwrap_or_default();
    match bits >> 32 {
        // `::` and `::1` are addresses of their own.
        0 if low > 1 => Ipv4Addr::from_bits(low).into(),
        prefix if prefix == 0xffff || prefix == 0x0064_ff9b << 64 => {
            Ipv4Addr::from_bits(low).into()
        }
        _ => address,
    }
}

fn is_within(inner: Network, outer: Network) -> bool {
    let (inner_bounds, outer_bounds) = (inner.bounds(), outer.bounds());
    inner.is_ipv6() == outer.is_ipv6()
        && outer_bounds.0 <= inner_bounds.0
        && inner_bounds.1 <= outer_bounds.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(json: &str) -> UpstreamPolicy {
        serde_json::from_str(json).unwrap()
    }

    fn allowed(policy: &UpstreamPolicy, address: &str) -> bool {
        policy.allows(address.parse().unwrap())
    }

    // spec: SE-23
    // spec: RT-20
    #[test]
    fn without_a_policy_all_but_special_addresses_are_allowed() {
        let policy = UpstreamPolicy::default();
        for address in [
            "127.0.0.1",
            "::1",
            "10.0.0.7",
            "192.168.1.1",
            "8.8.8.8",
            "fd00::7",
            "2001:db8::1",
        ] {
            assert!(allowed(&policy, address), "{address}");
        }
        for address in [
            "0.0.0.0",
            "169.254.169.254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "fe80::1",
            "febf::1",
            "ff02::1",
            "fd00:ec2::254",
            "fd20:ce::254",
        ] {
            assert!(!allowed(&policy, address), "{address}");
        }
    }

    // spec: SE-23
    #[test]
    fn an_address_in_another_spelling_is_the_same_address() {
        let policy = policy(r#"{"networks": ["10.0.0.0/8", "::/0"]}"#);
        for address in [
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "::ffff:11.0.0.1",
        ] {
            assert!(!allowed(&policy, address), "{address}");
        }
        for address in ["::ffff:10.1.2.3", "64:ff9b::a01:203", "::1", "2001:db8::1"] {
            assert!(allowed(&policy, address), "{address}");
        }
    }

    // spec: SE-23
    #[test]
    fn a_special_address_is_opened_only_by_a_network_within() {
        assert!(!allowed(
            &policy(r#"{"networks": ["0.0.0.0/0"]}"#),
            "169.254.169.254"
        ));
        assert!(!allowed(
            &policy(r#"{"networks": ["168.0.0.0/5"]}"#),
            "169.254.169.254"
        ));
        let opened = policy(r#"{"networks": ["169.254.7.0/24"]}"#);
        assert!(allowed(&opened, "169.254.7.1"));
        assert!(!allowed(&opened, "169.254.169.254"));
        assert!(!allowed(&opened, "10.0.0.1"));
    }

    #[test]
    fn hosts_and_ports_are_listed_or_free() {
        let policy =
            policy(r#"{"hosts": ["*.internal", "api.example.com"], "ports": [443, "8000-8999"]}"#);
        for host in ["a.internal", "A.B.Internal.", "api.example.com"] {
            assert!(policy.allows_host(host), "{host}");
        }
        for host in [
            "internal",
            ".internal",
            "evilinternal",
            "api.example.com.evil.test",
        ] {
            assert!(!policy.allows_host(host), "{host}");
        }
        assert_eq!(
            [443, 8000, 8999].map(|port| policy.allows_port(port)),
            [true; 3]
        );
        assert_eq!(
            [80, 444, 7999, 9000].map(|port| policy.allows_port(port)),
            [false; 4]
        );
        for bad in [
            r#"{"ports": [0]}"#,
            r#"{"ports": ["9-8"]}"#,
            r#"{"ports": ["http"]}"#,
        ] {
            assert!(
                serde_json::from_str::<UpstreamPolicy>(bad).is_err(),
                "{bad}"
            );
        }
    }
}
