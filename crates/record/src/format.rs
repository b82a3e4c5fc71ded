//! One exchange as one line of JSON, with the keys of the name set `sluicegate`.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use sluicegate_core::{Code, Outcome, RouteFacts, codes, write_address};
use sluicegate_http1::Malformed;

use crate::{
    body,
    entry::{Entry, shown_status},
    fixed::Agent,
    json::{self, Value},
    line::{known, millis, number, socket, some_text, text},
    masking::Masking,
    metrics::NO_ROUTE,
    name_set::NameSet,
    policy::Headers,
    timestamp::Timestamp,
};

const BODIES: body::BothKeys = body::BothKeys {
    request: body::Keys {
        digest: b",\"request_sha256\":\"",
        text: b",\"request_body\":\"",
        omitted: b",\"request_body_omitted\":\"",
    },
    response: body::Keys {
        digest: b",\"response_sha256\":\"",
        text: b",\"response_body\":\"",
        omitted: b",\"response_body_omitted\":\"",
    },
    partial: b",\"request_body_partial\":true",
};

/// Writes records, with the keys of a name set.
///
/// Every value that comes from outside is escaped and bounded, so one exchange is one line that
/// parses, whatever was sent (LG-01). Nothing is allocated but room in the line's buffer.
#[derive(Debug, Clone, Default)]
pub struct LogFormat {
    pub(crate) masking: Masking,
    names: NameSet,
}

impl LogFormat {
    /// A format that hides what `masking` names.
    pub fn new(masking: Masking, names: NameSet) -> Self {
        Self { masking, names }
    }

    /// Appends the record of an exchange and a line feed.
    pub fn write(&self, entry: &Entry<'_>, line: &mut Vec<u8>) {
        self.write_after(&mut Timestamp::default(), entry, line);
    }

    /// As [`LogFormat::write`], after another line.
    pub(crate) fn write_after(
        &self,
        timestamp: &mut Timestamp,
        entry: &Entry<'_>,
        line: &mut Vec<u8>,
    ) {
        match self.names {
            NameSet::Sluicegate => self.write_sluicegate(timestamp, entry, line),
            NameSet::Campus => self.write_campus(timestamp, entry, line),
        }
    }

    fn write_sluicegate(&self, timestamp: &mut Timestamp, entry: &Entry<'_>, line: &mut Vec<u8>) {
        let status = shown_status(entry.status, entry.outcome);
        let code = shown_code(entry);
        line.extend_from_slice(b"{\"timestamp\":\"");
        timestamp.write(entry.unix, line);
        let level = level(status, code, entry.outcome);
        known(b"\",\"level\":\"", level.as_bytes(), line);
        self.who(entry, line);
        self.place(entry, line);
        self.headers(b",\"headers\":{", entry, line);
        self.result(entry, status, code, line);
        times(entry, line);
        number(b",\"request_bytes\":", entry.request_bytes, line);
        number(b",\"response_bytes\":", entry.response_bytes, line);
        self.bodies(&BODIES, entry, line);
        known(b",\"outcome\":\"", entry.outcome.name().as_bytes(), line);
        number(b",\"snapshot_version\":", entry.snapshot, line);
        line.extend_from_slice(b"}\n");
    }

    /// OB-01.
    fn who(&self, entry: &Entry<'_>, line: &mut Vec<u8>) {
        let exchange = entry.exchange;
        if let Some(id) = &exchange.request_id {
            known(b",\"request_id\":\"", id.as_bytes(), line);
        }
        if let Some(trace) = &exchange.trace {
            known(b",\"trace_id\":\"", trace.trace_id_bytes(), line);
        }
        if let Some(name) = &exchange.foreign_trace {
            text(b",\"foreign_trace_id\":", name.as_bytes(), line);
        }
        let peer = exchange.peer.remote;
        match entry.connection {
            Some(connection) if exchange.client == peer.ip() => {
                line.extend_from_slice(&connection.addresses);
            }
            Some(_) | None => addresses(exchange.client, peer, line),
        }
        if let Some(agent) = exchange.request.fields.get("user-agent") {
            self.agent(agent, entry, line);
        }
        let principal = exchange.principal.as_ref();
        if let Some(user) = principal.and_then(|principal| principal.user.as_deref()) {
            text(b",\"user_id\":", user.as_bytes(), line);
        }
        if let Some(app) = principal.and_then(|principal| principal.app.as_deref()) {
            text(b",\"app_id\":", app.as_bytes(), line);
        }
    }

