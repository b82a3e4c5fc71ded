//! What passes between the two sides of a WebSocket connection, until both have closed.

use std::{
    future::poll_fn,
    task::{Context, Poll},
    time::Duration,
};

use sluicegate_codec::websocket::{CloseCode, Sender};
use sluicegate_core::{Outcome, Response};
use sluicegate_http1::Framing;
use sluicegate_traffic::Pace;

use crate::{
    alarm::Alarm,
    client::Client,
    journey::{Flight, Journey},
    socket::Socket,
    thread::Thread,
    tunnel::{Tunnel, direction::Direction},
};

/// How long the sides have to answer a close frame.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);
/// How long they have when the gateway itself ends the connection.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

impl Journey<'_> {
    /// Tells the client that the upstream has agreed, then moves frames until the end.
    pub(crate) async fn relay_tunnel(
        &mut self,
        mut answer: Response,
        flight: Flight,
        tunnel: Tunnel,
    ) {
        let Some(settings) = &tunnel.route.route.websocket else {
            return;
        };
        let head = &mut answer.head;
        if self.client.socket.is_http2() {
            // RFC 8441 section 5: agreeing is a success like any other, and there is no key to prove.
            head.set_status(200);
            head.fields.remove("Sec-WebSocket-Accept");
            self.client.begin_answer(head, Framing::UntilClose);
        } else {
            // Constant words: they cannot be refused.
            let _ = head.fields.append("Connection", b"Upgrade");
            let _ = head.fields.append("Upgrade", b"websocket");
            self.client.inform(head);
        }
        self.client.persists = false;
        let first = std::mem::take(&mut self.client.output);
        self.status = head.status();
        let Flight { mut connection, .. } = flight;
        let (max, compresses) = (settings.max_frame, tunnel.compresses);
        let now = self.thread.now();
        let mut relay = Relay {
            thread: self.thread,
            alarm: self.alarm,
            up: Direction::new(Sender::Client, max, compresses, Vec::new()),
            down: Direction::new(Sender::Server, max, compresses, first),
            pace: settings.messages_per_second.map(Pace::new),
            idle: settings.idle,
            ping: settings.ping,
            heard_at: now,
            asked_at: None,
            passed_at: now,
            passed: 0,
            life_at: settings.life.map_or(Duration::MAX, |life| now + life),
            ends_at: Duration::MAX,
            ending: None,
            outcome: Outcome::Complete,
        };
        let gauge = self.thread.core.registry.gauge(
            "websocket_connections",
            "WebSocket connections open at present.",
            &[],
        );
        gauge.add(self.thread.index, 1);
        let open = Open(gauge, self.thread.index);
        poll_fn(|cx| relay.poll(cx, self.client, &mut connection.socket)).await;
        drop(open);
        self.alarm.clear();
        self.client.received = relay.up.passed;
        self.client.sent = relay.down.passed;
        self.outcome = relay.outcome;
        if let Some(Ending { code, reason }) = relay.ending {
            self.passage.exchange.cause = Some(format!("closed with {}: {reason}", code.0).into());
        }
    }
}

/// One open connection in the gauge.
struct Open(sluicegate_record::Gauge, usize);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.add(self.1, -1);
    }
}

/// The gateway has decided to end the connection.
#[derive(Clone, Copy)]
struct Ending {
    code: CloseCode,
    reason: &'static str,
}

struct Relay<'a> {
    thread: &'a Thread,
    alarm: &'a Alarm,
    /// From the client to the upstream.
    up: Direction,
    /// From the upstream to the client.
    down: Direction,
    pace: Option<Pace>,
    idle: Duration,
    ping: Option<Duration>,
    /// When the client was last heard, and when it was asked since.
    heard_at: Duration,
    asked_at: Option<Duration>,
    /// When a frame last passed, and how many bytes had passed then.
    passed_at: Duration,
    passed: u64,
    /// When the connection has lived long enough.
    life_at: Duration,
    /// When it is over in any case, once one side has closed.
    ends_at: Duration,
    ending: Option<Ending>,
    outcome: Outcome,
}

