//! Waiting for a connection on behalf of a client who may leave, and within the exchange's time.

use std::{future::poll_fn, net::SocketAddr, pin::pin, task::Poll};

use sluicegate_core::{Reject, codes};

use crate::{
    journey::Journey,
    snapshot::document::Protocol,
    upstream::pool::{Connection, Pool, Wanted},
};

/// A connection to `endpoint`, unless the client leaves or the exchange's time is over before.
///
/// # Errors
/// Those of [`Pool::acquire`], 499 for a client that has left, 504 when the total time is over.
pub(crate) async fn acquire(
    pool: &Pool,
    journey: &mut Journey<'_>,
    endpoint: SocketAddr,
    wanted: Wanted,
) -> Result<Connection, Reject> {
    let Journey {
        thread,
        client,
        alarm,
        total,
        ..
    } = journey;
    let mut connection = pin!(async {
        match wanted.protocol {
            Protocol::Http1 => pool.acquire(thread, endpoint, wanted).await,
            Protocol::Http2 => pool.open_stream(thread, endpoint, wanted).await,
        }
    });
    let mut waits = false;
    let acquired = poll_fn(|cx| {
        if let Poll::Ready(acquired) = connection.as_mut().poll(cx) {
            return Poll::Ready(acquired);
        }
        if !waits {
            waits = true;
            match *total {
                Some(total) => alarm.set(total),
                None => alarm.clear(),
            }
        }
        if client.poll_gone(cx, &thread.buffers).is_ready() {
            return Poll::Ready(Err(Reject::new(&codes::CLIENT_GONE)));
        }
        if alarm.poll(|| thread.now(), cx).is_ready() {
            return Poll::Ready(Err(Reject::new(&codes::TOTAL_TIMEOUT)
                .because(format!("no connection to {endpoint} in time"))));
        }
        Poll::Pending
    })
    .await;
    if waits {
        alarm.clear();
    }
    acquired
}
