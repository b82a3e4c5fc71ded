//! What is recorded of a route's exchanges, and what is hidden in every record.

use std::sync::Arc;

use serde::Deserialize;
use sluicegate_core::{ByteSize, Problem};
use sluicegate_record::{
    BodyPolicy, Headers, LogFormat, Masking, MetricNames, NameSet, Pattern, Policy,
};

/// How much of a body may be shown: a line is held in memory.
const LARGEST: u64 = 1 << 20;
/// How many fields of a head a record may name.
const MOST_HEADERS: usize = 100;
/// How many patterns all texts of a record may be searched for.
const MOST_PATTERNS: usize = 100;

/// As it is written, for the whole document or for one route; what a route leaves out is the
/// document's.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Document {
    pub(crate) request_body: Option<Body>,
    pub(crate) response_body: Option<Body>,
    pub(crate) limit: Option<ByteSize>,
    pub(crate) headers: Option<Vec<String>>,
    pub(crate) query: Option<bool>,
}

/// What is told of a body.
#[derive(Debug, Clone, Copy, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    /// How many bytes it had.
    Size,
    /// And their SHA-256.
    Digest,
    /// And its beginning, masked.
    Masked,
}

/// What is hidden besides what always is.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MaskingDocument {
    pub(crate) names: Vec<String>,
    pub(crate) patterns: Vec<PatternDocument>,
}

/// One pattern of the user.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatternDocument {
    pub(crate) name: String,
    pub(crate) regex: String,
    #[serde(default = "stars")]
    pub(crate) replace: String,
}

fn stars() -> String {
    "***".to_owned()
}

/// The document's policy, and what is hidden whatever the policy.
pub(super) struct Recording {
    pub(super) base: Arc<Policy>,
    masking: Masking,
}

impl Recording {
    pub(super) fn build(document: &super::document::Document, problems: &mut Vec<Problem>) -> Self {
        let masking = masking(&document.masking, problems);
        let at = (&masking, "/record");
        let base = policy(&document.record, &Policy::SIZES, at, problems);
        Self {
            base: Arc::new(base),
            masking,
        }
    }

    /// What is recorded of a route; one policy is shared by all that say nothing of it.
    pub(super) fn of(
        &self,
        route: &super::document::Route,
        at: &str,
        problems: &mut Vec<Problem>,
    ) -> Arc<Policy> {
        match &route.record {
            Some(own) => {
                let at = (&self.masking, &*format!("{at}/record"));
                Arc::new(policy(own, &self.base, at, problems))
            }
            None => self.base.clone(),
        }
    }

    /// The form of the lines, with the keys of a name set.
    pub(super) fn into_format(self, fields: &str, problems: &mut Vec<Problem>) -> LogFormat {
        let names = NameSet::from_name(fields).unwrap_or_else(|| {
            let known: Vec<_> = NameSet::ALL.into_iter().map(NameSet::name).collect();
            let message = format!("there is no name set `{fields}`");
            problems.push(
                Problem::new("/access_log/fields", "unknown_name_set", message)
                    .expecting(format!("one of: {}", known.join(", ")))
                    .suggesting(sluicegate_core::closest(fields, known)),
            );
            NameSet::default()
        });
        LogFormat::new(self.masking, names)
    }
}

/// Compiles the patterns, once for all threads and requests of the snapshot (OB-16).
fn masking(document: &MaskingDocument, problems: &mut Vec<Problem>) -> Masking {
    let mut patterns = Vec::new();
    if document.patterns.len() > MOST_PATTERNS {
        let message = format!("there are {} patterns", document.patterns.len());
        problems.push(
            Problem::new("/masking/patterns", "too_many", message)
                .expecting(format!("at most {MOST_PATTERNS}")),
        );
    }
    for (index, pattern) in document.patterns.iter().enumerate() {
        match Pattern::new(&pattern.regex, &pattern.replace) {
            Ok(pattern) => patterns.push(pattern),
            Err(bad) => {
                let pointer = format!("/masking/patterns/{index}/{}", bad.field);
                let message = format!("`{}`: {}", pattern.name, bad.message);
                problems
                    .push(Problem::new(pointer, "bad_pattern", message).expecting(bad.expected));
            }
        }
    }
    for (index, name) in document.names.iter().enumerate() {
        let letters = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
        if !name.is_ascii() || letters.count() < 2 {
            let pointer = format!("/masking/names/{index}");
            let message = format!("`{name}` cannot be the name of a value");
            problems.push(
                Problem::new(pointer, "bad_name", message)
                    .expecting("at least two letters or digits of ASCII"),
            );
        }
    }
    Masking::with_names(document.names.iter().map(String::as_str)).and_patterns(patterns)
}

