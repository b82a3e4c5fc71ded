//! Sending a request to an endpoint until its head of an answer is here, and when to send it again.

use std::{borrow::Cow, future::poll_fn, io, net::SocketAddr, rc::Rc, task::Poll, time::Duration};

use sluicegate_core::{Body, Reject, Response, codes};
use sluicegate_http1::{
    BodyDecoder, Framing, Malformed, ResponseHead, keep_alive_timeout, response_framing,
    response_keep_alive, strip_hop_by_hop,
};
use sluicegate_record::AttemptKind;

use crate::{
    client::BodyEnd,
    http2::request_for,
    journey::{Flight, Journey},
    snapshot::{HostRule, document::Protocol},
    tunnel::Handshake,
    turn::end_of_turn,
    upstream::{
        acquire::acquire,
        heads::poll_final_head,
        pool::{Connection, Pool, Wanted},
        upload::Upload,
        watch::{End, Watch},
    },
    view::RouteView,
};

/// How long an end of stream waits for the reset that proves that our bytes came too late.
const PROOF_WITHIN: Duration = Duration::from_millis(20);

/// The attempts of one exchange at its upstream.
pub(crate) struct Attempts {
    route: Rc<RouteView>,
    pool: Rc<Pool>,
    endpoint: SocketAddr,
    protocol: Protocol,
    upload: Option<Upload>,
    /// The client asks for WebSocket, and the route has it.
    handshake: Option<Handshake>,
    /// It has been sent again once; there is no second time.
    resent: bool,
    /// Endpoints that did not accept a connection.
    unreached: Vec<SocketAddr>,
}

/// How many endpoints that do not accept a connection a request meets before it is given up.
const MOST_UNREACHED: usize = 3;

/// Why an attempt gave no answer.
pub(crate) enum Failure {
    /// Nothing more can be done.
    Final(Reject),
    /// The connection was lost before the answer, in a way that proves or makes it harmless to send again.
    Lost(Reject),
    /// The endpoint did not accept a connection: nothing was sent, another endpoint may.
    Unreached(Reject),
}

