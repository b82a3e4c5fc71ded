//! Accepting connections.

use std::{cell::Cell, future::poll_fn, rc::Rc, sync::Arc, task::Poll, time::Duration};

use sluicegate_core::{Body, Reject, codes};
use sluicegate_http1::{Framing, Persistence, write_response};
use tokio::net::{TcpListener, TcpStream};

use crate::{conversation::Conversation, gate::Gate, thread::Thread};

/// Accepting failed (no descriptors left, as a rule): a pause instead of a spinning loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts until it is told to leave; then once more what the kernel has already queued, because
/// closing the socket would reset it.
pub(crate) async fn accept(
    thread: Rc<Thread>,
    listener: TcpListener,
    gate: Arc<Gate>,
    leave: Rc<Cell<bool>>,
) {
    let id: Rc<str> = gate.id.as_str().into();
    loop {
        let accepted = poll_fn(|cx| match listener.poll_accept(cx) {
            Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
            Poll::Pending if leave.get() => Poll::Ready(None),
            Poll::Pending => {
                gate.wait(thread.index, cx.waker());
                Poll::Pending
            }
        })
        .await;
        match accepted {
            None => return,
            Some(Err(_)) => tokio::time::sleep(ACCEPT_PAUSE).await,
            Some(Ok((stream, remote))) => {
                let Some(ticket) = gate.enter(thread.index) else {
                    refuse(&thread, &stream);
                    continue;
                };
                let (thread, id) = (thread.clone(), id.clone());
                tokio::task::spawn_local(async move {
                    thread.connections.set(thread.connections.get() + 1);
                    Conversation::begin(&thread, stream, remote, id).run().await;
                    thread.connections.set(thread.connections.get() - 1);
                    drop(ticket);
                });
            }
        }
    }
}

/// Says why, as far as one write can: there is no room to wait for anything, nor to read a request.
fn refuse(thread: &Thread, stream: &TcpStream) {
    let reject = Reject::new(&codes::TOO_MANY_CONNECTIONS).retry_after(Duration::from_secs(1));
    let answer = thread.view().entry.answers.render(&reject, "");
    let body = match answer.body {
        Body::Bytes(body) => body,
        Body::Empty | Body::Upstream => Vec::new(),
    };
    let framing = Framing::Length(body.len() as u64);
    let mut bytes = Vec::with_capacity(512);
    write_response(&answer.head, framing, Persistence::Close, &mut bytes);
    bytes.extend_from_slice(&body);
    let _ = stream.try_write(&bytes);
}
