//! B3 (openzipkin/b3-propagation), in one header or in many.

use sluicegate_core::TraceContext;
use sluicegate_http1::{Fields, InvalidField};

use super::{Received, SAMPLED, Sent, only};

const SINGLE: &str = "b3";
const TRACE: &str = "X-B3-TraceId";
const SPAN: &str = "X-B3-SpanId";
const PARENT: &str = "X-B3-ParentSpanId";
const STATE: &str = "X-B3-Sampled";
const FLAGS: &str = "X-B3-Flags";

/// `{trace}-{span}-{state}-{parent}`; the last two may be missing, and the state may stand alone.
pub(super) fn received_single(fields: &Fields) -> Option<Received> {
    let value = only(fields, SINGLE)?;
    let mut parts = value.split(|byte| *byte == b'-');
    let first = parts.next()?;
    let Some(span) = parts.next() else {
        return decided(first);
    };
    let state = parts.next();
    let parent = parts.next();
    if parts.next().is_some() || parent.is_some_and(|parent| !is_span(parent)) {
        return None;
    }
    let mut received = match state {
        Some(state) => decided(state)?,
        None => Received::default(),
    };
    received.trace = Some(TraceContext::from_hex(first, span, 0)?);
    Some(received)
}

/// The same in a header each.
pub(super) fn received_multi(fields: &Fields) -> Option<Received> {
    let is_debug = only(fields, FLAGS) == Some(b"1");
    let mut received = match only(fields, STATE) {
        _ if is_debug => decided(b"d")?,
        // Early tracers wrote the words.
        Some(b"1" | b"true") => decided(b"1")?,
        Some(b"0" | b"false") => decided(b"0")?,
        Some(_) => return None,
        None if fields.contains(STATE) => return None,
        None => Received::default(),
    };
    if fields.contains(TRACE) || fields.contains(SPAN) {
        let (trace, span) = (only(fields, TRACE)?, only(fields, SPAN)?);
        received.trace = Some(TraceContext::from_hex(trace, span, 0)?);
    }
    (received.trace.is_some() || received.sampled.is_some()).then_some(received)
}

/// A state: accept, deny, or debug, which is a stronger accept.
fn decided(state: &[u8]) -> Option<Received> {
    let (sampled, debug) = match state {
        b"1" => (true, false),
        b"0" => (false, false),
        b"d" => (true, true),
        _ => return None,
    };
    Some(Received {
        sampled: Some(sampled),
        debug,
        ..Received::default()
    })
}

fn is_span(text: &[u8]) -> bool {
    text.len() == 16
        && text
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Takes both spellings away.
pub(super) fn remove(fields: &mut Fields) {
    for name in [SINGLE, TRACE, SPAN, PARENT, STATE, FLAGS] {
        fields.remove(name);
    }
}

pub(super) fn pass_on_single(fields: &mut Fields, sent: &Sent<'_>) -> Result<(), InvalidField> {
    let state = match sent {
        Sent { debug: true, .. } => "d",
        Sent { trace, .. } if trace.flags & SAMPLED != 0 => "1",
        Sent { .. } => "0",
    };
    let mut value = [sent.trace.trace_id(), sent.trace.span_id(), state].join("-");
    if let Some(parent) = sent.parent {
        value.push('-');
        value.push_str(parent);
    }
    fields.set(SINGLE, value.as_bytes())
}

pub(super) fn pass_on_multi(fields: &mut Fields, sent: &Sent<'_>) -> Result<(), InvalidField> {
    fields.set(TRACE, sent.trace.trace_id().as_bytes())?;
    fields.set(SPAN, sent.trace.span_id().as_bytes())?;
    if let Some(parent) = sent.parent {
        fields.set(PARENT, parent.as_bytes())?;
    }
    if sent.debug {
        // Debug implies accept, so the state is not sent along.
        return fields.set(FLAGS, b"1");
    }
    let sampled = sent.trace.flags & SAMPLED != 0;
    fields.set(STATE, if sampled { b"1" } else { b"0" })
}
