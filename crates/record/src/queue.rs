//! Lines on their way from the engine threads to the writer.

use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::output::Output;

/// Buffers kept for reuse; beyond, they are freed.
const SPARE_BUFFERS: usize = 16;
/// A buffer that once had to grow beyond this is not kept.
const SPARE_BYTES: usize = 256 * 1024;

/// The longest pause between tries while somebody waits for the end.
const LAST_PAUSES: Duration = Duration::from_millis(50);

/// What may wait for the writer, the batch it is writing included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Bytes of lines.
    pub bytes: usize,
    /// Lines.
    pub records: usize,
}

/// What became of the records that were offered. When nothing is waiting, `written + dropped` is
/// exactly their number (ME-02).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Records written.
    pub written: u64,
    /// Records given up: the queue was full, or the time to write them at the end was over.
    pub dropped: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Failed attempts to write, open or rotate.
    pub failures: u64,
}

/// The queue between engine threads and the writer: bounded, and never waited for by a request.
///
/// When it is full the newest batch is dropped and counted (OB-08).
#[derive(Debug)]
pub struct LogQueue {
    /// Held for a few pushes and pops per second and thread, never while formatting or writing.
    state: Mutex<State>,
    work: Condvar,
    ended: Condvar,
    written: AtomicU64,
    dropped: AtomicU64,
    bytes: AtomicU64,
    failures: AtomicU64,
}

#[derive(Debug)]
struct State {
    batches: VecDeque<Batch>,
    spare: Vec<Vec<u8>>,
    limits: QueueLimits,
    waiting: QueueLimits,
    orders: Orders,
    last_failure: Option<String>,
    /// The writer sleeps; otherwise nobody has to be woken.
    idle: bool,
    life: Life,
}

/// How far the queue is on its way to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Life {
    Open,
    /// Nothing more is taken; the writer writes what is there.
    Closing,
    /// Nobody waits for the writer any more; what it still holds is counted as dropped.
    Abandoned,
    /// The writer has ended.
    Ended,
}

/// Whole lines.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) lines: Vec<u8>,
    pub(crate) records: usize,
}

/// What the writer shall do before the next batch.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) reopen: bool,
    pub(crate) output: Option<Output>,
}

impl Orders {
    pub(crate) fn is_empty(&self) -> bool {
        !self.reopen && self.output.is_none()
    }
}

