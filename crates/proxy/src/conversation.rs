//! The requests of one client connection, one after another.

use std::{future::poll_fn, net::SocketAddr, rc::Rc, sync::Arc, task::Poll, time::Duration};

use sluicegate_core::{Code, Exchange, Peer, codes};
use sluicegate_http1::{
    Framing, Malformed, RequestHead, Version, accepts_trailers, asks_for_websocket,
    expects_continue, request_framing, request_keep_alive, strip_hop_by_hop,
};
use sluicegate_record::ConnectionText;
use tokio::net::TcpStream;

use crate::{
    alarm::Alarm,
    client::{Client, HeadEnd},
    http2::{self, Origin},
    journey::{Journey, LIVE},
    life_of_a_request::serve,
    passage::Passage,
    snapshot::ListenerSettings,
    socket::Socket,
    thread::Thread,
};

/// How much of a body nobody wants is read so that the connection can go on, or a short answer be seen.
const LEFT_OVER: u64 = 64 << 10;
/// How long a client may be silent while the rest of what it sends is thrown away.
const LINGER: Duration = Duration::from_secs(1);
/// How long a client that still sends is listened to while a long answer is on its way: closing with bytes
/// unread is a reset, and that takes back whatever has not left yet.
const LINGER_IN_ALL: Duration = Duration::from_secs(5);
/// While the gateway is leaving, a new connection gets this long to send its first request.
const LAST_CALL: Duration = Duration::from_secs(1);

/// One client connection.
pub(crate) struct Conversation<'t> {
    pub(crate) thread: &'t Rc<Thread>,
    pub(crate) client: Client,
    pub(crate) alarm: Alarm,
    /// The listener's settings, and the generation of snapshots they were read in.
    settings: Arc<ListenerSettings>,
    known: Option<u64>,
    served: u64,
    /// The current exchange, in one place for all of them: it is large, and would be moved often.
    pub(crate) exchange: Box<Exchange>,
}

/// What comes next on a connection.
enum Next {
    Request(Arrival),
    /// The client speaks HTTP/2 from its first byte on.
    Http2,
    /// Nothing: the client has closed between requests, or was silent too long.
    Over,
}

/// A request, or something instead of one.
struct Arrival {
    malformed: Option<Malformed>,
    /// The request is over before it began, and why.
    early: Option<&'static Code>,
}

fn request(malformed: Option<Malformed>, early: Option<&'static Code>) -> Next {
    Next::Request(Arrival { malformed, early })
}

/// Looks at the listener's settings again when they may have changed; false when it is gone.
pub(crate) fn refresh(
    thread: &Thread,
    listener: &str,
    settings: &mut Arc<ListenerSettings>,
    known: &mut Option<u64>,
) -> bool {
    let generation = thread.core.generation();
    if *known == Some(generation) {
        return true;
    }
    let current = thread.view().snapshot.listener(listener);
    let is_there = current.is_some();
    if let Some(current) = current {
        *settings = current;
        *known = Some(generation);
    }
    is_there
}

impl<'t> Conversation<'t> {
    pub(crate) fn begin(
        thread: &'t Rc<Thread>,
        stream: TcpStream,
        remote: SocketAddr,
        listener: Rc<str>,
    ) -> Self {
        let _ = stream.set_nodelay(true);
        let local = stream.local_addr().unwrap_or(remote);
        let peer = Peer { remote, local };
        let text = ConnectionText::new(&peer, &listener);
        Self {
            exchange: Box::new(Exchange::new(
                RequestHead::default(),
                peer,
                listener,
                Duration::ZERO,
            )),
            thread,
            client: Client::new(
                Socket::new(stream),
                text,
                thread.buffers.clone(),
                thread.core.budget.clone(),
            ),
            alarm: thread.alarms.alarm(),
            settings: Arc::default(),
            known: None,
            served: 0,
        }
    }

    /// Serves the connection to its end.
    pub(crate) async fn run(mut self) {
        if !self.is_announced().await {
            return;
        }
        loop {
            let arrival = match self.next_head().await {
                Next::Request(arrival) => arrival,
                Next::Http2 => return self.serve_http2().await,
                Next::Over => return,
            };
            self.alarm.clear();
            self.served += 1;
            self.serve(arrival).await;
            self.client.forget_body();
            if !self.client.persists || !self.finish_body().await {
                return self.linger().await;
            }
            self.client.rest();
        }
    }

    /// The rest of a connection whose client speaks HTTP/2.
    async fn serve_http2(self) {
        let Self {
            thread,
            client,
            alarm,
            settings,
            exchange,
            ..
        } = self;
        let origin = Origin {
            thread: thread.clone(),
            peer: exchange.peer,
            listener: exchange.listener.clone(),
            text: client.text.clone(),
        };
        http2::serve(client.into_socket(), origin, &alarm, settings).await;
    }

