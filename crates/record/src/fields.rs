//! The keys of a record: the reference page is made from this table.

/// What a value looks like in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// A string; escaped, and cut at 1 KiB.
    Text,
    /// A whole number.
    Integer,
    /// A number with three decimals.
    Decimal,
}

impl FieldType {
    /// The word of the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Decimal => "decimal",
        }
    }
}

/// One row of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// The type of its value.
    pub kind: FieldType,
    /// Whether every record has it. A key without a value is left out: shorter than `null`, and the same to a query.
    pub always: bool,
    /// What it says.
    pub meaning: &'static str,
}

/// Declares the table, one key per row.
macro_rules! fields {
    ($($name:literal $kind:ident $always:ident $meaning:literal;)*) => {
        &[$(Field { name: $name, kind: FieldType::$kind, always: is!($always), meaning: $meaning }),*]
    };
}

macro_rules! is {
    (always) => {
        true
    };
    (sometimes) => {
        false
    };
}

/// Every key of a record, in the order in which it is written.
pub const FIELDS: &[Field] = fields! {
    "timestamp" Text always "When the exchange ended: ISO 8601, UTC, milliseconds.";
    "level" Text always "`error` for a status from 500 on or a truncated answer, `warn` for other rejects and clients that left, else `info`.";
    "request_id" Text sometimes "The id the client was told.";
    "trace_id" Text sometimes "The W3C trace id.";
    "client_ip" Text always "The client's address, as far as trusted hops vouch for it.";
    "peer" Text always "Address and port of the other end of the connection.";
    "user_agent" Text sometimes "What the client calls itself; secrets masked.";
    "user_id" Text sometimes "The user, once proven.";
    "app_id" Text sometimes "The app, once proven.";
    "method" Text sometimes "The request's method; missing when the head could not be read that far.";
    "host" Text sometimes "The host that was asked for.";
    "path" Text sometimes "The target as it came, query included; secrets masked.";
    "path_template" Text sometimes "The route's path template.";
    "route_id" Text always "The route; `none` when the request met none.";
    "listener" Text always "The listener.";
    "upstream" Text sometimes "The route's upstream.";
    "upstream_instance" Text sometimes "The endpoint of the last attempt.";
    "attempts" Integer always "How often a request was begun at an endpoint.";
    "status" Integer sometimes "The status that was sent; 499 when the client left before. Missing when nothing was sent.";
    "code" Text sometimes "The code of the reject, when the gateway answered itself.";
    "reason" Text sometimes "The family of the code: tells limits, timeouts, authorization and others apart.";
    "cause" Text sometimes "What the client was not told; secrets masked.";
    "duration_ms" Decimal always "From the complete request head to the end.";
    "upstream_ms" Decimal sometimes "From the beginning of the last attempt to the head of its answer, or to the end when none came.";
    "gateway_ms" Decimal always "The rest: filters, waiting for the bodies, earlier attempts.";
    "request_bytes" Integer always "Bytes of the request's body.";
    "response_bytes" Integer always "Bytes of the answer's body.";
    "outcome" Text always "`complete`, `truncated` or `client_gone`.";
    "snapshot_version" Integer always "The version of the configuration.";
};
