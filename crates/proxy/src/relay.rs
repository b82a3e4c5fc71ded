//! The answer on its way to the client, while the rest of the request may still be going up.

use std::{
    future::poll_fn,
    task::{Context, Poll},
    time::Duration,
};

use sluicegate_core::{Body, Outcome, Response, codes};
use sluicegate_http1::{Framing, write_chunk, write_last_chunk};
use sluicegate_record::{BodyPolicy, Tap};

use crate::{
    alarm::Alarm,
    buffers::{LARGE, SMALL},
    client::{BodyEnd, Client},
    journey::{Flight, Journey},
    snapshot::Timeouts,
    thread::Thread,
    turn::end_of_turn,
    upstream::upload::UploadEnd,
};

impl Journey<'_> {
    /// Sends the answer and stays until its last byte has gone or the client has left.
    pub(crate) async fn relay(&mut self, answer: Response) {
        if self
            .passage
            .exchange
            .reject
            .is_some_and(|code| std::ptr::eq(code, &raw const codes::CLIENT_GONE))
        {
            self.client.persists = false;
            return;
        }
        let Some(mut flight) = self.flight.take() else {
            self.send_own(answer).await;
            return;
        };
        if let Some(tunnel) = flight.tunnel.take() {
            self.relay_tunnel(answer, flight, tunnel).await;
            return;
        }
        self.outcome = self.relay_upstream(&answer, &mut flight).await;
        self.thread.heads.give_response(answer.head);
        let clean = self.outcome == Outcome::Complete
            && flight.keeps
            && flight.upload.is_done()
            && flight.body.is_done()
            && flight.connection.socket.unread().is_empty();
        if !flight.upload.is_done() {
            // The upstream has answered without the rest of the request; the client may still be sending it.
            self.client.persists = false;
        }
        let Flight {
            connection,
            pool,
            upload,
            ..
        } = flight;
        upload.end(&self.thread.buffers);
        if clean {
            pool.release(connection, self.thread);
        }
    }

    /// An answer whose bytes are all here.
    async fn send_own(&mut self, mut answer: Response) {
        let bytes = match std::mem::take(&mut answer.body) {
            Body::Bytes(bytes) => bytes,
            Body::Empty | Body::Upstream => Vec::new(),
        };
        let method = self.passage.exchange.request.method();
        let status = answer.head.status();
        let bodiless = method == "HEAD"
            || status == 304
            || status == 204
            || (bytes.is_empty() && self.client.socket.is_http2());
        let framing = if bodiless {
            Framing::Empty
        } else {
            Framing::Length(bytes.len() as u64)
        };
        if method == "HEAD" || status == 304 {
            // What a GET would say (RFC 9110 §8.6).
            let _ = answer
                .head
                .fields
                .set("Content-Length", bytes.len().to_string().as_bytes());
        }
        self.client.leave_body(self.thread.draining());
        self.write_head(&answer, framing);
        if !bodiless {
            self.client.see_answer(&bytes);
            self.client.output.extend_from_slice(&bytes);
            self.client.sent = bytes.len() as u64;
        }
        let Self {
            thread,
            client,
            alarm,
            ..
        } = self;
        let within = client.write_timeout;
        let mut clock = Deadline {
            thread,
            alarm,
            total: None,
            armed: false,
        };
        let sent = poll_fn(|cx| match client.poll_flush(cx) {
            Poll::Ready(result) => Poll::Ready(result.is_ok()),
            Poll::Pending => clock.poll(cx, within).map(|()| false),
        })
        .await;
        alarm.clear();
        self.outcome = if sent {
            Outcome::Complete
        } else {
            Outcome::Gone
        };
        if !sent {
            self.client.persists = false;
        }
    }

    async fn relay_upstream(&mut self, answer: &Response, flight: &mut Flight) -> Outcome {
        let framing = self.framing_for_client(answer, flight);
        self.client.persists &= !self.thread.draining();
        if !flight.upload.is_done() && answer.head.status() >= 400 {
            self.client.persists = false;
        }
        self.write_head(answer, framing);
        let timeouts = self
            .passage
            .route
            .as_ref()
            .map_or_else(Timeouts::default, |route| route.route.timeouts);
        let Self {
            thread,
            client,
            alarm,
            total,
            ..
        } = self;
        let mut relay = Relay {
            put: put_for(framing),
            direct: framing != Framing::Chunked && flight.framing != Framing::Chunked,
            decoded: 0,
            last_chunk_written: framing != Framing::Chunked,
            // An error tells the client to stop; one that waits for the end of the connection sees it now.
            uploads_on: answer.head.status() < 400
                && (framing != Framing::UntilClose || client.socket.is_http2()),
            write_within: client.write_timeout,
            idle_within: timeouts.idle,
            clock: Deadline {
                thread,
                alarm,
                total: *total,
                armed: false,
            },
        };
        end_of_turn().await;
        let outcome = poll_fn(|cx| relay.poll(cx, client, flight)).await;
        alarm.clear();
        if outcome != Outcome::Complete {
            client.persists = false;
            if framing == Framing::UntilClose {
                // Only a reset tells this client that something is missing.
                client.resets = true;
            }
        }
        outcome
    }

    fn framing_for_client(&mut self, answer: &Response, flight: &Flight) -> Framing {
        let bodiless = self.passage.exchange.request.method() == "HEAD"
            || matches!(answer.head.status(), 204 | 205 | 304);
        match flight.framing {
            _ if bodiless => Framing::Empty,
            // That there is no body is said by the end of the stream.
            Framing::Empty if self.client.socket.is_http2() => Framing::Empty,
            Framing::Empty => Framing::Length(0),
            Framing::Length(length) => Framing::Length(length),
            // The stream's end says it.
            Framing::Chunked | Framing::UntilClose if self.client.socket.is_http2() => {
                Framing::UntilClose
            }
            Framing::Chunked | Framing::UntilClose if self.client.is_http11 => Framing::Chunked,
            Framing::Chunked | Framing::UntilClose => {
                self.client.persists = false;
                Framing::UntilClose
            }
        }
    }

    fn write_head(&mut self, answer: &Response, framing: Framing) {
        let client = &mut *self.client;
        client.begin_answer(&answer.head, framing);
        let policy = self.passage.record();
        if policy.response_body != BodyPolicy::Size {
            let tap = Tap::new(policy.response_body, policy.limit, &answer.head.fields);
            client.bodies.get_or_insert_default().response = tap;
        }
        self.status = answer.head.status();
    }
}

