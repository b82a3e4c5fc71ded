//! Accepting connections.

use std::{cell::Cell, future::poll_fn, rc::Rc, sync::Arc, task::Poll, time::Duration};

use sluicegate_core::codes;
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
                    refuse(&stream);
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
fn refuse(stream: &TcpStream) {
    let code = &codes::TOO_MANY_CONNECTIONS;
    let body = serde_json::json!({
        "type": "about:blank", "title": code.title, "status": code.status, "detail": code.detail, "code": code.name,
    })
    .to_string();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nConnection: close\r\n\r\n{body}",
        body.len(),
    );
    let _ = stream.try_write(answer.as_bytes());
}
