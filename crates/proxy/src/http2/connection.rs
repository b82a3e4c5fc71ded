//! A client's HTTP/2 connection: each stream becomes an exchange of its own, on this thread.

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use base64::Engine as _;
use bytes::Bytes;
use h2::{Reason, RecvStream, server::SendResponse};
use http::{Request, request};
use sluicegate_core::{Exchange, Outcome, Peer};
use sluicegate_http1::{Framing, RequestHead, expects_continue, strip_hop_by_hop};
use sluicegate_record::ConnectionText;

use crate::{
    alarm::Alarm,
    client::Client,
    conversation::refresh,
    http2::{
        Stream,
        head::{is_websocket, take_request},
        io::Io,
    },
    journey::{Journey, LIVE},
    life_of_a_request::serve as serve_exchange,
    passage::Passage,
    snapshot::ListenerSettings,
    socket::Socket,
    thread::Thread,
};

/// How long the client has to take the last frames once nothing is going on any more.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long a client may go on with an upload whose answer is over, as far as its window reaches.
const LINGER: Duration = Duration::from_secs(1);
/// How much of answers the connection holds per stream while the client does not read.
const SEND_BUFFER: usize = 64 << 10;
/// How many streams that the client reset at once may wait to be looked at; more end the connection.
const RESETS_AT_ONCE: usize = 20;
/// How many streams the gateway itself may have reset for a client's faults; more end the connection.
const FAULTS: usize = 100;

/// What all streams of a connection have in common.
pub(crate) struct Origin {
    pub(crate) thread: Rc<Thread>,
    pub(crate) peer: Peer,
    pub(crate) listener: Rc<str>,
    pub(crate) text: ConnectionText,
}

/// How many streams are open, and whom to tell when the last one ends.
#[derive(Default)]
struct Open {
    count: Cell<usize>,
    waker: RefCell<Option<Waker>>,
}

/// One open stream.
struct Entered(Rc<Open>);

impl Entered {
    fn enter(open: &Rc<Open>) -> Self {
        open.count.set(open.count.get() + 1);
        Self(open.clone())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        if self.0.count.get() == 0
            && let Some(waker) = self.0.waker.borrow_mut().take()
        {
            waker.wake();
        }
    }
}

/// Serves a connection whose first bytes were HTTP/2's to its end.
pub(crate) async fn serve(
    socket: Socket,
    origin: Origin,
    alarm: &Alarm,
    settings: Arc<ListenerSettings>,
) {
    let origin = Rc::new(origin);
    let thread = &origin.thread;
    let io = Io::new(socket, thread.buffers.clone());
    alarm.set(thread.deadline(settings.header));
    let mut opening = pin!(builder(&settings).handshake::<_, Bytes>(io));
    let opened = poll_fn(|cx| match opening.as_mut().poll(cx) {
        Poll::Ready(opened) => Poll::Ready(opened.ok()),
        Poll::Pending => alarm.poll(|| thread.now(), cx).map(|()| None),
    })
    .await;
    let Some(frames) = opened else {
        return;
    };
    let mut connection = Connection {
        origin: &origin,
        alarm,
        settings,
        known: None,
        frames,
        open: Rc::default(),
        served: 0,
        is_leaving: false,
        quiet_until: None,
    };
    poll_fn(|cx| connection.poll(cx)).await;
}

fn builder(settings: &ListenerSettings) -> h2::server::Builder {
    let http2 = &settings.http2;
    let limit = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    let mut builder = h2::server::Builder::new();
    builder
        .max_concurrent_streams(http2.streams)
        .initial_window_size(http2.stream_window)
        .initial_connection_window_size(http2.window)
        // Counted with 32 bytes a field (RFC 9113 section 6.5.2); what is within it meets the real limits and is answered.
        .max_header_list_size(limit(settings.head.bytes * 2 + 64 * settings.head.fields))
        .max_send_buffer_size(SEND_BUFFER)
        .max_concurrent_reset_streams(RESETS_AT_ONCE)
        .max_pending_accept_reset_streams(RESETS_AT_ONCE)
        .max_local_error_reset_streams(Some(FAULTS))
        .enable_connect_protocol();
    builder
}

struct Connection<'a> {
    origin: &'a Rc<Origin>,
    alarm: &'a Alarm,
    settings: Arc<ListenerSettings>,
    /// The generation of snapshots in which the settings were read.
    known: Option<u64>,
    frames: h2::server::Connection<Io, Bytes>,
    open: Rc<Open>,
    served: u64,
    /// The client knows that the gateway takes no more streams.
    is_leaving: bool,
    /// When the connection has been without streams long enough.
    quiet_until: Option<Duration>,
}