impl Attempts {
    /// Picks an endpoint and puts the request into its final form.
    ///
    /// # Errors
    /// There is no endpoint, or the client's body breaks a rule.
    pub(crate) fn new(journey: &mut Journey<'_>, route: Rc<RouteView>) -> Result<Self, Reject> {
        let pool = journey.pool(&route)?;
        let endpoint = pool.pick()?;
        let protocol = pool.shared.settings().protocol;
        let framing = journey.request_framing();
        if journey.passage.body.is_some() {
            // The body is here: there is nothing the upstream could say `100 Continue` to.
            journey.passage.exchange.request.fields.remove("Expect");
        }
        let exchange = &mut *journey.passage.exchange;
        let fields = &mut exchange.request.fields;
        let host: Option<Cow<'_, str>> = match (&exchange.upstream_host, &route.route.host) {
            (Some(host), _) | (None, HostRule::Fixed(host)) => Some(Cow::Borrowed(host)),
            (None, HostRule::Endpoint) => Some(pool.name_of(endpoint).into()),
            // An HTTP/1.0 request may come without; what goes on is HTTP/1.1.
            (None, HostRule::Keep) if !fields.contains("Host") => {
                Some(pool.name_of(endpoint).into())
            }
            (None, HostRule::Keep) => None,
        };
        if let Some(host) = host {
            fields.set("Host", host.as_bytes())?;
        }
        let handshake = if journey.client.asks_for_websocket && framing == Framing::Empty {
            Handshake::begin(&mut journey.passage.exchange.request, &route)?
        } else {
            None
        };
        let upload = Upload::begin(
            &journey.passage.exchange.request,
            (framing, protocol),
            journey.passage.body.as_deref(),
            journey.client,
            &journey.thread.buffers,
        )?;
        Ok(Self {
            route,
            pool,
            endpoint,
            protocol,
            upload: Some(upload),
            handshake,
            resent: false,
            unreached: Vec::new(),
        })
    }

    /// Sends the request to its endpoint and waits for the head of its answer.
    ///
    /// # Errors
    /// [`Failure`]; what it wrote can be sent again only when it is `Lost`.
    pub(crate) async fn send(&mut self, journey: &mut Journey<'_>) -> Result<Response, Failure> {
        let thread = journey.thread;
        let endpoint = self.endpoint;
        end_of_turn().await;
        let wanted = Wanted {
            fresh: self.resent,
            connect: self.route.route.timeouts.connect,
            protocol: self.protocol,
        };
        let mut connection = acquire(&self.pool, journey, endpoint, wanted)
            .await
            .map_err(|reject| {
                let code = reject.code;
                if *code == codes::UPSTREAM_UNREACHABLE || *code == codes::UPSTREAM_CONNECT_TIMEOUT
                {
                    Failure::Unreached(reject)
                } else {
                    Failure::Final(reject)
                }
            })?;
        let attempt = &mut journey.passage.exchange.attempt;
        attempt.count += 1;
        attempt.endpoint = Some(endpoint);
        attempt.reused = connection.reused;
        journey.passage.exchange.times.sent = thread.now();
        let mut counted = Counted::begin(&self.pool, thread.index, &connection, self.resent);
        let Some(mut upload) = self.upload.take() else {
            return Err(Failure::Final(
                Reject::new(&codes::INTERNAL).because("an upload was used twice"),
            ));
        };

        if let Err(reject) = open(journey, &mut connection, &mut upload) {
            self.upload = Some(upload);
            return Err(reject);
        }
        let mut head = thread.heads.response();
        let ended = self
            .exchange_heads(journey, &mut connection, &mut upload, &mut head)
            .await;
        match ended {
            Ok(()) => {}
            Err(end) => {
                let failure = self.judge(end, journey, &connection, &upload).await;
                self.upload = Some(upload);
                return Err(failure);
            }
        }

        let method = journey.passage.exchange.request.method();
        let mut framing = response_framing(&head, method)
            .map_err(|malformed| Failure::Final(ambiguous(endpoint, malformed)))?;
        if framing == Framing::UntilClose
            && connection
                .socket
                .http2()
                .is_some_and(|stream| stream.is_received())
        {
            framing = Framing::Empty;
        }
        let keeps = connection.socket.is_http2()
            || (response_keep_alive(&head) && framing != Framing::UntilClose);
        if let Some(announced) = keep_alive_timeout(&head) {
            connection.is_kept_for(announced);
        }
        let tunnel = self
            .handshake
            .take_if(|_| head.status() == 101)
            .map(|handshake| handshake.complete(&head));
        strip_hop_by_hop(&mut head.fields);
        let times = &mut journey.passage.exchange.times;
        times.answered = thread.now();
        counted.answered = Some(times.answered.saturating_sub(times.sent));
        journey.flight = Some(Flight {
            connection,
            pool: self.pool.clone(),
            upload,
            body: BodyDecoder::new(framing),
            framing,
            keeps: keeps && tunnel.is_none(),
            tunnel,
            _counted: counted,
        });
        Ok(Response {
            head,
            body: Body::Upstream,
        })
    }

    /// Decides whether a failure is followed by one more attempt.
    ///
    /// # Errors
    /// The reject to answer with.
    pub(crate) fn again_or_give_up(&mut self, failure: Failure) -> Result<(), Reject> {
        match failure {
            Failure::Lost(_) if !self.resent => {
                self.resent = true;
                if let Some(upload) = &mut self.upload {
                    upload.rewind();
                }
                Ok(())
            }
            Failure::Unreached(reject) => {
                self.unreached.push(self.endpoint);
                self.endpoint = self.another_endpoint().ok_or(reject)?;
                Ok(())
            }
            Failure::Lost(reject) | Failure::Final(reject) => Err(reject),
        }
    }

    /// An endpoint that has not yet refused this request. With `host: endpoint` the request is
    /// written for one name, so only other addresses of that name will do.
    fn another_endpoint(&self) -> Option<SocketAddr> {
        if self.unreached.len() >= MOST_UNREACHED {
            return None;
        }
        let one_name = self.route.route.host == HostRule::Endpoint;
        // Whose turn it is may have refused already: as many turns as there are endpoints reach them all.
        (0..=self.pool.endpoints())
            .filter_map(|_| self.pool.pick().ok())
            .filter(|endpoint| !self.unreached.contains(endpoint))
            .find(|endpoint| {
                !one_name || self.pool.name_of(*endpoint) == self.pool.name_of(self.endpoint)
            })
    }

    /// Writes the request and reads the head of the answer, both at once.
    async fn exchange_heads(
        &self,
        journey: &mut Journey<'_>,
        connection: &mut Connection,
        upload: &mut Upload,
        head: &mut ResponseHead,
    ) -> Result<(), End> {
        let Journey {
            thread,
            client,
            alarm,
            total,
            ..
        } = journey;
        let mut watch = Watch::begin(
            (thread, alarm),
            *total,
            self.route.route.timeouts,
            client.awaits_continue,
        );
        poll_fn(|cx| {
            watch.upload(cx, client, connection, upload)?;
            match poll_final_head(cx, thread, client, connection, (head, &self.handshake)) {
                Poll::Ready(result) => return Poll::Ready(result),
                Poll::Pending => {}
            }
            if upload.is_done() && client.poll_gone(cx, &thread.buffers).is_ready() {
                return Poll::Ready(Err(End::Client(BodyEnd::Gone)));
            }
            watch.poll(cx, client, upload)
        })
        .await
    }

    /// Turns the end of an attempt into a failure: may this request be sent once more?
    async fn judge(
        &self,
        end: End,
        journey: &Journey<'_>,
        connection: &Connection,
        upload: &Upload,
    ) -> Failure {
        let endpoint = connection.endpoint;
        match end {
            End::Client(BodyEnd::Gone) => Failure::Final(Reject::new(&codes::CLIENT_GONE)),
            End::Client(BodyEnd::Reject(reject)) => Failure::Final(reject),
            End::Timeout(code) => {
                Failure::Final(Reject::new(code).because(format!("endpoint {endpoint}")))
            }
            End::Malformed(malformed) => Failure::Final(ambiguous(endpoint, malformed)),
            End::Answering(cause) => Failure::Final(
                Reject::new(&codes::UPSTREAM_BROKEN)
                    .because(format!("endpoint {endpoint}: {cause}")),
            ),
            End::Refused(cause) => {
                let reject = Reject::new(&codes::UPSTREAM_BROKEN)
                    .because(format!("endpoint {endpoint}: {cause}"));
                if upload.is_replayable() {
                    Failure::Lost(reject)
                } else {
                    Failure::Final(reject)
                }
            }
            End::Lost(cause) => {
                let reject = Reject::new(&codes::UPSTREAM_BROKEN).because(format!(
                    "endpoint {endpoint} ({}): {}",
                    if connection.reused {
                        "reused connection"
                    } else {
                        "new connection"
                    },
                    cause
                        .as_ref()
                        .map_or_else(|| "end of stream".to_owned(), ToString::to_string),
                ));
                let idempotent = is_idempotent(journey.passage.exchange.request.method());
                let harmless = upload.is_unwritten()
                    || (connection.reused && idempotent && upload.is_replayable())
                    || (connection.reused
                        && upload.went_whole()
                        && cause.is_none()
                        && came_too_late(connection).await);
                if harmless {
                    Failure::Lost(reject)
                } else {
                    Failure::Final(reject)
                }
            }
        }
    }
}

