//! An exchange on its way: the passage through the chains, the client, and the upstream's side.

use std::{rc::Rc, time::Duration};

use sluicegate_core::{Body, Intent, Outcome, Reject, Response, codes};
use sluicegate_http1::{BodyDecoder, Framing};

use crate::{
    alarm::Alarm,
    client::Client,
    passage::Passage,
    thread::Thread,
    tunnel::Tunnel,
    upstream::{
        attempts::Counted,
        pool::{Connection, Pool},
        upload::Upload,
    },
    view::{RouteView, Terminal},
};

/// Owns everything an exchange holds. Dropping it, at the end or in the middle, ends every filter
/// that was entered and writes the record: exactly once, whatever happened.
pub(crate) struct Journey<'t> {
    pub(crate) thread: &'t Thread,
    pub(crate) client: &'t mut Client,
    pub(crate) alarm: &'t Alarm,
    pub(crate) passage: Passage<'t>,
    /// The upstream's side, from the head of its answer on.
    pub(crate) flight: Option<Flight>,
    /// When the whole exchange must be over, if the route says so.
    pub(crate) total: Option<Duration>,
    /// The status that went out; zero before.
    pub(crate) status: u16,
    pub(crate) outcome: Outcome,
}

/// An answer that the upstream is still sending, the connection it comes on, and the request that
/// may still be going up.
pub(crate) struct Flight {
    pub(crate) connection: Connection,
    pub(crate) pool: Rc<Pool>,
    pub(crate) upload: Upload,
    pub(crate) body: BodyDecoder,
    pub(crate) framing: Framing,
    /// The upstream keeps the connection open after this answer.
    pub(crate) keeps: bool,
    /// Both sides have left HTTP.
    pub(crate) tunnel: Option<Tunnel>,
    pub(crate) _counted: Counted,
}

impl<'t> Journey<'t> {
    pub(crate) fn begin(
        thread: &'t Thread,
        client: &'t mut Client,
        alarm: &'t Alarm,
        passage: Passage<'t>,
    ) -> Self {
        Self {
            thread,
            client,
            alarm,
            passage,
            flight: None,
            total: None,
            status: 0,
            outcome: Outcome::Gone,
        }
    }

    /// How the request is framed towards the upstream.
    pub(crate) fn request_framing(&self) -> Framing {
        match &self.passage.body {
            Some(body) if self.passage.framing != Framing::Empty => {
                Framing::Length(body.len() as u64)
            }
            _ => self.passage.framing,
        }
    }

    /// This thread's connections to the route's upstream.
    pub(crate) fn pool(&mut self, route: &RouteView) -> Result<Rc<Pool>, Reject> {
        let pool = match (route.pool.get(), &route.route.terminal) {
            (Some(pool), _) => pool.clone(),
            (None, Terminal::Upstream(shared)) => {
                route.pool.get_or_init(|| self.thread.pool(shared)).clone()
            }
            (None, Terminal::Answer(_)) => {
                return Err(Reject::new(&codes::INTERNAL).because("this route has no upstream"));
            }
        };
        self.total = route
            .route
            .timeouts
            .total
            .map(|total| self.passage.exchange.times.begun + total);
        Ok(pool)
    }

    /// The answer for a reject; what was already on its way from the upstream is given up.
    pub(crate) fn refuse(&mut self, reject: Reject) -> Response {
        if reject.closes {
            self.client.persists = false;
        }
        self.flight = None;
        self.passage.refuse(reject)
    }

    pub(crate) async fn back(&mut self, answer: Response) -> Response {
        let answer = self.passage.back(answer).await;
        if answer.body != Body::Upstream {
            self.flight = None;
        }
        answer
    }
}

impl Drop for Journey<'_> {
    fn drop(&mut self) {
        let thread = self.thread;
        let finished = thread.now();
        if let Some(flight) = self.flight.take() {
            flight.upload.end(&thread.buffers);
        }
        self.passage.end(self.outcome);
        thread.record(
            &self.passage,
            self.client,
            self.status,
            self.outcome,
            finished,
        );
        self.client.bodies = None;
        thread
            .heads
            .give_entered(std::mem::take(&mut self.passage.entered));
    }
}

/// The intent of live traffic.
pub(crate) const LIVE: Intent = Intent::Commit;
