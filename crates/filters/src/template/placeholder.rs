//! What may be filled in, and where it comes from.

use std::io::Write;

use sluicegate_core::Exchange;
use sluicegate_http1::host_and_port;

use super::Escape;

/// The names, as users write them.
pub(crate) const KNOWN: [&str; 10] = [
    "request_id",
    "client_ip",
    "route",
    "host",
    "path",
    "query",
    "scheme",
    "method",
    "param.NAME",
    "header.NAME",
];

/// One thing that is known of an exchange, as it is at the moment of writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Placeholder {
    RequestId,
    ClientIp,
    Route,
    /// The host the client asked for, without its port.
    Host,
    /// The path in normal form.
    Path,
    /// What is left of the path behind so many segments: nothing, or text that begins with `/`.
    PathAfter(usize),
    /// What follows `?`, without it.
    Query,
    Scheme,
    Method,
    /// A parameter of the route's path, escapes as they came.
    Param(Box<str>),
    /// The first value of a request header.
    Header(Box<str>),
}

impl Placeholder {
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "request_id" => Self::RequestId,
            "client_ip" => Self::ClientIp,
            "route" => Self::Route,
            "host" => Self::Host,
            "path" => Self::Path,
            "query" => Self::Query,
            "scheme" => Self::Scheme,
            "method" => Self::Method,
            _ => {
                let (kind, name) = word.split_once('.')?;
                let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                match kind {
                    "param" if !name.is_empty() && name.bytes().all(is_word) => {
                        Self::Param(name.into())
                    }
                    "header" if !name.is_empty() => Self::Header(name.into()),
                    _ => return None,
                }
            }
        })
    }

    /// As it was written, for messages.
    pub(super) fn name(&self) -> String {
        let word = match self {
            Self::RequestId => "request_id",
            Self::ClientIp => "client_ip",
            Self::Route => "route",
            Self::Host => "host",
            Self::Path | Self::PathAfter(_) => "path",
            Self::Query => "query",
            Self::Scheme => "scheme",
            Self::Method => "method",
            Self::Param(name) => return format!("{{param.{name}}}"),
            Self::Header(name) => return format!("{{header.{name}}}"),
        };
        format!("{{{word}}}")
    }

    /// Appends the value; what is not there is nothing.
    pub(crate) fn write(&self, exchange: &Exchange, escape: Escape, out: &mut Vec<u8>) {
        if *self == Self::ClientIp {
            // Digits, dots and colons need no escape anywhere.
            let written = write!(out, "{}", exchange.client);
            debug_assert!(written.is_ok(), "a vector takes all that is written");
            return;
        }
        escape.write(self.value(exchange), out);
    }

    pub(crate) fn value<'a>(&'a self, exchange: &'a Exchange) -> &'a [u8] {
        let request = &exchange.request;
        let text = match self {
            Self::RequestId => exchange.request_id.as_ref().map_or("", |id| id.as_str()),
            Self::ClientIp => "",
            Self::Route => exchange.route.as_ref().map_or("", |route| &route.id),
            Self::Host => host(exchange),
            Self::Path => request.path(),
            Self::PathAfter(segments) => after(request.path(), *segments),
            Self::Query => request.query().unwrap_or_default(),
            Self::Scheme => exchange.scheme.as_str(),
            Self::Method => request.method(),
            Self::Param(name) => exchange.params.get(name).unwrap_or_default(),
            Self::Header(name) => return request.fields.get(name).unwrap_or_default(),
        };
        text.as_bytes()
    }
}

/// The host the client asked for; empty when there is none or it is none.
fn host(exchange: &Exchange) -> &str {
    let authority = exchange.host.as_deref();
    let authority = authority.or_else(|| exchange.request.authority());
    authority
        .and_then(host_and_port)
        .map_or("", |(host, _)| host)
}

fn after(path: &str, segments: usize) -> &str {
    let mut rest = path;
    for _ in 0..segments {
        let segment = rest.strip_prefix('/').unwrap_or(rest);
        let slash = segment.find('/').unwrap_or(segment.len());
        rest = segment.get(slash..).unwrap_or_default();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn a_path_loses_whole_segments() {
        for (path, segments, left) in [
            ("/old/a/b/", 1, "/a/b/"),
            ("/old/", 1, "/"),
            ("/old", 1, ""),
            ("/a/b", 0, "/a/b"),
            ("/a", 3, ""),
        ] {
            assert_eq!(after(path, segments), left, "{path}");
        }
    }
}
