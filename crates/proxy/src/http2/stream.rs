//! One stream of an HTTP/2 connection, for either role: its body's bytes as a socket brings and takes them.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::{
    Reason, RecvStream, SendStream,
    client::{ResponseFuture, SendRequest},
    server::SendResponse,
};
use http::{HeaderMap, Request, Response, response::Parts};

use crate::buffers::LARGE;

/// One stream. Dropped before both sides have ended it, it is reset.
pub(crate) struct Stream {
    sending: Sending,
    /// Body bytes announced and still to be sent; the last of them ends the stream.
    left: Option<u64>,
    /// The last frame of this side has been sent.
    has_ended: bool,
    receiving: Receiving,
    /// What is left of a DATA frame.
    piece: Bytes,
    trailers: Option<HeaderMap>,
}

enum Sending {
    /// The head of the answer is still to be sent.
    Answer(SendResponse<Bytes>),
    /// The head of the request is.
    Request(SendRequest<Bytes>),
    Body(SendStream<Bytes>),
}

enum Receiving {
    /// The head of the answer is awaited.
    Head(ResponseFuture),
    Body(RecvStream),
    /// Nothing more comes.
    End,
}

/// A head from an upstream.
pub(crate) enum Head {
    /// An interim answer.
    Interim(Response<()>),
    /// The answer.
    Final(Parts),
}

impl Stream {
    /// The server's side of a stream that a client has opened.
    pub(super) fn answering(body: RecvStream, answer: SendResponse<Bytes>) -> Self {
        Self::new(Sending::Answer(answer), Receiving::Body(body))
    }

    /// The client's side of a stream that is opened by [`Self::begin_request`].
    pub(crate) fn requesting(connection: SendRequest<Bytes>) -> Self {
        Self::new(Sending::Request(connection), Receiving::End)
    }

    fn new(sending: Sending, receiving: Receiving) -> Self {
        Self {
            sending,
            left: None,
            has_ended: false,
            receiving,
            piece: Bytes::new(),
            trailers: None,
        }
    }

    /// Sends the head of the answer. `left` is the length of its body, when that is known; 0 ends the stream.
    pub(crate) fn begin_answer(
        &mut self,
        head: Response<()>,
        left: Option<u64>,
    ) -> Result<(), h2::Error> {
        if let Sending::Answer(answer) = &mut self.sending {
            self.has_ended = left == Some(0);
            self.left = left;
            self.sending = Sending::Body(answer.send_response(head, self.has_ended)?);
        }
        Ok(())
    }

    /// Sends an interim answer.
    pub(crate) fn inform(&mut self, head: Response<()>) {
        if let Sending::Answer(answer) = &mut self.sending {
            // It is optional: one that cannot be sent is seen by whatever comes next.
            let _ = answer.send_informational(head);
        }
    }

    /// Opens the stream with the head of a request.
    pub(crate) fn begin_request(
        &mut self,
        head: Request<()>,
        left: Option<u64>,
    ) -> Result<(), h2::Error> {
        if let Sending::Request(connection) = &mut self.sending {
            self.has_ended = left == Some(0);
            self.left = left;
            let (answer, body) = connection.send_request(head, self.has_ended)?;
            self.sending = Sending::Body(body);
            self.receiving = Receiving::Head(answer);
        }
        Ok(())
    }

    /// The next head of the answer.
    pub(crate) fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, h2::Error>> {
        let Receiving::Head(answer) = &mut self.receiving else {
            return Poll::Pending;
        };
        if let Poll::Ready(Some(interim)) = answer.poll_informational(cx) {
            return Poll::Ready(interim.map(Head::Interim));
        }
        let (parts, body) = ready!(Pin::new(answer).poll(cx))?.into_parts();
        self.receiving = Receiving::Body(body);
        Poll::Ready(Ok(Head::Final(parts)))
    }

