//! Reading the heads of an answer, interim ones and the final one.

use std::{
    io,
    task::{Context, Poll, ready},
};

use h2::Reason;
use sluicegate_http1::{HeadLimits, ResponseHead, parse_response, strip_hop_by_hop};

use crate::{
    buffers::SMALL,
    client::Client,
    http2::{Head, take_response},
    thread::Thread,
    tunnel::Handshake,
    upstream::{pool::Connection, watch::End},
};

/// An upstream's head may be this large; a larger one is a broken upstream.
const HEAD_LIMITS: HeadLimits = HeadLimits {
    bytes: 64 << 10,
    fields: 256,
    target: 0,
};

/// Reads heads until the final one; interim answers go to the client as they come.
pub(super) fn poll_final_head(
    cx: &mut Context<'_>,
    thread: &Thread,
    client: &mut Client,
    connection: &mut Connection,
    (head, handshake): (&mut ResponseHead, &Option<Handshake>),
) -> Poll<Result<(), End>> {
    if connection.socket.is_http2() {
        return poll_final_head_of_stream(cx, client, connection, head);
    }
    loop {
        let unread = connection.socket.unread();
        if !unread.is_empty() {
            match parse_response(unread, &HEAD_LIMITS, head) {
                Ok(Some(consumed)) => {
                    connection.socket.consume(consumed);
                    if !(100..200).contains(&head.status()) {
                        return Poll::Ready(Ok(()));
                    }
                    if head.status() == 101 {
                        let agreed = handshake
                            .as_ref()
                            .ok_or("101 that nobody asked for")
                            .and_then(|handshake| handshake.check(head));
                        return Poll::Ready(agreed.map_err(|why| End::Answering(why.to_owned())));
                    }
                    pass_interim(client, head);
                    let _ = client.poll_flush(cx);
                    continue;
                }
                Ok(None) => {}
                Err(malformed) => return Poll::Ready(Err(End::Malformed(malformed))),
            }
        }
        match connection.socket.poll_fill(cx, &thread.buffers, false) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(0)) if connection.socket.unread().is_empty() => {
                return Poll::Ready(Err(End::Lost(None)));
            }
            Poll::Ready(Ok(0)) => {
                return Poll::Ready(Err(End::Answering(
                    "end of stream inside the head".to_owned(),
                )));
            }
            Poll::Ready(Err(error)) if connection.socket.unread().is_empty() => {
                return Poll::Ready(Err(End::Lost(Some(error))));
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(End::Answering(error.to_string()))),
            Poll::Ready(Ok(_)) => {}
        }
    }
}

/// Interim answers are for HTTP/1.1 clients only (BD-05); a `100` only for one that waits for it.
/// They are optional: a client that does not read misses some, so that they never pile up.
fn pass_interim(client: &mut Client, head: &mut ResponseHead) {
    if !client.is_http11 {
        return;
    }
    if head.status() == 100 {
        if client.awaits_continue {
            client.say_continue();
        }
        return;
    }
    if client.output.len() > SMALL {
        return;
    }
    strip_hop_by_hop(&mut head.fields);
    client.inform(head);
}

fn poll_final_head_of_stream(
    cx: &mut Context<'_>,
    client: &mut Client,
    connection: &mut Connection,
    head: &mut ResponseHead,
) -> Poll<Result<(), End>> {
    let Some(stream) = connection.socket.http2() else {
        return Poll::Pending;
    };
    loop {
        let taken = match ready!(stream.poll_head(cx)) {
            Ok(Head::Interim(interim)) => {
                take_response(interim.status(), interim.headers(), head, &HEAD_LIMITS)
            }
            Ok(Head::Final(parts)) => {
                take_response(parts.status, &parts.headers, head, &HEAD_LIMITS)
            }
            Err(error) => return Poll::Ready(Err(lost(error))),
        };
        if let Err(malformed) = taken {
            return Poll::Ready(Err(End::Malformed(malformed)));
        }
        if head.status() >= 200 {
            return Poll::Ready(Ok(()));
        }
        pass_interim(client, head);
        let _ = client.poll_flush(cx);
    }
}

/// What the end of a stream before its answer means.
fn lost(error: h2::Error) -> End {
    // RFC 9113 section 8.7: both say that nothing has been done with the request.
    let is_unprocessed =
        error.is_remote() && (error.is_go_away() || error.reason() == Some(Reason::REFUSED_STREAM));
    if is_unprocessed {
        End::Refused(error.to_string())
    } else if error.is_io() {
        End::Lost(Some(
            error
                .into_io()
                .unwrap_or_else(|| io::ErrorKind::ConnectionReset.into()),
        ))
    } else {
        End::Answering(error.to_string())
    }
}
