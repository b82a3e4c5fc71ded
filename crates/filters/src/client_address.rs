//! `client_address`: finds who really calls, as far as trusted hops vouch for it.

use std::{net::IpAddr, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Exchange, Filter, InvalidConfig, Network, Phase, Scheme, Step};
use sluicegate_http1::valid_authority;

use crate::header_name::HeaderName;

use self::hops::Hop;

mod hops;

/// Finds the client's address. Lists, limits, logs and the headers for upstreams all use this one.
///
/// Any client can write `X-Forwarded-For`; only what a trusted hop added to it counts. So the
/// entries are read from the right, beginning with the hop that opened the connection: each that
/// is trusted vouches for the one before it, and the first that is not is the client. The leftmost
/// entry, which a client can choose, is only reached when everybody in between is trusted. An
/// entry that is no address ends the walk. A hop that is not trusted is the client itself, whatever
/// it sends.
///
/// From a trusted hop, `X-Forwarded-Proto` and `X-Forwarded-Host` (or `proto` and `host` of
/// `Forwarded`) say how the client came and what host it asked for.
///
/// By default nobody is trusted and the client is whoever opened the connection. Behind a balancer
/// that speaks the PROXY protocol that is already the right one: see the listener.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the address stands; one place only.
    #[serde(default)]
    source: Source,
    /// Networks of the hops whose word counts.
    #[serde(default)]
    trusted: Vec<Network>,
    /// Or: how many hops of yours stand in front, whatever their addresses (`maxTrustedIndex` of
    /// Spring Cloud Gateway). Only safe when nobody can come around them.
    #[schemars(range(min = 1, max = 16))]
    hops: Option<usize>,
}

/// Where the client's address stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// The other end of the connection.
    #[default]
    Peer,
    /// `X-Forwarded-For`, to which each hop appends.
    XForwardedFor,
    /// `Forwarded` (RFC 7239), to which each hop appends.
    Forwarded,
    /// `X-Real-IP`, which the hop in front overwrites.
    XRealIp,
    /// A header with one address that the hop in front overwrites.
    #[serde(untagged)]
    Header(Named),
}

/// A header by its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// Its name, such as `CF-Connecting-IP` or `True-Client-IP`.
    header: HeaderName,
}

/// The filter.
pub struct ClientAddress {
    source: Source,
    trust: Trust,
}

enum Trust {
    Networks(Box<[Network]>),
    Hops(usize),
}

impl Filter for ClientAddress {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "client_address";

    fn phase(_: &Config) -> Phase {
        Phase::Sanitize
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let Config {
            source,
            trusted,
            hops,
        } = config;
        let is_list = matches!(source, Source::XForwardedFor | Source::Forwarded);
        let trust = match (hops, trusted.is_empty()) {
            (Some(_), false) => {
                return Err(
                    InvalidConfig::new("/hops", "`trusted` and `hops` exclude each other")
                        .expecting("one of them"),
                );
            }
            (Some(_), true) if !is_list => {
                return Err(
                    InvalidConfig::new("/hops", "hops can be counted in a list only")
                        .expecting("`source: x_forwarded_for` or `source: forwarded`"),
                );
            }
            (None, true) if source != Source::Peer => {
                return Err(
                    InvalidConfig::new("/source", "nobody is trusted to write it")
                        .expecting("the networks of your proxies under `trusted`"),
                );
            }
            (Some(hops), true) => Trust::Hops(hops),
            (None, _) => Trust::Networks(trusted.into()),
        };
        Ok(Self { source, trust })
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let exchange = cx.exchange;
        let peer = exchange.peer.remote.ip().to_canonical();
        exchange.client = peer;
        exchange.peer_trusted = match &self.trust {
            Trust::Hops(_) => true,
            Trust::Networks(networks) => contains(networks, peer),
        };
        if exchange.peer_trusted {
            self.follow(exchange);
        }
        let (client, trusted) = (exchange.client, exchange.peer_trusted);
        exchange.note(|| {
            if trusted {
                format!("{client}, as far as the trusted hop {peer} says")
            } else {
                format!("{client}: it opened the connection and is not trusted to name another")
            }
        });
        Step::NEXT
    }
}

impl ClientAddress {
    /// Believes what the hop in front says.
    fn follow(&self, exchange: &mut Exchange) {
        let fields = &exchange.request.fields;
        let vouched = match &self.source {
            Source::Peer => Vouched::default(),
            Source::XForwardedFor => self.walk(
                exchange.client,
                fields
                    .get_all("X-Forwarded-For")
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .flat_map(hops::from_the_right)
                    .map(Hop::plain),
            ),
            Source::Forwarded => self.walk(
                exchange.client,
                fields
                    .get_all("Forwarded")
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .flat_map(hops::elements_from_the_right),
            ),
            Source::XRealIp => Vouched::single(fields.get_all("X-Real-IP")),
            Source::Header(named) => Vouched::single(fields.get_all(named.header.as_str())),
        };
        let scheme = vouched.scheme.or_else(|| {
            hops::nth_from_the_right(fields.get_all("X-Forwarded-Proto"), vouched.hops)
                .and_then(hops::scheme)
        });
        let host = vouched.host.or_else(|| {
            hops::nth_from_the_right(fields.get_all("X-Forwarded-Host"), vouched.hops)
                .and_then(|host| std::str::from_utf8(host).ok())
                .filter(|host| valid_authority(host))
                .map(Into::into)
        });
        if let Some(client) = vouched.client {
            exchange.client = client;
        }
        exchange.scheme = scheme.unwrap_or(exchange.scheme);
        exchange.host = host;
    }

    /// From the right, as far as trusted hops vouch.
    fn walk<'f>(&self, peer: IpAddr, hops: impl Iterator<Item = Hop<'f>>) -> Vouched {
        let mut found = Vouched::default();
        let mut last = peer;
        for (index, hop) in hops.enumerate() {
            let goes_on = match &self.trust {
                Trust::Hops(count) => index < *count,
                Trust::Networks(networks) => contains(networks, last),
            };
            if !goes_on {
                break;
            }
            let Some(address) = hop.address else { break };
            last = address;
            found = Vouched {
                client: Some(address),
                scheme: hop.scheme,
                host: hop.host.map(Into::into),
                hops: index,
            };
        }
        found
    }
}

/// What trusted hops vouch for.
#[derive(Default)]
struct Vouched {
    client: Option<IpAddr>,
    scheme: Option<Scheme>,
    host: Option<Box<str>>,
    /// How many entries stand to the right of the client's.
    hops: usize,
}

impl Vouched {
    /// A header with one address. Two of them prove that nobody has overwritten the client's.
    fn single<'f>(mut values: impl Iterator<Item = &'f [u8]>) -> Self {
        let only = values.next().filter(|_| values.next().is_none());
        Self {
            client: only.and_then(hops::address),
            ..Self::default()
        }
    }
}

fn contains(networks: &[Network], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests;
