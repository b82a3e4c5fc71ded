//! From bytes to heads: what `httparse` accepts, and then only what nobody reads differently.

use std::mem::MaybeUninit;

use httparse::{Error, ParserConfig, Status};

use crate::limits::{HeadLimits, MOST_FIELDS};
use crate::malformed::{Fault, Malformed};
use crate::request::{RequestHead, Version};
use crate::response::ResponseHead;
use crate::target::Target;

/// Reads a request head from the start of `input`: how many bytes it took, or `None` while its
/// end has not come. One empty line before it is tolerated (RFC 9112 section 2.2).
///
/// `head` is meaningful after `Some` only; after an error it has method and target for the log,
/// as far as they were read.
///
/// # Errors
///
/// The head is invalid, ambiguous or beyond a limit. It is given as soon as the bytes seen cannot
/// become a valid head, at the latest with the end of the head.
pub fn parse_request(
    input: &[u8],
    limits: &HeadLimits,
    head: &mut RequestHead,
) -> Result<Option<usize>, Malformed> {
    let (skipped, rest) = match input {
        [b'\r', b'\n', rest @ ..] => (2, rest),
        [b'\r'] => return Ok(None),
        _ => (0, input),
    };
    if let Some(b'\r' | b'\n') = rest.first() {
        return Err(Fault::BlankLines.into());
    }
    let view = rest.get(..limits.bytes()).unwrap_or(rest);

    let mut slots = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut []);
    let parsed = request
        .parse_with_uninit_headers(view, slots.get_mut(..limits.fields()).unwrap_or_default());

    if let (Ok(Status::Complete(consumed)), Some(method), Some(target), Some(version)) =
        (parsed, request.method, request.path, request.version)
    {
        head.begin(
            method,
            target,
            if version == 0 {
                Version::Http10
            } else {
                Version::Http11
            },
        );
        if target.len() > limits.target {
            return Err(Fault::TargetTooLong.into());
        }
        head.fields.take_over(view, consumed, request.headers)?;
        let form = Target::parse(method, target)?;
        head.check_host()?;
        head.adopt(form).map_err(|_| Fault::Target)?;
        return Ok(Some(skipped + consumed));
    }

    head.begin(
        request.method.unwrap_or_default(),
        request.path.unwrap_or_default(),
        Version::Http11,
    );
    if target_seen(&request, view) > limits.target {
        return Err(Fault::TargetTooLong.into());
    }
    match parsed {
        Ok(_) => check_unfinished(view, limits).map(|()| None),
        Err(Error::Version) => Err(version_fault(view).into()),
        Err(error) => Err(fault_of(error, Fault::RequestLine).into()),
    }
}

/// Reads a response head, interim or final, from the start of `input`: how many bytes it took, or
/// `None` while its end has not come.
///
/// # Errors
///
/// As for [`parse_request`].
pub fn parse_response(
    input: &[u8],
    limits: &HeadLimits,
    head: &mut ResponseHead,
) -> Result<Option<usize>, Malformed> {
    if let Some(b'\r' | b'\n') = input.first() {
        return Err(Fault::BlankLines.into());
    }
    let view = input.get(..limits.bytes()).unwrap_or(input);

    let mut slots = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        view,
        slots.get_mut(..limits.fields()).unwrap_or_default(),
    );

    match parsed {
        Ok(Status::Complete(consumed)) => {
            let status = response
                .code
                .filter(|&status| status >= 100)
                .ok_or(Fault::StatusLine)?;
            let version = if response.version == Some(0) {
                Version::Http10
            } else {
                Version::Http11
            };
            head.begin(status, response.reason.unwrap_or_default(), version);
            head.fields.take_over(view, consumed, response.headers)?;
            Ok(Some(consumed))
        }
        Ok(Status::Partial) => check_unfinished(view, limits).map(|()| None),
        Err(Error::Version) => Err(version_fault_at(view).into()),
        Err(error) => Err(fault_of(error, Fault::StatusLine).into()),
    }
}

/// How much of the target has come.
fn target_seen(request: &httparse::Request<'_, '_>, view: &[u8]) -> usize {
    match (request.method, request.path) {
        (_, Some(path)) => path.len(),
        (Some(method), None) => {
            let behind = view.get(method.len() + 1..).unwrap_or_default();
            behind
                .iter()
                .position(|octet| !octet.is_ascii_graphic())
                .unwrap_or(behind.len())
        }
        (None, None) => 0,
    }
}

/// What can be said of a head whose end has not come.
fn check_unfinished(view: &[u8], limits: &HeadLimits) -> Result<(), Malformed> {
    if view.len() >= limits.bytes() {
        return Err(Fault::HeadTooLarge.into());
    }
    let has_bare_lf = memchr::memchr_iter(b'\n', view)
        .any(|at| at.checked_sub(1).and_then(|before| view.get(before)) != Some(&b'\r'));
    if has_bare_lf {
        Err(Fault::BadLineEnd.into())
    } else {
        Ok(())
    }
}

fn version_fault(view: &[u8]) -> Fault {
    let version = view
        .splitn(3, |&octet| octet == b' ')
        .nth(2)
        .unwrap_or_default();
    match version_fault_at(version) {
        Fault::StatusLine => Fault::RequestLine,
        fault => fault,
    }
}

/// Tells another version of HTTP from what is no version at all.
fn version_fault_at(text: &[u8]) -> Fault {
    match text {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor, ..] if minor.is_ascii_digit() => {
            Fault::Version
        }
        [b'H', b'T', b'T', b'P', b'/', major, ..] if major.is_ascii_digit() && *major != b'1' => {
            Fault::Version
        }
        _ => Fault::StatusLine,
    }
}

fn fault_of(error: Error, first_line: Fault) -> Fault {
    match error {
        Error::HeaderName => Fault::FieldName,
        Error::HeaderValue => Fault::FieldValue,
        Error::NewLine => Fault::BadLineEnd,
        Error::TooManyHeaders => Fault::TooManyFields,
        Error::Status | Error::Token | Error::Version => first_line,
    }
}
