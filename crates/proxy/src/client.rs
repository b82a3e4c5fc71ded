//! The client's side of an HTTP/1.1 connection or of one HTTP/2 stream: heads and bodies in, answers out.

use std::{
    future::poll_fn,
    io,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use sluicegate_core::{Reject, Wait, codes};
use sluicegate_http1::{
    BodyDecoder, Fields, Framing, HeadLimits, Malformed, Persistence, RequestHead, ResponseHead,
    parse_request, write_response,
};
use sluicegate_record::{Bodies, ConnectionText, Policy};

use crate::{
    buffers::Buffers,
    http2::{Preface, from_fields, look, response_for},
    passage::WholeBody,
    socket::Socket,
    thread::Budget,
};

/// One client connection and the state of its current request.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of the current request, told by its head"
)]
pub(crate) struct Client {
    pub(crate) socket: Socket,
    /// Bytes of the answer that the kernel has not taken yet.
    pub(crate) output: Vec<u8>,
    written: usize,
    body: BodyDecoder,
    /// Body bytes so far, of this request.
    pub(crate) received: u64,
    /// The most it may be.
    pub(crate) body_limit: u64,
    /// Body bytes of the answer so far.
    pub(crate) sent: u64,
    /// What the record wants to know of the bodies.
    pub(crate) bodies: Option<Box<Bodies>>,
    /// The client waits for `100 Continue` before it sends its body.
    pub(crate) awaits_continue: bool,
    /// The client asks to speak WebSocket from the answer on.
    pub(crate) asks_for_websocket: bool,
    /// The connection may serve another request after this one.
    pub(crate) persists: bool,
    /// The client understands chunked coding, and interim answers.
    pub(crate) is_http11: bool,
    /// The client wants trailers.
    pub(crate) accepts_trailers: bool,
    /// The end is to be a reset: nothing else tells this client that something is missing.
    pub(crate) resets: bool,
    /// How long it may take between two pieces of its body.
    pub(crate) body_timeout: Duration,
    /// How long it may not read.
    pub(crate) write_timeout: Duration,
    /// What every record of the connection has in common.
    pub(crate) text: ConnectionText,
    buffers: Rc<Buffers>,
    budget: Arc<Budget>,
    /// Pages of the process's budget held for this request's body.
    pages: u32,
}

/// What ended reading a request head.
pub(crate) enum HeadEnd {
    /// Here it is.
    Complete,
    /// The connection is not HTTP/1.1's but HTTP/2's.
    Http2,
    /// The client closed between requests, by FIN or by RST.
    Closed,
    /// The client closed, or failed, inside a head.
    Broken,
    /// It is not HTTP.
    Malformed(Malformed),
}

/// Why a piece of the request body did not come.
pub(crate) enum BodyEnd {
    /// The client left in the middle.
    Gone,
    /// The client broke a rule.
    Reject(Reject),
}

impl Client {
    pub(crate) fn new(
        socket: Socket,
        text: ConnectionText,
        buffers: Rc<Buffers>,
        budget: Arc<Budget>,
    ) -> Self {
        Self {
            socket,
            output: Vec::new(),
            written: 0,
            body: BodyDecoder::new(Framing::Empty),
            received: 0,
            body_limit: 0,
            sent: 0,
            bodies: None,
            awaits_continue: false,
            asks_for_websocket: false,
            persists: true,
            is_http11: true,
            accepts_trailers: false,
            resets: false,
            body_timeout: Duration::ZERO,
            write_timeout: Duration::ZERO,
            text,
            buffers,
            budget,
            pages: 0,
        }
    }

