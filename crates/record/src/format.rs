//! One exchange as one line of JSON.

use std::{
    io::Write,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use sluicegate_core::{Code, Outcome, RouteFacts, codes};
use sluicegate_http1::Malformed;

use crate::{
    entry::{Entry, shown_status},
    fixed::Agent,
    json::{self, Value},
    masking::Masking,
    metrics::NO_ROUTE,
    timestamp::Timestamp,
};

/// The name set `sluicegate`: the keys of [`crate::FIELDS`].
///
/// Every value that comes from outside is escaped and bounded, so one exchange is one line that
/// parses, whatever was sent (LG-01). Nothing is allocated but room in the line's buffer.
#[derive(Debug, Clone, Default)]
pub struct LogFormat {
    masking: Masking,
}

impl LogFormat {
    /// A format that hides what `masking` names.
    pub fn new(masking: Masking) -> Self {
        Self { masking }
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
        let status = shown_status(entry.status, entry.outcome);
        let code = shown_code(entry);
        line.extend_from_slice(b"{\"timestamp\":\"");
        timestamp.write(entry.unix, line);
        let level = level(status, code, entry.outcome);
        known(b"\",\"level\":\"", level.as_bytes(), line);
        self.who(entry, line);
        self.place(entry, line);
        self.result(entry, status, code, line);
        times(entry, line);
        number(b",\"request_bytes\":", entry.request_bytes, line);
        number(b",\"response_bytes\":", entry.response_bytes, line);
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
        let target = request.original_target().as_bytes();
        if !target.is_empty() {
            line.extend_from_slice(b",\"path\":\"");
            let mut value = Value::new(line);
            self.masking.target(target, &mut value);
            value.end();
            line.push(b'"');
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

    fn masked(&self, key: &[u8], content: &[u8], line: &mut Vec<u8>) {
        line.extend_from_slice(key);
        line.push(b'"');
        let mut value = Value::new(line);
        self.masking.text(content, &mut value);
        value.end();
        line.push(b'"');
    }
}

/// A client that left before an answer is a code of its own (499), though nobody was told.
fn shown_code(entry: &Entry<'_>) -> Option<&'static Code> {
    let left = entry.status == 0 && entry.outcome == Outcome::Gone;
    entry
        .exchange
        .reject
        .or(left.then_some(&codes::CLIENT_GONE))
}

fn level(status: u16, code: Option<&Code>, outcome: Outcome) -> &'static str {
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
}

pub(crate) const LISTENER: &[u8] = b",\"listener\":";
const ROUTE_ID: &[u8] = b",\"route_id\":";

pub(crate) fn addresses(client: IpAddr, peer: SocketAddr, line: &mut Vec<u8>) {
    line.extend_from_slice(b",\"client_ip\":\"");
    address(client, line);
    line.extend_from_slice(b"\",\"peer\":\"");
    socket(peer, line);
    line.push(b'"');
}

pub(crate) fn route(facts: &RouteFacts, line: &mut Vec<u8>) {
    some_text(b",\"path_template\":", facts.template.as_bytes(), line);
    text(ROUTE_ID, facts.id.as_bytes(), line);
}

pub(crate) fn upstream(facts: &RouteFacts, line: &mut Vec<u8>) {
    some_text(b",\"upstream\":", facts.upstream.as_bytes(), line);
}

#[inline]
pub(crate) fn text(key: &[u8], content: &[u8], line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    json::string(content, line);
}

/// A word whose type admits nothing that would have to be escaped.
#[inline]
fn known(key: &[u8], word: &[u8], line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    line.extend_from_slice(word);
    line.push(b'"');
}

#[inline]
fn some_text(key: &[u8], content: &[u8], line: &mut Vec<u8>) {
    if !content.is_empty() {
        text(key, content, line);
    }
}

#[inline]
fn number(key: &[u8], number: impl itoa::Integer, line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    digits(number, line);
}

fn digits(number: impl itoa::Integer, line: &mut Vec<u8>) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Always with three decimals: an index that saw `3` first would refuse `45.2` afterwards.
#[inline]
fn millis(key: &[u8], span: Duration, line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
    digits(micros / 1_000, line);
    let fraction = micros % 1_000;
    let digit = |power| b'0' + u8::try_from(fraction / power % 10).unwrap_or(0);
    line.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
}

fn socket(socket: SocketAddr, line: &mut Vec<u8>) {
    match socket {
        SocketAddr::V4(_) => address(socket.ip(), line),
        SocketAddr::V6(_) => {
            line.push(b'[');
            address(socket.ip(), line);
            line.push(b']');
        }
    }
    line.push(b':');
    digits(socket.port(), line);
}

/// The standard library's formatting costs more than all of the rest of a line takes for its
/// numbers, so the usual family is written by hand.
fn address(address: IpAddr, line: &mut Vec<u8>) {
    let IpAddr::V4(address) = address else {
        // Writing to a Vec cannot fail.
        let _ = write!(line, "{address}");
        return;
    };
    for octet in address.octets() {
        let (text, length) = OCTETS.get(usize::from(octet)).copied().unwrap_or_default();
        line.extend_from_slice(&text);
        line.truncate(line.len() + usize::from(length) - text.len());
    }
    line.pop();
}

/// Every octet with the dot behind it: copying four bytes and taking some back is cheaper than
/// copying as many as there are.
static OCTETS: [([u8; 4], u8); 256] = octets();

const fn octets() -> [([u8; 4], u8); 256] {
    let mut table = [([b'.'; 4], 0); 256];
    let mut rest: &mut [([u8; 4], u8)] = &mut table;
    let mut octet = 0_u8;
    while let Some((entry, tail)) = rest.split_first_mut() {
        let [hundreds, tens, ones] = [
            b'0' + octet / 100,
            b'0' + octet / 10 % 10,
            b'0' + octet % 10,
        ];
        *entry = match octet {
            0..10 => ([ones, b'.', b'.', b'.'], 2),
            10..100 => ([tens, ones, b'.', b'.'], 3),
            100.. => ([hundreds, tens, ones, b'.'], 4),
        };
        octet = octet.wrapping_add(1);
        rest = tail;
    }
    table
}
