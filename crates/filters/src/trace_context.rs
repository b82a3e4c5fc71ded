//! `trace_context`: the request's place in a distributed trace, in the formats that its neighbours speak.

mod b3;
mod sky_walking;
mod w3c;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Exchange, Filter, InvalidConfig, Phase, Reject, Step, TraceContext};
use sluicegate_http1::{FieldName, Fields, InvalidField};

use self::sky_walking::Gateway;

/// Continues the client's trace with a span of the gateway, or begins a new trace.
///
/// The formats of `propagators` are looked for in their order; the first that is there and valid is
/// the trace, and the request goes on with it in all of them. A header that is not valid or is given
/// twice is ignored and replaced. Headers of formats that are not listed pass as they came.
///
/// `tracestate` goes on only with the `traceparent` it came with, up to 512 characters; one that is
/// not valid, or has more than 32 members, is dropped. A 64-bit id of B3 is filled up with zeros. A
/// name of `SkyWalking` that is no 128-bit number stays as it is in `sw8`; the other formats and
/// `trace_id` in the log carry the first half of its SHA-256, and `foreign_trace_id` its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The share of new traces that is marked as sampled, from 0 to 1. A trace that a client began
    /// keeps its mark.
    #[serde(default = "all")]
    #[schemars(range(min = 0.0, max = 1.0))]
    sample: f64,
    /// The formats: `w3c` (Trace Context), `b3` (one header), `b3_multi` (`X-B3-…`), `sw8`
    /// (`SkyWalking`).
    #[serde(default = "w3c_only")]
    #[schemars(length(min = 1, max = 4))]
    propagators: Vec<Propagator>,
    /// What `sw8` calls this gateway.
    #[serde(default = "sluicegate")]
    #[schemars(length(min = 1, max = 50))]
    service: String,
    /// What `sw8` calls this process.
    #[serde(default = "sluicegate")]
    #[schemars(length(min = 1, max = 50))]
    instance: String,
}

/// A format in which a trace travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Propagator {
    /// W3C Trace Context: `traceparent` and `tracestate`.
    W3c,
    /// B3 in one header, `b3`.
    B3,
    /// B3 in many headers, `X-B3-TraceId` and its family.
    B3Multi,
    /// Version 3 of `SkyWalking`'s cross-process header.
    Sw8,
}

const fn all() -> f64 {
    1.0
}

fn w3c_only() -> Vec<Propagator> {
    vec![Propagator::W3c]
}

fn sluicegate() -> String {
    "sluicegate".to_owned()
}

/// Bit 0 of the flags (W3C §3.2.2.5.1).
const SAMPLED: u8 = 1;

/// The filter.
pub struct TraceContextFilter {
    /// A new trace is sampled when a random number of 53 bits is below this.
    threshold: u64,
    traceparent: FieldName,
    propagators: Box<[Propagator]>,
    gateway: Gateway,
}

/// Random numbers are cut to the 53 bits that a float holds exactly.
const DRAWN_BITS: u32 = 53;

/// What a client says of a trace.
#[derive(Debug, Default)]
struct Received {
    /// The trace with the client's span; B3 may decide about sampling without naming one.
    trace: Option<TraceContext>,
    /// Whether it is sampled; B3 may leave that to the receiver.
    sampled: Option<bool>,
    /// Sampled whatever anybody else thinks.
    debug: bool,
    /// The name of the trace, when it is no 128-bit number.
    name: Option<Box<str>>,
}

/// What goes on to the upstream.
struct Sent<'a> {
    /// The trace with the gateway's span.
    trace: &'a TraceContext,
    /// The client's span.
    parent: Option<&'a str>,
    debug: bool,
    name: Option<&'a str>,
}

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
        for (index, propagator) in config.propagators.iter().enumerate() {
            if config
                .propagators
                .iter()
                .take(index)
                .any(|one| one == propagator)
            {
                return Err(InvalidConfig::new(
                    format!("/propagators/{index}"),
                    "this format is named twice",
                ));
            }
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
            traceparent: FieldName::of_ours(w3c::TRACEPARENT),
            propagators: config.propagators.into(),
            gateway: Gateway::new(&config.service, &config.instance),
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
        let (format, received) = self.received(&cx.exchange.request.fields);
        let flag = |others: u8| {
            let sampled = received
                .sampled
                .unwrap_or_else(|| random() >> (u64::BITS - DRAWN_BITS) < self.threshold);
            if sampled {
                others | SAMPLED
            } else {
                others & !SAMPLED
            }
        };
        let trace = if let Some(mut trace) = received.trace {
            trace.flags = flag(trace.flags);
            trace.with_span(random())
        } else {
            let flags = flag(0);
            TraceContext::from_random(random(), random(), random(), flags)
        };
        cx.exchange.note(|| match format {
            Some(format) => format!("the client's trace goes on ({})", format.name()),
            None => "a new trace begins".to_owned(),
        });
        cx.exchange.trace = Some(trace);
        let sent = Sent {
            trace: &trace,
            parent: received
                .trace
                .as_ref()
                .filter(|_| format != Some(Propagator::Sw8))
                .map(TraceContext::span_id),
            debug: received.debug,
            name: received.name.as_deref(),
        };
        let written = self.pass_on(cx.exchange, &sent, format);
        cx.exchange.foreign_trace = received.name;
        written.map_err(Reject::from).into()
    }
}

impl TraceContextFilter {
    /// The first trace that is there, and its format; or else what was decided about sampling.
    fn received(&self, fields: &Fields) -> (Option<Propagator>, Received) {
        let mut decision = None;
        for format in self.propagators.iter().copied() {
            let found = match format {
                Propagator::W3c => w3c::received(fields),
                Propagator::B3 => b3::received_single(fields),
                Propagator::B3Multi => b3::received_multi(fields),
                Propagator::Sw8 => sky_walking::received(fields),
            };
            match found {
                Some(found) if found.trace.is_some() => return (Some(format), found),
                found => decision = decision.or(found),
            }
        }
        (None, decision.unwrap_or_default())
    }

    /// Writes the trace in every format.
    fn pass_on(
        &self,
        exchange: &mut Exchange,
        sent: &Sent<'_>,
        from: Option<Propagator>,
    ) -> Result<(), InvalidField> {
        let has = |format| self.propagators.contains(&format);
        if has(Propagator::Sw8) {
            self.gateway.pass_on(exchange, sent)?;
        }
        let fields = &mut exchange.request.fields;
        if has(Propagator::W3c) {
            fields.set_named(&self.traceparent, &sent.trace.to_header())?;
            w3c::pass_state_on(fields, from == Some(Propagator::W3c))?;
        }
        if has(Propagator::B3) || has(Propagator::B3Multi) {
            // Both are one format in two spellings: a receiver prefers one of them.
            b3::remove(fields);
        }
        if has(Propagator::B3) {
            b3::pass_on_single(fields, sent)?;
        }
        if has(Propagator::B3Multi) {
            b3::pass_on_multi(fields, sent)?;
        }
        Ok(())
    }
}

impl Propagator {
    const fn name(self) -> &'static str {
        match self {
            Self::W3c => "w3c",
            Self::B3 => "b3",
            Self::B3Multi => "b3_multi",
            Self::Sw8 => "sw8",
        }
    }
}

/// The value of a field that is there exactly once.
fn only<'a>(fields: &'a Fields, name: &'a str) -> Option<&'a [u8]> {
    let mut values = fields.get_all(name);
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests;
