//! `greeting`: the filter of the guide "write a filter". It shows every part of the contract.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{
    Code, Cx, Exchange, Filter, Flow, Intent, InvalidConfig, Outcome, Phase, Reject, Response, Step,
};

/// Greets so many exchanges at a time; the words come from outside.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How many exchanges may be greeted at the same time.
    #[schemars(range(min = 1))]
    at_once: u32,
}

/// What all threads share and a reload leaves alone.
#[derive(Debug, Default)]
pub struct State {
    greeted: AtomicU32,
    active: Arc<AtomicU32>,
    complete: AtomicU32,
}

/// What one exchange carries to its end.
#[derive(Default)]
pub struct Carry {
    permit: Option<Permit>,
    words: Option<String>,
}

/// One of the places that `at_once` allows; gives itself back.
struct Permit(Arc<AtomicU32>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

static TOO_MANY_GREETINGS: Code = Code {
    name: "too_many_greetings",
    status: 503,
    title: "Too many greetings",
    detail: "Come again when another exchange has ended.",
    reason: "overload",
};

/// The filter.
pub struct Greeting {
    config: Config,
    state: Arc<State>,
}

impl Filter for Greeting {
    type Config = Config;
    type State = State;
    type Carry = Carry;
    const NAME: &'static str = "greeting";
    const REJECTS: &'static [&'static Code] = &[&TOO_MANY_GREETINGS];

    fn phase(_: &Config) -> Phase {
        Phase::Isolate
    }

    fn new(config: Config, state: Arc<State>) -> Result<Self, InvalidConfig> {
        Ok(Self { config, state })
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, carry: &'a mut Carry) -> Step<'a> {
        match cx.intent {
            Intent::Commit => match self.take() {
                Ok(permit) => carry.permit = Some(permit),
                Err(reject) => return Step::Done(Err(reject)),
            },
            Intent::Peek if self.is_full() => {
                return Step::Done(Err(Reject::new(&TOO_MANY_GREETINGS)));
            }
            Intent::Peek => {}
        }
        Step::Wait(Box::pin(async move {
            let within = Duration::from_millis(50);
            let words = cx.effects.ask("greeting", Vec::new(), within).await;
            // Greeting is a courtesy: it fails open.
            carry.words = words.ok().and_then(|words| String::from_utf8(words).ok());
            Ok(Flow::Next)
        }))
    }

    fn on_response<'a>(
        &'a self,
        cx: Cx<'a>,
        carry: &'a mut Carry,
        answer: &'a mut Response,
    ) -> Step<'a> {
        let Some(words) = &carry.words else {
            return Step::NEXT;
        };
        if cx.intent == Intent::Commit {
            self.state.greeted.fetch_add(1, Ordering::AcqRel);
        }
        let written = answer.head.fields.set("X-Greeting", words.as_bytes());
        written.map_err(Into::into).into()
    }

    fn on_done(&self, _: &Exchange, carry: Carry, outcome: Outcome) {
        if carry.permit.is_some() && outcome == Outcome::Complete {
            self.state.complete.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl Greeting {
    fn is_full(&self) -> bool {
        self.state.active.load(Ordering::Acquire) >= self.config.at_once
    }

    /// Takes a place, or says that there is none.
    fn take(&self) -> Result<Permit, Reject> {
        let permit = Permit(Arc::clone(&self.state.active));
        let before = self.state.active.fetch_add(1, Ordering::AcqRel);
        if before >= self.config.at_once {
            return Err(Reject::new(&TOO_MANY_GREETINGS));
        }
        Ok(permit)
    }
}
