//! The door of one listener: how many connections are inside, and the wish to close it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    task::Waker,
};

use sluicegate_record::{Counter, Gauge, Registry};

/// Shared by all threads that accept on one listener (connection cap of HT-03's family).
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) id: String,
    max: AtomicU32,
    inside: AtomicU32,
    open: Gauge,
    refused: Counter,
    /// Which opening of the listener this is: one that moves to another address has two for a while.
    opening: u64,
    /// Threads that accept on it.
    accepting: AtomicU32,
    /// The accept tasks, by thread, to be woken when the listener is to be closed.
    wakers: Mutex<Vec<Option<Waker>>>,
}

/// Numbers the openings of listeners within the process.
static OPENINGS: AtomicU64 = AtomicU64::new(0);

/// One connection inside; leaving is dropping it.
#[derive(Debug)]
pub(crate) struct Ticket {
    gate: Arc<Gate>,
    thread: usize,
}

impl Gate {
    pub(crate) fn new(id: &str, max: u32, registry: &Registry) -> Self {
        let refused = registry.counter(
            "connections_refused_total",
            "Client connections refused because the listener serves as many as it may.",
            &[("listener", id)],
        );
        Self {
            id: id.to_owned(),
            max: AtomicU32::new(max),
            inside: AtomicU32::new(0),
            open: registry.connections(id),
            refused,
            opening: OPENINGS.fetch_add(1, Ordering::Relaxed),
            accepting: AtomicU32::new(0),
            wakers: Mutex::default(),
        }
    }

    pub(crate) fn set_max(&self, max: u32) {
        self.max.store(max, Ordering::Relaxed);
    }

    pub(crate) fn inside(&self) -> u32 {
        self.inside.load(Ordering::Relaxed)
    }

    /// What tells this opening of the listener from another one.
    pub(crate) fn key(&self) -> String {
        format!("{}#{}", self.id, self.opening)
    }

    /// A thread accepts on it from now on.
    pub(crate) fn opened(&self) {
        self.accepting.fetch_add(1, Ordering::AcqRel);
    }

    /// A thread has left.
    pub(crate) fn closed(&self) {
        self.accepting.fetch_sub(1, Ordering::AcqRel);
    }

    /// Nobody accepts on it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.accepting.load(Ordering::Acquire) == 0
    }

    /// Lets a connection in unless the cap is reached.
    pub(crate) fn enter(self: &Arc<Self>, thread: usize) -> Option<Ticket> {
        if self.inside.fetch_add(1, Ordering::AcqRel) >= self.max.load(Ordering::Relaxed) {
            self.inside.fetch_sub(1, Ordering::AcqRel);
            self.refused.add(thread, 1);
            return None;
        }
        self.open.add(thread, 1);
        Some(Ticket {
            gate: self.clone(),
            thread,
        })
    }

    /// Remembers whom to wake on this thread.
    pub(crate) fn wait(&self, thread: usize, waker: &Waker) {
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if wakers.len() <= thread {
            wakers.resize(thread + 1, None);
        }
        if let Some(slot) = wakers.get_mut(thread) {
            *slot = Some(waker.clone());
        }
    }

    /// Wakes the accept task of a thread so that it sees that it is to leave.
    pub(crate) fn wake(&self, thread: usize) {
        let wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(waker)) = wakers.get(thread) {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.gate.inside.fetch_sub(1, Ordering::AcqRel);
        self.gate.open.add(self.thread, -1);
    }
}
