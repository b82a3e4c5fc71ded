//! The deadlines of one attempt, and how it can end without a head.

use std::{
    io,
    task::{Context, Poll},
    time::Duration,
};

use sluicegate_core::{Code, Reject, codes};
use sluicegate_http1::Malformed;

use crate::{
    alarm::Alarm,
    client::{BodyEnd, Client},
    snapshot::Timeouts,
    thread::Thread,
    upstream::{
        pool::Connection,
        upload::{Upload, UploadEnd},
    },
};

/// How long a client that asked for `100 Continue` waits for a silent upstream before the gateway says it (BD-03).
const CONTINUE_AFTER: Duration = Duration::from_secs(1);

/// How an attempt ended without a head.
pub(super) enum End {
    Client(BodyEnd),
    Timeout(&'static Code),
    Malformed(Malformed),
    /// The connection broke inside the head of the answer.
    Answering(String),
    /// The upstream says that it has done nothing with the request.
    Refused(String),
    /// The connection ended before the first byte of the answer; no error means end of stream.
    Lost(Option<io::Error>),
}

/// Which deadline runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Upload,
    Response,
}

/// The deadlines of an attempt.
pub(super) struct Watch<'a> {
    thread: &'a Thread,
    alarm: &'a Alarm,
    total: Option<Duration>,
    timeouts: Timeouts,
    continue_at: Option<Duration>,
    stage: Stage,
    armed: bool,
}

impl<'a> Watch<'a> {
    /// The deadlines of an attempt that begins now.
    pub(super) fn begin(
        (thread, alarm): (&'a Thread, &'a Alarm),
        total: Option<Duration>,
        timeouts: Timeouts,
        awaits_continue: bool,
    ) -> Self {
        Self {
            thread,
            alarm,
            total,
            timeouts,
            continue_at: awaits_continue.then(|| thread.now() + CONTINUE_AFTER),
            stage: Stage::Upload,
            armed: false,
        }
    }

    /// Moves the request on.
    pub(super) fn upload(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        connection: &mut Connection,
        upload: &mut Upload,
    ) -> Result<(), End> {
        if upload.is_dead || self.stage == Stage::Response {
            return Ok(());
        }
        match upload.poll(cx, client, &mut connection.socket, &self.thread.buffers) {
            Poll::Ready(Ok(())) => {
                self.stage = Stage::Response;
                self.armed = false;
            }
            Poll::Ready(Err(UploadEnd::Client(end))) => return Err(End::Client(end)),
            // What it answered before it stopped taking may still be there to read.
            Poll::Ready(Err(UploadEnd::Upstream)) => upload.is_dead = true,
            Poll::Pending => {}
        }
        Ok(())
    }

    /// Arms the deadline of the stage, and rings when it has passed.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Client,
        upload: &mut Upload,
    ) -> Poll<Result<(), End>> {
        if !self.armed || upload.moved {
            self.arm(client, upload);
        }
        if self.alarm.poll(|| self.thread.now(), cx).is_pending() {
            return Poll::Pending;
        }
        let now = self.thread.now();
        if self.continue_at.is_some_and(|at| at <= now) && client.awaits_continue {
            client.say_continue();
            let _ = client.poll_flush(cx);
            self.arm(client, upload);
            let _ = self.alarm.poll(|| self.thread.now(), cx);
            return Poll::Pending;
        }
        let code = if self.total.is_some_and(|at| at <= now) {
            &codes::TOTAL_TIMEOUT
        } else if self.stage == Stage::Upload && upload.waits_for_client && !upload.is_dead {
            return Poll::Ready(Err(End::Client(BodyEnd::Reject(
                Reject::new(&codes::BODY_TIMEOUT).closing(),
            ))));
        } else {
            &codes::UPSTREAM_TIMEOUT
        };
        Poll::Ready(Err(End::Timeout(code)))
    }

    fn arm(&mut self, client: &Client, upload: &mut Upload) {
        upload.moved = false;
        self.armed = true;
        let span = match self.stage {
            Stage::Response => self.timeouts.response,
            Stage::Upload if upload.waits_for_client => client.body_timeout,
            Stage::Upload => self.timeouts.idle,
        };
        let mut at = self.thread.deadline(span);
        if client.awaits_continue
            && let Some(continue_at) = self.continue_at
        {
            at = at.min(continue_at);
        }
        self.alarm.set(self.total.map_or(at, |total| total.min(at)));
    }
}
