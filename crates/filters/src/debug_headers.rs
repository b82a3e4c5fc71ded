//! `debug_headers`: shows callers on a list what the gateway did with their request.

use std::{fmt::Write, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{
    Cx, Debug, Exchange, Filter, InvalidConfig, Network, Phase, Reject, Response, Secret, Step,
};

use crate::{header_name::HeaderName, network_set::NetworkSet};

/// Adds `Server-Timing` (the time in each phase, at the upstream, and in all), `X-Sluicegate-Route`,
/// `X-Sluicegate-Route-Version` (of a route that has one) and `X-Sluicegate-Snapshot` to the answers
/// for callers who are allowed to see them.
///
/// A caller is allowed by its address, by a key in a header, or, when both are configured, by both
/// together. Nobody else sees any of it, not even from an upstream that sends these names itself;
/// and for nobody else anything is timed. The address is the one that `client_address` has found,
/// so this filter belongs behind it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Networks of callers.
    #[serde(default)]
    networks: Vec<Network>,
    /// What callers have to know.
    key: Option<Key>,
}

/// A header and its secret value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Key {
    /// The header that carries the key; the upstream does not see it.
    #[serde(default = "x_debug_key")]
    header: HeaderName,
    /// Its value.
    secret: Secret,
}

fn x_debug_key() -> HeaderName {
    HeaderName::known("X-Debug-Key")
}

/// The filter.
pub struct DebugHeaders {
    networks: Option<NetworkSet>,
    key: Option<Key>,
}

const ROUTE: &str = "X-Sluicegate-Route";
const VERSION: &str = "X-Sluicegate-Route-Version";
const SNAPSHOT: &str = "X-Sluicegate-Snapshot";
const TIMING: &str = "Server-Timing";

impl Filter for DebugHeaders {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "debug_headers";

    fn phase(_: &Config) -> Phase {
        Phase::Sanitize
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let Config { networks, key } = config;
        if networks.is_empty() && key.is_none() {
            return Err(InvalidConfig::new("", "nobody could see anything")
                .expecting("`networks`, a `key`, or both"));
        }
        if let Some(key) = &key {
            key.header.check_writable("/key/header")?;
            if key.secret.reveal().is_empty() {
                return Err(InvalidConfig::new(
                    "/key/secret",
                    "an empty key opens to everybody",
                ));
            }
        }
        Ok(Self {
            networks: (!networks.is_empty()).then(|| NetworkSet::new(networks)),
            key,
        })
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let exchange = cx.exchange;
        let knows_key = match &self.key {
            None => true,
            Some(key) => {
                let fields = &mut exchange.request.fields;
                let sent = fields.get(key.header.as_str());
                let knows = sent.is_some_and(|sent| key.secret.is(sent));
                fields.remove(key.header.as_str());
                knows
            }
        };
        let is_near = self
            .networks
            .as_ref()
            .is_none_or(|networks| networks.contains(exchange.client));
        if knows_key && is_near {
            exchange.debug = Some(Box::default());
            exchange.note(|| "the caller may see how its request went");
        }
        Step::NEXT
    }

    fn on_response<'a>(&'a self, cx: Cx<'a>, (): &'a mut (), answer: &'a mut Response) -> Step<'a> {
        let fields = &mut answer.head.fields;
        for own in [ROUTE, VERSION, SNAPSHOT] {
            fields.remove(own);
        }
        match cx.exchange.debug.take() {
            Some(debug) => {
                let written = show(&debug, cx.exchange, cx.effects.now(), answer);
                cx.exchange.debug = Some(debug);
                written.into()
            }
            None => Step::NEXT,
        }
    }
}

fn show(
    debug: &Debug,
    exchange: &Exchange,
    now: Duration,
    answer: &mut Response,
) -> Result<(), Reject> {
    let fields = &mut answer.head.fields;
    fields.append(TIMING, timing(debug, exchange, now).as_bytes())?;
    if let Some(route) = &exchange.route {
        fields.append(ROUTE, route.id.as_bytes())?;
        if let Some(version) = route.version {
            fields.append(VERSION, version.to_string().as_bytes())?;
        }
    }
    fields.append(SNAPSHOT, debug.snapshot.to_string().as_bytes())?;
    Ok(())
}

/// W3C Server Timing: `name;dur=milliseconds`, by commas.
fn timing(debug: &Debug, exchange: &Exchange, now: Duration) -> String {
    let times = exchange.times;
    let upstream = times.answered.checked_sub(times.sent);
    let upstream = upstream.filter(|_| times.answered > Duration::ZERO);
    let total = now.saturating_sub(times.begun);
    let phases = debug.spans.iter().copied();
    let parts = phases
        .chain(upstream.map(|span| ("upstream", span)))
        .chain([("total", total)]);
    let mut text = String::new();
    for (name, span) in parts {
        let comma = if text.is_empty() { "" } else { ", " };
        let written = write!(text, "{comma}{name};dur={:.3}", span.as_secs_f64() * 1000.0);
        debug_assert!(written.is_ok(), "a string takes all that is written");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Trial, exchange, filter};

    fn answer(config: &Value, client: &str, fields: &[(&str, &str)]) -> (Trial, Response) {
        let filter: DebugHeaders = filter(config).unwrap();
        let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
        trial.exchange.client = client.parse().unwrap();
        trial.request(&filter).unwrap().unwrap();
        let mut answer = Response::new(200);
        for name in [ROUTE, SNAPSHOT] {
            answer.head.fields.append(name, b"forged").unwrap();
        }
        if let Some(debug) = &mut trial.exchange.debug {
            debug.snapshot = 12;
            debug.spend("admit", Duration::from_micros(1500));
        }
        trial.response(&filter, &mut answer).unwrap().unwrap();
        (trial, answer)
    }

    // spec: CF-06
    #[test]
    fn a_caller_on_the_list_sees_times_route_and_snapshot() {
        let (_, answer) = answer(&json!({"networks": ["10.0.0.0/8"]}), "10.1.2.3", &[]);

        let fields = &answer.head.fields;
        assert_eq!(fields.get_str(ROUTE), Some("orders"));
        assert_eq!(fields.get_str(SNAPSHOT), Some("12"));
        let timing = fields.get_str(TIMING).unwrap();
        assert!(
            timing.starts_with("admit;dur=1.500, total;dur="),
            "{timing}"
        );
        assert_eq!(fields.count(ROUTE), 1);
    }

    // spec: CF-06
    #[test]
    fn nobody_else_sees_anything() {
        let both = json!({"networks": ["10.0.0.0/8"], "key": {"secret": "env:KEY"}});
        for (client, fields) in [
            ("192.0.2.1", &[("X-Debug-Key", "env:KEY")][..]),
            ("10.0.0.1", &[("X-Debug-Key", "other")]),
            ("10.0.0.1", &[]),
        ] {
            let (trial, answer) = answer(&both, client, fields);
            assert!(trial.exchange.debug.is_none());
            assert!(answer.head.fields.is_empty(), "{client} {fields:?}");
            assert!(!trial.exchange.request.fields.contains("X-Debug-Key"));
        }
        let (trial, _) = answer(&both, "10.0.0.1", &[("X-Debug-Key", "env:KEY")]);
        assert!(trial.exchange.debug.is_some());
    }

    #[test]
    fn somebody_has_to_be_allowed() {
        let mistake = filter::<DebugHeaders>(&json!({})).err().unwrap();

        assert!(mistake.contains("nobody"), "{mistake}");
    }
}