impl Relay<'_> {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        upstream: &mut Socket,
    ) -> Poll<()> {
        loop {
            let now = self.thread.now();
            self.pump(cx, client, upstream, now);
            self.notice(now);
            if self.tell() {
                continue;
            }
            if self.is_over() {
                return Poll::Ready(());
            }
            self.alarm.set(self.next_deadline());
            if self.alarm.poll(|| self.thread.now(), cx).is_pending() {
                return Poll::Pending;
            }
            if self.ring(self.thread.now()) {
                return Poll::Ready(());
            }
        }
    }

    /// Moves what can be moved, in both directions.
    fn pump(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        upstream: &mut Socket,
        now: Duration,
    ) {
        let buffers = &self.thread.buffers;
        let pace = &mut self.pace;
        let broken = [
            self.up
                .pump(cx, (&mut client.socket, &mut *upstream), buffers, || {
                    pace.as_mut().is_none_or(|pace| pace.take(now))
                }),
            self.down
                .pump(cx, (upstream, &mut client.socket), buffers, || true),
        ];
        for violation in broken.into_iter().flatten() {
            self.outcome = Outcome::Truncated;
            self.end(violation.code, violation.reason, now);
        }
    }

    /// Draws conclusions from what the sides have done.
    fn notice(&mut self, now: Duration) {
        if std::mem::take(&mut self.up.heard) {
            self.heard_at = now;
            self.asked_at = None;
        }
        let passed = self.up.passed + self.down.passed;
        if passed != self.passed {
            self.passed = passed;
            self.passed_at = now;
        }
        let (up, down) = (&self.up, &self.down);
        if self.ending.is_none() {
            if (up.ended && !up.is_closed()) || (down.is_dead && !up.is_closed()) {
                self.outcome = Outcome::Gone;
                self.end(CloseCode::GOING_AWAY, "the client is gone", now);
            } else if (down.ended || up.is_dead) && !down.is_closed() {
                self.outcome = Outcome::Truncated;
                self.end(CloseCode::INTERNAL_ERROR, "the upstream is gone", now);
            } else if self.thread.draining() {
                self.end(CloseCode::GOING_AWAY, "the gateway is leaving", now);
            }
        }
        if self.up.is_closed() || self.down.is_closed() {
            self.ends_at = self.ends_at.min(now + CLOSE_WITHIN);
        }
    }

    fn end(&mut self, code: CloseCode, reason: &'static str, now: Duration) {
        if self.ending.is_none() {
            self.ending = Some(Ending { code, reason });
            self.ends_at = self.ends_at.min(now + LEAVE_WITHIN);
        }
    }

    /// Tells both sides that the gateway ends the connection; true when there is something to write.
    fn tell(&mut self) -> bool {
        let Some(Ending { code, reason }) = self.ending else {
            return false;
        };
        // No short cut: both are to be told.
        self.up.tell(code, reason) | self.down.tell(code, reason)
    }

    /// Both sides have said what they had to say, and heard it.
    fn is_over(&self) -> bool {
        let (up, down) = (&self.up, &self.down);
        let is_said = |direction: &Direction| direction.is_closed() || direction.ended;
        let all_said = is_said(up) && is_said(down);
        // A frame that its sender left unfinished: nothing can be put behind it.
        let is_cut = self.ending.is_some() && down.ended && !down.told && !down.is_closed();
        up.is_flushed() && down.is_flushed() && (all_said || is_cut)
    }

    fn next_deadline(&self) -> Duration {
        if self.ending.is_some() {
            return self.ends_at;
        }
        let ask_at = self.ping.map_or(Duration::MAX, |ping| {
            self.asked_at.unwrap_or(self.heard_at) + ping
        });
        self.ends_at
            .min(self.life_at)
            .min(self.passed_at + self.idle)
            .min(ask_at)
    }

    /// A deadline has passed; true when the connection is over.
    fn ring(&mut self, now: Duration) -> bool {
        if self.ends_at <= now {
            return true;
        }
        if self.ending.is_some() {
            return false;
        }
        if self.life_at <= now {
            self.end(
                CloseCode::GOING_AWAY,
                "the connection is as old as it may be",
                now,
            );
        } else if self.passed_at + self.idle <= now {
            self.end(
                CloseCode::GOING_AWAY,
                "nothing has passed for too long",
                now,
            );
        } else if let Some(ping) = self.ping
            && self.asked_at.unwrap_or(self.heard_at) + ping <= now
        {
            if self.asked_at.is_some() {
                self.outcome = Outcome::Gone;
                self.end(
                    CloseCode::GOING_AWAY,
                    "the client does not answer a ping",
                    now,
                );
            } else {
                self.asked_at = Some(now);
                self.down.ping(&mut self.up);
            }
        }
        false
    }
}
