//! Rejects as gRPC clients understand them: status 200, and the real one in `grpc-status`.

use sluicegate_core::{Body, Code, Response};
use sluicegate_http1::RequestHead;

/// Whether the client speaks gRPC.
pub(crate) fn is_grpc(request: &RequestHead) -> bool {
    let kind = request.fields.get("Content-Type").unwrap_or_default();
    let Some(rest) = kind.strip_prefix(b"application/grpc") else {
        return false;
    };
    // `application/grpc-web` is another protocol.
    matches!(rest.first(), None | Some(b'+' | b';' | b' '))
}

/// Puts a reject into the form of an answer that has trailers only (gRPC over HTTP/2, "Responses").
pub(crate) fn dress(answer: &mut Response, code: &Code) {
    let status = answer.head.status();
    answer.head.set_status(200);
    answer.body = Body::Empty;
    let fields = &mut answer.head.fields;
    for name in ["Content-Length", "Content-Type"] {
        fields.remove(name);
    }
    let number = itoa::Buffer::new().format(status_of(status)).to_owned();
    // Constant words, digits, and the name of a code: none can be refused.
    let _ = fields.append("content-type", b"application/grpc");
    let _ = fields.append("grpc-status", number.as_bytes());
    let _ = fields.append("grpc-message", code.name.as_bytes());
}

/// The gRPC status nearest to an HTTP status. Where gRPC's own mapping for proxies says less than is
/// known here (429 and 504 would both be `UNAVAILABLE`), what is known is said.
fn status_of(status: u16) -> u8 {
    match status {
        400 | 411 | 417 | 422 => 3, // INVALID_ARGUMENT
        401 => 16,                  // UNAUTHENTICATED
        403 => 7,                   // PERMISSION_DENIED
        404 | 405 | 501 => 12,      // UNIMPLEMENTED
        408 | 504 => 4,             // DEADLINE_EXCEEDED
        409 => 10,                  // ABORTED
        413 | 414 | 429 | 431 => 8, // RESOURCE_EXHAUSTED
        499 => 1,                   // CANCELLED
        500 => 13,                  // INTERNAL
        502 | 503 => 14,            // UNAVAILABLE
        _ => 2,                     // UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_http1::Version;

    #[test]
    fn the_content_type_tells() {
        for (kind, says) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc;charset=utf-8", true),
            ("application/grpc-web", false),
            ("application/json", false),
        ] {
            let mut request = RequestHead::build("POST", "/", Version::Http2).unwrap();
            request.fields.set("Content-Type", kind.as_bytes()).unwrap();
            assert_eq!(is_grpc(&request), says, "{kind}");
        }
    }
}
