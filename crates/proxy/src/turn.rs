//! The end of a turn of the event loop: where an exchange writes.

use std::{future::poll_fn, task::Poll};

/// Waits until everything that was ready when this turn began has been looked at.
///
/// All of them then write one after another. Waking a peer that sleeps costs more than the write
/// itself (a quarter of a request, measured over loopback); peers that are written to together are
/// found awake after the first. With nothing else ready this is one more poll of the task.
pub(crate) async fn end_of_turn() {
    let mut waited = false;
    poll_fn(|cx| {
        if waited {
            return Poll::Ready(());
        }
        waited = true;
        // To the end of the queue, not to the next look at the sockets.
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
