//! The request on its way to the upstream: the head and the body, as far as it is here.

use std::task::{Context, Poll, ready};

use sluicegate_core::Reject;
use sluicegate_http1::{Framing, RequestHead, write_chunk, write_last_chunk, write_request};

use crate::{
    buffers::{Buffers, SMALL},
    client::{BodyEnd, Client},
    snapshot::document::Protocol,
    socket::Socket,
};

/// What is to be written to the upstream, and whether all of it can be written once more.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the bytes, and they vary independently"
)]
pub(crate) struct Upload {
    /// Bytes for the upstream. As long as [`Self::is_replayable`], all of them from the first on: a small
    /// body is kept until the answer.
    out: Vec<u8>,
    written: usize,
    framing: Framing,
    protocol: Protocol,
    /// The last byte of the body is in `out`.
    is_complete: bool,
    is_replayable: bool,
    /// How many writes this attempt took; one segment went out whole when it is 1.
    writes: u32,
    /// The upstream takes no more; what it answers may still come.
    pub(crate) is_dead: bool,
    /// Whom it waits for: the client's bytes, or the upstream's window.
    pub(crate) waits_for_client: bool,
    /// Something moved since this was last cleared.
    pub(crate) moved: bool,
}

/// Why it cannot go on.
pub(crate) enum UploadEnd {
    /// The client left, or broke a rule.
    Client(BodyEnd),
    /// The upstream does not take it; why, is seen by reading.
    Upstream,
}

impl Upload {
    /// Writes the head, and as much of the body as is here, into one segment.
    ///
    /// # Errors
    /// The client's body breaks a rule.
    pub(crate) fn begin(
        head: &RequestHead,
        (framing, protocol): (Framing, Protocol),
        buffered: Option<&[u8]>,
        client: &mut Client,
        buffers: &Buffers,
    ) -> Result<Self, Reject> {
        let mut out = buffers.small();
        if protocol == Protocol::Http1 {
            write_request(head, framing, &mut out);
        }
        let mut upload = Self {
            out,
            written: 0,
            framing,
            protocol,
            is_complete: false,
            is_replayable: true,
            writes: 0,
            is_dead: false,
            waits_for_client: false,
            moved: false,
        };
        if let Some(body) = buffered {
            upload.out.extend_from_slice(body);
            upload.is_complete = true;
        } else {
            let put = upload.put();
            client.take_body(&mut upload.out, put)?;
            upload.complete_if_done(client);
        }
        Ok(upload)
    }

    /// Starts over on another connection.
    pub(crate) fn rewind(&mut self) {
        self.written = 0;
        self.writes = 0;
        self.is_dead = false;
    }

    /// Everything has been handed to the kernel.
    pub(crate) fn is_done(&self) -> bool {
        self.is_complete && self.written == self.out.len()
    }

    /// It still holds all it has sent.
    pub(crate) fn is_replayable(&self) -> bool {
        self.is_replayable
    }

    /// The head has gone, in a frame of its own.
    pub(crate) fn head_is_sent(&mut self) {
        self.writes += 1;
    }

    /// Not one byte has been handed to the kernel in this attempt.
    pub(crate) fn is_unwritten(&self) -> bool {
        self.writes == 0
    }

    /// All of it went out in one segment.
    pub(crate) fn went_whole(&self) -> bool {
        self.is_done() && self.writes == 1 && self.is_replayable
    }

    /// Ready when the last byte has been handed to the kernel.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        upstream: &mut Socket,
        buffers: &Buffers,
    ) -> Poll<Result<(), UploadEnd>> {
        loop {
            while let Some(rest) = self.out.get(self.written..).filter(|rest| !rest.is_empty()) {
                self.waits_for_client = false;
                match ready!(upstream.poll_write(cx, rest)) {
                    Ok(count) => {
                        self.written += count;
                        self.writes += 1;
                        self.moved = true;
                    }
                    Err(_) => return Poll::Ready(Err(UploadEnd::Upstream)),
                }
            }
            if self.is_complete {
                let ended = upstream
                    .http2()
                    .map_or(Ok(()), |stream| stream.finish(None));
                return Poll::Ready(ended.map_err(|_| UploadEnd::Upstream));
            }
            if !self.is_replayable {
                self.out.clear();
                self.written = 0;
            }
            self.waits_for_client = true;
            let put = self.put();
            match ready!(client.poll_body(cx, buffers, &mut self.out, put)) {
                Ok(()) => self.is_replayable &= self.out.len() <= SMALL,
                Err(end) => return Poll::Ready(Err(UploadEnd::Client(end))),
            }
            self.moved = true;
            self.complete_if_done(client);
        }
    }

    /// Gives the buffer back.
    pub(crate) fn end(self, buffers: &Buffers) {
        buffers.give(self.out);
    }

    fn put(&self) -> fn(&[u8], &mut Vec<u8>) {
        match self.framing {
            Framing::Chunked if self.protocol == Protocol::Http1 => write_chunk,
            Framing::Chunked | Framing::Empty | Framing::Length(_) | Framing::UntilClose => {
                |data, out| out.extend_from_slice(data)
            }
        }
    }

    fn complete_if_done(&mut self, client: &Client) {
        if client.body_is_done() && !self.is_complete {
            if self.framing == Framing::Chunked && self.protocol == Protocol::Http1 {
                // The client's trailers stay here: nothing behind the gateway may take an identity from them (BD-04).
                write_last_chunk(None, &mut self.out);
            }
            self.is_complete = true;
        }
    }
}
