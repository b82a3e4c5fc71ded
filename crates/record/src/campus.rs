//! The name set `campus` (OB-11, OB-12): keys in camel case, levels in capitals.

use sluicegate_core::write_address;
use sluicegate_http1::Malformed;

use crate::{
    body,
    entry::{Entry, shown_status},
    format::{LogFormat, level, shown_code},
    line::{known, millis, number, socket, some_text, text},
    metrics::NO_ROUTE,
    timestamp::Timestamp,
};

const BODIES: body::BothKeys = body::BothKeys {
    request: body::Keys {
        digest: b",\"requestSha256\":\"",
        text: b",\"requestBody\":\"",
        omitted: b",\"requestBodyOmitted\":\"",
    },
    response: body::Keys {
        digest: b",\"responseSha256\":\"",
        text: b",\"responseBody\":\"",
        omitted: b",\"responseBodyOmitted\":\"",
    },
    partial: b",\"requestBodyPartial\":true",
};

impl LogFormat {
    pub(crate) fn write_campus(
        &self,
        timestamp: &mut Timestamp,
        entry: &Entry<'_>,
        line: &mut Vec<u8>,
    ) {
        let exchange = entry.exchange;
        let status = shown_status(entry.status, entry.outcome);
        let code = shown_code(entry);
        line.extend_from_slice(b"{\"timestamp\":\"");
        timestamp.write(entry.unix, line);
        let level = match level(status, code, entry.outcome) {
            "error" => "ERROR",
            "warn" => "WARN",
            _ => "INFO",
        };
        known(b"\",\"level\":\"", level.as_bytes(), line);
        if let Some(id) = &exchange.request_id {
            known(b",\"requestId\":\"", id.as_bytes(), line);
        }
        if let Some(trace) = &exchange.trace {
            known(b",\"traceId\":\"", trace.trace_id_bytes(), line);
        }
        let principal = exchange.principal.as_ref();
        if let Some(user) = principal.and_then(|principal| principal.user.as_deref()) {
            text(b",\"userId\":", user.as_bytes(), line);
        }
        some_text(b",\"method\":", exchange.request.method().as_bytes(), line);
        self.path_and_query(entry, line);
        if status != 0 {
            number(b",\"status\":", status, line);
        }
        let took = entry.finished.saturating_sub(exchange.times.begun);
        millis(b",\"durationMs\":", took, line);
        let route = exchange.route.as_deref();
        if let Some(route) = route {
            some_text(b",\"serviceId\":", route.upstream.as_bytes(), line);
        }
        if let Some(endpoint) = exchange.attempt.endpoint {
            line.extend_from_slice(b",\"instanceId\":\"");
            socket(endpoint, line);
            line.push(b'"');
        }
        let route = route.map_or(NO_ROUTE, |route| &*route.id);
        text(b",\"routeId\":", route.as_bytes(), line);
        line.extend_from_slice(b",\"clientIp\":\"");
        write_address(exchange.client, line);
        line.push(b'"');
        if let Some(code) = code {
            known(b",\"code\":\"", code.name.as_bytes(), line);
        }
        let malformed = exchange.malformed.as_ref().map(Malformed::reason);
        if let Some(cause) = exchange.cause.as_deref().or(malformed) {
            self.masked(b",\"cause\":", cause.as_bytes(), line);
        }
        self.headers(b",\"headers\":{", entry, line);
        number(b",\"requestBytes\":", entry.request_bytes, line);
        number(b",\"responseBytes\":", entry.response_bytes, line);
        self.bodies(&BODIES, entry, line);
        line.extend_from_slice(b"}\n");
    }

    fn path_and_query(&self, entry: &Entry<'_>, line: &mut Vec<u8>) {
        let target = entry.exchange.request.original_target();
        if target.is_empty() {
            return;
        }
        self.target(b",\"path\":\"", target, false, line);
        if let Some((_, query)) = target.split_once('?').filter(|_| entry.policy.query) {
            self.query(b",\"query\":\"", query, line);
        }
    }
}