/// How a piece of body is put before the client.
fn put_for(framing: Framing) -> fn(&[u8], &mut Vec<u8>) {
    match framing {
        Framing::Chunked => write_chunk,
        Framing::Empty | Framing::Length(_) | Framing::UntilClose => {
            |data, out| out.extend_from_slice(data)
        }
    }
}

/// A deadline that is armed when waiting begins and moves on with every progress.
struct Deadline<'a> {
    thread: &'a Thread,
    alarm: &'a Alarm,
    total: Option<Duration>,
    armed: bool,
}

impl Deadline<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, within: Duration) -> Poll<()> {
        if !self.armed {
            self.armed = true;
            let at = self.thread.deadline(within);
            self.alarm.set(self.total.map_or(at, |total| total.min(at)));
        }
        self.alarm.poll(|| self.thread.now(), cx)
    }
}

/// Both directions of the second half of an exchange, moved in one place.
struct Relay<'a> {
    put: fn(&[u8], &mut Vec<u8>),
    /// Bytes go from the upstream's buffer to the client's socket without being copied.
    direct: bool,
    /// Body bytes at the front of the upstream's buffer that are understood but not yet sent (`direct` only).
    decoded: usize,
    last_chunk_written: bool,
    /// The rest of the request still goes up when the answer is over: the upstream may be reading it.
    uploads_on: bool,
    write_within: Duration,
    idle_within: Duration,
    clock: Deadline<'a>,
}

/// What one look at the download brought.
enum Step {
    Moved,
    Done,
    WaitsForClient,
    WaitsForUpstream,
    Ended(Outcome),
}

