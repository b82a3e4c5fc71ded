//! Heads, converted once at each edge: what filters see is the same for every version.

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, request,
};
use sluicegate_core::{Reject, codes};
use sluicegate_http1::{
    Fields, Framing, HeadLimits, Malformed, RequestHead, RequestParts, ResponseHead,
    assemble_request, assemble_response,
};

/// Names that HTTP/2 has no use for (RFC 9113 section 8.2.2), and `host`, which is `:authority`.
const NOT_ON_HTTP2: [&[u8]; 7] = [
    b"connection",
    b"host",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"transfer-encoding",
    b"upgrade",
];

/// Fills `head` with a client's request, and says how its body is framed. `ends` tells that there is none.
///
/// # Errors
/// The request breaks a rule of HTTP or a limit; `head` then has what the record needs.
pub(crate) fn take_request(
    parts: &request::Parts,
    ends: bool,
    head: &mut RequestHead,
    limits: &HeadLimits,
) -> Result<Framing, Malformed> {
    let authority = parts.uri.authority().map(http::uri::Authority::as_str);
    let target = parts
        .uri
        .path_and_query()
        .map(http::uri::PathAndQuery::as_str);
    let method = if is_websocket(parts) {
        // RFC 8441 section 5: what HTTP/1.1 asks by GET and `Upgrade`.
        "GET"
    } else {
        parts.method.as_str()
    };
    let request = RequestParts {
        method,
        target: target.or(authority).unwrap_or_default(),
        authority,
    };
    assemble_request(head, request, text_of(&parts.headers), limits)?;
    if ends {
        return Ok(Framing::Empty);
    }
    let declared = sluicegate_http1::request_framing(head)?;
    Ok(match declared {
        Framing::Length(length) => Framing::Length(length),
        // How much comes is known when it has come: towards HTTP/1.1 that is chunked.
        Framing::Empty | Framing::Chunked | Framing::UntilClose => Framing::Chunked,
    })
}

/// Whether a client asks to speak WebSocket on this stream (RFC 8441).
pub(crate) fn is_websocket(parts: &request::Parts) -> bool {
    let protocol = parts.extensions.get::<h2::ext::Protocol>();
    protocol.is_some_and(|protocol| protocol.as_str() == "websocket")
}

/// Fills `head` with an upstream's answer, interim or final.
///
/// # Errors
/// The answer breaks a rule of HTTP or a limit.
pub(crate) fn take_response(
    status: StatusCode,
    headers: &HeaderMap,
    head: &mut ResponseHead,
    limits: &HeadLimits,
) -> Result<(), Malformed> {
    assemble_response(head, status.as_u16(), text_of(headers), limits)
}

fn text_of(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
}

/// An answer's head for a client. What it says of the body is `framing` alone.
pub(crate) fn response_for(head: &ResponseHead, framing: Framing) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(head.status()).unwrap_or_default();
    let mut headers = from_fields(&head.fields);
    let has_none = matches!(head.status(), 100..=199 | 204);
    match framing {
        Framing::Length(length) if !has_none => {
            headers.insert(http::header::CONTENT_LENGTH, length.into());
        }
        // By definition there is no body: the length is the one that GET would have brought.
        Framing::Empty if !has_none => {}
        Framing::Length(_) | Framing::Empty | Framing::Chunked | Framing::UntilClose => {
            headers.remove(http::header::CONTENT_LENGTH);
        }
    }
    *response.headers_mut() = headers;
    response
}

/// A request's head for an upstream.
///
/// # Errors
/// 502, when the target or the host is none that HTTP/2 can say.
pub(crate) fn request_for(
    head: &RequestHead,
    framing: Framing,
    scheme: &str,
) -> Result<Request<()>, Reject> {
    let unsayable = |what: &'static str| Reject::new(&codes::INTERNAL).because(what);
    let authority = head.authority().unwrap_or_default();
    // OPTIONS * has no path in a URI: RFC 9113 section 8.3.1 writes it as `*`.
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query(head.target())
        .build()
        .map_err(|_| unsayable("the request has no form in HTTP/2"))?;
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(head.method().as_bytes())
        .map_err(|_| unsayable("the method has no form in HTTP/2"))?;
    *request.uri_mut() = uri;
    *request.version_mut() = http::Version::HTTP_2;
    let mut headers = from_fields(&head.fields);
    match framing {
        Framing::Length(length) => {
            headers.insert(http::header::CONTENT_LENGTH, length.into());
        }
        Framing::Empty | Framing::Chunked | Framing::UntilClose => {
            headers.remove(http::header::CONTENT_LENGTH);
        }
    }
    headers.insert(http::header::TE, HeaderValue::from_static("trailers"));
    *request.headers_mut() = headers;
    Ok(request)
}

/// Fields as HTTP/2 has them: names in lower case, nothing that belongs to a connection.
pub(crate) fn from_fields(fields: &Fields) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(fields.len() + 1);
    for (name, value) in fields.iter() {
        if NOT_ON_HTTP2
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
        {
            continue;
        }
        // Both have been checked to be what a field may hold, by rules that are no wider.
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            headers.append(name, value);
        }
    }
    headers
}