    fn agent(&self, agent: &[u8], entry: &Entry<'_>, line: &mut Vec<u8>) {
        const KEY: &[u8] = b",\"user_agent\":";
        let Some(connection) = entry.connection else {
            return self.masked(KEY, agent, line);
        };
        let mut last = connection.agent.borrow_mut();
        if last.snapshot != entry.snapshot || last.name != agent || last.text.is_empty() {
            let Agent {
                name,
                text,
                snapshot,
            } = &mut *last;
            *snapshot = entry.snapshot;
            name.clear();
            name.extend_from_slice(agent);
            text.clear();
            self.masked(KEY, agent, text);
        }
        line.extend_from_slice(&last.text);
    }

    /// OB-02. Of a head that could not be parsed, as much as is known.
    fn place(&self, entry: &Entry<'_>, line: &mut Vec<u8>) {
        let exchange = entry.exchange;
        let request = &exchange.request;
        some_text(b",\"method\":", request.method().as_bytes(), line);
        some_text(b",\"host\":", request.authority_bytes(), line);
        let original = request.original_target();
        if !original.is_empty() {
            self.target(b",\"path\":\"", original, entry.policy.query, line);
        }
        if exchange.attempt.count > 0 && request.target() != original {
            self.target(
                b",\"target\":\"",
                request.target(),
                entry.policy.query,
                line,
            );
        }
        let facts = exchange.route.as_deref();
        match (entry.route, facts) {
            (Some(text), _) => line.extend_from_slice(text.route()),
            (None, Some(facts)) => route(facts, line),
            (None, None) => text(ROUTE_ID, NO_ROUTE.as_bytes(), line),
        }
        match entry.connection {
            Some(connection) => line.extend_from_slice(&connection.listener),
            None => text(LISTENER, exchange.listener.as_bytes(), line),
        }
        match (entry.route, facts) {
            (Some(text), _) => line.extend_from_slice(text.upstream()),
            (None, Some(facts)) => upstream(facts, line),
            (None, None) => {}
        }
        if let Some(endpoint) = exchange.attempt.endpoint {
            line.extend_from_slice(b",\"upstream_instance\":\"");
            socket(endpoint, line);
            line.push(b'"');
        }
        number(b",\"attempts\":", exchange.attempt.count, line);
    }

    /// OB-03.
    fn result(&self, entry: &Entry<'_>, status: u16, code: Option<&Code>, line: &mut Vec<u8>) {
        if status != 0 {
            number(b",\"status\":", status, line);
        }
        if let Some(code) = code {
            known(b",\"code\":\"", code.name.as_bytes(), line);
            known(b",\"reason\":\"", code.reason.as_bytes(), line);
        }
        let exchange = entry.exchange;
        let malformed = exchange.malformed.as_ref().map(Malformed::reason);
        if let Some(cause) = exchange.cause.as_deref().or(malformed) {
            self.masked(b",\"cause\":", cause.as_bytes(), line);
        }
    }

