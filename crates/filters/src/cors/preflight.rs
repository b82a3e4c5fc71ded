//! What a preflight is told.

use sluicegate_core::{InvalidConfig, Span};
use sluicegate_http1::{Fields, RequestHead};

use super::{AllowedHeaders, vary};
use crate::{header_name::HeaderName, method};

const METHOD: &str = "Access-Control-Request-Method";
const HEADERS: &str = "Access-Control-Request-Headers";
const NETWORK: &str = "Access-Control-Request-Private-Network";

/// The answer to a preflight of an allowed origin.
pub(super) struct Preflight {
    /// None: the method it asks for.
    methods: Option<Box<str>>,
    headers: Headers,
    max_age: Option<Box<str>>,
    private_network: bool,
}

enum Headers {
    None,
    Names(Box<str>),
    AskedFor,
}

/// `OPTIONS` with `Origin` and the method of the request that is to follow.
pub(super) fn is_preflight(request: &RequestHead) -> bool {
    request.method() == "OPTIONS"
        && request.fields.contains("Origin")
        && request.fields.contains(METHOD)
}

impl Preflight {
    pub(super) fn new(
        methods: Option<Vec<String>>,
        headers: AllowedHeaders,
        max_age: Option<Span>,
        private_network: bool,
    ) -> Result<Self, InvalidConfig> {
        let methods = methods.unwrap_or_default();
        for (index, name) in methods.iter().enumerate() {
            let at = format!("/methods/{index}");
            if name == "*" {
                return Err(InvalidConfig::new(at, "`*` is not a method here")
                    .expecting("no `methods`: then a preflight is told the one it asks for"));
            }
            method::check(name, &at)?;
        }
        let headers = match headers {
            AllowedHeaders::Any(_) => Headers::AskedFor,
            AllowedHeaders::Names(names) => {
                if let Some(index) = names.iter().position(|name| name.as_str() == "*") {
                    let at = format!("/headers/{index}");
                    return Err(InvalidConfig::new(at, "`*` stands alone")
                        .expecting("headers: \"*\", or the names of the headers"));
                }
                joined(&names).map_or(Headers::None, Headers::Names)
            }
        };
        if max_age.is_some_and(|span| span.0.subsec_nanos() != 0) {
            return Err(
                InvalidConfig::new("/max_age", "browsers count whole seconds")
                    .expecting("such as 10m"),
            );
        }
        Ok(Self {
            methods: (!methods.is_empty()).then(|| methods.join(", ").into()),
            headers,
            max_age: max_age.map(|span| span.0.as_secs().to_string().into()),
            private_network,
        })
    }

    /// Writes the fields that only a preflight gets.
    pub(super) fn answer(&self, request: &RequestHead, fields: &mut Fields) {
        // All of these are tokens and digits: nothing here can be refused.
        if let Some(methods) = &self.methods {
            let _ = fields.set("Access-Control-Allow-Methods", methods.as_bytes());
        } else {
            vary(fields, METHOD);
            let mut asked = request.fields.get_all(METHOD);
            if let (Some(method), None) = (asked.next(), asked.next())
                && is_list(method, b"")
            {
                let _ = fields.set("Access-Control-Allow-Methods", method);
            }
        }
        match &self.headers {
            Headers::None => {}
            Headers::Names(names) => {
                let _ = fields.set("Access-Control-Allow-Headers", names.as_bytes());
            }
            Headers::AskedFor => {
                vary(fields, HEADERS);
                let mut asked = request.fields.get_all(HEADERS);
                if let (Some(names), None) = (asked.next(), asked.next())
                    && is_list(names, b", \t")
                {
                    let _ = fields.set("Access-Control-Allow-Headers", names);
                }
            }
        }
        if let Some(seconds) = &self.max_age {
            let _ = fields.set("Access-Control-Max-Age", seconds.as_bytes());
        }
        if self.private_network && request.fields.get(NETWORK) == Some(b"true") {
            let _ = fields.set("Access-Control-Allow-Private-Network", b"true");
        }
    }
}

/// Names as the value of one field; none for no names.
pub(super) fn joined(names: &[HeaderName]) -> Option<Box<str>> {
    let names: Vec<&str> = names.iter().map(HeaderName::as_str).collect();
    (!names.is_empty()).then(|| names.join(", ").into())
}

/// Whether the text consists of the characters of tokens, and of these.
fn is_list(text: &[u8], more: &[u8]) -> bool {
    let is_char =
        |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b) || more.contains(b);
    !text.is_empty() && text.iter().all(is_char)
}
