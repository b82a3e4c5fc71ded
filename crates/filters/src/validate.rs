//! `validate`: refuses requests that no service behind should have to think about.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Code, Cx, Exchange, Filter, InvalidConfig, Phase, Reject, Step};
use sluicegate_http1::host_and_port;

use crate::{media_type::MediaRange, method as names};

mod encoding;
mod hosts;
mod method;

use encoding::Forbidden;
use hosts::Hosts;
use method::Methods;

/// Checks requests by their head. On the entry chain it stands before the match, on a route before
/// authentication. Sizes of header, target and body are limits of the listener.
///
/// Without any setting it refuses what has no meaning: escapes in the query that are none
/// (`%zz`), escapes in path or query that stand for control characters or for bytes that are no
/// UTF-8.
///
/// A method that is not listed is answered with 405 and `Allow` when it is a registered one, else
/// with 501: nobody here knows it (RFC 9110 §9.1). A CORS preflight is an `OPTIONS`: list it where
/// browsers call from other origins.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The methods that pass; any when left out. `HEAD` does not come with `GET`.
    methods: Option<Vec<String>>,
    /// The hosts that pass: names without ports, `*.example.com` for every subdomain. Others get
    /// 421, requests without a host 400.
    hosts: Option<Vec<String>>,
    /// The longest path in bytes, in its normal form; a longer one gets 414.
    #[schemars(range(min = 1))]
    max_path_length: Option<usize>,
    /// The most segments of a path.
    #[schemars(range(min = 1))]
    max_path_segments: Option<usize>,
    /// The most parameters of a query.
    #[schemars(range(min = 1))]
    max_query_parameters: Option<usize>,
    /// Escapes in path and query have to be sound: two hexadecimal digits, no control characters,
    /// UTF-8.
    check_encoding: bool,
    /// Characters that stand neither in the path nor in the query, neither raw nor escaped, such as
    /// `<>"'`.
    forbidden_characters: String,
    /// Values of header fields consist of visible ASCII, spaces and tabs only.
    ascii_header_values: bool,
    /// Media types that a body may have, such as `application/json` or `image/*`; others get 415, a
    /// body without a type too.
    content_types: Option<Vec<String>>,
    /// Methods that come without a body, such as `GET`.
    bodiless_methods: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            methods: None,
            hosts: None,
            max_path_length: None,
            max_path_segments: None,
            max_query_parameters: None,
            check_encoding: true,
            forbidden_characters: String::new(),
            ascii_header_values: false,
            content_types: None,
            bodiless_methods: Vec::new(),
        }
    }
}

macro_rules! codes {
    ($($constant:ident = $name:literal $status:literal $reason:literal $title:literal $detail:literal;)*) => {
        $(static $constant: Code =
            Code { name: $name, status: $status, title: $title, detail: $detail, reason: $reason };)*
        /// All of them.
        const CODES: &[&Code] = &[$(&$constant),*];
    };
}

codes! {
    METHOD_REFUSED = "method_refused" 405 "malformed"
        "Method refused" "The gateway does not accept this method; see the Allow field.";
    METHOD_UNKNOWN = "method_unknown" 501 "malformed"
        "Method unknown" "The gateway does not know this method.";
    HOST_MISSING = "host_missing" 400 "malformed"
        "Host missing" "The request does not say which host it is for.";
    HOST_REFUSED = "host_refused" 421 "malformed"
        "Misdirected request" "The gateway does not answer for this host.";
    PATH_TOO_LONG = "path_too_long" 414 "size"
        "Path too long" "The path is longer than the gateway accepts.";
    TOO_MANY_SEGMENTS = "too_many_segments" 400 "size"
        "Too many path segments" "The path has more segments than the gateway accepts.";
    TOO_MANY_PARAMETERS = "too_many_parameters" 400 "size"
        "Too many query parameters" "The query has more parameters than the gateway accepts.";
    BAD_ENCODING = "bad_encoding" 400 "malformed"
        "Bad encoding" "Path or query have an invalid escape, or one that stands for a control character or for no UTF-8.";
    FORBIDDEN_CHARACTER = "forbidden_character" 400 "malformed"
        "Forbidden character" "Path or query have a character that the gateway does not accept.";
    BAD_HEADER_VALUE = "bad_header_value" 400 "malformed"
        "Bad header value" "A header field has a value with other characters than visible ASCII.";
    BODY_NOT_EXPECTED = "body_not_expected" 400 "malformed"
        "Body not expected" "A request with this method comes without a body.";
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type" 415 "malformed"
        "Unsupported media type" "The body has no content type, or one that is not accepted here.";
}

/// The filter.
pub struct Validate {
    methods: Option<Methods>,
    hosts: Option<Hosts>,
    max_path_length: usize,
    max_path_segments: usize,
    max_query_parameters: usize,
    check_encoding: bool,
    forbidden: Option<Forbidden>,
    ascii_header_values: bool,
    content_types: Option<Box<[MediaRange]>>,
    bodiless_methods: Box<[String]>,
}