    /// Reads the next request head into `head`. `begun` is called when its first byte is there.
    pub(crate) fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        (limits, may_be_http2): (&HeadLimits, bool),
        head: &mut RequestHead,
        mut begun: impl FnMut(),
    ) -> Poll<HeadEnd> {
        loop {
            let unread = self.socket.unread();
            let preface = if may_be_http2 {
                look(unread)
            } else {
                Preface::Other
            };
            if preface == Preface::Http2 {
                return Poll::Ready(HeadEnd::Http2);
            }
            if !unread.is_empty() && preface == Preface::Unclear {
                begun();
            } else if !unread.is_empty() {
                match parse_request(unread, limits, head) {
                    Ok(Some(consumed)) => {
                        self.socket.consume(consumed);
                        return Poll::Ready(HeadEnd::Complete);
                    }
                    Ok(None) => begun(),
                    Err(malformed) => return Poll::Ready(HeadEnd::Malformed(malformed)),
                }
            }
            match ready!(self.socket.poll_fill(cx, buffers, false)) {
                Ok(0) | Err(_) if self.socket.unread().is_empty() => {
                    return Poll::Ready(HeadEnd::Closed);
                }
                Ok(0) | Err(_) => return Poll::Ready(HeadEnd::Broken),
                Ok(_) => {}
            }
        }
    }

    /// Begins the body of a request whose head is known.
    pub(crate) fn begin_body(&mut self, framing: Framing, limit: u64) {
        self.body.reset(framing);
        self.received = 0;
        self.sent = 0;
        self.bodies = None;
        self.body_limit = limit;
    }

    /// The next bytes of the answer's body, for the record.
    pub(crate) fn see_answer(&mut self, data: &[u8]) {
        if let Some(Bodies {
            response: Some(tap),
            ..
        }) = self.bodies.as_deref_mut()
        {
            tap.see(data);
        }
    }

    /// Whether the whole request body has been read.
    pub(crate) fn body_is_done(&self) -> bool {
        self.body.is_done()
    }

    /// Appends the body bytes that are here to `out` by way of `put`; true when something happened.
    ///
    /// # Errors
    /// A body longer than its limit, or one that breaks its framing.
    pub(crate) fn take_body(
        &mut self,
        out: &mut Vec<u8>,
        put: fn(&[u8], &mut Vec<u8>),
    ) -> Result<bool, Reject> {
        let mut progressed = false;
        while !self.body.is_done()
            && !self.socket.unread().is_empty()
            && out.len() < crate::buffers::LARGE
        {
            let unread = self.socket.unread();
            let decoded = self.body.decode(unread).map_err(|malformed| {
                Reject::new(&codes::BAD_REQUEST)
                    .because(malformed.reason())
                    .closing()
            })?;
            let data = unread.get(decoded.data).unwrap_or_default();
            self.received += data.len() as u64;
            if self.received > self.body_limit {
                return Err(Reject::new(&codes::BODY_TOO_LARGE).closing());
            }
            if !data.is_empty() {
                if let Some(Bodies {
                    request: Some(tap), ..
                }) = self.bodies.as_deref_mut()
                {
                    tap.see(data);
                }
                put(data, out);
            }
            if decoded.consumed == 0 && !decoded.done {
                break;
            }
            progressed = true;
            self.socket.consume(decoded.consumed);
        }
        Ok(progressed)
    }

    /// Reads more of the request body into `out`; ready when something was added or the body is done.
    pub(crate) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        out: &mut Vec<u8>,
        put: fn(&[u8], &mut Vec<u8>),
    ) -> Poll<Result<(), BodyEnd>> {
        loop {
            let progressed = self.take_body(out, put).map_err(BodyEnd::Reject)?;
            if self.body.is_done() || (progressed && !out.is_empty()) {
                return Poll::Ready(Ok(()));
            }
            match ready!(self.socket.poll_fill(cx, buffers, self.body_is_long())) {
                // A stream's end is its body's; that it is as long as announced has been seen by then.
                Ok(0) if self.socket.is_http2() && self.body.finish().is_ok() => {}
                Ok(0) | Err(_) => return Poll::Ready(Err(BodyEnd::Gone)),
                Ok(_) => self.awaits_continue = false,
            }
        }
    }

    fn body_is_long(&self) -> bool {
        self.body
            .remaining()
            .is_none_or(|left| left > crate::buffers::SMALL as u64)
    }

    /// Ready when the client has left while it should be waiting. What it sends meanwhile (the next
    /// request) is kept, up to one buffer.
    pub(crate) fn poll_gone(&mut self, cx: &mut Context<'_>, buffers: &Buffers) -> Poll<()> {
        if let Some(stream) = self.socket.http2() {
            return stream.poll_reset(cx);
        }
        loop {
            if self.socket.ended {
                return Poll::Ready(());
            }
            if self.socket.unread().len() >= crate::buffers::SMALL {
                return Poll::Pending;
            }
            match ready!(self.socket.poll_fill(cx, buffers, false)) {
                Ok(0) | Err(_) => return Poll::Ready(()),
                Ok(_) => {}
            }
        }
    }

    /// Hands the waiting output to the kernel.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self
            .output
            .get(self.written..)
            .filter(|rest| !rest.is_empty())
        {
            match ready!(self.socket.poll_write(cx, rest)) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(count) => self.written += count,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.output.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    /// Reads and forgets a piece of the body: how much, or `None` when it cannot go on.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        let before = self.received;
        self.body_limit = u64::MAX;
        let buffers = self.buffers.clone();
        let mut nowhere = Vec::new();
        match ready!(self.poll_body(cx, &buffers, &mut nowhere, |data, out| {
            // `poll_body` wants to see progress; what it sees is thrown away with `nowhere`.
            out.extend_from_slice(data);
        })) {
            Ok(()) => {
                let count = self.received - before;
                self.received = before;
                Poll::Ready(Some(count))
            }
            Err(_) => Poll::Ready(None),
        }
    }

    /// Lets the client send its body.
    pub(crate) fn say_continue(&mut self) {
        self.awaits_continue = false;
        self.inform(&ResponseHead::new(100));
    }

    /// Sends the client an interim answer.
    pub(crate) fn inform(&mut self, head: &ResponseHead) {
        match self.socket.http2() {
            Some(stream) => stream.inform(response_for(head, Framing::Empty)),
            None => write_response(
                head,
                Framing::Empty,
                Persistence::KeepAlive,
                &mut self.output,
            ),
        }
    }

    /// Puts the head of the answer before the client.
    pub(crate) fn begin_answer(&mut self, head: &ResponseHead, framing: Framing) {
        if let Some(stream) = self.socket.http2() {
            let left = match framing {
                Framing::Empty => Some(0),
                Framing::Length(length) => Some(length),
                Framing::Chunked | Framing::UntilClose => None,
            };
            // A stream that has been reset meanwhile is seen by what is written to it next.
            let _ = stream.begin_answer(response_for(head, framing), left);
            return;
        }
        if self.output.capacity() == 0 {
            self.output = self.buffers.small();
        }
        let persistence = match (self.persists, self.is_http11) {
            (true, true) => Persistence::KeepAlive,
            (true, false) => Persistence::KeepAliveHttp10,
            (false, _) => Persistence::Close,
        };
        write_response(head, framing, persistence, &mut self.output);
    }

    /// Ends the answer of an HTTP/2 stream, whose end is not in its bytes.
    pub(crate) fn finish_answer(&mut self, trailers: &Fields) -> io::Result<()> {
        let Some(stream) = self.socket.http2() else {
            return Ok(());
        };
        stream.finish((!trailers.is_empty()).then(|| from_fields(trailers)))
    }

    /// The connection goes on as something else.
    pub(crate) fn into_socket(mut self) -> Socket {
        std::mem::replace(&mut self.socket, Socket::closed())
    }

    /// Decides, before an answer that needs no more of the request, whether the connection can go on after it.
    pub(crate) fn leave_body(&mut self, draining: bool) {
        let little = self.body.remaining().is_some_and(|left| left <= KEEP_BELOW);
        let goes_on = self.body.is_done() || (little && !self.awaits_continue);
        self.persists &= goes_on && !draining;
    }

    /// Gives back the budget of a body that filters have had.
    pub(crate) fn forget_body(&mut self) {
        self.budget.give(std::mem::take(&mut self.pages));
    }

    /// Gives buffers back while nothing is going on.
    pub(crate) fn rest(&mut self) {
        self.socket.rest(&self.buffers);
        if self.output.is_empty() {
            self.buffers.give(std::mem::take(&mut self.output));
        }
    }
}

