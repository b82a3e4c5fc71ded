//! How many connections an upstream may have, counted for the whole process (HT-08, HT-09).
//!
//! Connections live on threads; the count does not. At the cap a thread asks an owner of an idle
//! connection to give it up, and waits in line until one is free.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// The connections of one upstream.
#[derive(Debug)]
pub(crate) struct Permits {
    max: AtomicU32,
    used: AtomicU32,
    waiting: AtomicU32,
    /// Who waits, first come first served. The lock guards this line only and is taken at the cap only.
    line: Mutex<VecDeque<Arc<Ticket>>>,
}

/// The right to hold one connection; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Permits>);

#[derive(Debug)]
struct Ticket {
    called: AtomicBool,
    waker: Mutex<Waker>,
}

/// A place in the line; leaving early passes the turn on.
#[derive(Debug)]
pub(crate) struct Place {
    permits: Arc<Permits>,
    ticket: Arc<Ticket>,
}

impl Permits {
    pub(crate) fn new(max: u32) -> Arc<Self> {
        Arc::new(Self {
            max: AtomicU32::new(max),
            used: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            line: Mutex::new(VecDeque::new()),
        })
    }

    /// A new cap; connections above it go as they become idle.
    pub(crate) fn set_max(&self, max: u32) {
        self.max.store(max, Ordering::Relaxed);
        self.call_next();
    }

    pub(crate) fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Somebody waits, or the cap has been lowered: an idle connection is better closed than kept.
    pub(crate) fn is_short(&self) -> bool {
        self.waiting() > 0 || self.used() > self.max.load(Ordering::Relaxed)
    }

    /// Takes a permit if one is free. Those who came to the line first go first, save that the
    /// holder of a called ticket takes its own.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Permit> {
        let max = self.max.load(Ordering::Relaxed);
        self.used
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |used| {
                (used < max).then_some(used + 1)
            })
            .ok()
            .map(|_| Permit(self.clone()))
    }

    /// Stands in line.
    pub(crate) fn wait(self: &Arc<Self>) -> Place {
        let ticket = Arc::new(Ticket {
            called: AtomicBool::new(false),
            waker: Mutex::new(Waker::noop().clone()),
        });
        self.waiting.fetch_add(1, Ordering::AcqRel);
        lock(&self.line).push_back(ticket.clone());
        Place {
            permits: self.clone(),
            ticket,
        }
    }

    /// Calls the first in line to try again.
    pub(crate) fn call_next(&self) {
        if self.waiting() == 0 {
            return;
        }
        let next = lock(&self.line).pop_front();
        if let Some(ticket) = next {
            ticket.called.store(true, Ordering::Release);
            lock(&ticket.waker).wake_by_ref();
        }
    }
}

impl Place {
    /// Ready with a permit when it is this one's turn and one is free.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<Permit> {
        lock(&self.ticket.waker).clone_from(cx.waker());
        if let Some(permit) = self.permits.take() {
            return Poll::Ready(permit);
        }
        if self.ticket.called.swap(false, Ordering::AcqRel) {
            // Called, but somebody was quicker: back to the head of the line.
            lock(&self.permits.line).push_front(self.ticket.clone());
            // A permit may have come back between the two.
            if let Some(permit) = self.permits.take() {
                return Poll::Ready(permit);
            }
        }
        Poll::Pending
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.permits.waiting.fetch_sub(1, Ordering::AcqRel);
        lock(&self.permits.line).retain(|ticket| !Arc::ptr_eq(ticket, &self.ticket));
        if self.ticket.called.load(Ordering::Acquire) {
            // The turn was ours and we leave: it is the next one's.
            self.permits.call_next();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Ordering::AcqRel);
        self.0.call_next();
    }
}

/// A poisoned lock still guards a usable queue: nothing in here leaves it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: HT-08
    #[test]
    fn there_are_never_more_permits_than_the_cap() {
        let permits = Permits::new(2);
        let first = permits.take().unwrap();
        let _second = permits.take().unwrap();
        assert!(permits.take().is_none());
        drop(first);
        assert!(permits.take().is_some());
    }

    #[test]
    fn the_first_in_line_is_called_and_one_who_leaves_passes_the_turn_on() {
        let permits = Permits::new(1);
        let held = permits.take().unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        let first = permits.wait();
        let second = permits.wait();
        assert!(first.poll(&mut cx).is_pending() && second.poll(&mut cx).is_pending());
        assert!(permits.is_short());
        drop(held);
        assert!(first.ticket.called.load(Ordering::Acquire));
        drop(first);
        assert!(second.ticket.called.load(Ordering::Acquire));
        assert!(second.poll(&mut cx).is_ready());
        drop(second);
        assert_eq!(permits.waiting(), 0);
    }

    #[test]
    fn many_threads_share_one_cap() {
        let permits = Permits::new(3);
        let most = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        if let Some(_permit) = permits.take() {
                            most.fetch_max(permits.used(), Ordering::AcqRel);
                        }
                    }
                });
            }
        });
        assert!(most.load(Ordering::Acquire) <= 3);
        assert_eq!(permits.used(), 0);
    }
}