    /// Waits for a request.
    async fn next_head(&mut self) -> Next {
        let Self {
            thread,
            client,
            alarm,
            settings,
            known,
            served,
            exchange,
        } = self;
        let Exchange {
            request: head,
            listener,
            ..
        } = &mut **exchange;
        if !refresh(thread, listener, settings, known) {
            return Next::Over;
        }
        alarm.set(thread.deadline(settings.idle));
        let mut begun = false;
        let mut last_call = false;
        poll_fn(|cx| {
            // Between two requests the settings may change; one that comes when the listener has
            // just gone is still answered.
            refresh(thread, listener, settings, known);
            let may_be_http2 = *served == 0 && settings.http2.enabled;
            let limits = (&settings.head, may_be_http2);
            let read = client.poll_head(cx, &thread.buffers, limits, head, || {
                if !begun {
                    begun = true;
                    alarm.set(thread.deadline(settings.header));
                }
            });
            match read {
                Poll::Ready(HeadEnd::Complete) => return Poll::Ready(request(None, None)),
                Poll::Ready(HeadEnd::Malformed(malformed)) => {
                    return Poll::Ready(request(Some(malformed), None));
                }
                Poll::Ready(HeadEnd::Http2) => return Poll::Ready(Next::Http2),
                Poll::Ready(HeadEnd::Closed) => return Poll::Ready(Next::Over),
                Poll::Ready(HeadEnd::Broken) => {
                    return Poll::Ready(request(None, Some(&codes::CLIENT_GONE)));
                }
                Poll::Pending => {}
            }
            if thread.draining() && !begun && !last_call {
                // One that has been served comes back elsewhere; a new one may have its request on the way.
                if *served > 0 {
                    return Poll::Ready(Next::Over);
                }
                last_call = true;
                alarm.set(thread.deadline(LAST_CALL.min(settings.idle)));
            }
            if alarm.poll(|| thread.now(), cx).is_ready() {
                return Poll::Ready(if begun {
                    request(None, Some(&codes::HEADER_TIMEOUT))
                } else {
                    Next::Over
                });
            }
            Poll::Pending
        })
        .await
    }

    /// One exchange from its head on.
    async fn serve(
        &mut self,
        Arrival {
            mut malformed,
            early,
        }: Arrival,
    ) {
        let Self {
            thread,
            client,
            alarm,
            settings,
            served,
            exchange,
            ..
        } = self;
        exchange.renew(thread.now());
        let head = &mut exchange.request;
        let mut framing = Framing::Empty;
        client.awaits_continue = false;
        client.accepts_trailers = false;
        client.asks_for_websocket = false;
        client.is_http11 = true;
        client.persists = false;
        client.body_timeout = settings.body;
        client.write_timeout = settings.write;
        if malformed.is_none() && early.is_none() {
            let last = settings.requests_per_connection != 0
                && *served >= settings.requests_per_connection;
            client.is_http11 = head.version() == Version::Http11;
            client.accepts_trailers = accepts_trailers(head);
            client.asks_for_websocket = asks_for_websocket(head);
            client.persists = request_keep_alive(head) && !last && !thread.draining();
            match (request_framing(head), expects_continue(head)) {
                (Ok(read), Ok(expects)) => {
                    framing = read;
                    client.awaits_continue = expects && framing != Framing::Empty;
                }
                (Err(bad), _) | (_, Err(bad)) => malformed = Some(bad),
            }
            // First of all, so that a client cannot nominate away what the gateway adds (HD-01).
            strip_hop_by_hop(&mut head.fields);
        }
        client.begin_body(framing, settings.body_limit);
        exchange.malformed = malformed;
        let passage = Passage::new(
            exchange,
            framing,
            thread.view(),
            settings.body_limit,
            (&***thread, LIVE),
            thread.heads.entered(),
        );
        let mut journey = Journey::begin(thread, client, alarm, passage);
        journey.passage.early = early;
        serve(&mut journey).await;
    }

    /// Reads the little that is left of a body nobody wanted; false when it is not little.
    async fn finish_body(&mut self) -> bool {
        let Self {
            thread,
            client,
            alarm,
            ..
        } = self;
        if client.body_is_done() {
            return true;
        }
        alarm.set(thread.deadline(LINGER));
        let mut left = LEFT_OVER;
        let finished = poll_fn(|cx| {
            loop {
                if client.body_is_done() {
                    return Poll::Ready(true);
                }
                match client.poll_discard(cx) {
                    Poll::Ready(Some(count)) if count <= left => left -= count,
                    Poll::Ready(_) => return Poll::Ready(false),
                    Poll::Pending => return alarm.poll(|| thread.now(), cx).map(|()| false),
                }
            }
        })
        .await;
        alarm.clear();
        finished
    }

    /// Ends the connection so that the client sees the answer: a close with unread bytes would reset it.
    async fn linger(&mut self) {
        let Self {
            thread,
            client,
            alarm,
            ..
        } = self;
        let Some(socket) = client.socket.tcp().map(socket2::SockRef::from) else {
            return;
        };
        if client.resets {
            let _ = socket.set_linger(Some(Duration::ZERO));
            return;
        }
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let end = thread.deadline(LINGER_IN_ALL);
        // A short answer is with the client already; only one that is longer than a window may be waiting here.
        let mut left = if client.sent > LEFT_OVER {
            u64::MAX
        } else {
            LEFT_OVER
        };
        alarm.set(thread.deadline(LINGER));
        poll_fn(|cx| {
            loop {
                let unread = client.socket.unread().len();
                client.socket.consume(unread);
                match client.socket.poll_fill(cx, &thread.buffers, true) {
                    Poll::Ready(Ok(count)) if count > 0 && (count as u64) < left => {
                        if thread.now() >= end {
                            return Poll::Ready(());
                        }
                        left -= count as u64;
                        alarm.set(thread.deadline(LINGER).min(end));
                    }
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return alarm.poll(|| thread.now(), cx),
                }
            }
        })
        .await;
    }
}
