//! Accepting connections, and the requests of one connection one after another.

use std::{
    cell::Cell, future::poll_fn, net::SocketAddr, rc::Rc, sync::Arc, task::Poll, time::Duration,
};

use sluicegate_core::{Code, Exchange, Peer, codes};
use sluicegate_http1::{
    Framing, Malformed, RequestHead, Version, accepts_trailers, expects_continue, request_framing,
    request_keep_alive, strip_hop_by_hop,
};
use tokio::net::{TcpListener, TcpStream};

use crate::{
    alarm::Alarm,
    client::{Client, HeadEnd},
    gate::Gate,
    journey::{Journey, LIVE},
    life_of_a_request::serve,
    passage::Passage,
    snapshot::ListenerSettings,
    socket::Socket,
    thread::Thread,
};

/// How much of a body nobody wants is read so that the connection can go on, or the answer be seen.
const LEFT_OVER: u64 = 64 << 10;
/// For how long.
const LINGER: Duration = Duration::from_secs(1);
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
                    connection(&thread, stream, remote, id).await;
                    thread.connections.set(thread.connections.get() - 1);
                    drop(ticket);
                });
            }
        }
    }
}

/// Says why, as far as one write can: there is no room to wait for anything.
fn refuse(stream: &TcpStream) {
    let _ = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n",
    );
}

/// Serves one client connection to its end.
async fn connection(thread: &Rc<Thread>, stream: TcpStream, remote: SocketAddr, listener: Rc<str>) {
    let _ = stream.set_nodelay(true);
    let local = stream.local_addr().unwrap_or(remote);
    let peer = Peer { remote, local };
    let mut client = Client::new(
        Socket::new(stream),
        thread.buffers.clone(),
        thread.core.budget.clone(),
    );
    let alarm = thread.alarms.alarm();
    let mut served = 0_u64;
    let mut known = None;
    let mut settings = Arc::<ListenerSettings>::default();
    loop {
        let generation = thread.core.generation();
        if known != Some(generation) {
            let Some(current) = thread.view().snapshot.listener(&listener) else {
                break;
            };
            settings = current;
            known = Some(generation);
        }
        let mut head = thread.heads.request();
        let end = next_head(thread, &mut client, &alarm, &settings, &mut head).await;
        alarm.clear();
        served += 1;
        match end {
            Next::Head(malformed) => {
                let last = settings.requests_per_connection != 0
                    && served >= settings.requests_per_connection;
                let arrival = Arrival {
                    head,
                    malformed,
                    early: None,
                    last,
                };
                one(
                    thread,
                    &mut client,
                    &alarm,
                    &settings,
                    arrival,
                    (peer, listener.clone()),
                )
                .await;
            }
            Next::Slow => {
                let slow = Arrival {
                    head,
                    malformed: None,
                    early: Some(&codes::HEADER_TIMEOUT),
                    last: true,
                };
                one(
                    thread,
                    &mut client,
                    &alarm,
                    &settings,
                    slow,
                    (peer, listener.clone()),
                )
                .await;
            }
            Next::Closed => return,
        }
        client.forget_body();
        if !client.persists || !finish_body(thread, &mut client, &alarm).await {
            linger(thread, &mut client, &alarm).await;
            return;
        }
        client.rest();
    }
}

/// What came instead of silence.
enum Next {
    Head(Option<Malformed>),
    Slow,
    Closed,
}

async fn next_head(
    thread: &Rc<Thread>,
    client: &mut Client,
    alarm: &Alarm,
    settings: &ListenerSettings,
    head: &mut RequestHead,
) -> Next {
    alarm.set(thread.now() + settings.idle);
    let mut begun = false;
    poll_fn(|cx| {
        let read = client.poll_head(cx, &thread.buffers, &settings.head, head, || {
            if !begun {
                begun = true;
                alarm.set(thread.now() + settings.header);
            }
        });
        match read {
            Poll::Ready(HeadEnd::Complete) => return Poll::Ready(Next::Head(None)),
            Poll::Ready(HeadEnd::Malformed(malformed)) => {
                return Poll::Ready(Next::Head(Some(malformed)));
            }
            Poll::Ready(HeadEnd::Closed | HeadEnd::Broken) => return Poll::Ready(Next::Closed),
            Poll::Pending => {}
        }
        if alarm.poll(|| thread.now(), cx).is_ready() {
            return Poll::Ready(if begun { Next::Slow } else { Next::Closed });
        }
        if thread.draining() && !begun {
            return Poll::Ready(Next::Closed);
        }
        Poll::Pending
    })
    .await
}

/// A request head as it came in.
struct Arrival {
    head: RequestHead,
    malformed: Option<Malformed>,
    early: Option<&'static Code>,
    /// No request is served on this connection after it.
    last: bool,
}

/// One exchange from its head on.
async fn one(
    thread: &Rc<Thread>,
    client: &mut Client,
    alarm: &Alarm,
    settings: &ListenerSettings,
    Arrival {
        mut head,
        mut malformed,
        early,
        last,
    }: Arrival,
    (peer, listener): (Peer, Rc<str>),
) {
    let begun = thread.now();
    let mut framing = Framing::Empty;
    client.awaits_continue = false;
    client.accepts_trailers = false;
    client.is_http11 = true;
    client.persists = false;
    client.body_timeout = settings.body;
    client.write_timeout = settings.write;
    if malformed.is_none() && early.is_none() {
        client.is_http11 = head.version() == Version::Http11;
        client.accepts_trailers = accepts_trailers(&head);
        client.persists = request_keep_alive(&head) && !last && !thread.draining();
        match (request_framing(&head), expects_continue(&head)) {
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
    let mut exchange = Exchange::new(head, peer, listener, begun);
    exchange.malformed = malformed;
    let mut passage = Passage::new(
        exchange,
        framing,
        thread.view(),
        settings.body_limit,
        (&**thread, LIVE),
        thread.heads.entered(),
    );
    passage.early = early;
    serve(Journey::begin(thread, client, alarm, passage)).await;
}

/// Reads the little that is left of a body nobody wanted; false when it is not little.
async fn finish_body(thread: &Rc<Thread>, client: &mut Client, alarm: &Alarm) -> bool {
    if client.body_is_done() {
        return true;
    }
    alarm.set(thread.now() + LINGER);
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

/// Ends a connection so that the client sees the answer: a close with unread bytes would reset it.
async fn linger(thread: &Rc<Thread>, client: &mut Client, alarm: &Alarm) {
    if client.resets {
        let _ = socket2::SockRef::from(client.socket.stream()).set_linger(Some(Duration::ZERO));
        return;
    }
    alarm.set(thread.now() + LINGER);
    let mut left = LEFT_OVER;
    let _ = socket2::SockRef::from(client.socket.stream()).shutdown(std::net::Shutdown::Write);
    poll_fn(|cx| {
        loop {
            let unread = client.socket.unread().len();
            client.socket.consume(unread);
            match client.socket.poll_fill(cx, &thread.buffers, false) {
                Poll::Ready(Ok(count)) if count > 0 && (count as u64) < left => {
                    left -= count as u64
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return alarm.poll(|| thread.now(), cx),
            }
        }
    })
    .await;
    alarm.clear();
}