/// Opens the stream of an HTTP/2 connection with the request's head; in HTTP/1.1 it is the first of the upload's bytes.
fn open(
    journey: &Journey<'_>,
    connection: &mut Connection,
    upload: &mut Upload,
) -> Result<(), Failure> {
    let Some(stream) = connection.socket.http2() else {
        return Ok(());
    };
    let framing = journey.request_framing();
    let request = &journey.passage.exchange.request;
    let head = request_for(request, framing, "http").map_err(Failure::Final)?;
    let left = match framing {
        Framing::Empty => Some(0),
        Framing::Length(length) => Some(length),
        Framing::Chunked | Framing::UntilClose => None,
    };
    stream.begin_request(head, left).map_err(|error| {
        // Nothing has gone out: the connection has just ended, or takes no more streams.
        Failure::Lost(
            Reject::new(&codes::UPSTREAM_BROKEN)
                .because(format!("endpoint {}: {error}", connection.endpoint)),
        )
    })?;
    upload.head_is_sent();
    Ok(())
}

/// An attempt in flight, for the metrics of the upstream.
pub(crate) struct Counted {
    pool: Rc<Pool>,
    thread: usize,
    /// How long the head of the answer took, once it is there.
    answered: Option<Duration>,
}

impl Counted {
    fn begin(pool: &Rc<Pool>, thread: usize, connection: &Connection, again: bool) -> Self {
        let kind = AttemptKind {
            retry: again,
            reused: connection.reused,
        };
        pool.shared.series.begun(thread, kind);
        Self {
            pool: pool.clone(),
            thread,
            answered: None,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(took) = self.answered {
            self.pool.shared.series.answered(self.thread, took);
        }
        self.pool.shared.series.ended(self.thread);
    }
}

/// Whether the peer had closed before our bytes reached it: its FIN came first, and its kernel
/// answered our bytes with a reset, which a socket in CLOSE-WAIT reports as `EPIPE`. A bare reset
/// proves nothing: a peer may have read everything before it.
async fn came_too_late(connection: &Connection) -> bool {
    let Some(stream) = connection.socket.tcp() else {
        return false;
    };
    let tries = 10_u32;
    for _ in 0..tries {
        match stream.take_error() {
            Ok(Some(error)) => return error.kind() == io::ErrorKind::BrokenPipe,
            Ok(None) => tokio::time::sleep(PROOF_WITHIN / tries).await,
            Err(_) => return false,
        }
    }
    false
}

/// RFC 9110 §9.2.2.
fn is_idempotent(method: &str) -> bool {
    matches!(
        method,
        "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE"
    )
}

fn ambiguous(endpoint: SocketAddr, malformed: Malformed) -> Reject {
    Reject::new(&codes::UPSTREAM_MALFORMED)
        .because(format!("endpoint {endpoint}: {}", malformed.reason()))
}
