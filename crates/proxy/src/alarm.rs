//! Deadlines by a coarse sweep: one timer a thread, however many connections.
//!
//! Setting a deadline is one store. A precise timer per connection costs about a tenth of the
//! request (measured), and nobody needs a slow client to be cut to the millisecond.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

/// How often deadlines are looked at; a deadline fires at most this much late.
pub(crate) const SWEEP: Duration = Duration::from_millis(20);

/// All deadlines of one thread.
#[derive(Default)]
pub(crate) struct Alarms {
    slots: RefCell<Vec<Rc<Slot>>>,
}

struct Slot {
    at: Cell<Duration>,
    index: Cell<usize>,
    waker: RefCell<Option<Waker>>,
}

/// One task's deadline.
pub(crate) struct Alarm {
    slot: Rc<Slot>,
    alarms: Rc<Alarms>,
}

impl Alarms {
    pub(crate) fn alarm(self: &Rc<Self>) -> Alarm {
        let mut slots = self.slots.borrow_mut();
        let slot = Rc::new(Slot {
            at: Cell::new(Duration::MAX),
            index: Cell::new(slots.len()),
            waker: RefCell::new(None),
        });
        slots.push(slot.clone());
        Alarm {
            slot,
            alarms: self.clone(),
        }
    }

    /// Wakes every task, whatever its deadline.
    pub(crate) fn ring_all(&self) {
        for slot in self.slots.borrow().iter() {
            if let Some(waker) = slot.waker.borrow_mut().take() {
                waker.wake();
            }
        }
    }

    /// Wakes every task whose deadline has passed.
    pub(crate) fn sweep(&self, now: Duration) {
        for slot in self.slots.borrow().iter() {
            if slot.at.get() <= now
                && let Some(waker) = slot.waker.borrow_mut().take()
            {
                waker.wake();
            }
        }
    }
}

impl Alarm {
    pub(crate) fn set(&self, at: Duration) {
        self.slot.at.set(at);
    }

    pub(crate) fn clear(&self) {
        self.slot.at.set(Duration::MAX);
    }

    /// Ready when the deadline has passed at `now`.
    pub(crate) fn poll(&self, now: impl FnOnce() -> Duration, cx: &mut Context<'_>) -> Poll<()> {
        if self.slot.at.get() == Duration::MAX {
            return Poll::Pending;
        }
        let mut waker = self.slot.waker.borrow_mut();
        match &mut *waker {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            // No waker: the sweep took it, or this is the first wait. Only then can the deadline have passed unseen.
            empty => {
                *empty = Some(cx.waker().clone());
                if self.slot.at.get() <= now() {
                    return Poll::Ready(());
                }
            }
        }
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let mut slots = self.alarms.slots.borrow_mut();
        let index = self.slot.index.get();
        if index < slots.len() {
            slots.swap_remove(index);
            if let Some(moved) = slots.get(index) {
                moved.index.set(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_rings_once_its_time_has_come() {
        let alarms = Rc::new(Alarms::default());
        let first = alarms.alarm();
        let second = alarms.alarm();
        let mut cx = Context::from_waker(Waker::noop());
        second.set(Duration::from_secs(2));
        let at = |seconds| move || Duration::from_secs(seconds);
        assert!(second.poll(at(1), &mut cx).is_pending());
        drop(first);
        alarms.sweep(Duration::from_secs(3));
        assert!(second.poll(at(3), &mut cx).is_ready());
        second.clear();
        assert!(second.poll(at(9), &mut cx).is_pending());
        assert_eq!(alarms.slots.borrow().len(), 1);
    }
}
