//! `denylist`: keeps out whom risk control has found, at once and without a new snapshot.

mod entry;
mod list;

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, Weak},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use sluicegate_core::{Code, Cx, Exchange, Filter, InvalidConfig, Phase, Reject, Step};

use crate::header_name::HeaderName;
use entry::{Event, Kind};
use list::List;

/// Answers 403 to callers on a list that changes while the gateway runs: network addresses,
/// devices, users and apps, each for a time or for good.
///
/// The list is not part of the configuration. It comes from a file beside it (`file`), which is
/// followed, and from `sluicegate block`; both are in force at once, outlive reloads and restarts,
/// and change nothing when there is a mistake in them. All filters with one `id` look at one list,
/// in whichever chain they stand: one in the entry chain keeps out addresses and devices, one on
/// a route, behind its authentication, users and apps. An entry counts until its end has come; looking
/// an entry up is what finds out.
///
/// The address is the real client's, as `client_address` has found it; one IPv6 address stands for
/// its /64. A caller without a device, or who has not been authenticated, is on no list of devices
/// or users: what requires them is another filter. When the file is away or broken, the last good
/// list stays in force; without one a configuration that names it is refused, so that a list is
/// never silently empty. `explain` without `--live` knows the configuration only, and so an empty list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What a caller is looked up by.
    #[serde(default = "by_address")]
    #[schemars(length(min = 1))]
    by: Vec<Kind>,
    /// The header that names the device.
    #[serde(default = "x_device_id")]
    device_header: HeaderName,
    /// How many entries the list may have; more are refused as a whole, never dropped.
    #[serde(default = "a_hundred_thousand")]
    #[schemars(range(min = 1, max = 1_000_000))]
    max: usize,
    /// A file of entries, relative to the configuration. It is followed.
    file: Option<String>,
}

fn by_address() -> Vec<Kind> {
    vec![Kind::Address]
}

fn x_device_id() -> HeaderName {
    HeaderName::known("X-Device-Id")
}

const fn a_hundred_thousand() -> usize {
    100_000
}

static CALLER_DENIED: Code = Code {
    name: "caller_denied",
    status: 403,
    title: "Caller denied",
    detail: "Requests from this caller are not accepted at present.",
    reason: "authorisation",
};

/// The filter.
pub struct Denylist {
    by: Box<[Kind]>,
    device_header: HeaderName,
    denied: Arc<Denied>,
    /// Its `max`, held for [`Denied::bounds`].
    _bound: Arc<usize>,
}

/// Whom all filters of one `id` keep out.
#[derive(Debug, Default)]
pub struct Denied {
    /// Taken for one look; a change is prepared aside.
    list: RwLock<Arc<List>>,
    /// The `max` of every living filter: those of a refused snapshot are gone with it. Held for a
    /// whole change, so that changes come one after another.
    bounds: Mutex<Vec<Weak<usize>>>,
}

impl Denied {
    fn allow(&self, max: usize) -> Arc<usize> {
        let bound = Arc::new(max);
        let mut bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        bounds.retain(|bound| bound.strong_count() > 0);
        bounds.push(Arc::downgrade(&bound));
        bound
    }

    fn list(&self) -> RwLockReadGuard<'_, Arc<List>> {
        self.list.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// The list would have more entries than it may; then it stays as it is.
    fn change(&self, event: Event, now: Duration) -> Result<(), InvalidConfig> {
        let bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        let before = Arc::clone(&self.list());
        let after = event.change(&before, now);
        let living = bounds.iter().filter_map(Weak::upgrade);
        let most = living.map(|bound| *bound).max().unwrap_or_default();
        // With a `max` below what is there, a list may still become shorter.
        if after.len() > most && after.len() > before.len() {
            let message = format!("the list would have {} entries", after.len());
            return Err(InvalidConfig::new("", message)
                .expecting(format!("at most {most}, the `max` of the filter")));
        }
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(after);
        Ok(())
    }
}

impl Filter for Denylist {
    type Config = Config;
    type State = Denied;
    type Carry = ();
    const NAME: &'static str = "denylist";
    const REJECTS: &'static [&'static Code] = &[&CALLER_DENIED];
    const SHARED: bool = true;

    fn phase(config: &Config) -> Phase {
        if config.by.iter().any(|kind| kind.needs_principal()) {
            Phase::Authorize
        } else {
            Phase::Admit
        }
    }

    fn new(config: Config, denied: Arc<Denied>) -> Result<Self, InvalidConfig> {
        if config.file.as_deref() == Some("") {
            return Err(InvalidConfig::new("/file", "this names no file")
                .expecting("a path such as denied.txt, or no `file`"));
        }
        Ok(Self {
            by: config.by.into(),
            device_header: config.device_header,
            _bound: denied.allow(config.max),
            denied,
        })
    }

    fn told(denied: &Denied, event: &Value, unix: Duration) -> Result<(), InvalidConfig> {
        denied.change(Event::read(event)?, unix)
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let list = self.denied.list();
        if list.len() == 0 {
            cx.exchange.note(|| "nobody is on the list");
            return Step::NEXT;
        }
        let now = cx.effects.unix_time();
        let mut kinds = self.by.iter().copied();
        let found = kinds.find_map(|kind| self.look(&list, kind, cx.exchange, now));
        drop(list);
        let Some((kind, entry)) = found else {
            return Step::NEXT;
        };
        cx.exchange
            .note(|| format!("{} {entry} is on the list", kind.name()));
        Step::Done(Err(Reject::new(&CALLER_DENIED).because(kind.cause())))
    }
}

impl Denylist {
    /// The entry that keeps a caller out.
    fn look(
        &self,
        list: &List,
        kind: Kind,
        exchange: &Exchange,
        now: Duration,
    ) -> Option<(Kind, String)> {
        let principal = exchange.principal.as_ref();
        let word = |word: Option<&str>| {
            let word = word?;
            list.has(kind, word.as_bytes(), now)
                .then(|| word.to_owned())
        };
        let entry = match kind {
            Kind::Address => {
                let network = list.network_of(exchange.client, now);
                network.map(|network| network.to_string())
            }
            Kind::Device => {
                let mut sent = exchange.request.fields.get_all(self.device_header.as_str());
                let found = sent.find(|device| list.has(kind, device, now));
                found.map(|device| String::from_utf8_lossy(device).into_owned())
            }
            Kind::User => word(principal.and_then(|principal| principal.user.as_deref())),
            Kind::App => word(principal.and_then(|principal| principal.app.as_deref())),
        };
        entry.map(|entry| (kind, entry))
    }
}

#[cfg(test)]
mod tests;
