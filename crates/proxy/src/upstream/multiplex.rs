//! The HTTP/2 connections of one thread to one upstream: many requests at once on few of them.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    rc::{Rc, Weak},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use h2::{Ping, client::SendRequest};
use sluicegate_core::{Reject, codes};
use tokio::sync::{Notify, futures::Notified};

use crate::{
    alarm::Alarm,
    core::Core,
    http2::{Io, Stream},
    socket::Socket,
    thread::Thread,
    upstream::{permits::Permit, tally::Tally},
};

/// Bytes of one answer that an upstream may send ahead of what the client has taken.
const STREAM_WINDOW: u32 = 256 << 10;
/// The same for all streams of a connection.
const WINDOW: u32 = 1 << 20;
/// How much of a request the connection holds while the upstream does not read.
const SEND_BUFFER: usize = 64 << 10;
/// How often a connection that serves is asked whether its peer is still there, and how long it has to say so.
const PING_EVERY: Duration = Duration::from_secs(20);
const PONG_WITHIN: Duration = Duration::from_secs(10);

/// One connection and its streams.
pub(super) struct Link {
    sender: SendRequest<Bytes>,
    open: Cell<usize>,
    is_closed: Cell<bool>,
    has_served: Cell<bool>,
    born: Duration,
    /// When it was first seen without a stream.
    idle_since: Cell<Option<Duration>>,
    tally: RefCell<Tally>,
    freed: Rc<Notify>,
    _permit: Permit,
}

impl Link {
    fn has_room(&self) -> bool {
        !self.is_closed.get() && self.open.get() < self.sender.current_max_send_streams()
    }
}

/// A stream's place on its connection.
pub(super) struct Place(Rc<Link>);

impl Place {
    fn take(link: &Rc<Link>) -> Self {
        link.idle_since.set(None);
        if link.open.replace(link.open.get() + 1) == 0 {
            link.tally.borrow_mut().works();
        }
        Self(link.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Self(link) = self;
        link.open.set(link.open.get() - 1);
        if link.open.get() == 0 {
            link.tally.borrow_mut().rests();
        }
        link.freed.notify_waiters();
    }
}

/// A place for a request, and whether its connection has served before.
pub(super) struct Granted {
    pub(super) socket: Socket,
    pub(super) place: Place,
    pub(super) reused: bool,
}

/// What a thread has to one upstream.
#[derive(Default)]
pub(super) struct Multiplex {
    links: RefCell<HashMap<SocketAddr, Vec<Rc<Link>>>>,
    /// Endpoints to which a connection is being made: one is enough for all who wait.
    connecting: RefCell<HashSet<SocketAddr>>,
    /// Somebody has left a stream, or a connection has come or failed.
    freed: Rc<Notify>,
    failures: Cell<u64>,
}

/// What a thread does next for a request.
pub(super) enum Chance {
    /// Here is a place.
    Granted(Granted),
    /// A connection is to be made, and nobody does it yet.
    Connect,
    /// Others are at it.
    Wait,
}

/// The making of one connection, announced to the others until it is dropped.
pub(super) struct Connecting {
    multiplex: Rc<Multiplex>,
    endpoint: SocketAddr,
}

impl Drop for Connecting {
    fn drop(&mut self) {
        self.multiplex
            .connecting
            .borrow_mut()
            .remove(&self.endpoint);
        self.multiplex.freed.notify_waiters();
    }
}

impl Multiplex {
    /// A place on a connection that is there, or what to do about it.
    pub(super) fn chance(self: &Rc<Self>, endpoint: SocketAddr) -> Chance {
        let links = self.links.borrow();
        let known = links.get(&endpoint).map_or(&[][..], Vec::as_slice);
        // The busiest that has room: the others can then become idle and go.
        while let Some(link) = known
            .iter()
            .filter(|link| link.has_room())
            .max_by_key(|link| link.open.get())
        {
            let mut sender = link.sender.clone();
            // A peer that has said goodbye takes no more streams, while those that are open go on.
            let mut cx = Context::from_waker(Waker::noop());
            if let Poll::Ready(Err(_)) = sender.poll_ready(&mut cx) {
                link.is_closed.set(true);
                continue;
            }
            return Chance::Granted(Granted {
                socket: Socket::of_stream(Stream::requesting(sender)),
                place: Place::take(link),
                reused: link.has_served.replace(true),
            });
        }
        if self.connecting.borrow().contains(&endpoint) {
            Chance::Wait
        } else {
            Chance::Connect
        }
    }

    /// Announces that a connection is being made.
    pub(super) fn connect(self: &Rc<Self>, endpoint: SocketAddr) -> Connecting {
        self.connecting.borrow_mut().insert(endpoint);
        Connecting {
            multiplex: self.clone(),
            endpoint,
        }
    }

