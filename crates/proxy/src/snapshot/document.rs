//! The snapshot as it is written: the user's document with defaults filled in, and a version.

use std::{collections::BTreeMap, num::NonZeroU64, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{ByteSize, Span};
use sluicegate_filters::FilterSpec;

use super::{
    defaults::{RouteDefaults, Step},
    exposure::Exposure,
    status::Status,
};
use crate::upstream::policy::UpstreamPolicy;

const fn seconds(count: u64) -> Span {
    Span(Duration::from_secs(count))
}

const fn kib(count: u64) -> ByteSize {
    ByteSize(count << 10)
}

/// The whole configuration a data plane obeys.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) format: u32,
    pub(crate) version: u64,
    #[serde(default)]
    pub(crate) listeners: Vec<Listener>,
    #[serde(default)]
    pub(crate) upstreams: Vec<Upstream>,
    #[serde(default)]
    pub(crate) upstream_policy: UpstreamPolicy,
    #[serde(default)]
    pub(crate) route_defaults: RouteDefaults,
    #[serde(default)]
    pub(crate) routes: Vec<Route>,
    pub(crate) entry: Option<Vec<FilterSpec>>,
    #[serde(default)]
    pub(crate) errors: Errors,
    #[serde(default)]
    pub(crate) access_log: AccessLog,
    #[serde(default)]
    pub(crate) metrics: Metrics,
    #[serde(default)]
    pub(crate) record: super::record::Document,
    #[serde(default)]
    pub(crate) masking: super::record::MaskingDocument,
}

/// Where requests enter.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listener {
    pub(crate) id: String,
    pub(crate) address: String,
    #[serde(default)]
    pub(crate) exposure: Exposure,
    pub(crate) proxy_protocol: Option<super::proxy_protocol::ProxyProtocol>,
    #[serde(default)]
    pub(crate) http2: super::http2::Document,
    #[serde(default)]
    pub(crate) limits: ListenerLimits,
    #[serde(default)]
    pub(crate) timeouts: ListenerTimeouts,
}

/// What a client may send.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ListenerLimits {
    pub(crate) header: ByteSize,
    pub(crate) fields: usize,
    pub(crate) target: ByteSize,
    pub(crate) body: ByteSize,
    pub(crate) connections: u32,
    pub(crate) requests_per_connection: u64,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            header: kib(16),
            fields: 100,
            target: kib(8),
            body: kib(2048),
            connections: 10_000,
            requests_per_connection: 0,
        }
    }
}

/// How long a client may take.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ListenerTimeouts {
    pub(crate) header: Span,
    pub(crate) body: Span,
    pub(crate) idle: Span,
    pub(crate) write: Span,
}

impl Default for ListenerTimeouts {
    fn default() -> Self {
        Self {
            header: seconds(10),
            body: seconds(30),
            idle: seconds(60),
            write: seconds(30),
        }
    }
}

/// Where requests go.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upstream {
    pub(crate) id: String,
    pub(crate) endpoints: Vec<Endpoint>,
    #[serde(default)]
    pub(crate) exposure: Exposure,
    #[serde(default)]
    pub(crate) balance: Balance,
    #[serde(default)]
    pub(crate) protocol: Protocol,
    #[serde(default = "keep")]
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) connections: Connections,
    #[serde(default)]
    pub(crate) timeouts: UpstreamTimeouts,
    #[serde(default)]
    pub(crate) dns: Dns,
}

fn keep() -> String {
    "keep".to_owned()
}

/// One address of an upstream.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Endpoint {
    pub(crate) address: String,
    #[serde(default = "one")]
    pub(crate) weight: u32,
}

const fn one() -> u32 {
    1
}

/// What is spoken to the endpoints.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2 from the first byte on: nothing is asked first.
    Http2,
}

/// How an endpoint is picked.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Balance {
    /// Smooth weighted round robin.
    #[default]
    RoundRobin,
}

/// Connections to an upstream (HT-08 … HT-12).
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Connections {
    pub(crate) max: u32,
    pub(crate) acquire: Span,
    pub(crate) idle: Span,
    pub(crate) life: Span,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 500,
            acquire: Span(Duration::from_millis(50)),
            idle: seconds(50),
            life: seconds(600),
        }
    }
}

/// How long an upstream may take (HT-19 … HT-21).
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UpstreamTimeouts {
    pub(crate) connect: Span,
    pub(crate) response: Span,
    pub(crate) idle: Span,
    pub(crate) total: Option<Span>,
}

impl Default for UpstreamTimeouts {
    fn default() -> Self {
        Self {
            connect: seconds(1),
            response: seconds(3),
            idle: seconds(60),
            total: None,
        }
    }
}

/// Names of endpoints are resolved again when their time to live is over.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Dns {
    pub(crate) refresh: Span,
}

impl Default for Dns {
    fn default() -> Self {
        Self {
            refresh: seconds(30),
        }
    }
}

