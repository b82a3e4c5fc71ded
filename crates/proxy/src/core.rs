//! What the threads of an engine share, and what they can be told.

use std::{
    net::TcpListener,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde_json::Value;
use sluicegate_core::Event;
use sluicegate_record::{LogQueue, QueueLimits, Registry, RouteSeries};
use tokio::sync::{mpsc, oneshot};

use crate::{clock::Clock, explain, gate::Gate, snapshot::Snapshot, thread::Budget};

/// Bytes of request bodies that filters may hold at once, in KiB.
const BODY_BUDGET_KIB: u32 = 256 << 10;
/// One-way events waiting for the Python side.
const EVENTS: usize = 10_000;

/// What all threads share.
pub(crate) struct Core {
    pub(crate) clock: Clock,
    pub(crate) registry: Arc<Registry>,
    pub(crate) unmatched: Arc<RouteSeries>,
    pub(crate) log: Arc<LogQueue>,
    pub(crate) budget: Arc<Budget>,
    generation: AtomicU64,
    /// The current snapshot; the lock guards the pointer and is taken when it changes.
    snapshot: Mutex<Arc<Snapshot>>,
    logs: AtomicBool,
    draining: AtomicBool,
    ready: AtomicBool,
    threads: OnceLock<Vec<mpsc::UnboundedSender<Command>>>,
    events: Mutex<Vec<Event>>,
    dropped_events: AtomicU64,
}

/// What a thread is told to do.
pub(crate) enum Command {
    /// Accept on this listener.
    Listen {
        gate: Arc<Gate>,
        listener: TcpListener,
    },
    /// Stop accepting on it.
    Leave(String),
    /// Close one idle connection to this upstream: another thread is short of permits.
    GiveUpIdle(Box<str>),
    /// Look at every connection: the gateway is leaving.
    Drain,
    /// Say what would happen to a request, by the live state.
    Explain {
        request: Box<explain::Request>,
        reply: oneshot::Sender<Value>,
    },
    /// End.
    Stop,
}

impl Core {
    /// For `threads` engine threads; nothing is applied yet.
    pub(crate) fn new(threads: usize) -> Self {
        let registry = Arc::new(Registry::new(threads, "sluicegate"));
        let log = Arc::new(LogQueue::new(QueueLimits {
            bytes: 4 << 20,
            records: usize::MAX,
        }));
        registry.watch_log(log.clone());
        Self {
            clock: Clock::start(),
            unmatched: registry.unmatched(),
            registry,
            log,
            budget: Arc::new(Budget::new(BODY_BUDGET_KIB)),
            generation: AtomicU64::new(0),
            snapshot: Mutex::new(Arc::new(Snapshot::empty())),
            logs: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            ready: AtomicBool::new(true),
            threads: OnceLock::new(),
            events: Mutex::default(),
            dropped_events: AtomicU64::new(0),
        }
    }

    /// The way to each thread, once they run.
    pub(crate) fn set_threads(&self, threads: Vec<mpsc::UnboundedSender<Command>>) {
        let _ = self.threads.set(threads);
    }

    /// Makes a snapshot current; threads see it with their next request.
    pub(crate) fn publish(&self, snapshot: Arc<Snapshot>) {
        self.logs.store(snapshot.logs, Ordering::Relaxed);
        *lock(&self.snapshot) = snapshot;
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Readiness as the operator wants it; not ready also means that connections come to an end.
    pub(crate) fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
        self.draining.store(!ready, Ordering::Release);
        if !ready {
            self.tell_all(|| Command::Drain);
        }
    }

    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut *lock(&self.events))
    }

    pub(crate) fn dropped_events(&self) -> u64 {
        self.dropped_events.load(Ordering::Relaxed)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The current snapshot and its generation.
    pub(crate) fn current(&self) -> (u64, Arc<Snapshot>) {
        // The generation first: a change in between only makes the thread look once more.
        let generation = self.generation();
        (generation, lock(&self.snapshot).clone())
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// A snapshot is applied and nobody has asked to be left alone.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) && self.current().1.version > 0
    }

    pub(crate) fn logs(&self) -> bool {
        self.logs.load(Ordering::Relaxed)
    }

    pub(crate) fn emit(&self, event: Event) {
        let mut events = lock(&self.events);
        if events.len() < EVENTS {
            events.push(event);
        } else {
            self.dropped_events.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn threads(&self) -> &[mpsc::UnboundedSender<Command>] {
        self.threads.get().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn tell_all(&self, command: impl Fn() -> Command) {
        for thread in self.threads() {
            let _ = thread.send(command());
        }
    }

    pub(crate) fn tell_others(&self, me: usize, command: impl Fn() -> Command) {
        for (_, thread) in self
            .threads()
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != me)
        {
            let _ = thread.send(command());
        }
    }
}

/// Poisoned or not: nothing behind these locks is left half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
