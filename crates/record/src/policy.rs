//! How much of an exchange a route's record tells (OB-15, PX-36).

/// What is told of a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BodyPolicy {
    /// How many bytes it had.
    #[default]
    Size,
    /// And their SHA-256.
    Digest,
    /// And its beginning as text, without what must be masked.
    Masked,
}

/// Which fields of the request's head are told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Headers {
    /// None of them.
    #[default]
    Nothing,
    /// Those of these names, which are in small letters.
    Only(Box<[Box<str>]>),
    /// All but those whose names are masked, such as `Cookie`.
    Harmless,
}

/// What the record of one route tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Of the request's body.
    pub request_body: BodyPolicy,
    /// Of the answer's.
    pub response_body: BodyPolicy,
    /// How many bytes of a masked body.
    pub limit: usize,
    /// Of the request's head.
    pub headers: Headers,
    /// The query, with secrets masked.
    pub query: bool,
}

impl Policy {
    /// Sizes only: what a record tells when nothing is said about it.
    pub const SIZES: Self = Self {
        request_body: BodyPolicy::Size,
        response_body: BodyPolicy::Size,
        limit: 4 << 10,
        headers: Headers::Nothing,
        query: true,
    };

    /// Whether bodies have to be looked at while they pass.
    pub fn looks_at_bodies(&self) -> bool {
        [self.request_body, self.response_body] != [BodyPolicy::Size; 2]
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::SIZES
    }
}
