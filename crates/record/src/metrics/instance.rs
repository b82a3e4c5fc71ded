//! What is counted for the gateway as a whole.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    cells::{Cells, nanos},
    process::Process,
    table::{self, Metric},
    text::Text,
};
use crate::queue::LogQueue;

const REFUSED: usize = 0;

/// How long the worst delay of a thread stays visible, at least: longer than the usual time between scrapes.
const DELAY_WINDOW: u64 = 15_000_000_000;

/// Where a thread's delays lie in its row of cells.
const WINDOW_BEGUN: usize = 0;
const WORST: usize = 1;
const WORST_BEFORE: usize = 2;

/// Version, age, delays, log and process.
#[derive(Debug)]
pub(crate) struct Instance {
    counts: Cells,
    delays: Cells,
    facts: Mutex<Facts>,
}

/// What changes so seldom that a lock may guard it.
#[derive(Debug, Default)]
struct Facts {
    version: u64,
    applied: Option<Duration>,
    log: Option<Arc<LogQueue>>,
}

impl Instance {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            counts: Cells::new(0, 1),
            delays: Cells::new(threads, 3),
            facts: Mutex::default(),
        }
    }

    pub(crate) fn snapshot_applied(&self, version: u64, now: Duration) {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.version = version;
        facts.applied = Some(now);
    }

    pub(crate) fn watch_log(&self, queue: Arc<LogQueue>) {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.log = Some(queue);
    }

    pub(crate) fn config_rejected(&self) {
        self.counts.add(usize::MAX, REFUSED, 1);
    }

    /// Keeps the worst of two windows, so that a short stall is still there at the next scrape.
    pub(crate) fn loop_delay(&self, thread: usize, delay: Duration, now: Duration) {
        let (delay, now) = (nanos(delay), nanos(now));
        let age = now.saturating_sub(self.delays.get(thread, WINDOW_BEGUN));
        let worst = self.delays.get(thread, WORST);
        if age < DELAY_WINDOW {
            self.delays.set(thread, WORST, worst.max(delay));
            return;
        }
        let before = if age < 2 * DELAY_WINDOW { worst } else { 0 };
        self.delays.set(thread, WORST_BEFORE, before);
        self.delays.set(thread, WORST, delay);
        self.delays.set(thread, WINDOW_BEGUN, now);
    }

    pub(crate) fn expose(&self, now: Duration, text: &mut Text<'_>) {
        self.expose_delays(text);
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        whole(&table::SNAPSHOT_VERSION, facts.version, text);
        if let Some(applied) = facts.applied {
            text.family(&table::SNAPSHOT_AGE);
            text.sample(table::SNAPSHOT_AGE.name, "", &[], None);
            text.seconds(nanos(now.saturating_sub(applied)));
        }
        whole(&table::CONFIG_REJECTED, self.counts.sum(REFUSED), text);
        if let Some(log) = &facts.log {
            expose_log(log, text);
        }
        text.family(&table::BUILD_INFO);
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        text.sample(table::BUILD_INFO.name, "", &version, None);
        text.number(1);
        expose_process(&Process::read(), text);
    }

    fn expose_delays(&self, text: &mut Text<'_>) {
        text.family(&table::LOOP_DELAY);
        for thread in 0..self.delays.threads() {
            let mut number = itoa::Buffer::new();
            let labels = [("thread", number.format(thread))];
            let [worst, before] = [WORST, WORST_BEFORE].map(|cell| self.delays.get(thread, cell));
            text.sample(table::LOOP_DELAY.name, "", &labels, None);
            text.seconds(worst.max(before));
        }
    }
}

fn expose_log(log: &LogQueue, text: &mut Text<'_>) {
    let counts = log.counts();
    text.family(&table::LOG_RECORDS);
    for (result, count) in [("written", counts.written), ("dropped", counts.dropped)] {
        text.sample(table::LOG_RECORDS.name, "", &[("result", result)], None);
        text.number(count);
    }
    whole(&table::LOG_BYTES, counts.bytes, text);
    whole(&table::LOG_FAILURES, counts.failures, text);
}

fn expose_process(process: &Process, text: &mut Text<'_>) {
    let numbers = [
        (table::MEMORY, process.memory),
        (table::OPEN_FDS, process.open_fds),
        (table::MAX_FDS, process.max_fds),
    ];
    for (metric, number) in numbers {
        if let Some(number) = number {
            whole(&metric, number, text);
        }
    }
    if let Some(cpu) = process.cpu {
        text.family(&table::CPU);
        text.sample(table::CPU.name, "", &[], None);
        text.seconds(cpu);
    }
}

fn whole(metric: &Metric, number: u64, text: &mut Text<'_>) {
    text.family(metric);
    text.sample(metric.name, "", &[], None);
    text.number(number);
}