    /// The head of the request as the filters left it, as far as the policy wants to see it.
    pub(crate) fn headers(&self, key: &[u8], entry: &Entry<'_>, line: &mut Vec<u8>) {
        let wanted: &dyn Fn(&str) -> bool = match &entry.policy.headers {
            Headers::Nothing => return,
            Headers::Only(names) => &|name| names.iter().any(|known| **known == *name),
            Headers::Harmless => &|_| true,
        };
        line.extend_from_slice(key);
        let mut is_first = true;
        for (name, content) in entry.exchange.request.fields.iter() {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            if !wanted(&name) || self.masking.covers(&name) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                line.push(b',');
            }
            json::string(name.as_bytes(), line);
            self.masked(b":", content, line);
        }
        line.push(b'}');
    }

    /// What was seen of the bodies.
    pub(crate) fn bodies(&self, keys: &body::BothKeys, entry: &Entry<'_>, line: &mut Vec<u8>) {
        let Some(bodies) = entry.bodies else { return };
        let limit = entry.policy.limit;
        if let Some(tap) = &bodies.request {
            tap.write(&keys.request, limit, &self.masking, line);
        }
        if let Some(tap) = &bodies.response {
            tap.write(&keys.response, limit, &self.masking, line);
        }
        if bodies.request.is_some() && !entry.request_whole {
            line.extend_from_slice(keys.partial);
        }
    }

    /// A target, with or without its query.
    pub(crate) fn target(&self, key: &[u8], target: &str, query: bool, line: &mut Vec<u8>) {
        let shown = match target.split_once('?') {
            Some((path, _)) if !query => path,
            Some(_) | None => target,
        };
        line.extend_from_slice(key);
        let mut value = Value::new(line);
        self.masking.target(shown.as_bytes(), &mut value);
        value.end();
        line.push(b'"');
    }

    /// A query by itself.
    pub(crate) fn query(&self, key: &[u8], query: &str, line: &mut Vec<u8>) {
        line.extend_from_slice(key);
        let mut value = Value::new(line);
        self.masking.query(query.as_bytes(), &mut value);
        value.end();
        line.push(b'"');
    }

    pub(crate) fn masked(&self, key: &[u8], content: &[u8], line: &mut Vec<u8>) {
        line.extend_from_slice(key);
        line.push(b'"');
        let mut value = Value::new(line);
        self.masking.text(content, &mut value);
        value.end();
        line.push(b'"');
    }
}

/// A client that left before an answer is a code of its own (499), though nobody was told.
pub(crate) fn shown_code(entry: &Entry<'_>) -> Option<&'static Code> {
    let left = entry.status == 0 && entry.outcome == Outcome::Gone;
    entry
        .exchange
        .reject
        .or(left.then_some(&codes::CLIENT_GONE))
}

pub(crate) fn level(status: u16, code: Option<&Code>, outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Truncated => "error",
        Outcome::Complete | Outcome::Gone if status >= 500 => "error",
        Outcome::Gone => "warn",
        Outcome::Complete if code.is_some() => "warn",
        Outcome::Complete => "info",
    }
}

/// OB-04.
fn times(entry: &Entry<'_>, line: &mut Vec<u8>) {
    let times = &entry.exchange.times;
    let total = entry.finished.saturating_sub(times.begun);
    millis(b",\"duration_ms\":", total, line);
    let mut upstream = Duration::ZERO;
    if !times.sent.is_zero() {
        let answered = if times.answered.is_zero() {
            entry.finished
        } else {
            times.answered
        };
        upstream = answered.saturating_sub(times.sent);
        millis(b",\"upstream_ms\":", upstream, line);
    }
    millis(b",\"gateway_ms\":", total.saturating_sub(upstream), line);
    if !times.answered.is_zero() {
        let answer = entry.finished.saturating_sub(times.answered);
        millis(b",\"answer_ms\":", answer, line);
    }
    if let Some(debug) = &entry.exchange.debug {
        line.extend_from_slice(b",\"phases_ms\":{");
        let mut before = &b"\""[..];
        for (phase, span) in &debug.spans {
            known(before, phase.as_bytes(), line);
            millis(b":", *span, line);
            before = b",\"";
        }
        line.push(b'}');
    }
}

pub(crate) const LISTENER: &[u8] = b",\"listener\":";
const ROUTE_ID: &[u8] = b",\"route_id\":";

pub(crate) fn addresses(client: IpAddr, peer: SocketAddr, line: &mut Vec<u8>) {
    line.extend_from_slice(b",\"client_ip\":\"");
    write_address(client, line);
    line.extend_from_slice(b"\",\"peer\":\"");
    socket(peer, line);
    line.push(b'"');
}

pub(crate) fn route(facts: &RouteFacts, line: &mut Vec<u8>) {
    some_text(b",\"path_template\":", facts.template.as_bytes(), line);
    text(ROUTE_ID, facts.id.as_bytes(), line);
    if let Some(version) = facts.version {
        number(b",\"route_version\":", version.get(), line);
    }
}

pub(crate) fn upstream(facts: &RouteFacts, line: &mut Vec<u8>) {
    some_text(b",\"upstream\":", facts.upstream.as_bytes(), line);
}
