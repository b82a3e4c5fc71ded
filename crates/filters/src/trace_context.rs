//! `trace_context`: the request's place in a distributed trace (W3C Trace Context).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Filter, InvalidConfig, Phase, Step, TraceContext};
use sluicegate_http1::{FieldName, Fields, InvalidField};

/// Continues the client's trace with a span of the gateway, or begins a new trace.
///
/// A `traceparent` that is missing, not valid or given twice begins a new trace, and `tracestate`
/// goes with the old one. Otherwise `tracestate` passes, up to 512 characters; one that is not
/// valid, or has more than 32 members, is dropped.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The share of new traces that is marked as sampled, from 0 to 1. A trace that a client began
    /// keeps its mark.
    #[serde(default = "all")]
    #[schemars(range(min = 0.0, max = 1.0))]
    sample: f64,
}

const fn all() -> f64 {
    1.0
}

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
/// Bit 0 of the flags (§3.2.2.5.1).
const SAMPLED: u8 = 1;
/// Sampled, and the random bit of Level 2; the standard wants all others sent as zero.
const KNOWN_FLAGS: u8 = 3;
/// What every receiver has to be able to pass on (§3.3.1.5).
const STATE_CHARACTERS: usize = 512;
const STATE_MEMBERS: usize = 32;
/// Members beyond this length go first when the whole is too long (§3.3.1.5).
const LONG_MEMBER: usize = 128;

/// The filter.
pub struct TraceContextFilter {
    /// A new trace is sampled when a random number of 53 bits is below this.
    threshold: u64,
    traceparent: FieldName,
}

/// Random numbers are cut to the 53 bits that a float holds exactly.
const DRAWN_BITS: u32 = 53;

impl Filter for TraceContextFilter {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "trace_context";

    fn phase(_: &Config) -> Phase {
        Phase::Identify
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        if !(0.0..=1.0).contains(&config.sample) {
            return Err(InvalidConfig::new("/sample", "this is not a share")
                .expecting("a number from 0 to 1"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "0 to 2^53, which a float holds exactly"
        )]
        let threshold = (config.sample * (1_u64 << DRAWN_BITS) as f64) as u64;
        Ok(Self {
            threshold,
            traceparent: FieldName::of_ours(TRACEPARENT),
        })
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let random = || cx.effects.random();
        let received = received(&cx.exchange.request.fields);
        let trace = if let Some(mut trace) = received {
            trace.flags &= KNOWN_FLAGS;
            trace.with_span(random())
        } else {
            let sampled = random() >> (u64::BITS - DRAWN_BITS) < self.threshold;
            let flags = if sampled { SAMPLED } else { 0 };
            TraceContext::from_random(random(), random(), random(), flags)
        };
        cx.exchange.note(|| match received {
            Some(_) => "the client's trace goes on",
            None => "a new trace begins",
        });
        let fields = &mut cx.exchange.request.fields;
        cx.exchange.trace = Some(trace);
        fields
            .set_named(&self.traceparent, &trace.to_header())
            .and_then(|()| pass_state_on(fields, received.is_some()))
            .map_err(Into::into)
            .into()
    }
}

/// The client's trace, if there is exactly one and it is valid.
fn received(fields: &Fields) -> Option<TraceContext> {
    let mut values = fields.get_all(TRACEPARENT);
    let only = values.next()?;
    if values.next().is_some() {
        return None;
    }
    TraceContext::parse(only)
}

/// What the vendors of the trace say goes on with it, or goes.
fn pass_state_on(fields: &mut Fields, continued: bool) -> Result<(), InvalidField> {
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

#[cfg(test)]
mod tests;