/// Which requests, and what happens to them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Route {
    pub(crate) id: String,
    #[serde(default)]
    #[expect(dead_code, reason = "a sentence for people and for the control plane")]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) status: Status,
    pub(crate) version: Option<NonZeroU64>,
    #[serde(default)]
    pub(crate) exposure: Exposure,
    #[serde(default)]
    pub(crate) priority: i32,
    #[serde(rename = "match")]
    pub(crate) matches: Match,
    pub(crate) upstream: Option<String>,
    pub(crate) respond: Option<Respond>,
    pub(crate) redirect: Option<Redirect>,
    /// Whether the filters of `route_defaults` run for it too.
    #[serde(default = "yes")]
    pub(crate) defaults: bool,
    #[serde(default)]
    pub(crate) filters: Vec<Step>,
    #[serde(default)]
    pub(crate) limits: RouteLimits,
    #[serde(default)]
    pub(crate) timeouts: RouteTimeouts,
    pub(crate) websocket: Option<super::websocket::Document>,
    pub(crate) record: Option<super::record::Document>,
    #[serde(default)]
    pub(crate) encoded_slash: EncodedSlash,
    #[serde(default)]
    #[expect(dead_code, reason = "labels are for people and for the control plane")]
    pub(crate) labels: BTreeMap<String, String>,
}

const fn yes() -> bool {
    true
}

/// The conditions of a route.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Match {
    #[serde(default)]
    pub(crate) listeners: Vec<String>,
    #[serde(default)]
    pub(crate) host: OneOrMany,
    pub(crate) path: OneOrMany,
    #[serde(default)]
    pub(crate) methods: Vec<String>,
    #[serde(default)]
    pub(crate) headers: Vec<Predicate>,
    #[serde(default)]
    pub(crate) query: Vec<Predicate>,
    #[serde(default)]
    pub(crate) cookies: Vec<Predicate>,
}

/// One text or a list of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// `host: a.example`
    One(String),
    /// `host: [a.example, b.example]`
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    pub(crate) fn into_list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// A condition on a header field, a query parameter or a cookie: exactly one of the three tests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Predicate {
    pub(crate) name: String,
    pub(crate) value: Option<OneOrMany>,
    pub(crate) regex: Option<String>,
    pub(crate) present: Option<bool>,
}

/// The gateway answers by itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Respond {
    #[serde(default = "ok")]
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) content_type: Option<String>,
    #[serde(default)]
    pub(crate) body: String,
}

const fn ok() -> u16 {
    200
}

/// The gateway sends the client elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Redirect {
    #[serde(default = "permanent")]
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) scheme: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) path_prefix: Option<String>,
    /// By default the query goes with parts and not with a whole location.
    pub(crate) keep_query: Option<bool>,
}

const fn permanent() -> u16 {
    308
}

/// Limits of one route.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RouteLimits {
    pub(crate) body: Option<ByteSize>,
}

/// Timeouts of one route; they replace the upstream's.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RouteTimeouts {
    pub(crate) connect: Option<Span>,
    pub(crate) response: Option<Span>,
    pub(crate) idle: Option<Span>,
    pub(crate) total: Option<Span>,
}

/// What to do with `%2F` in a path.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EncodedSlash {
    /// Answer 400.
    #[default]
    Refuse,
    /// Let it pass as one character of its segment.
    Allow,
}

/// What the answers of the gateway itself look like (ER-01, ER-02, ER-04).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Errors {
    pub(crate) format: ErrorFormat,
    /// What the code completes to the `type` of a problem (RFC 9457 §3.1.1).
    pub(crate) type_base: Option<String>,
    pub(crate) template: Option<Template>,
    pub(crate) codes: BTreeMap<String, CodeOverride>,
}

/// The shape of an error body.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ErrorFormat {
    /// RFC 9457 `application/problem+json`.
    #[default]
    Problem,
    /// `{"code": …, "message": …}` (ER-02).
    CodeMessage,
    /// The user's own text.
    Template,
}

/// A body with places for `{code}`, `{status}`, `{title}`, `{detail}` and `{request_id}`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Template {
    pub(crate) content_type: String,
    pub(crate) body: String,
}

/// Another status or text for a code.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CodeOverride {
    pub(crate) status: Option<u16>,
    pub(crate) title: Option<String>,
    pub(crate) detail: Option<String>,
}

/// Where the record of each exchange goes.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AccessLog {
    pub(crate) output: String,
    pub(crate) rotate: Rotate,
    pub(crate) queue: ByteSize,
    pub(crate) fields: String,
}

impl Default for AccessLog {
    fn default() -> Self {
        Self {
            output: "stdout".to_owned(),
            rotate: Rotate::default(),
            queue: kib(4096),
            fields: "sluicegate".to_owned(),
        }
    }
}

/// When a log file is put aside.
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Rotate {
    pub(crate) size: ByteSize,
    pub(crate) keep: u32,
}

impl Default for Rotate {
    fn default() -> Self {
        Self {
            size: kib(100 * 1024),
            keep: 5,
        }
    }
}

/// How metrics are called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Metrics {
    pub(crate) prefix: String,
    pub(crate) names: Vec<String>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            prefix: "sluicegate".to_owned(),
            names: vec!["sluicegate".to_owned()],
        }
    }
}
