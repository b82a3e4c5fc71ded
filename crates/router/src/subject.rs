//! What the router asks of a request.

/// One request as the router sees it: borrowed, and asked only for what a route needs.
pub trait Subject {
    /// The authority as received: any case, perhaps with a port and a trailing dot.
    fn host(&self) -> Option<&str>;
    /// The path in its normal form, see [`normalize`](crate::normalize).
    fn path(&self) -> &str;
    /// The method token; methods are case-sensitive (RFC 9110 section 9.1).
    fn method(&self) -> &str;
    /// What follows the `?`, without it.
    fn query(&self) -> Option<&str>;
    /// Calls `each` with the value of every line of the field; `name` is in lower case.
    fn header_values(&self, name: &str, each: &mut dyn FnMut(&[u8]));
}