impl Relay<'_> {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        flight: &mut Flight,
    ) -> Poll<Outcome> {
        loop {
            let step = self.download(cx, client, flight);
            if let Poll::Ready(end) = self.upload(cx, client, flight) {
                return Poll::Ready(match step {
                    Step::Done => Outcome::Complete,
                    _ => end,
                });
            }
            let within = match step {
                Step::Moved => {
                    self.clock.armed = false;
                    continue;
                }
                Step::Done => {
                    if !self.uploads_on || self.upload_is_over(cx, flight) {
                        return Poll::Ready(Outcome::Complete);
                    }
                    self.idle_within
                }
                Step::Ended(outcome) => return Poll::Ready(outcome),
                Step::WaitsForClient => self.write_within,
                Step::WaitsForUpstream => {
                    let watching = flight.upload.is_done() || flight.upload.is_dead;
                    if watching && client.poll_gone(cx, &self.clock.thread.buffers).is_ready() {
                        return Poll::Ready(Outcome::Gone);
                    }
                    self.idle_within
                }
            };
            if self.clock.poll(cx, within).is_pending() {
                return Poll::Pending;
            }
            let now = self.clock.thread.now();
            let is_over = self.clock.total.is_some_and(|total| total <= now);
            return Poll::Ready(match step {
                Step::Done => Outcome::Complete,
                Step::WaitsForClient if !is_over => Outcome::Gone,
                _ => Outcome::Truncated,
            });
        }
    }

    /// Moves the rest of the request on. An upstream that has answered may stop taking it.
    fn upload(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        flight: &mut Flight,
    ) -> Poll<Outcome> {
        let Flight {
            connection, upload, ..
        } = flight;
        if upload.is_done() || upload.is_dead {
            return Poll::Pending;
        }
        match upload.poll(
            cx,
            client,
            &mut connection.socket,
            &self.clock.thread.buffers,
        ) {
            Poll::Ready(Err(UploadEnd::Client(BodyEnd::Gone))) => {
                return Poll::Ready(Outcome::Gone);
            }
            Poll::Ready(Err(UploadEnd::Client(BodyEnd::Reject(_)))) => {
                return Poll::Ready(Outcome::Truncated);
            }
            Poll::Ready(Err(UploadEnd::Upstream)) => upload.is_dead = true,
            Poll::Ready(Ok(())) | Poll::Pending => {}
        }
        if std::mem::take(&mut upload.moved) {
            self.clock.armed = false;
        }
        Poll::Pending
    }

    /// Whether the upstream, whose answer is over, has all of the request or takes no more of it.
    fn upload_is_over(&self, cx: &mut Context<'_>, flight: &mut Flight) -> bool {
        let Flight {
            connection, upload, ..
        } = flight;
        upload.is_done()
            || upload.is_dead
            || connection.socket.ended
            || connection
                .socket
                .poll_fill(cx, &self.clock.thread.buffers, false)
                .is_ready()
    }

    /// One step of the answer towards the client.
    fn download(&mut self, cx: &mut Context<'_>, client: &mut Client, flight: &mut Flight) -> Step {
        let Flight {
            connection,
            body,
            framing,
            ..
        } = flight;
        // What is here already goes along with the head, in one write.
        if let Err(outcome) = self.gather(client, flight_parts(connection, body), framing) {
            return Step::Ended(outcome);
        }
        if !client.output.is_empty() {
            return match client.poll_flush(cx) {
                Poll::Ready(Ok(())) => Step::Moved,
                Poll::Ready(Err(_)) => Step::Ended(Outcome::Gone),
                Poll::Pending => Step::WaitsForClient,
            };
        }
        if self.decoded > 0 {
            let ready = connection
                .socket
                .unread()
                .get(..self.decoded)
                .unwrap_or_default();
            return match client.socket.poll_write(cx, ready) {
                Poll::Ready(Ok(count)) => {
                    client.see_answer(ready.get(..count).unwrap_or(ready));
                    connection.socket.consume(count);
                    self.decoded -= count;
                    client.sent += count as u64;
                    Step::Moved
                }
                Poll::Ready(Err(_)) => Step::Ended(Outcome::Gone),
                Poll::Pending => Step::WaitsForClient,
            };
        }
        if body.is_done() {
            return match client.finish_answer(body.trailers()) {
                Ok(()) => Step::Done,
                Err(_) => Step::Ended(Outcome::Gone),
            };
        }
        let long = body.remaining().is_none_or(|left| left > SMALL as u64);
        match connection
            .socket
            .poll_fill(cx, &self.clock.thread.buffers, long)
        {
            Poll::Ready(Ok(0)) => match body.finish() {
                Ok(()) => {
                    if let Some(trailers) = connection.socket.trailers() {
                        take_trailers(trailers, body);
                    }
                    Step::Moved
                }
                Err(_) => Step::Ended(Outcome::Truncated),
            },
            Poll::Ready(Err(_)) => Step::Ended(Outcome::Truncated),
            Poll::Ready(Ok(_)) => Step::Moved,
            Poll::Pending => Step::WaitsForUpstream,
        }
    }

    /// Understands what the upstream has sent and puts it before the client, as long as there is room.
    fn gather(
        &mut self,
        client: &mut Client,
        (socket, body): Parts<'_>,
        framing: &Framing,
    ) -> Result<(), Outcome> {
        while self.decoded == 0
            && !body.is_done()
            && !socket.unread().is_empty()
            && client.output.len() < LARGE
        {
            let unread = socket.unread();
            let decoded = body.decode(unread).map_err(|_| Outcome::Truncated)?;
            let data = unread.get(decoded.data).unwrap_or_default();
            // A first piece that fits beside the head saves a system call; later ones are not copied.
            let alone = client.output.is_empty() || client.output.len() + data.len() > SMALL;
            if self.direct && alone && !data.is_empty() {
                debug_assert_ne!(
                    *framing,
                    Framing::Chunked,
                    "chunked bodies are put together anew"
                );
                self.decoded = data.len();
                return Ok(());
            }
            if !data.is_empty() {
                client.see_answer(data);
                (self.put)(data, &mut client.output);
                client.sent += data.len() as u64;
            }
            let stuck = decoded.consumed == 0 && !decoded.done;
            socket.consume(decoded.consumed);
            if stuck {
                break;
            }
        }
        if body.is_done() && !self.last_chunk_written {
            self.last_chunk_written = true;
            let trailers = Some(body.trailers())
                .filter(|trailers| client.accepts_trailers && !trailers.is_empty());
            write_last_chunk(trailers, &mut client.output);
        }
        Ok(())
    }
}

fn take_trailers(trailers: &http::HeaderMap, body: &mut sluicegate_http1::BodyDecoder) {
    for (name, value) in trailers {
        body.add_trailer(name.as_str(), value.as_bytes());
    }
}

type Parts<'a> = (
    &'a mut crate::socket::Socket,
    &'a mut sluicegate_http1::BodyDecoder,
);

fn flight_parts<'a>(
    connection: &'a mut crate::upstream::pool::Connection,
    body: &'a mut sluicegate_http1::BodyDecoder,
) -> Parts<'a> {
    (&mut connection.socket, body)
}
