//! `request_id`: gives every request a name that client, logs and upstream share.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Filter, InvalidConfig, Phase, RequestId as Id, Response, Step};

use crate::header_name::HeaderName;

/// Keeps or makes the id of a request, sends it to the upstream and shows it to the client.
///
/// An id from the client is kept only when it is one to 64 characters of `A-Z a-z 0-9 . _ -`, so
/// that it can stand in any log line; any other, or one given twice, is replaced by a new one of
/// 32 hexadecimal digits.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The header that carries the id, in both directions.
    #[serde(default = "x_request_id")]
    header: HeaderName,
    /// Keep a harmless id that the client sends; otherwise every request gets a new one.
    #[serde(default = "yes")]
    keep: bool,
    /// Show the id in the answer, for users to quote.
    #[serde(default = "yes")]
    respond: bool,
}

fn x_request_id() -> HeaderName {
    HeaderName::known("X-Request-Id")
}

const fn yes() -> bool {
    true
}

/// The filter.
pub struct RequestId {
    config: Config,
}

impl Filter for RequestId {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "request_id";

    fn phase(_: &Config) -> Phase {
        Phase::Identify
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        config.header.check_writable("/header")?;
        Ok(Self { config })
    }

    fn sees_response(&self) -> bool {
        self.config.respond
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let header = &self.config.header;
        let fields = &mut cx.exchange.request.fields;
        let mut sent = fields.get_all(header.as_str());
        let kept = match (self.config.keep, sent.next(), sent.next()) {
            (true, Some(only), None) => Id::parse(only),
            _ => None,
        };
        drop(sent);

        let id = kept.unwrap_or_else(|| Id::from_random(cx.effects.random(), cx.effects.random()));
        if kept.is_none()
            && let Err(invalid) = fields.set_named(header.field(), id.as_bytes())
        {
            return Step::Done(Err(invalid.into()));
        }
        cx.exchange.request_id = Some(id);
        cx.exchange.note(|| match kept {
            Some(_) => "the client's id is kept",
            None => "a new id is made",
        });
        Step::NEXT
    }

    fn on_response<'a>(&'a self, cx: Cx<'a>, (): &'a mut (), answer: &'a mut Response) -> Step<'a> {
        let Some(id) = cx.exchange.request_id.filter(|_| self.config.respond) else {
            return Step::NEXT;
        };
        let header = self.config.header.field();
        let written = answer.head.fields.set_named(header, id.as_bytes());
        written.map_err(Into::into).into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Trial, exchange, filter};

    fn sent(config: &serde_json::Value, fields: &[(&str, &str)]) -> (Trial, RequestId) {
        let filter: RequestId = filter(config).unwrap();
        let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
        trial.request(&filter).unwrap().unwrap();
        (trial, filter)
    }

    // spec: PL-28
    #[test]
    fn a_request_without_an_id_gets_one() {
        let (trial, _) = sent(&json!({}), &[]);

        let id = trial.exchange.request_id.unwrap();
        assert_eq!(id.as_str().len(), 32);
        assert_eq!(
            trial.exchange.request.fields.get_str("x-request-id"),
            Some(id.as_str())
        );
    }

    // spec: PL-28
    #[test]
    fn a_harmless_id_is_kept_and_any_other_replaced() {
        let (trial, _) = sent(&json!({}), &[("x-request-id", "abc-1.2_3")]);
        assert_eq!(trial.exchange.request_id.unwrap().as_str(), "abc-1.2_3");

        let long = "a".repeat(65);
        for bad in ["a\tb", "a b", "x\" 200", "\u{e9}", "", &long] {
            let (trial, _) = sent(&json!({}), &[("x-request-id", bad)]);
            let id = trial.exchange.request_id.unwrap();
            let fields = &trial.exchange.request.fields;
            assert_eq!(id.as_str().len(), 32, "{bad:?}");
            assert_eq!(fields.count("x-request-id"), 1, "{bad:?}");
            assert_eq!(fields.get_str("x-request-id"), Some(id.as_str()), "{bad:?}");
        }
    }

    #[test]
    fn two_ids_are_replaced_by_one() {
        let (trial, _) = sent(&json!({}), &[("X-Request-Id", "a"), ("x-request-id", "b")]);

        let id = trial.exchange.request_id.unwrap();
        let all: Vec<_> = trial
            .exchange
            .request
            .fields
            .get_all("X-Request-Id")
            .collect();
        assert_eq!(all, [id.as_str().as_bytes()]);
    }

    #[test]
    fn nothing_is_kept_when_nothing_is_to_be_kept() {
        let (trial, _) = sent(&json!({"keep": false}), &[("x-request-id", "abc")]);

        assert_ne!(trial.exchange.request_id.unwrap().as_str(), "abc");
    }

    // spec: OB-40
    #[test]
    fn the_answer_shows_the_id_and_not_the_upstreams() {
        let (mut trial, filter) = sent(&json!({}), &[("x-request-id", "abc")]);
        let mut answer = Response::new(200);
        answer.head.fields.append("X-Request-Id", b"other").unwrap();

        trial.response(&filter, &mut answer).unwrap().unwrap();

        let all: Vec<_> = answer.head.fields.get_all("X-Request-Id").collect();
        assert_eq!(all, [b"abc"]);
    }

    #[test]
    fn the_answer_stays_as_it_is_without_respond() {
        let (mut trial, filter) = sent(&json!({"respond": false}), &[]);
        let mut answer = Response::new(200);

        trial.response(&filter, &mut answer).unwrap().unwrap();

        assert!(!filter.sees_response());
        assert!(!answer.head.fields.contains("X-Request-Id"));
    }

    #[test]
    fn a_framing_header_cannot_carry_the_id() {
        let mistake = crate::testing::filter::<RequestId>(&json!({"header": "Connection"}));

        assert!(mistake.err().unwrap().starts_with("/header: "));
    }
}
