//! From the document to the snapshot: everything is checked, and all that is wrong is said at once.

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    sync::Arc,
};

use sluicegate_core::{Problem, Stage};
use sluicegate_filters::{Chain, Chains, ConfigSchema, FilterSpec, Secrets, States};
use sluicegate_http1::{HeadLimits, host_and_port, valid_authority};
use sluicegate_record::{MetricNames, Registry};

use super::{
    ListenerSettings, Snapshot, bounds, document, path_params, record, routes,
    websocket::OpenCounts,
};
use crate::{
    answers::Answers,
    upstream::{policy::UpstreamPolicy, shared::Shared},
};

/// A snapshot that may be applied, and what applying it changes besides.
pub(crate) struct Compiled {
    pub(crate) snapshot: Snapshot,
    pub(crate) upstreams: Vec<document::Upstream>,
    pub(crate) policy: Arc<UpstreamPolicy>,
    pub(crate) access_log: document::AccessLog,
    pub(crate) metrics_prefix: String,
    pub(crate) metric_names: Vec<MetricNames>,
}

/// What outlives snapshots and is needed to build one.
pub(crate) struct Ground<'a> {
    pub(crate) states: &'a States,
    pub(crate) registry: &'a Registry,
    pub(crate) upstreams: &'a HashMap<String, Arc<Shared>>,
    pub(crate) open_websockets: &'a OpenCounts,
    /// None when somebody only looks at a document.
    pub(crate) secrets: Option<&'a Secrets>,
}

/// Parses a snapshot.
///
/// # Errors
/// Everything in it that has not the form of a document.
pub(crate) fn read(text: &str) -> Result<document::Document, Vec<Problem>> {
    serde_json::from_str(text).map_err(|first| mistakes(text, &first))
}

/// The parser stops at the first mistake; the schema, made for this only, finds them all.
fn mistakes(text: &str, first: &serde_json::Error) -> Vec<Problem> {
    let found = serde_json::from_str(text)
        .map(|value| ConfigSchema::of::<document::Document>().read::<document::Document>(&value));
    match found {
        Ok(Err(mistakes)) => mistakes
            .into_iter()
            .map(|mistake| Problem {
                pointer: mistake.pointer,
                code: "invalid",
                message: mistake.message,
                expected: mistake.expected,
                suggestion: mistake.suggestion,
            })
            .collect(),
        // No JSON at all, or a field twice.
        Ok(Ok(_)) | Err(_) => vec![Problem::new("", "invalid", first.to_string())],
    }
}

/// Builds the snapshot.
pub(crate) fn compile(
    document: document::Document,
    ground: &Ground<'_>,
) -> Result<Compiled, Vec<Problem>> {
    let mut problems = Vec::new();
    if document.format != 1 {
        let message = format!("format {} is not known", document.format);
        problems.push(Problem::new("/format", "unknown_format", message).expecting("1"));
    }
    if document.version == 0 {
        problems.push(Problem::new(
            "/version",
            "bad_version",
            "the version of a snapshot is 1 or more",
        ));
    }
    bounds::check(&document, &mut problems);
    let listeners = listeners(&document.listeners, &mut problems);
    let upstreams = upstreams(&document.upstreams, ground, &mut problems);
    document
        .upstream_policy
        .check(&document.upstreams, &mut problems);
    let answers = Arc::new(Answers::build(&document.errors, &mut problems));
    let mut chains = Chains::new(ground.states).with_secrets(ground.secrets);
    let entry_specs = document.entry.clone().unwrap_or_else(default_entry);
    let entry = chain(
        Stage::Entry,
        &entry_specs,
        ("listener", "/entry"),
        &mut chains,
        &mut problems,
    );
    if let Some(entry) = &entry {
        path_params::check_entry((&entry_specs, entry), "/entry", &mut problems);
    }
    let recording = record::Recording::build(&document, &mut problems);
    let metric_names = record::metric_names(&document.metrics.names, &mut problems);
    if document.metrics.prefix.is_empty()
        || !document
            .metrics
            .prefix
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        || document
            .metrics
            .prefix
            .starts_with(|first: char| first.is_ascii_digit())
    {
        problems.push(Problem::new(
            "/metrics/prefix",
            "bad_value",
            "this cannot begin the name of a metric",
        ));
    }

    let known: HashMap<&str, (&Arc<Shared>, &document::Upstream)> = upstreams
        .iter()
        .zip(&document.upstreams)
        .map(|(shared, config)| (config.id.as_str(), (shared, config)))
        .collect();
    let chains = (ground, &mut chains);
    let (routes, tables) = routes::build(&document, &known, chains, &recording, &mut problems);
    let record = recording.base.clone();
    let log_format = recording.into_format(&document.access_log.fields, &mut problems);
    let (Some(entry), true) = (entry, problems.is_empty()) else {
        return Err(once(problems));
    };
    let snapshot = Snapshot {
        version: document.version,
        tables,
        routes,
        entry,
        answers,
        listeners,
        upstreams,
        log_format: Arc::new(log_format),
        record,
        logs: document.access_log.output != "off",
    };
    Ok(Compiled {
        snapshot,
        upstreams: document.upstreams,
        policy: Arc::new(document.upstream_policy),
        access_log: document.access_log,
        metrics_prefix: document.metrics.prefix,
        metric_names,
    })
}

