//! What the record of one exchange is made of.

use std::time::Duration;

use sluicegate_core::{Exchange, Outcome, codes};

use crate::{
    body::Bodies,
    fixed::{ConnectionText, RouteText},
    policy::Policy,
};

/// One exchange that has ended, however it did: also one whose head could not be parsed, and one
/// whose client left.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// What is known of it.
    pub exchange: &'a Exchange,
    /// How it ended.
    pub outcome: Outcome,
    /// The status that was sent; 0 when no head went out. A client that left before is recorded as 499.
    pub status: u16,
    /// Bytes of the request's body that were read.
    pub request_bytes: u64,
    /// Bytes of the answer's body that were sent.
    pub response_bytes: u64,
    /// When it ended, on the clock of [`Exchange::times`].
    pub finished: Duration,
    /// When it ended, since the Unix epoch.
    pub unix: Duration,
    /// The version of the snapshot in force.
    pub snapshot: u64,
    /// What was written before of its connection, for its peer and its listener.
    pub connection: Option<&'a ConnectionText>,
    /// What was written before of its route.
    pub route: Option<&'a RouteText>,
    /// How much of it is told.
    pub policy: &'a Policy,
    /// What was seen of its bodies, if the policy wants to know.
    pub bodies: Option<&'a Bodies>,
    /// The request's body was read to its end.
    pub request_whole: bool,
}

/// The status of the record: what was sent, or else what became of it.
pub(crate) fn shown_status(status: u16, outcome: Outcome) -> u16 {
    match (status, outcome) {
        (0, Outcome::Gone) => codes::CLIENT_GONE.status,
        (0, Outcome::Complete | Outcome::Truncated) | (1.., _) => status,
    }
}
