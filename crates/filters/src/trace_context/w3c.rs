//! W3C Trace Context: `traceparent` and `tracestate`.

use sluicegate_core::TraceContext;
use sluicegate_http1::{Fields, InvalidField};

use super::{Received, SAMPLED, only};

pub(super) const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
/// Sampled, and the random bit of Level 2; the standard wants all others sent as zero.
const KNOWN_FLAGS: u8 = 3;
/// What every receiver has to be able to pass on (§3.3.1.5).
const STATE_CHARACTERS: usize = 512;
const STATE_MEMBERS: usize = 32;
/// Members beyond this length go first when the whole is too long (§3.3.1.5).
const LONG_MEMBER: usize = 128;

/// The client's trace, if there is exactly one and it is valid.
pub(super) fn received(fields: &Fields) -> Option<Received> {
    let mut trace = TraceContext::parse(only(fields, TRACEPARENT)?)?;
    trace.flags &= KNOWN_FLAGS;
    Some(Received {
        trace: Some(trace),
        sampled: Some(trace.flags & SAMPLED != 0),
        ..Received::default()
    })
}

/// What the vendors of the trace say goes on with it, or goes.
pub(super) fn pass_state_on(fields: &mut Fields, continued: bool) -> Result<(), InvalidField> {
    if !fields.contains(TRACESTATE) {
        return Ok(());
    }
    let lines: Vec<_> = fields.get_all(TRACESTATE).collect();
    let state = if continued { joined(&lines) } else { None };
    match (state, lines.len()) {
        (Some(State::Whole), 1) => {}
        (Some(State::Whole), _) => {
            let joined = lines.join(&b","[..]);
            fields.set(TRACESTATE, &joined)?;
        }
        (Some(State::Cut(text)), _) => fields.set(TRACESTATE, &text)?,
        (None, _) => {
            fields.remove(TRACESTATE);
        }
    }
    Ok(())
}

enum State {
    /// It can pass as it came.
    Whole,
    /// It was too long: what is left of it.
    Cut(Vec<u8>),
}

/// Looks at all `tracestate` lines as one list; `None` when it has to be dropped.
fn joined(lines: &[&[u8]]) -> Option<State> {
    let members = || {
        lines
            .iter()
            .flat_map(|line| line.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|member| !member.is_empty())
    };
    if members().count() > STATE_MEMBERS || !members().all(is_member) {
        return None;
    }
    let commas = lines.len().saturating_sub(1);
    let length = lines.iter().map(|line| line.len()).sum::<usize>() + commas;
    if length <= STATE_CHARACTERS {
        return Some(State::Whole);
    }
    let mut kept: Vec<_> = members().collect();
    let length = |kept: &[&[u8]]| kept.iter().map(|member| member.len() + 1).sum::<usize>();
    while length(&kept) > STATE_CHARACTERS + 1 {
        // Members to the left are the most recent.
        let long = kept.iter().rposition(|member| member.len() > LONG_MEMBER);
        kept.remove(long.unwrap_or(kept.len().saturating_sub(1)));
    }
    Some(State::Cut(kept.join(&b","[..])))
}

/// `key=value` of printable characters (§3.3.1.3).
fn is_member(member: &[u8]) -> bool {
    let mut parts = member.splitn(2, |byte| *byte == b'=');
    let (Some(key), Some(value)) = (parts.next(), parts.next()) else {
        return false;
    };
    let in_key = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-*/@".contains(b);
    let in_value = |b: &u8| matches!(b, 0x20..=0x7e) && *b != b'=';
    !key.is_empty() && key.iter().all(in_key) && !value.is_empty() && value.iter().all(in_value)
}