/// Each problem once: a default filter is built for every route.
fn once(problems: Vec<Problem>) -> Vec<Problem> {
    let mut seen = HashSet::new();
    problems
        .into_iter()
        .filter(|problem| {
            seen.insert((
                problem.pointer.clone(),
                problem.code,
                problem.message.clone(),
            ))
        })
        .collect()
}

/// The filters that run for every request unless the document says otherwise.
fn default_entry() -> Vec<FilterSpec> {
    let none = || serde_json::Value::Object(serde_json::Map::new());
    [
        "request_id",
        "trace_context",
        "client_address",
        "header_hygiene",
        "forwarded_headers",
    ]
    .map(|name| FilterSpec::new(name, none()))
    .into()
}

/// Builds a chain; what is wrong with it goes to `problems`.
pub(super) fn chain(
    stage: Stage,
    specs: &[FilterSpec],
    (scope, at): (&str, &str),
    chains: &mut Chains<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Arc<Chain>> {
    match chains.chain(stage, specs, scope) {
        Ok(chain) => Some(chain),
        Err(found) => {
            problems.extend(found.into_iter().map(|problem| problem.under(at)));
            None
        }
    }
}

fn listeners(
    configs: &[document::Listener],
    problems: &mut Vec<Problem>,
) -> Vec<Arc<ListenerSettings>> {
    let mut ids = HashSet::new();
    let mut addresses = HashSet::new();
    let mut built = Vec::new();
    for (index, config) in configs.iter().enumerate() {
        let at = format!("/listeners/{index}");
        check_id(&config.id, &at, &mut ids, "listener", problems);
        if config.address.parse::<std::net::SocketAddr>().is_err() {
            let message = format!("`{}` is not an address to listen on", config.address);
            let problem = Problem::new(format!("{at}/address"), "bad_address", message);
            problems.push(
                problem.expecting("an IP address and a port, such as 0.0.0.0:8080 or [::]:8080"),
            );
        } else if !config.address.ends_with(":0") && !addresses.insert(config.address.clone()) {
            let message = format!("another listener has the address {}", config.address);
            problems.push(Problem::new(
                format!("{at}/address"),
                "duplicate_address",
                message,
            ));
        }
        let limits = &config.limits;
        if !(1..=256).contains(&limits.fields) {
            problems.push(Problem::new(
                format!("{at}/limits/fields"),
                "bad_limit",
                "the gateway reads 1 to 256 fields",
            ));
        }
        for (name, size, range) in [
            ("header", limits.header.0, 256..=1 << 20),
            ("target", limits.target.0, 16..=1 << 20),
        ] {
            if !range.contains(&size) {
                let problem = Problem::new(
                    format!("{at}/limits/{name}"),
                    "bad_limit",
                    format!("{size} bytes are not possible"),
                );
                problems.push(problem.expecting(format!("{}B to {}B", range.start(), range.end())));
            }
        }
        built.push(Arc::new(ListenerSettings {
            id: config.id.as_str().into(),
            address: config.address.as_str().into(),
            head: HeadLimits {
                bytes: usize::try_from(limits.header.0).unwrap_or(usize::MAX),
                fields: limits.fields,
                target: usize::try_from(limits.target.0).unwrap_or(usize::MAX),
            },
            body_limit: limits.body.0,
            connections: limits.connections,
            requests_per_connection: limits.requests_per_connection,
            header: config.timeouts.header.0,
            body: config.timeouts.body.0,
            idle: config.timeouts.idle.0,
            write: config.timeouts.write.0,
            proxy_protocol: config.proxy_protocol.clone(),
            http2: config.http2.settings(),
        }));
    }
    built
}

fn upstreams(
    configs: &[document::Upstream],
    ground: &Ground<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<Arc<Shared>> {
    let mut ids = HashSet::new();
    for (index, config) in configs.iter().enumerate() {
        let at = format!("/upstreams/{index}");
        check_id(&config.id, &at, &mut ids, "upstream", problems);
        if config.endpoints.is_empty() {
            problems.push(Problem::new(
                format!("{at}/endpoints"),
                "no_endpoints",
                "an upstream needs an endpoint",
            ));
        }
        for (number, endpoint) in config.endpoints.iter().enumerate() {
            let at = format!("{at}/endpoints/{number}");
            if split_address(&endpoint.address).is_none() {
                let message = format!("`{}` is not a host and a port", endpoint.address);
                let problem = Problem::new(format!("{at}/address"), "bad_address", message);
                problems.push(problem.expecting(
                    "such as 10.0.0.7:8080, [2001:db8::7]:8080 or orders.internal:8080",
                ));
            }
            if !(1..=1000).contains(&endpoint.weight) {
                problems.push(Problem::new(
                    format!("{at}/weight"),
                    "bad_weight",
                    "a weight is 1 to 1000",
                ));
            }
        }
        if config.connections.max == 0 {
            problems.push(Problem::new(
                format!("{at}/connections/max"),
                "bad_limit",
                "an upstream needs at least one connection",
            ));
        }
        if !matches!(config.host.as_str(), "keep" | "endpoint") && !valid_authority(&config.host) {
            let problem = Problem::new(
                format!("{at}/host"),
                "bad_host",
                format!("`{}` is not a host", config.host),
            );
            problems.push(problem.expecting("keep, endpoint, or a host name"));
        }
    }
    configs
        .iter()
        .map(|config| {
            let known = ground.upstreams.get(&config.id).cloned();
            known.unwrap_or_else(|| {
                Arc::new(Shared::new(config, ground.registry.upstream(&config.id)))
            })
        })
        .collect()
}

/// A host (brackets gone) and a port.
pub(crate) fn split_address(address: &str) -> Option<(&str, u16)> {
    let (host, port) = host_and_port(address)?;
    let port = port.filter(|port| *port != 0)?;
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let valid = bare.parse::<IpAddr>().is_ok() || valid_authority(host);
    (valid && !bare.is_empty()).then_some((bare, port))
}

pub(super) fn check_id(
    id: &str,
    at: &str,
    seen: &mut HashSet<String>,
    kind: &str,
    problems: &mut Vec<Problem>,
) {
    let head = id
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if !(head && rest && id.len() <= 100) {
        let problem = Problem::new(
            format!("{at}/id"),
            "bad_id",
            format!("`{id}` cannot be the id of a {kind}"),
        );
        problems.push(problem.expecting(
            "a letter or digit, then letters, digits, dots, dashes and underscores; 100 at most",
        ));
    }
    if !seen.insert(id.to_owned()) {
        let message = format!("another {kind} has the id `{id}`");
        problems.push(Problem::new(format!("{at}/id"), "duplicate_id", message));
    }
}