/// A rest of a body up to this size is read so that the connection can go on.
const KEEP_BELOW: u64 = 64 << 10;

impl Drop for Client {
    fn drop(&mut self) {
        self.forget_body();
        self.rest();
    }
}

/// A client whose body goes to filters: held whole, within the process's budget.
impl WholeBody for Client {
    fn set_limit(&mut self, limit: u64) {
        self.body_limit = limit;
    }

    fn record_by(&mut self, policy: &Policy, head: &RequestHead, read: Option<&[u8]>) {
        self.bodies = policy.bodies(&head.fields);
        if let (
            Some(Bodies {
                request: Some(tap), ..
            }),
            Some(read),
        ) = (self.bodies.as_deref_mut(), read)
        {
            tap.see(read);
        }
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let buffers = self.buffers.clone();
        Self::poll_gone(self, cx, &buffers)
    }

    fn read(&mut self, limit: usize) -> Wait<'_, Result<Vec<u8>, Reject>> {
        Box::pin(async move {
            let cap = (limit as u64).min(self.body_limit);
            if self.body.remaining().is_some_and(|left| left > cap) {
                return Err(Reject::new(&codes::BODY_TOO_LARGE).closing());
            }
            self.body_limit = cap;
            if self.awaits_continue {
                self.say_continue();
            }
            let buffers = self.buffers.clone();
            let mut body = Vec::new();
            let mut piece = Vec::new();
            let within = self.body_timeout;
            while !self.body.is_done() {
                let read = poll_fn(|cx| {
                    let _ = self.poll_flush(cx);
                    self.poll_body(cx, &buffers, &mut piece, |data, out| {
                        out.extend_from_slice(data);
                    })
                });
                match tokio::time::timeout(within, read).await {
                    Ok(Ok(())) => {}
                    Ok(Err(BodyEnd::Gone)) => return Err(Reject::new(&codes::CLIENT_GONE)),
                    Ok(Err(BodyEnd::Reject(reject))) => return Err(reject),
                    Err(_) => return Err(Reject::new(&codes::BODY_TIMEOUT).closing()),
                }
                let bytes = piece.len() as u64;
                if !self.budget.take(bytes) {
                    let reject =
                        Reject::new(&codes::BUFFER_EXHAUSTED).retry_after(Duration::from_secs(1));
                    return Err(reject.closing());
                }
                self.pages += Budget::pages(bytes);
                body.append(&mut piece);
            }
            Ok(body)
        })
    }
}