impl Connection<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let thread = &self.origin.thread;
        loop {
            if !self.is_leaving && self.must_leave() {
                self.leave();
            }
            match self.frames.poll_accept(cx) {
                Poll::Ready(Some(Ok((request, answer)))) => {
                    self.served += 1;
                    self.quiet_until = None;
                    self.begin(request, answer);
                    continue;
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {}
            }
            let is_quiet = self.open.count.get() == 0;
            if is_quiet {
                let within = if self.is_leaving {
                    FAREWELL
                } else {
                    self.settings.idle
                };
                let until = self
                    .quiet_until
                    .get_or_insert_with(|| thread.deadline(within));
                self.alarm.set(*until);
            } else {
                // The streams have clocks of their own; this one is for draining, which rings them all.
                self.quiet_until = None;
                self.open.waker.replace(Some(cx.waker().clone()));
                self.alarm.set(thread.deadline(self.settings.idle));
            }
            if self.alarm.poll(|| thread.now(), cx).is_pending() {
                return Poll::Pending;
            }
            if self.quiet_until.is_some_and(|until| until <= thread.now()) {
                if self.is_leaving {
                    return Poll::Ready(());
                }
                self.leave();
            }
        }
    }

    /// Whether the connection is to take no more streams.
    fn must_leave(&mut self) -> bool {
        let Origin {
            thread, listener, ..
        } = &**self.origin;
        let is_there = refresh(thread, listener, &mut self.settings, &mut self.known);
        let most = self.settings.requests_per_connection;
        !is_there || thread.draining() || (most != 0 && self.served >= most)
    }

    /// Tells the client so (RFC 9113 section 6.8): what it has sent by then is served.
    fn leave(&mut self) {
        self.is_leaving = true;
        self.quiet_until = None;
        self.frames.graceful_shutdown();
    }

    fn begin(&self, request: Request<RecvStream>, answer: SendResponse<Bytes>) {
        let (origin, settings) = (self.origin.clone(), self.settings.clone());
        let entered = Entered::enter(&self.open);
        tokio::task::spawn_local(async move {
            exchange(&origin, &settings, request, answer).await;
            drop(entered);
        });
    }
}

/// One stream from the head of its request to the last frame of its answer.
async fn exchange(
    origin: &Origin,
    settings: &ListenerSettings,
    request: Request<RecvStream>,
    answer: SendResponse<Bytes>,
) {
    let thread = &*origin.thread;
    let alarm = thread.alarms.alarm();
    let (parts, body) = request.into_parts();
    let arrival = arrive(origin, &parts, body.is_end_stream(), settings);
    let Arrival {
        mut exchange,
        framing,
        asks_for_websocket,
        awaits_continue,
    } = arrival;
    let mut client = Client::new(
        Socket::of_stream(Stream::answering(body, answer)),
        origin.text.clone(),
        thread.buffers.clone(),
        thread.core.budget.clone(),
    );
    client.accepts_trailers = true;
    client.asks_for_websocket = asks_for_websocket;
    client.awaits_continue = awaits_continue;
    client.body_timeout = settings.body;
    client.write_timeout = settings.write;
    let decoded = match framing {
        // The stream's end is the body's.
        Framing::Chunked => Framing::UntilClose,
        known => known,
    };
    client.begin_body(decoded, settings.body_limit);
    let passage = Passage::new(
        &mut exchange,
        framing,
        thread.view(),
        settings.body_limit,
        (thread, LIVE),
        thread.heads.entered(),
    );
    let mut journey = Journey::begin(thread, &mut client, &alarm, passage);
    serve_exchange(&mut journey).await;
    let outcome = journey.outcome;
    drop(journey);
    if let Some(stream) = client.socket.http2() {
        match outcome {
            Outcome::Complete => {
                let _ = stream.finish(None);
                alarm.set(thread.deadline(LINGER));
                // An upload that nobody wants is then reset without an error by letting it go. Not at
                // once: there are clients that take the reset for the answer when both come together.
                poll_fn(|cx| match stream.poll_received(cx) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => alarm.poll(|| thread.now(), cx),
                })
                .await;
            }
            Outcome::Truncated => stream.reset(Reason::INTERNAL_ERROR),
            Outcome::Gone => stream.reset(Reason::CANCEL),
        }
    }
}

/// A request as it came.
struct Arrival {
    exchange: Box<Exchange>,
    framing: Framing,
    asks_for_websocket: bool,
    awaits_continue: bool,
}

fn arrive(
    origin: &Origin,
    parts: &request::Parts,
    ends: bool,
    settings: &ListenerSettings,
) -> Arrival {
    let now = origin.thread.now();
    let listener = origin.listener.clone();
    let mut exchange = Box::new(Exchange::new(
        RequestHead::default(),
        origin.peer,
        listener,
        now,
    ));
    let head = &mut exchange.request;
    let mut arrival = (Framing::Empty, false, false);
    let taken = take_request(parts, ends, head, &settings.head).and_then(|framing| {
        let awaits_continue = expects_continue(head)? && framing != Framing::Empty;
        strip_hop_by_hop(&mut head.fields);
        let asks_for_websocket = asks_for_websocket(parts, head);
        arrival = if asks_for_websocket {
            // What follows are frames of its own, no body.
            (Framing::Empty, true, false)
        } else {
            (framing, false, awaits_continue)
        };
        Ok(())
    });
    exchange.malformed = taken.err();
    let (framing, asks_for_websocket, awaits_continue) = arrival;
    Arrival {
        exchange,
        framing,
        asks_for_websocket,
        awaits_continue,
    }
}

/// Whether it is the extended CONNECT of RFC 8441; towards the upstream it becomes the handshake of
/// RFC 6455, whose key is the gateway's own.
fn asks_for_websocket(parts: &request::Parts, head: &mut RequestHead) -> bool {
    let asks = is_websocket(parts);
    if asks {
        let key = fastrand::u128(..).to_be_bytes();
        let key = base64::engine::general_purpose::STANDARD.encode(key);
        // Base64 is visible ASCII: it cannot be refused.
        let _ = head.fields.set("Sec-WebSocket-Key", key.as_bytes());
    }
    asks
}