/// The names that requests are counted under.
pub(super) fn metric_names(names: &[String], problems: &mut Vec<Problem>) -> Vec<MetricNames> {
    let known = MetricNames::ALL.map(MetricNames::name);
    let mut sets = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("/metrics/names/{index}");
        match MetricNames::from_name(name) {
            Some(set) if sets.contains(&set) => {
                let message = format!("`{name}` is named twice");
                problems.push(Problem::new(pointer, "duplicate", message));
            }
            Some(set) => sets.push(set),
            None => problems.push(
                Problem::new(
                    pointer,
                    "unknown_name_set",
                    format!("there is no name set `{name}`"),
                )
                .expecting(format!("one of: {}", known.join(", ")))
                .suggesting(sluicegate_core::closest(name, known)),
            ),
        }
    }
    if names.is_empty() {
        problems.push(
            Problem::new(
                "/metrics/names",
                "no_name_set",
                "requests need names to be counted under",
            )
            .expecting(format!("some of: {}", known.join(", "))),
        );
    }
    sets
}

/// What the record of a route tells; `at` is where `document` stands.
fn policy(
    document: &Document,
    base: &Policy,
    (masking, at): (&Masking, &str),
    problems: &mut Vec<Problem>,
) -> Policy {
    let mut policy = base.clone();
    if let Some(body) = document.request_body {
        policy.request_body = body.into();
    }
    if let Some(body) = document.response_body {
        policy.response_body = body.into();
    }
    if let Some(ByteSize(limit)) = document.limit {
        if !(1..=LARGEST).contains(&limit) {
            let message = format!("{limit} bytes of a body cannot be shown");
            problems.push(
                Problem::new(format!("{at}/limit"), "bad_limit", message).expecting("1B to 1MiB"),
            );
        }
        policy.limit = usize::try_from(limit.min(LARGEST)).unwrap_or(usize::MAX);
    }
    if let Some(names) = &document.headers {
        policy.headers = headers(names, (masking, at), problems);
    }
    if let Some(query) = document.query {
        policy.query = query;
    }
    policy
}

fn headers(
    names: &[String],
    (masking, at): (&Masking, &str),
    problems: &mut Vec<Problem>,
) -> Headers {
    if names.is_empty() {
        return Headers::Nothing;
    }
    if names == ["*"] {
        return Headers::Harmless;
    }
    if names.len() > MOST_HEADERS {
        let message = format!("there are {} names", names.len());
        problems.push(
            Problem::new(format!("{at}/headers"), "too_many", message)
                .expecting(format!("at most {MOST_HEADERS}, or `[\"*\"]`")),
        );
    }
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("{at}/headers/{index}");
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) || name == "*" {
            problems.push(
                Problem::new(
                    pointer,
                    "bad_header",
                    format!("`{name}` is no name of a field"),
                )
                .expecting("the name of a header field; `[\"*\"]` for all that are harmless"),
            );
        } else if masking.covers(name) {
            let message = format!("what `{name}` holds is a secret and is never recorded");
            problems.push(Problem::new(pointer, "sensitive_header", message));
        }
    }
    let names = names.iter().map(|name| name.to_ascii_lowercase().into());
    Headers::Only(names.collect())
}

impl From<Body> for BodyPolicy {
    fn from(body: Body) -> Self {
        match body {
            Body::Size => Self::Size,
            Body::Digest => Self::Digest,
            Body::Masked => Self::Masked,
        }
    }
}
