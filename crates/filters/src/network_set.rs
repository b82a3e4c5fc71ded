//! Many networks, asked quickly.

use std::net::IpAddr;

use sluicegate_core::Network;

/// A set of networks as sorted ranges that do not touch: asking costs one binary search, whatever
/// their number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NetworkSet {
    ipv4: Box<[(u32, u32)]>,
    ipv6: Box<[(u128, u128)]>,
}

impl NetworkSet {
    pub(crate) fn new(networks: impl IntoIterator<Item = Network>) -> Self {
        let (ipv6, ipv4): (Vec<_>, Vec<_>) = networks.into_iter().partition(Network::is_ipv6);
        let bounds = |networks: Vec<Network>| networks.iter().map(Network::bounds).collect();
        let narrow = |number: u128| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            ipv4: merged(bounds(ipv4))
                .into_iter()
                .map(|(first, last)| (narrow(first), narrow(last)))
                .collect(),
            ipv6: merged(bounds(ipv6)).into(),
        }
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        match address.to_canonical() {
            IpAddr::V4(v4) => is_in(&self.ipv4, v4.to_bits()),
            IpAddr::V6(v6) => is_in(&self.ipv6, v6.to_bits()),
        }
    }
}

fn merged(mut ranges: Vec<(u128, u128)>) -> Vec<(u128, u128)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u128, u128)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    merged
}

fn is_in<N: Ord + Copy>(ranges: &[(N, N)], number: N) -> bool {
    let behind = ranges.partition_point(|(first, _)| *first <= number);
    behind
        .checked_sub(1)
        .and_then(|index| ranges.get(index))
        .is_some_and(|(_, last)| number <= *last)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn both_families_are_asked_apart() {
        let set = NetworkSet::new(
            ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "10.1.0.0/16"]
                .map(|text| text.parse().unwrap()),
        );

        for inside in ["10.9.9.9", "192.0.2.7", "2001:db8::1", "::ffff:10.0.0.1"] {
            assert!(set.contains(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["9.255.255.255", "11.0.0.0", "192.0.2.8", "::a00:1"] {
            assert!(!set.contains(outside.parse().unwrap()), "{outside}");
        }
        assert!(!NetworkSet::default().contains("10.0.0.1".parse().unwrap()));
    }

    proptest! {
        /// The set says what each of its networks says.
        #[test]
        fn a_set_is_the_union_of_its_networks(
            networks in vec((any::<u32>(), 0_u8..=32), 0..40),
            asked in vec(any::<u32>(), 1..40),
        ) {
            let networks: Vec<_> = networks
                .into_iter()
                .map(|(bits, prefix)| {
                    Network::around(std::net::Ipv4Addr::from_bits(bits).into(), prefix)
                })
                .collect();
            let set = NetworkSet::new(networks.iter().copied());
            for bits in asked {
                let address = IpAddr::from(std::net::Ipv4Addr::from_bits(bits));
                let any = networks.iter().any(|network| network.contains(address));
                prop_assert_eq!(set.contains(address), any);
            }
        }
    }
}