    /// Wakes when somebody has left a stream, or a connection has come or failed.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    /// How many connections could not be made so far.
    pub(super) fn failures(&self) -> u64 {
        self.failures.get()
    }

    /// Gives up what is idle or old, and what leads nowhere any more.
    pub(super) fn evict(
        &self,
        now: Duration,
        (idle, life): (Duration, Duration),
        is_endpoint: impl Fn(SocketAddr) -> bool,
    ) {
        self.links.borrow_mut().retain(|endpoint, links| {
            let leads_there = is_endpoint(*endpoint);
            // Streams that are open keep their connection; no new ones come.
            links.retain(|link| {
                if link.open.get() == 0 && link.idle_since.get().is_none() {
                    link.idle_since.set(Some(now));
                }
                let is_idle = link
                    .idle_since
                    .get()
                    .is_some_and(|since| now.saturating_sub(since) >= idle);
                let is_old = now.saturating_sub(link.born) >= life;
                leads_there && !is_idle && !is_old && !link.is_closed.get()
            });
            !links.is_empty()
        });
    }

    /// Takes no more streams on what there is.
    pub(super) fn clear(&self) {
        self.links.borrow_mut().clear();
    }
}

impl Connecting {
    /// No connection has come of it; nobody who waits needs to try the same.
    pub(super) fn failed(&self) {
        let failures = &self.multiplex.failures;
        failures.set(failures.get() + 1);
    }

    /// Speaks HTTP/2 on a connection that has been made, and lets everybody use it.
    ///
    /// # Errors
    /// 502, when the peer does not speak it.
    pub(super) async fn begin(
        self,
        thread: &Thread,
        socket: Socket,
        (permit, mut tally): (Permit, Tally),
        within: Duration,
    ) -> Result<(), Reject> {
        let endpoint = self.endpoint;
        let broken = |why: &dyn std::fmt::Display| {
            self.failed();
            Reject::new(&codes::UPSTREAM_UNREACHABLE)
                .because(format!("HTTP/2 with {endpoint}: {why}"))
        };
        let mut builder = h2::client::Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_send_buffer_size(SEND_BUFFER)
            .max_header_list_size(HEADER_LIST);
        let io = Io::new(socket, thread.buffers.clone());
        let opening = builder.handshake::<_, Bytes>(io);
        let (sender, connection) = match tokio::time::timeout(within, opening).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => return Err(broken(&error)),
            Err(_) => return Err(broken(&"no answer in time")),
        };
        let now = thread.now();
        tally.rests();
        let link = Rc::new(Link {
            sender,
            open: Cell::new(0),
            is_closed: Cell::new(false),
            has_served: Cell::new(false),
            born: now,
            idle_since: Cell::new(None),
            tally: RefCell::new(tally),
            freed: self.multiplex.freed.clone(),
            _permit: permit,
        });
        let (alarms, core) = (&thread.alarms, thread.core.clone());
        let watched = Rc::downgrade(&link);
        tokio::task::spawn_local(drive(connection, watched, alarms.alarm(), core));
        self.multiplex
            .links
            .borrow_mut()
            .entry(endpoint)
            .or_default()
            .push(link);
        Ok(())
    }
}

/// As much of an answer's head as in HTTP/1.1, counted with 32 bytes a field.
const HEADER_LIST: u32 = (64 << 10) + 32 * 256;

/// Moves the frames of a connection until it ends. It ends by itself when nobody can open a stream
/// on it any more and the last one is over.
async fn drive(
    mut connection: h2::client::Connection<Io, Bytes>,
    link: Weak<Link>,
    alarm: Alarm,
    core: Arc<Core>,
) {
    let mut pings = connection.ping_pong();
    let mut connection = pin!(connection);
    let now = || core.clock.now();
    alarm.set(now() + PING_EVERY);
    let mut awaits_pong = false;
    poll_fn(|cx| {
        loop {
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            let Some(pings) = &mut pings else {
                return Poll::Pending;
            };
            if awaits_pong && let Poll::Ready(pong) = pings.poll_pong(cx) {
                if pong.is_err() {
                    return Poll::Ready(());
                }
                awaits_pong = false;
                alarm.set(now() + PING_EVERY);
            }
            if alarm.poll(now, cx).is_pending() {
                return Poll::Pending;
            }
            // A peer that lost its power sends no FIN: without asking, nobody would know (HT-11).
            if awaits_pong || pings.send_ping(Ping::opaque()).is_err() {
                return Poll::Ready(());
            }
            awaits_pong = true;
            alarm.set(now() + PONG_WITHIN);
        }
    })
    .await;
    if let Some(link) = link.upgrade() {
        link.is_closed.set(true);
        link.freed.notify_waiters();
    }
}
