//! Networks of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address.

use std::{borrow::Cow, fmt, net::IpAddr, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A network in CIDR notation (RFC 4632, RFC 4291 section 2.3), or one address.
///
/// IPv4 and IPv6 are two worlds: `::/0` has no IPv4 address in it. An IPv4 address written as IPv6
/// (`::ffff:192.0.2.1`) is the IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// The network of one address.
    pub fn single(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self {
            address,
            prefix: width(address),
        }
    }

    /// The network of an address and the first bits of it that count; more than there are mean all.
    pub fn around(address: IpAddr, prefix: u8) -> Self {
        let address = address.to_canonical();
        let prefix = prefix.min(width(address));
        Self {
            address: masked(address, prefix),
            prefix,
        }
    }

    /// How many of its first bits count.
    pub const fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Whether it is one address.
    pub fn is_single(&self) -> bool {
        self.prefix == width(self.address)
    }

    /// Whether it is IPv6.
    pub const fn is_ipv6(&self) -> bool {
        self.address.is_ipv6()
    }

    /// Whether the address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv6() == self.is_ipv6() && masked(address, self.prefix) == self.address
    }

    /// Its first and its last address as numbers; of IPv4 the last 32 bits.
    pub fn bounds(&self) -> (u128, u128) {
        let first = number(self.address);
        let free = u32::from(width(self.address) - self.prefix);
        let rest = if free == 128 {
            u128::MAX
        } else {
            (1 << free) - 1
        };
        (first, first | rest)
    }
}

/// An address as a number; of IPv4 the last 32 bits.
pub(crate) fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

const fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX
                .checked_shl(32 - u32::from(prefix.min(32)))
                .unwrap_or(0);
            std::net::Ipv4Addr::from_bits(v4.to_bits() & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX
                .checked_shl(128 - u32::from(prefix.min(128)))
                .unwrap_or(0);
            std::net::Ipv6Addr::from_bits(v6.to_bits() & mask).into()
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| {
            format!("`{text}` is no address or network; write one such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32")
        })?;
        let Some(prefix) = prefix else {
            return Ok(Self::single(address));
        };
        let most = width(address);
        let plain = prefix.bytes().all(|byte| byte.is_ascii_digit()) && prefix.len() <= 3;
        let bits = prefix
            .parse::<u8>()
            .ok()
            .filter(|bits| plain && *bits <= most);
        let bits = bits.ok_or_else(|| {
            format!("`{text}` has no prefix length; write 0 to {most} behind the `/`")
        })?;
        if address != address.to_canonical() {
            return Err(format!(
                "`{text}` is IPv4 written as IPv6; write it as IPv4"
            ));
        }
        let start = masked(address, bits);
        if start != address {
            return Err(format!(
                "`{text}` has bits behind its prefix; the network is {start}/{bits}"
            ));
        }
        Ok(Self {
            address,
            prefix: bits,
        })
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_single() {
            write!(f, "{}", self.address)
        } else {
            write!(f, "{}/{}", self.address, self.prefix)
        }
    }
}

impl JsonSchema for Network {
    fn schema_name() -> Cow<'static, str> {
        "Network".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?$",
            "description": "A network such as `10.0.0.0/8` or `2001:db8::/32`, or one address.",
            "examples": ["10.0.0.0/8"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_has_the_addresses_of_its_prefix() {
        for (text, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "11.0.0.0"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("192.0.2.7/32", "::ffff:192.0.2.7", "192.0.2.6"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::/0", "2001:db8::1", "10.0.0.1"),
            ("2001:db8::/64", "2001:db8::ffff", "2001:db8:0:1::"),
        ] {
            assert!(network(text).contains(inside.parse().unwrap()), "{text}");
            assert!(!network(text).contains(outside.parse().unwrap()), "{text}");
        }
        let around = Network::around("2001:db8::7".parse().unwrap(), 64);
        assert_eq!(around.to_string(), "2001:db8::/64");
    }

    #[test]
    fn what_is_no_network_is_said() {
        for (text, why) in [
            ("10.0.0.1/8", "the network is 10.0.0.0/8"),
            ("10.0.0.0/33", "0 to 32"),
            ("10.0.0.0/", "0 to 32"),
            ("10.0.0.0/+8", "0 to 32"),
            ("10.0.0", "such as"),
            ("localhost", "such as"),
            ("::ffff:10.0.0.0/104", "write it as IPv4"),
        ] {
            let mistake = text.parse::<Network>().unwrap_err();
            assert!(mistake.contains(why), "{mistake}");
        }
    }

    #[test]
    fn bounds_are_the_first_and_the_last() {
        assert_eq!(network("10.0.0.0/8").bounds(), (10 << 24, (11 << 24) - 1));
        assert_eq!(network("::/0").bounds(), (0, u128::MAX));
        assert_eq!(network("0.0.0.0/0").bounds(), (0, u128::from(u32::MAX)));
    }
}
