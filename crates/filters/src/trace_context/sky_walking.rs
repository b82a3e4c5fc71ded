//! Version 3 of `SkyWalking`'s Cross Process Propagation Headers Protocol: `sw8`.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};
use sluicegate_core::{Exchange, TraceContext};
use sluicegate_http1::{Fields, InvalidField};

use super::{Received, SAMPLED, Sent, only};

const SW8: &str = "sw8";
/// The protocol wants the header to be shorter than this.
const LONGEST: usize = 2 << 10;
/// A longer name of a trace is not taken over: with the gateway's own the header could get too long.
const LONGEST_TRACE: usize = 256;
/// An endpoint or an address is cut to this.
const LONGEST_NAME: usize = 150;

/// The trace of a header with eight fields in their places.
pub(super) fn received(fields: &Fields) -> Option<Received> {
    let value = only(fields, SW8).filter(|value| value.len() < LONGEST)?;
    let mut parts = value.split(|byte| *byte == b'-');
    let sampled = match parts.next()? {
        b"0" => false,
        b"1" => true,
        _ => return None,
    };
    let name = text(parts.next()?).filter(|name| name.len() <= LONGEST_TRACE)?;
    let _segment = text(parts.next()?)?;
    let _span: u32 = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    for _ in ["service", "instance", "endpoint", "target"] {
        text(parts.next()?)?;
    }
    if parts.next().is_some() {
        return None;
    }
    let number: Vec<u8> = name.bytes().filter(|byte| *byte != b'-').collect();
    // The span is not known as a number, and the gateway's own takes its place.
    let known =
        TraceContext::from_hex(&number, b"0000000000000001", 0).filter(|_| number.len() == 32);
    let trace = known.unwrap_or_else(|| derived(&name));
    let is_other = name != trace.trace_id();
    Some(Received {
        trace: Some(trace),
        sampled: Some(sampled),
        debug: false,
        name: is_other.then(|| name.into()),
    })
}

/// A string of the protocol: base64, not empty, printable.
fn text(field: &[u8]) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(field).ok()?).ok()?;
    let fits = !text.is_empty() && !text.contains(char::is_control);
    fits.then_some(text)
}

/// The same number for the same name, wherever it is computed.
fn derived(name: &str) -> TraceContext {
    let digest = Sha256::digest(name);
    let (halves, _) = digest.as_chunks::<8>();
    let half = |index: usize| {
        halves
            .get(index)
            .map_or(0, |half| u64::from_be_bytes(*half))
    };
    TraceContext::from_random(half(0), half(1), 1, 0)
}

/// What the header says of this gateway; encoded once.
pub(super) struct Gateway {
    /// Service and instance.
    names: String,
}

impl Gateway {
    pub(super) fn new(service: &str, instance: &str) -> Self {
        Self {
            names: format!("{}-{}", STANDARD.encode(service), STANDARD.encode(instance)),
        }
    }

    /// Writes the header. The gateway's segment has one span, so its number is 0. The endpoint is
    /// the path template once the route is known; before that only the method, since a path would
    /// make an endpoint of every id.
    pub(super) fn pass_on(
        &self,
        exchange: &mut Exchange,
        sent: &Sent<'_>,
    ) -> Result<(), InvalidField> {
        let trace = sent.trace;
        let sample = trace.flags & SAMPLED;
        let name = STANDARD.encode(sent.name.unwrap_or_else(|| trace.trace_id()));
        let segment = STANDARD.encode(format!("{}.{}", trace.trace_id(), trace.span_id()));
        let endpoint = match &exchange.route {
            Some(route) => STANDARD.encode(short(&route.template)),
            None => STANDARD.encode(short(exchange.request.method())),
        };
        let target = exchange.request.authority().filter(|host| !host.is_empty());
        let target = STANDARD.encode(short(target.unwrap_or(&exchange.listener)));
        let names = &self.names;
        let value = format!("{sample}-{name}-{segment}-0-{names}-{endpoint}-{target}");
        exchange.request.fields.set(SW8, value.as_bytes())
    }
}

fn short(name: &str) -> &str {
    name.get(..LONGEST_NAME).unwrap_or(name)
}
