//! Effects that touch nothing: what `explain` and tests run filters with.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

use crate::{Effects, Event, Unavailable, Wait};

/// The world as given facts. Every wait is ready at once, nothing is sent, and the same facts
/// give the same verdicts.
#[derive(Debug, Default)]
pub struct DryEffects {
    now: Cell<Duration>,
    unix_time: Cell<Duration>,
    drawn: Cell<u64>,
    answers: BTreeMap<String, Vec<u8>>,
    events: RefCell<Vec<Event>>,
}

impl DryEffects {
    /// A world in which nobody answers, at the beginning of time.
    pub fn new() -> Self {
        Self::default()
    }

    /// The wall clock stands at `unix_time` since the epoch.
    #[must_use]
    pub fn at(self, unix_time: Duration) -> Self {
        self.unix_time.set(unix_time);
        self
    }

    /// Questions of this kind get this answer.
    #[must_use]
    pub fn answering(mut self, kind: impl Into<String>, answer: impl Into<Vec<u8>>) -> Self {
        self.answers.insert(kind.into(), answer.into());
        self
    }

    /// Lets both clocks go on.
    pub fn advance(&self, span: Duration) {
        self.now.set(self.now.get().saturating_add(span));
        self.unix_time
            .set(self.unix_time.get().saturating_add(span));
    }

    /// What live effects would have sent so far.
    pub fn take_events(&self) -> Vec<Event> {
        self.events.take()
    }
}

impl Effects for DryEffects {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn unix_time(&self) -> Duration {
        self.unix_time.get()
    }

    /// `SplitMix64` from a fixed seed: spread like random bits, the same in every run.
    fn random(&self) -> u64 {
        let state = self.drawn.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.drawn.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn sleep(&self, _span: Duration) -> Wait<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn ask<'a>(
        &'a self,
        kind: &'static str,
        _payload: Vec<u8>,
        _within: Duration,
    ) -> Wait<'a, Result<Vec<u8>, Unavailable>> {
        let answer = self.answers.get(kind).cloned().ok_or(Unavailable {
            what: kind,
            after: Duration::ZERO,
        });
        Box::pin(std::future::ready(answer))
    }

    fn emit(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_facts_give_the_same_world() {
        let (one, other) = (DryEffects::new(), DryEffects::new());

        assert_eq!(one.random(), other.random());
        assert_ne!(one.random(), one.random());
    }

    #[test]
    fn both_clocks_go_together() {
        let effects = DryEffects::new().at(Duration::from_secs(100));

        effects.advance(Duration::from_secs(5));

        assert_eq!(effects.now(), Duration::from_secs(5));
        assert_eq!(effects.unix_time(), Duration::from_secs(105));
    }
}
