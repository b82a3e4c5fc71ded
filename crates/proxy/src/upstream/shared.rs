//! What all threads share of one upstream, across snapshots: endpoints, permits, settings.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use sluicegate_record::UpstreamSeries;
use sluicegate_traffic::balance::SmoothWeighted;

use crate::{
    core::lock,
    snapshot::document::{self, Protocol},
    upstream::{permits::Permits, policy::UpstreamPolicy},
};

/// One upstream of the process. Its counters, permits and endpoints outlive snapshots.
pub(crate) struct Shared {
    pub(crate) id: Box<str>,
    pub(crate) permits: Arc<Permits>,
    pub(crate) series: Arc<UpstreamSeries>,
    /// Read once per request, written once per change: the lock guards the pointer only.
    endpoints: RwLock<Arc<Endpoints>>,
    generation: AtomicU64,
    settings: RwLock<Settings>,
    idle: AtomicI64,
    /// What names stood for last time and the policy did not allow; the lock guards the list.
    refused: Mutex<Vec<IpAddr>>,
}

/// How connections to this upstream are kept; small and copied out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) acquire: Duration,
    pub(crate) idle: Duration,
    pub(crate) life: Duration,
    pub(crate) connect: Duration,
    pub(crate) protocol: Protocol,
}

/// The addresses requests are spread over.
pub(crate) struct Endpoints {
    addresses: Vec<SocketAddr>,
    /// As configured: what `host: endpoint` sends.
    names: Vec<Box<str>>,
    weights: Vec<u32>,
    weighted: SmoothWeighted,
}

impl PartialEq for Endpoints {
    /// Same addresses, names and weights; whose turn it is does not count.
    fn eq(&self, other: &Self) -> bool {
        self.addresses == other.addresses
            && self.names == other.names
            && self.weights == other.weights
    }
}

impl Endpoints {
    /// From addresses, their weights and the names they were configured by.
    pub(crate) fn new(weighted: &[(SocketAddr, u32, Box<str>)]) -> Self {
        let weights: Vec<u32> = weighted.iter().map(|(_, weight, _)| *weight).collect();
        Self {
            addresses: weighted.iter().map(|(address, ..)| *address).collect(),
            names: weighted.iter().map(|(.., name)| name.clone()).collect(),
            weighted: SmoothWeighted::new(&weights),
            weights,
        }
    }

    /// The next endpoint in smooth weighted order; `None` when there is none.
    pub(crate) fn pick(&self) -> Option<SocketAddr> {
        let index = self.weighted.pick(|_| true)?;
        self.addresses.get(index).copied()
    }

    pub(crate) fn name_of(&self, address: SocketAddr) -> String {
        let at = self.addresses.iter().position(|known| *known == address);
        let name = at.and_then(|at| self.names.get(at));
        name.map_or_else(|| address.to_string(), ToString::to_string)
    }

    pub(crate) fn contains(&self, address: SocketAddr) -> bool {
        self.addresses.contains(&address)
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Those that a policy allows.
    fn allowed(&self, policy: &UpstreamPolicy) -> Self {
        let known = self.addresses.iter().zip(&self.weights).zip(&self.names);
        let allowed: Vec<_> = known
            .filter(|((address, _), _)| policy.allows(address.ip()))
            .map(|((address, weight), name)| (*address, *weight, name.clone()))
            .collect();
        Self::new(&allowed)
    }
}

impl Shared {
    pub(crate) fn new(config: &document::Upstream, series: Arc<UpstreamSeries>) -> Self {
        Self {
            id: config.id.as_str().into(),
            permits: Permits::new(config.connections.max),
            series,
            endpoints: RwLock::new(Arc::new(Endpoints::new(&[]))),
            generation: AtomicU64::new(0),
            settings: RwLock::new(Settings::from(config)),
            idle: AtomicI64::new(0),
            refused: Mutex::default(),
        }
    }

    /// Takes over the settings of a new snapshot.
    pub(crate) fn configure(&self, config: &document::Upstream) {
        self.permits.set_max(config.connections.max);
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Settings::from(config);
    }

    pub(crate) fn settings(&self) -> Settings {
        *self.settings.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the addresses.
    pub(crate) fn set_endpoints(&self, endpoints: Endpoints) {
        *self
            .endpoints
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(endpoints);
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Replaces the addresses unless they are the same: the order of turns goes on then.
    pub(crate) fn set_endpoints_if_changed(&self, endpoints: Endpoints) {
        if *self.endpoints() != endpoints {
            self.set_endpoints(endpoints);
        }
    }

    /// Gives up the addresses that a new policy does not allow.
    pub(crate) fn obey(&self, policy: &UpstreamPolicy) {
        let known = self.endpoints();
        if !(known.addresses().iter()).all(|address| policy.allows(address.ip())) {
            self.set_endpoints(known.allowed(policy));
        }
    }

    /// Remembers what was refused; true when it is not what was refused before.
    pub(crate) fn set_refused(&self, mut addresses: Vec<IpAddr>) -> bool {
        addresses.sort_unstable();
        addresses.dedup();
        let mut known = lock(&self.refused);
        let changed = *known != addresses;
        *known = addresses;
        changed
    }

    pub(crate) fn refused(&self) -> Vec<IpAddr> {
        lock(&self.refused).clone()
    }

    /// Changes with every change of the endpoints.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn endpoints(&self) -> Arc<Endpoints> {
        self.endpoints
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn idle_changed(&self, by: i64) {
        self.idle.fetch_add(by, Ordering::Relaxed);
    }

    pub(crate) fn idle(&self) -> i64 {
        self.idle.load(Ordering::Relaxed)
    }
}

impl From<&document::Upstream> for Settings {
    fn from(config: &document::Upstream) -> Self {
        Self {
            acquire: config.connections.acquire.0,
            idle: config.connections.idle.0,
            life: config.connections.life.0,
            connect: config.timeouts.connect.0,
            protocol: config.protocol,
        }
    }
}
