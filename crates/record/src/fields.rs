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
    /// `true`; without it the key is missing.
    Flag,
    /// An object of strings or of decimals.
    Object,
}

impl FieldType {
    /// The word of the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Decimal => "decimal",
            Self::Flag => "flag",
            Self::Object => "object",
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

/// Every key of a record of the name set `sluicegate`, in the order in which it is written.
pub const FIELDS: &[Field] = fields! {
    "timestamp" Text always "When the exchange ended: ISO 8601, UTC, milliseconds.";
    "level" Text always "`error` for a status from 500 on or a truncated answer, `warn` for other rejects and clients that left, else `info`.";
    "request_id" Text sometimes "The id the client was told.";
    "trace_id" Text sometimes "The W3C trace id.";
    "foreign_trace_id" Text sometimes "The trace's name at the caller, when it is no W3C trace id (SkyWalking).";
    "client_ip" Text always "The client's address, as far as trusted hops vouch for it.";
    "peer" Text always "Address and port of the other end of the connection.";
    "user_agent" Text sometimes "What the client calls itself; secrets masked.";
    "user_id" Text sometimes "The user, once proven.";
    "app_id" Text sometimes "The app, once proven.";
    "method" Text sometimes "The request's method; missing when the head could not be read that far.";
    "host" Text sometimes "The host that was asked for.";
    "path" Text sometimes "The target as it came, with its query unless the route's record leaves it out; secrets masked.";
    "target" Text sometimes "The target that the upstream was asked for, when it is another one.";
    "path_template" Text sometimes "The route's path template.";
    "route_id" Text always "The route; `none` when the request met none.";
    "route_version" Integer sometimes "The route's own version, when its document says one.";
    "listener" Text always "The listener.";
    "upstream" Text sometimes "The route's upstream.";
    "upstream_instance" Text sometimes "The endpoint of the last attempt.";
    "attempts" Integer always "How often a request was begun at an endpoint.";
    "headers" Object sometimes "Fields of the request's head that the route's record names, by name in small letters; secrets masked.";
    "status" Integer sometimes "The status that was sent; 499 when the client left before. Missing when nothing was sent.";
    "code" Text sometimes "The code of the reject, when the gateway answered itself.";
    "reason" Text sometimes "The family of the code: tells limits, timeouts, authorization and others apart.";
    "cause" Text sometimes "What the client was not told; secrets masked.";
    "duration_ms" Decimal always "From the complete request head to the end.";
    "upstream_ms" Decimal sometimes "From the beginning of the last attempt to the head of its answer, or to the end when none came.";
    "gateway_ms" Decimal always "The rest: filters, waiting for the bodies, earlier attempts.";
    "answer_ms" Decimal sometimes "From the head of the upstream's answer to the end.";
    "phases_ms" Object sometimes "The time spent in each phase, for exchanges that `debug_headers` times.";
    "request_bytes" Integer always "Bytes of the request's body.";
    "response_bytes" Integer always "Bytes of the answer's body.";
    "request_sha256" Text sometimes "SHA-256 of the request's body, in hexadecimal.";
    "request_body" Text sometimes "The beginning of the request's body, secrets masked; `…+9000` says that 9,000 bytes more came.";
    "request_body_omitted" Text sometimes "Why the request's body is not shown: `compressed`, `binary`, or `type` for one in which secrets cannot be told from the rest.";
    "response_sha256" Text sometimes "As `request_sha256`, of the answer's body.";
    "response_body" Text sometimes "As `request_body`, of the answer's body.";
    "response_body_omitted" Text sometimes "As `request_body_omitted`, of the answer's body.";
    "request_body_partial" Flag sometimes "The request's body was not read to its end, so that the keys above tell of its beginning only.";
    "outcome" Text always "`complete`, `truncated` or `client_gone`.";
    "snapshot_version" Integer always "The version of the configuration.";
};

/// Every key of a record of the name set `campus` (OB-12), in the order in which it is written.
pub const CAMPUS_FIELDS: &[Field] = fields! {
    "timestamp" Text always "When the exchange ended: ISO 8601, UTC, milliseconds.";
    "level" Text always "`ERROR`, `WARN` or `INFO`; as `level` of the set `sluicegate`.";
    "requestId" Text sometimes "The id the client was told.";
    "traceId" Text sometimes "The W3C trace id.";
    "userId" Text sometimes "The user, once proven.";
    "method" Text sometimes "The request's method.";
    "path" Text sometimes "The path as it came, without its query; secrets masked.";
    "query" Text sometimes "The query, unless the route's record leaves it out; secrets masked.";
    "status" Integer sometimes "The status that was sent; 499 when the client left before.";
    "durationMs" Decimal always "From the complete request head to the end.";
    "serviceId" Text sometimes "The route's upstream.";
    "instanceId" Text sometimes "The endpoint of the last attempt.";
    "routeId" Text always "The route; `none` when the request met none.";
    "clientIp" Text always "The client's address, as far as trusted hops vouch for it.";
    "code" Text sometimes "The code of the reject, when the gateway answered itself.";
    "cause" Text sometimes "What the client was not told; secrets masked.";
    "headers" Object sometimes "Fields of the request's head that the route's record names.";
    "requestBytes" Integer always "Bytes of the request's body.";
    "responseBytes" Integer always "Bytes of the answer's body.";
    "requestSha256" Text sometimes "SHA-256 of the request's body.";
    "requestBody" Text sometimes "The beginning of the request's body, secrets masked.";
    "requestBodyOmitted" Text sometimes "Why the request's body is not shown.";
    "responseSha256" Text sometimes "SHA-256 of the answer's body.";
    "responseBody" Text sometimes "The beginning of the answer's body, secrets masked.";
    "responseBodyOmitted" Text sometimes "Why the answer's body is not shown.";
    "requestBodyPartial" Flag sometimes "The request's body was not read to its end.";
};
