//! An answer on its way to the client.

use sluicegate_http1::ResponseHead;

/// A response, whoever gave it: the upstream, a filter, or a reject.
#[derive(Debug, Default, Clone)]
pub struct Response {
    /// Status and fields. Framing fields are written by the engine; what a filter sets there is ignored.
    pub head: ResponseHead,
    /// What follows the head.
    pub body: Body,
}

/// The body of a response.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    #[default]
    Empty,
    /// Bytes that are all here.
    Bytes(Vec<u8>),
    /// What the upstream is still sending; the engine holds the connection. A filter that puts
    /// something else here gives the upstream's body up, and its connection with it.
    Upstream,
}

impl Response {
    /// An answer without a body.
    pub fn new(status: u16) -> Self {
        Self {
            head: ResponseHead::new(status),
            body: Body::Empty,
        }
    }

    /// An answer whose bytes are all here.
    pub fn with_body(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            head: ResponseHead::new(status),
            body: Body::Bytes(body.into()),
        }
    }
}
