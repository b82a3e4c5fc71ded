//! `address_list`: lets clients in by their address, or keeps them out.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Code, Cx, Filter, InvalidConfig, Network, Phase, Reject, Step};

use crate::network_set::NetworkSet;

/// Answers 403 to clients whose address is denied, or is not among those allowed.
///
/// The address is the real client's, as `client_address` has found it (SE-14). What is denied is
/// denied even if it is allowed too. With an `allow` list, everybody else is kept out. Lists may
/// have a hundred thousand entries: asking costs one binary search.
///
/// One IPv6 address under `deny` stands for its /64, because a client has all of them; under
/// `allow` it stands for itself.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Networks and addresses that are let in; when there are any, nobody else is.
    #[serde(default)]
    allow: Vec<Network>,
    /// Networks and addresses that are kept out.
    #[serde(default)]
    deny: Vec<Network>,
}

static ADDRESS_DENIED: Code = Code {
    name: "address_denied",
    status: 403,
    title: "Address denied",
    detail: "Requests from this network address are not accepted here.",
    reason: "authorisation",
};

/// The filter.
pub struct AddressList {
    /// `None` lets everybody in who is not denied.
    allow: Option<NetworkSet>,
    deny: NetworkSet,
}

/// How many bits of an IPv6 address a client is known by.
const IPV6_CLIENT: u8 = 64;

impl Filter for AddressList {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "address_list";
    const REJECTS: &'static [&'static Code] = &[&ADDRESS_DENIED];

    fn phase(_: &Config) -> Phase {
        Phase::Admit
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let Config { allow, deny } = config;
        if allow.is_empty() && deny.is_empty() {
            return Err(InvalidConfig::new("", "both lists are empty")
                .expecting("an entry under `allow` or `deny`"));
        }
        let allow = (!allow.is_empty()).then(|| NetworkSet::new(allow));
        let deny = NetworkSet::new(deny.into_iter().map(widened));
        Ok(Self { allow, deny })
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let client = cx.exchange.client;
        let cause = if self.deny.contains(client) {
            "the address is on the deny list"
        } else if self
            .allow
            .as_ref()
            .is_some_and(|allow| !allow.contains(client))
        {
            "the address is not on the allow list"
        } else {
            return Step::NEXT;
        };
        cx.exchange.note(|| format!("{client}: {cause}"));
        Step::Done(Err(Reject::new(&ADDRESS_DENIED).because(cause)))
    }
}

/// One IPv6 address stands for the network that its owner has.
pub(crate) fn widened(network: Network) -> Network {
    let (first, _) = network.bounds();
    if network.is_ipv6() && network.is_single() {
        Network::around(std::net::Ipv6Addr::from_bits(first).into(), IPV6_CLIENT)
    } else {
        network
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Trial, exchange, filter};

    fn passes(config: &Value, client: &str) -> bool {
        let filter: AddressList = filter(config).unwrap();
        let mut trial = Trial::new(exchange("GET", "/", &[]).unwrap());
        trial.exchange.client = client.parse().unwrap();
        trial.request(&filter).unwrap().is_ok()
    }

    // spec: PL-30
    // spec: ER-09
    #[test]
    fn who_is_denied_stays_out_even_if_allowed() {
        let config = json!({"allow": ["10.0.0.0/8", "::1"], "deny": ["10.6.0.0/16"]});

        for (client, is_in) in [
            ("10.1.2.3", true),
            ("10.6.2.3", false),
            ("192.0.2.1", false),
            ("::1", true),
            ("::2", false),
            ("::ffff:10.1.2.3", true),
        ] {
            assert_eq!(passes(&config, client), is_in, "{client}");
        }
    }

    #[test]
    fn a_deny_list_alone_lets_others_in() {
        let config = json!({"deny": ["192.0.2.0/24", "2001:db8::7"]});

        assert!(passes(&config, "198.51.100.1"));
        assert!(!passes(&config, "192.0.2.200"));
        assert!(!passes(&config, "2001:db8::ffff"), "the same client's /64");
        assert!(passes(&config, "2001:db8:0:1::7"));
    }

    #[test]
    fn mistakes_say_where_and_what_would_be_right() {
        let mistake = |config: Value| filter::<AddressList>(&config).err().unwrap();

        assert!(mistake(json!({})).contains("both lists are empty"));
        let bits = mistake(json!({"deny": ["10.0.0.0/8", "10.0.0.1/8"]}));
        assert!(bits.starts_with("/deny/1: "), "{bits}");
        assert!(bits.contains("10.0.0.0/8"), "{bits}");
        let two = mistake(json!({"deny": ["a"], "allow": ["example.com"]}));
        assert!(two.contains("/deny/0") && two.contains("/allow/0"), "{two}");
    }

    #[test]
    fn a_hundred_thousand_entries_are_no_burden() {
        let deny: Vec<_> = (0_u32..100_000)
            .map(|index| std::net::Ipv4Addr::from_bits(index * 40_000).to_string())
            .collect();
        let config = json!({"deny": deny});

        assert!(!passes(&config, "0.0.156.64"));
        assert!(passes(&config, "0.0.156.65"));
    }
}
