//! From configured endpoints to addresses: names are resolved again when their time to live is over.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Weak},
    time::Duration,
};

use hickory_resolver::{TokioResolver, config::LookupIpStrategy};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    core::Core,
    snapshot::document,
    upstream::{
        policy::UpstreamPolicy,
        refusals,
        shared::{Endpoints, Shared},
    },
};

/// However short a time to live is, and however long.
const TTL: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(5);
/// How soon a name that does not resolve is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// An endpoint as configured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    host: String,
    port: u16,
    weight: u32,
    written: Box<str>,
}

/// The upstreams of a new snapshot, and who waits for their first addresses.
pub(crate) struct Work {
    pub(crate) upstreams: Vec<(Arc<Shared>, Vec<Named>, Duration)>,
    pub(crate) policy: Arc<UpstreamPolicy>,
    pub(crate) done: std::sync::mpsc::Sender<()>,
}

/// Reads the endpoints of an upstream.
pub(crate) fn named(config: &document::Upstream) -> Vec<Named> {
    config
        .endpoints
        .iter()
        .filter_map(|endpoint| {
            let (host, port) = crate::snapshot::split_address(&endpoint.address)?;
            Some(Named {
                host: host.to_owned(),
                port,
                weight: endpoint.weight,
                written: endpoint.address.as_str().into(),
            })
        })
        .collect()
}

/// All are addresses already: nothing has to be asked.
pub(crate) fn literal(named: &[Named]) -> Option<Endpoints> {
    let all: Option<Vec<_>> = named
        .iter()
        .map(|endpoint| {
            let ip: IpAddr = endpoint.host.parse().ok()?;
            Some((
                SocketAddr::new(ip, endpoint.port),
                endpoint.weight,
                endpoint.written.clone(),
            ))
        })
        .collect();
    all.map(|all| Endpoints::new(&all))
}

/// Resolves until the engine ends. Runs on the housekeeping thread.
pub(crate) async fn run(mut work: mpsc::UnboundedReceiver<Work>, core: Arc<Core>) {
    let mut resolver = None;
    let mut followed: HashMap<Box<str>, Followed> = HashMap::new();
    loop {
        let next = followed.values().map(|upstream| upstream.due).min();
        let timer = async {
            match next {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            arrived = work.recv() => {
                let Some(arrived) = arrived else { return };
                followed.clear();
                for (shared, endpoints, refresh) in arrived.upstreams {
                    let policy = arrived.policy.clone();
                    let mut upstream = Followed { shared: Arc::downgrade(&shared), endpoints, refresh, policy, due: Instant::now() };
                    upstream.resolve(&mut resolver, &core).await;
                    followed.insert(shared.id.clone(), upstream);
                }
                let _ = arrived.done.send(());
            }
            () = timer => {
                let now = Instant::now();
                for upstream in followed.values_mut().filter(|upstream| upstream.due <= now) {
                    upstream.resolve(&mut resolver, &core).await;
                }
                followed.retain(|_, upstream| upstream.shared.strong_count() > 0);
            }
        }
    }
}

struct Followed {
    shared: Weak<Shared>,
    endpoints: Vec<Named>,
    refresh: Duration,
    policy: Arc<UpstreamPolicy>,
    due: Instant,
}

impl Followed {
    /// Asks for every name. When one fails, the addresses known so far stay (AV-09). An address
    /// that the policy does not allow is never used, however it was come by (SE-23).
    async fn resolve(&mut self, resolver: &mut Option<TokioResolver>, core: &Core) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let mut found: Vec<(SocketAddr, u32, Box<str>)> = Vec::new();
        let mut ttl: Option<Duration> = None;
        let mut complete = true;
        let mut refused: Vec<(&str, IpAddr)> = Vec::new();
        for endpoint in &self.endpoints {
            match lookup(resolver, &endpoint.host).await {
                Some((addresses, valid)) => {
                    ttl = ttl.into_iter().chain(valid).min();
                    for ip in addresses {
                        if !self.policy.allows(ip) {
                            refused.push((&endpoint.host, ip));
                            continue;
                        }
                        let address = SocketAddr::new(ip, endpoint.port);
                        if !found.iter().any(|(known, ..)| *known == address) {
                            found.push((address, endpoint.weight, endpoint.written.clone()));
                        }
                    }
                }
                None => complete = false,
            }
        }
        refusals::note(core, &shared, &refused);
        found.sort_by_key(|(address, ..)| *address);
        let known = shared.endpoints();
        let keeps_old = !complete && !known.addresses().is_empty();
        let changed = !known
            .addresses()
            .iter()
            .eq(found.iter().map(|(address, ..)| address));
        if changed && !keeps_old {
            shared.set_endpoints(Endpoints::new(&found));
        }
        let wait = if complete {
            ttl.unwrap_or(self.refresh).clamp(*TTL.start(), *TTL.end())
        } else {
            RETRY
        };
        self.due = Instant::now() + wait;
    }
}

/// The addresses of a host and how long they hold; `None` when nobody knows.
async fn lookup(
    resolver: &mut Option<TokioResolver>,
    host: &str,
) -> Option<(Vec<IpAddr>, Option<Duration>)> {
    if let Ok(ip) = host.parse() {
        return Some((vec![ip], None));
    }
    if resolver.is_none() {
        let mut builder = TokioResolver::builder_tokio().ok()?;
        builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        *resolver = Some(builder.build());
    }
    let answer = resolver.as_ref()?.lookup_ip(host).await.ok()?;
    let valid = answer
        .valid_until()
        .checked_duration_since(Instant::now().into_std());
    let addresses: Vec<IpAddr> = answer.iter().collect();
    (!addresses.is_empty()).then_some((addresses, valid))
}

#[cfg(test)]
mod tests;
