//! Many entries, asked quickly.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    time::Duration,
};

use sluicegate_core::Network;

use super::entry::{Entry, Kind, Whom};

/// Networks by their address and length, everything else by its name. Asking for an address costs
/// one look for each length of prefix on the list, in practice two or three.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    networks: HashMap<Network, Duration>,
    /// The lengths that networks have: of IPv4, then of IPv6.
    prefixes: [Box<[u8]>; 2],
    names: BTreeMap<Kind, HashMap<Box<[u8]>, Duration>>,
}

impl List {
    /// How many entries there are, ended ones included until the next change.
    pub(crate) fn len(&self) -> usize {
        self.networks.len() + self.names.values().map(HashMap::len).sum::<usize>()
    }

    /// The smallest network on the list that has the address.
    pub(crate) fn network_of(&self, address: IpAddr, now: Duration) -> Option<Network> {
        let [ipv4, ipv6] = &self.prefixes;
        let prefixes = if address.to_canonical().is_ipv4() {
            ipv4
        } else {
            ipv6
        };
        let around = prefixes
            .iter()
            .map(|prefix| Network::around(address, *prefix));
        let mut listed = around.filter(|network| is_on(self.networks.get(network), now));
        listed.next()
    }

    /// Whether a name is on the list.
    pub(crate) fn has(&self, kind: Kind, name: &[u8], now: Duration) -> bool {
        is_on(self.names.get(&kind).and_then(|names| names.get(name)), now)
    }

    /// Adds an entry; one that is there already keeps the later end.
    pub(crate) fn add(&mut self, entry: Entry) {
        let until = match entry.whom {
            Whom::Network(network) => self.networks.entry(network).or_default(),
            Whom::Named(kind, name) => self.names.entry(kind).or_default().entry(name).or_default(),
        };
        *until = entry.until.max(*until);
    }

    pub(crate) fn remove(&mut self, whom: &Whom) {
        match whom {
            Whom::Network(network) => {
                self.networks.remove(network);
            }
            Whom::Named(kind, name) => {
                if let Some(names) = self.names.get_mut(kind) {
                    names.remove(name);
                }
            }
        }
    }

    pub(crate) fn forget_ended(&mut self, now: Duration) {
        self.networks.retain(|_, until| *until > now);
        for names in self.names.values_mut() {
            names.retain(|_, until| *until > now);
        }
    }

    /// Makes changed networks known to [`List::network_of`].
    pub(crate) fn settle(&mut self) {
        self.prefixes = [false, true].map(|is_ipv6| {
            let of_family = self
                .networks
                .keys()
                .filter(|network| network.is_ipv6() == is_ipv6);
            let mut prefixes: Vec<_> = of_family.map(Network::prefix).collect();
            // The longest first, so that the smallest network is found first.
            prefixes.sort_unstable_by(|one, other| other.cmp(one));
            prefixes.dedup();
            prefixes.into()
        });
    }
}

fn is_on(until: Option<&Duration>, now: Duration) -> bool {
    until.is_some_and(|until| *until > now)
}
