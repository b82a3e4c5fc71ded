//! What filters keep across snapshots.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use sluicegate_core::{Filter, InvalidConfig};

/// How long state waits for a snapshot that wants it again: a filter that was taken out by
/// mistake and put back keeps counting.
const GRACE: Duration = Duration::from_mins(5);

/// The state of all filters, by (scope, filter, id). It belongs to the process; snapshots borrow
/// from it, `explain` without a gateway uses a fresh one.
///
/// State counts as used while a filter of any living chain holds it, so an exchange that still
/// travels through an old snapshot keeps what it met.
#[derive(Default)]
pub struct States {
    // Guards the map only; taken when a snapshot is compiled, never for a request.
    entries: Mutex<HashMap<Key, Entry>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    scope: Box<str>,
    filter: &'static str,
    id: Box<str>,
}

struct Entry {
    state: Arc<dyn Any + Send + Sync>,
    /// Prints the state; the type behind `Any` is known only where the entry is made.
    show: fn(&(dyn Any + Send + Sync), &mut fmt::Formatter<'_>) -> fmt::Result,
    /// Passes an event on to it, for the same reason.
    tell: fn(&(dyn Any + Send + Sync), &Value, Duration) -> Result<(), InvalidConfig>,
    unused_since: Option<Duration>,
}

impl States {
    /// The state of the filter `F` called `id`; made when there is none yet.
    pub fn of<F: Filter>(&self, scope: &str, id: &str) -> Arc<F::State> {
        let key = Key {
            scope: scope.into(),
            filter: F::NAME,
            id: id.into(),
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries
            .get(&key)
            .and_then(|entry| Arc::clone(&entry.state).downcast().ok());
        known.unwrap_or_else(|| {
            let state = Arc::<F::State>::default();
            let entry = Entry {
                state: Arc::clone(&state) as Arc<dyn Any + Send + Sync>,
                show: show::<F::State>,
                tell: tell::<F>,
                unused_since: None,
            };
            entries.insert(key, entry);
            state
        })
    }

    /// Lets state go that no living chain has used for the grace time of five minutes.
    ///
    /// To be called after a snapshot was applied and now and then; `now` is the engine's clock.
    pub fn retire(&self, now: Duration) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| {
            if Arc::strong_count(&entry.state) > 1 {
                entry.unused_since = None;
                return true;
            }
            let since = *entry.unused_since.get_or_insert(now);
            now.saturating_sub(since) < GRACE
        });
    }

    /// Passes an event on to the state of every filter `filter` called `id`, in whichever chain.
    /// Gives back how many there are: none when no snapshot has such a filter.
    ///
    /// # Errors
    /// The first that does not take it.
    pub fn tell(
        &self,
        filter: &str,
        id: &str,
        event: &Value,
        unix: Duration,
    ) -> Result<usize, InvalidConfig> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = entries
            .iter()
            .filter(|(key, _)| key.filter == filter && &*key.id == id);
        let mut told = 0;
        for (_, entry) in wanted {
            (entry.tell)(&*entry.state, event, unix)?;
            told += 1;
        }
        Ok(told)
    }

    /// How many filters have state at present.
    pub fn len(&self) -> usize {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// Whether no filter has state.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn show<S: fmt::Debug + 'static>(
    state: &(dyn Any + Send + Sync),
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match state.downcast_ref::<S>() {
        Some(state) => state.fmt(f),
        None => f.write_str("?"),
    }
}

fn tell<F: Filter>(
    state: &(dyn Any + Send + Sync),
    event: &Value,
    unix: Duration,
) -> Result<(), InvalidConfig> {
    match state.downcast_ref::<F::State>() {
        Some(state) => F::told(state, event, unix),
        None => Ok(()),
    }
}

/// All state in a stable order: what the tests compare before and after a look.
impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Shown<'a>(&'a Entry);
        impl fmt::Debug for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (self.0.show)(&*self.0.state, f)
            }
        }

        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sorted: Vec<_> = entries.iter().collect();
        sorted.sort_by_key(|(key, _)| (&key.scope, key.filter, &key.id));
        let shown = sorted.into_iter().map(|(key, entry)| {
            let name = format!("{} {} {}", key.scope, key.filter, key.id);
            (name, Shown(entry))
        });
        f.debug_map().entries(shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;
    use sluicegate_core::{Cx, Phase, Step};

    use super::*;

    struct Counting;

    #[derive(Deserialize, JsonSchema)]
    struct Config {}

    impl Filter for Counting {
        type Config = Config;
        type State = AtomicU32;
        type Carry = ();
        const NAME: &'static str = "count";

        fn phase(_: &Config) -> Phase {
            Phase::Meter
        }

        fn new(_: Config, _: Arc<AtomicU32>) -> Result<Self, InvalidConfig> {
            Ok(Self)
        }

        fn told(state: &AtomicU32, event: &Value, _: Duration) -> Result<(), InvalidConfig> {
            let count = event.as_u64().and_then(|count| u32::try_from(count).ok());
            let count = count.ok_or_else(|| InvalidConfig::new("", "this is not a count"))?;
            state.store(count, Ordering::Relaxed);
            Ok(())
        }

        fn on_request<'a>(&'a self, _: Cx<'a>, (): &'a mut ()) -> Step<'a> {
            Step::NEXT
        }
    }

    #[test]
    fn an_event_reaches_the_filters_it_names_in_every_chain() {
        let states = States::default();
        let first = states.of::<Counting>("route:a", "count");
        let second = states.of::<Counting>("route:b", "count");
        let other = states.of::<Counting>("route:b", "other");

        let told = states.tell("count", "count", &json!(3), Duration::ZERO);
        let nobody = states.tell("count", "nobody", &json!(3), Duration::ZERO);
        let refused = states.tell("count", "count", &json!("x"), Duration::ZERO);

        assert_eq!((told, nobody), (Ok(2), Ok(0)));
        assert!(refused.is_err());
        let counts = [first, second, other].map(|state| state.load(Ordering::Relaxed));
        assert_eq!(counts, [3, 3, 0]);
    }

    #[test]
    fn the_same_scope_filter_and_id_share_state() {
        let states = States::default();
        let first = states.of::<Counting>("route:a", "count");
        let other = states.of::<Counting>("route:b", "count");
        first.store(7, Ordering::Relaxed);

        let again = states.of::<Counting>("route:a", "count");

        assert_eq!(again.load(Ordering::Relaxed), 7);
        assert_eq!(other.load(Ordering::Relaxed), 0);
        assert_eq!(
            format!("{states:?}"),
            r#"{"route:a count count": 7, "route:b count count": 0}"#
        );
    }

    #[test]
    fn unused_state_goes_after_the_grace_time_and_not_before() {
        let states = States::default();
        let used = states.of::<Counting>("route:a", "count");
        used.store(7, Ordering::Relaxed);
        drop(used);

        states.retire(Duration::from_secs(10));
        states.retire(Duration::from_secs(9) + GRACE);
        let back = states.of::<Counting>("route:a", "count");
        assert_eq!(back.load(Ordering::Relaxed), 7);
        states.retire(Duration::from_secs(10) + GRACE * 2);
        assert_eq!(states.len(), 1, "it is used again");

        drop(back);
        states.retire(Duration::from_secs(20) + GRACE * 2);
        states.retire(Duration::from_secs(20) + GRACE * 3);
        assert!(states.is_empty());
    }
}