impl Filter for Validate {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "validate";
    const REJECTS: &'static [&'static Code] = CODES;

    fn phase(_: &Config) -> Phase {
        Phase::Validate
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        for (index, method) in config.bodiless_methods.iter().enumerate() {
            names::check(method, &format!("/bodiless_methods/{index}"))?;
        }
        let ranges = config
            .content_types
            .map(|types| MediaRange::list(&types, "/content_types"));
        Ok(Self {
            methods: config.methods.map(Methods::new).transpose()?,
            hosts: config.hosts.map(|hosts| Hosts::new(&hosts)).transpose()?,
            max_path_length: config.max_path_length.unwrap_or(usize::MAX),
            max_path_segments: config.max_path_segments.unwrap_or(usize::MAX),
            max_query_parameters: config.max_query_parameters.unwrap_or(usize::MAX),
            check_encoding: config.check_encoding,
            forbidden: Forbidden::new(&config.forbidden_characters)?,
            ascii_header_values: config.ascii_header_values,
            content_types: ranges.transpose()?,
            bodiless_methods: config.bodiless_methods.into(),
        })
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        self.check(cx.exchange).into()
    }
}

impl Validate {
    fn check(&self, exchange: &Exchange) -> Result<(), Reject> {
        let request = &exchange.request;
        if let Some(methods) = &self.methods {
            methods.check(request.method())?;
        }
        if let Some(hosts) = &self.hosts {
            let authority = exchange.host.as_deref().or_else(|| request.authority());
            let (host, _) = authority
                .and_then(host_and_port)
                .ok_or_else(|| Reject::new(&HOST_MISSING))?;
            if !hosts.contain(host) {
                return Err(Reject::new(&HOST_REFUSED));
            }
        }
        self.check_target(request.path(), request.query().unwrap_or_default())?;
        if self.ascii_header_values {
            let is_plain = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
            let other = request
                .fields
                .iter()
                .find(|(_, value)| !value.iter().all(is_plain));
            if let Some((name, _)) = other {
                let name = String::from_utf8_lossy(name).into_owned();
                return Err(Reject::new(&BAD_HEADER_VALUE).because(name));
            }
        }
        self.check_body(exchange)
    }

    fn check_target(&self, path: &str, query: &str) -> Result<(), Reject> {
        if path.len() > self.max_path_length {
            return Err(Reject::new(&PATH_TOO_LONG));
        }
        if self.max_path_segments < usize::MAX && parts(path, b'/') > self.max_path_segments {
            return Err(Reject::new(&TOO_MANY_SEGMENTS));
        }
        if self.max_query_parameters < usize::MAX && parts(query, b'&') > self.max_query_parameters
        {
            return Err(Reject::new(&TOO_MANY_PARAMETERS));
        }
        for part in [path, query] {
            if self.check_encoding {
                encoding::check(part).map_err(|why| Reject::new(&BAD_ENCODING).because(why))?;
            }
            if self
                .forbidden
                .as_ref()
                .is_some_and(|set| set.stand_in(part))
            {
                return Err(Reject::new(&FORBIDDEN_CHARACTER));
            }
        }
        Ok(())
    }

    fn check_body(&self, exchange: &Exchange) -> Result<(), Reject> {
        if self.content_types.is_none() && self.bodiless_methods.is_empty() {
            return Ok(());
        }
        let request = &exchange.request;
        let length = request.fields.get("Content-Length");
        let has_body = request.fields.contains("Transfer-Encoding")
            || length.is_some_and(|length| length.iter().any(|digit| *digit != b'0'));
        if !has_body {
            return Ok(());
        }
        if self
            .bodiless_methods
            .iter()
            .any(|method| method == request.method())
        {
            return Err(Reject::new(&BODY_NOT_EXPECTED));
        }
        let Some(ranges) = &self.content_types else {
            return Ok(());
        };
        let mut types = request.fields.get_all("Content-Type");
        let (first, second) = (types.next(), types.next());
        let accepted = first
            .filter(|_| second.is_none())
            .is_some_and(|found| ranges.iter().any(|range| range.contains(found)));
        if accepted {
            return Ok(());
        }
        // RFC 9110 §15.5.16: the answer may say what would be accepted.
        let accept: Vec<String> = ranges.iter().map(ToString::to_string).collect();
        Err(Reject::new(&UNSUPPORTED_MEDIA_TYPE).with_field("Accept", accept.join(", ")))
    }
}

/// How many parts that are not empty a mark divides a text into: a plain loop, because a search for
/// each of many short parts costs more than looking at every byte.
fn parts(text: &str, mark: u8) -> usize {
    let mut before = mark;
    let mut parts = 0;
    for byte in text.bytes() {
        parts += usize::from(before == mark && byte != mark);
        before = byte;
    }
    parts
}

#[cfg(test)]
mod tests;
