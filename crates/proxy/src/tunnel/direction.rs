//! One direction of a WebSocket connection: read, understood as far as needed, written.

use std::task::{Context, Poll};

use sluicegate_codec::websocket::{
    CloseCode, Mask, Piece, Scanner, Sender, Violation, control_payload, write_close, write_ping,
};

use crate::{
    buffers::{Buffers, LARGE},
    socket::Socket,
};

/// What the gateway's own pings say, so that their pongs are known and go no further.
const OURS: &[u8] = b"sluicegate";

/// One direction.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about another party: sender, receiver, gateway"
)]
pub(super) struct Direction {
    scanner: Scanner,
    /// What is to be written to the receiver.
    out: Vec<u8>,
    written: usize,
    /// The sender will send no more.
    pub(super) ended: bool,
    /// It broke a rule: nothing of it is looked at any more.
    is_deaf: bool,
    /// The receiver takes no more.
    pub(super) is_dead: bool,
    /// The receiver has had a close frame of the gateway's own: what the sender still says is not passed on.
    pub(super) told: bool,
    masks: bool,
    /// Bytes of frames that were passed on.
    pub(super) passed: u64,
    /// Something came from the sender since this was last cleared.
    pub(super) heard: bool,
    /// A ping of ours is on its way back as a pong.
    awaits_pong: bool,
}

impl Direction {
    /// `first` goes out before anything else.
    pub(super) fn new(sender: Sender, max_frame: u64, compresses: bool, first: Vec<u8>) -> Self {
        Self {
            scanner: Scanner::new(sender, max_frame, compresses),
            out: first,
            written: 0,
            ended: false,
            is_deaf: false,
            is_dead: false,
            told: false,
            masks: sender == Sender::Client,
            passed: 0,
            heard: false,
            awaits_pong: false,
        }
    }

    /// A close frame of the sender has passed.
    pub(super) fn is_closed(&self) -> bool {
        self.scanner.is_closed()
    }

    /// Nothing waits to be written.
    pub(super) fn is_flushed(&self) -> bool {
        self.is_dead || self.written == self.out.len()
    }

    /// Puts a close frame of the gateway's own in, as soon as that is possible: between two frames.
    /// True when it has just been done.
    pub(super) fn tell(&mut self, code: CloseCode, reason: &str) -> bool {
        let can = !self.told && !self.is_closed() && self.scanner.is_at_boundary();
        if can {
            self.told = true;
            write_close(code, reason, self.mask(), &mut self.out);
        }
        can
    }

    /// Asks the receiver whether it is still there; its pong comes in the direction `back`.
    pub(super) fn ping(&mut self, back: &mut Self) {
        if !self.told && !self.is_closed() && self.scanner.is_at_boundary() {
            write_ping(OURS, self.mask(), &mut self.out);
            back.awaits_pong = true;
        }
    }

    fn mask(&self) -> Mask {
        self.masks.then(|| fastrand::u32(..).to_be_bytes())
    }

    /// Moves what can be moved; gives back what the sender did wrong.
    pub(super) fn pump(
        &mut self,
        cx: &mut Context<'_>,
        (source, target): (&mut Socket, &mut Socket),
        buffers: &Buffers,
        mut pace: impl FnMut() -> bool,
    ) -> Option<Violation> {
        loop {
            while let Some(rest) = self.out.get(self.written..).filter(|rest| !rest.is_empty())
                && !self.is_dead
            {
                match target.poll_write(cx, rest) {
                    Poll::Ready(Ok(count)) => self.written += count,
                    Poll::Ready(Err(_)) => self.is_dead = true,
                    Poll::Pending => return None,
                }
            }
            self.out.clear();
            self.written = 0;
            if self.is_deaf {
                return None;
            }
            if let Err(violation) = self.take(source, buffers, &mut pace) {
                self.is_deaf = true;
                self.ended = true;
                return Some(violation);
            }
            if !self.out.is_empty() {
                continue;
            }
            if self.ended {
                return None;
            }
            match source.poll_fill(cx, buffers, true) {
                Poll::Ready(Ok(count)) if count > 0 => self.heard = true,
                Poll::Ready(_) => self.ended = true,
                Poll::Pending => {
                    // A silent connection holds no buffer.
                    source.rest(buffers);
                    buffers.give(std::mem::take(&mut self.out));
                    return None;
                }
            }
        }
    }

    /// Takes in what is here of the sender's frames, as far as there is room.
    fn take(
        &mut self,
        source: &mut Socket,
        buffers: &Buffers,
        pace: &mut impl FnMut() -> bool,
    ) -> Result<(), Violation> {
        if self.out.capacity() == 0 && !source.unread().is_empty() {
            self.out = buffers.large();
        }
        while self.out.len() < LARGE {
            let unread = source.unread();
            let piece = self.scanner.next(unread)?;
            let (size, passes) = match piece {
                Piece::Wait => return Ok(()),
                Piece::Data { size, ends_message } => {
                    if ends_message && !self.told && !pace() {
                        return Err(Violation {
                            code: CloseCode::POLICY,
                            reason: "too many messages",
                        });
                    }
                    (size, true)
                }
                Piece::Pong { size } if self.awaits_pong => {
                    let frame = unread.get(..size).unwrap_or_default();
                    let is_ours = control_payload(frame) == OURS;
                    self.awaits_pong = !is_ours;
                    (size, !is_ours)
                }
                Piece::Ping { size } | Piece::Pong { size } | Piece::Close { size, .. } => {
                    (size, true)
                }
            };
            if passes && !self.told && !self.is_dead {
                self.out
                    .extend_from_slice(unread.get(..size).unwrap_or_default());
                self.passed += size as u64;
            }
            source.consume(size);
        }
        Ok(())
    }
}