    /// Whether the head of the answer was all of it.
    pub(crate) fn is_received(&self) -> bool {
        match &self.receiving {
            Receiving::Body(body) => body.is_end_stream(),
            Receiving::End => true,
            Receiving::Head(_) => false,
        }
    }

    /// Ready when there are bytes to take, or nothing more comes.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.piece.is_empty() {
            let Receiving::Body(body) = &mut self.receiving else {
                break;
            };
            match ready!(body.poll_data(cx)) {
                Some(Ok(piece)) => self.piece = piece,
                Some(Err(error)) => return Poll::Ready(Err(into_io(error))),
                None => {
                    self.trailers = ready!(body.poll_trailers(cx)).map_err(into_io)?;
                    self.receiving = Receiving::End;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Ready when nothing more comes. What comes meanwhile is dropped, and takes from the sender's window.
    pub(crate) fn poll_received(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.piece.clear();
            match ready!(self.poll_piece(cx)) {
                Ok(()) if !self.piece.is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
    }

    /// Appends what is here to `into` as far as it has room, and lets the sender send as much again.
    pub(crate) fn take_piece(&mut self, into: &mut Vec<u8>) -> usize {
        let room = into.capacity() - into.len();
        let piece = self.piece.split_to(room.min(self.piece.len()));
        into.extend_from_slice(&piece);
        if let Receiving::Body(body) = &mut self.receiving {
            // It fails only for more than was received.
            let _ = body.flow_control().release_capacity(piece.len());
        }
        piece.len()
    }

    /// The fields after the body, once it has been read to its end.
    pub(crate) fn trailers(&self) -> Option<&HeaderMap> {
        self.trailers.as_ref()
    }

    /// Sends as many body bytes as the receiver's window allows.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Sending::Body(body) = &mut self.sending else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        if bytes.is_empty() || self.has_ended {
            return Poll::Ready(Ok(bytes.len()));
        }
        let wanted = bytes.len().min(LARGE);
        body.reserve_capacity(wanted);
        while body.capacity() == 0 {
            match ready!(body.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(into_io(error))),
                None => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            }
        }
        let count = wanted.min(body.capacity());
        self.left = self.left.map(|left| left.saturating_sub(count as u64));
        self.has_ended = self.left == Some(0);
        let piece = Bytes::copy_from_slice(bytes.get(..count).unwrap_or_default());
        match body.send_data(piece, self.has_ended) {
            Ok(()) => Poll::Ready(Ok(count)),
            Err(error) => Poll::Ready(Err(into_io(error))),
        }
    }

    /// Ends this side of the stream after what has been written.
    pub(crate) fn finish(&mut self, trailers: Option<HeaderMap>) -> io::Result<()> {
        let Sending::Body(body) = &mut self.sending else {
            return Ok(());
        };
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        match trailers {
            Some(trailers) => body.send_trailers(trailers),
            None => body.send_data(Bytes::new(), true),
        }
        .map_err(into_io)
    }

    /// Gives the stream up.
    pub(crate) fn reset(&mut self, reason: Reason) {
        match &mut self.sending {
            Sending::Answer(answer) => answer.send_reset(reason),
            Sending::Body(body) => body.send_reset(reason),
            Sending::Request(_) => {}
        }
    }

    /// Ready when the peer has given the stream up, or its connection is gone.
    pub(crate) fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.sending {
            Sending::Answer(answer) => answer.poll_reset(cx).map(|_| ()),
            Sending::Body(body) => body.poll_reset(cx).map(|_| ()),
            Sending::Request(_) => Poll::Pending,
        }
    }
}

/// The `h2` crate's error as a socket's.
fn into_io(error: h2::Error) -> io::Error {
    if error.is_io() {
        error
            .into_io()
            .unwrap_or_else(|| io::ErrorKind::ConnectionAborted.into())
    } else {
        io::Error::new(io::ErrorKind::ConnectionAborted, error)
    }
}