impl LogQueue {
    /// An empty queue.
    pub fn new(limits: QueueLimits) -> Self {
        Self {
            state: Mutex::new(State {
                batches: VecDeque::new(),
                spare: Vec::new(),
                limits,
                waiting: QueueLimits {
                    bytes: 0,
                    records: 0,
                },
                orders: Orders::default(),
                last_failure: None,
                idle: false,
                life: Life::Open,
            }),
            work: Condvar::new(),
            ended: Condvar::new(),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// A new snapshot has other limits; what waits already is kept.
    pub fn set_limits(&self, limits: QueueLimits) {
        self.lock().limits = limits;
    }

    /// Takes whole lines, or drops and counts them when there is no room; tells which.
    ///
    /// A batch larger than the whole queue is taken when nothing else waits.
    pub fn offer(&self, lines: Vec<u8>, records: usize) -> bool {
        let mut state = self.lock();
        let bytes = state.waiting.bytes.saturating_add(lines.len());
        let count = state.waiting.records.saturating_add(records);
        let fits = bytes <= state.limits.bytes && count <= state.limits.records;
        if state.life != Life::Open || !(fits || state.waiting.records == 0) {
            state.recycle(lines);
            drop(state);
            add(&self.dropped, records);
            return false;
        }
        state.waiting = QueueLimits {
            bytes,
            records: count,
        };
        state.batches.push_back(Batch { lines, records });
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        if idle {
            self.work.notify_one();
        }
        true
    }

    /// An empty buffer that was used before, or a new one.
    pub(crate) fn spare(&self) -> Vec<u8> {
        self.lock().spare.pop().unwrap_or_default()
    }

    /// The writer opens its file again before the next batch: after a rotation from outside.
    pub fn reopen(&self) {
        self.lock().orders.reopen = true;
        self.work.notify_one();
    }

    /// The writer goes on with another output.
    pub fn redirect(&self, output: Output) {
        self.lock().orders.output = Some(output);
        self.work.notify_one();
    }

    /// What became of the records so far.
    pub fn counts(&self) -> LogCounts {
        LogCounts {
            written: self.written.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            failures: self.failures.load(Relaxed),
        }
    }

    /// Why writing failed the last time; `None` when it has succeeded since.
    pub fn last_failure(&self) -> Option<String> {
        self.lock().last_failure.clone()
    }

    pub(crate) fn next_batch(&self) -> Option<Batch> {
        self.lock().batches.pop_front()
    }

    pub(crate) fn take_orders(&self) -> Orders {
        std::mem::take(&mut self.lock().orders)
    }

    /// The writer is through with a batch.
    pub(crate) fn release(&self, batch: Batch) {
        let (bytes, records) = (batch.lines.len(), batch.records);
        let mut state = self.lock();
        if state.life >= Life::Abandoned {
            return;
        }
        state.waiting.bytes = state.waiting.bytes.saturating_sub(bytes);
        state.waiting.records = state.waiting.records.saturating_sub(records);
        state.last_failure = None;
        state.recycle(batch.lines);
        add(&self.written, records);
        add(&self.bytes, bytes);
    }

    pub(crate) fn failed(&self, error: &std::io::Error) {
        add(&self.failures, 1);
        self.lock().last_failure = Some(error.to_string());
    }

    /// Lets the writer sleep until there is something to do; false when there never will be.
    pub(crate) fn wait_for_work(&self) -> bool {
        let mut state = self.lock();
        while state.has_nothing_to_do() && state.life == Life::Open {
            state.idle = true;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.idle = false;
        state.life < Life::Abandoned && !state.has_nothing_to_do()
    }

    /// Lets the writer sleep before it tries again, not beyond the beginning of the end; false when
    /// nobody waits for it any more.
    pub(crate) fn wait_for_retry(&self, pause: Duration) -> bool {
        let state = self.lock();
        let life = state.life;
        let pause = match life {
            Life::Open => pause,
            Life::Closing | Life::Abandoned | Life::Ended => pause.min(LAST_PAUSES),
        };
        let keep = |state: &mut State| state.orders.is_empty() && state.life == life;
        let result = self.work.wait_timeout_while(state, pause, keep);
        let (state, _) = result.unwrap_or_else(PoisonError::into_inner);
        state.life < Life::Abandoned
    }

    /// Takes nothing more, and waits for the writer to end. What it has not written `within` is
    /// given up and counted; true when nothing had to be.
    pub(crate) fn close(&self, within: Duration) -> bool {
        let mut state = self.lock();
        state.life = state.life.max(Life::Closing);
        self.work.notify_one();
        let result = self
            .ended
            .wait_timeout_while(state, within, |state| state.life != Life::Ended);
        (state, _) = result.unwrap_or_else(PoisonError::into_inner);
        if state.life == Life::Ended {
            return true;
        }
        state.life = Life::Abandoned;
        state.batches.clear();
        let left = std::mem::take(&mut state.waiting.records);
        add(&self.dropped, left);
        drop(state);
        self.work.notify_one();
        left == 0
    }

    pub(crate) fn set_ended(&self) {
        self.lock().life = Life::Ended;
        self.ended.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_nothing_to_do(&self) -> bool {
        self.batches.is_empty() && self.orders.is_empty()
    }

    fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS && buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

fn add(count: &AtomicU64, amount: usize) {
    count.fetch_add(u64::try_from(amount).unwrap_or(u64::MAX), Relaxed);
}
