//! Why each route near a request was or was not taken.

use std::fmt;

/// One route that competed for a request, or came near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Index of the route.
    pub route: usize,
    /// Whether all its conditions are met; the first such candidate is the one taken.
    pub matched: bool,
    /// The first condition that is not met.
    pub why_not: Option<WhyNot>,
}

/// The condition that kept a route from matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// Another host.
    Host,
    /// Another path.
    Path,
    /// The path differs by its trailing slash only.
    TrailingSlash,
    /// The method is not admitted.
    Method,
    /// The condition on this header.
    Header(String),
    /// The condition on this query parameter.
    Query(String),
    /// The condition on this cookie.
    Cookie(String),
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Path => f.write_str("path"),
            Self::TrailingSlash => f.write_str("path (only the trailing slash differs)"),
            Self::Method => f.write_str("method"),
            Self::Header(name) => write!(f, "header {name}"),
            Self::Query(name) => write!(f, "query {name}"),
            Self::Cookie(name) => write!(f, "cookie {name}"),
        }
    }
}
