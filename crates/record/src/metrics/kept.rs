//! Series that outlive snapshots, and go some time after the thing they count.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

/// Series by id, in order.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    by_id: BTreeMap<Box<str>, Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    series: Arc<T>,
    /// When it goes, if what it counts is no longer configured.
    until: Option<Duration>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            by_id: BTreeMap::new(),
        }
    }
}

impl<T> Kept<T> {
    /// The series of `id`, the one from before if there is one: counters go on.
    pub(crate) fn get(&mut self, id: &str, new: impl FnOnce() -> T) -> Arc<T> {
        if let Some(entry) = self.by_id.get_mut(id) {
            entry.until = None;
            return entry.series.clone();
        }
        let series = Arc::new(new());
        self.by_id.insert(
            id.into(),
            Entry {
                series: series.clone(),
                until: None,
            },
        );
        series
    }

    /// What is not among `ids` goes at `until`, unless it comes back before.
    pub(crate) fn retain<'a>(&mut self, ids: impl Iterator<Item = &'a str>, until: Duration) {
        let ids: HashSet<&str> = ids.collect();
        for (id, entry) in &mut self.by_id {
            if ids.contains(&**id) {
                entry.until = None;
            } else {
                entry.until = Some(entry.until.unwrap_or(until).min(until));
            }
        }
    }

    /// Forgets what is due.
    pub(crate) fn forget(&mut self, now: Duration) {
        self.by_id
            .retain(|_, entry| entry.until.is_none_or(|until| until > now));
    }

    /// All series, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.by_id.iter().map(|(id, entry)| (&**id, &*entry.series))
    }
}
