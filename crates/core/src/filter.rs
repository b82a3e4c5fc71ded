//! The contract between the engine and a filter.

use std::{fmt, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Code, Effects, Exchange, Phase, Reject, Response, Stage, Wait};

/// One step of a chain. A filter is one file; `lib.rs` of the filters lists it.
///
/// The filter itself is built once per snapshot and shared by all threads. What must outlive a
/// snapshot is [`Filter::State`]; what belongs to one request is [`Filter::Carry`].
pub trait Filter: Send + Sync + Sized {
    /// What users write under `config`.
    type Config: DeserializeOwned + JsonSchema;

    /// What outlives snapshots and is shared by all threads: counters, caches. It belongs to
    /// (scope, filter, `id`) and must tolerate a changed configuration. `Debug` shows all of it:
    /// that is how the tests see that [`Intent::Peek`] leaves it alone.
    type State: Send + Sync + Default + fmt::Debug + 'static;

    /// One request's own: permits as values that give back when dropped, and what `on_response` needs.
    type Carry: Default;

    /// The name users write.
    const NAME: &'static str;

    /// The reject codes this filter can give; they become rows of the error reference.
    const REJECTS: &'static [&'static Code] = &[];

    /// Whether all filters of this name and one `id` have one state, whatever chains they stand in:
    /// what the outside tells is then kept once, and not for each of a thousand routes.
    const SHARED: bool = false;

    /// Where in the chain it stands; may depend on the configuration.
    fn phase(config: &Self::Config) -> Phase;

    /// The other phases a document may put it in. None by default: nobody can authorize before
    /// authenticating by a slip of the pen.
    fn other_phases(_config: &Self::Config) -> &'static [Phase] {
        &[]
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`InvalidConfig`] for what the schema cannot express.
    fn new(config: Self::Config, state: Arc<Self::State>) -> Result<Self, InvalidConfig>;

    /// Where it has been put, for a filter that does something else in another chain.
    ///
    /// # Errors
    /// [`InvalidConfig`] when it can do nothing there.
    fn placed(&mut self, _stage: Stage, _phase: Phase) -> Result<(), InvalidConfig> {
        Ok(())
    }

    /// A fact that the outside pushes to the state of every filter of this name and an `id`, at once
    /// and without a new snapshot; `unix` is the time since the Unix epoch.
    ///
    /// # Errors
    /// [`InvalidConfig`] with a pointer into `event`; then nothing has changed.
    fn told(_: &Self::State, _event: &Value, _unix: Duration) -> Result<(), InvalidConfig> {
        Err(InvalidConfig::new(
            "",
            format!("`{}` takes no events", Self::NAME),
        ))
    }

    /// Whether it answers CORS preflights: then one is matched by the method it asks for.
    fn answers_preflight(&self) -> bool {
        false
    }

    /// Whether it needs the whole request body, and how much of it it can take.
    fn needs_body(&self) -> Option<BodyNeed> {
        None
    }

    /// The path parameters it reads. Those of a route without such a filter are never collected,
    /// and a name that the route's template lacks is refused when the snapshot is compiled.
    fn path_params(&self) -> &[Box<str>] {
        &[]
    }

    /// Whether `on_response` does something; `false` lets the engine skip it on every answer.
    fn sees_response(&self) -> bool {
        true
    }

    /// Whether `on_done` does something; `false` lets the engine only drop the carry.
    fn sees_end(&self) -> bool {
        true
    }

    /// The request passes on its way in.
    fn on_request<'a>(&'a self, cx: Cx<'a>, carry: &'a mut Self::Carry) -> Step<'a>;

    /// The whole request body, after `on_request` asked for it with [`Flow::Body`].
    ///
    /// # Errors
    /// The reject to answer with.
    fn on_body(&self, _cx: Cx<'_>, _carry: &mut Self::Carry, _body: &[u8]) -> Result<Flow, Reject> {
        Ok(Flow::Next)
    }

    /// The answer passes on its way back, whoever gave it. An `Answer` or a reject takes its place.
    fn on_response<'a>(
        &'a self,
        _cx: Cx<'a>,
        _carry: &'a mut Self::Carry,
        _answer: &'a mut Response,
    ) -> Step<'a> {
        Step::NEXT
    }

    /// The exchange has ended: exactly once for every filter whose `on_request` began.
    fn on_done(&self, _exchange: &Exchange, _carry: Self::Carry, _outcome: Outcome) {}
}

/// What a filter gets to see and to change.
pub struct Cx<'a> {
    /// The request and all that is known of it.
    pub exchange: &'a mut Exchange,
    /// The effects of this thread; never stored.
    pub effects: &'a dyn Effects,
    /// Whether this is real.
    pub intent: Intent,
}

/// Whether state may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Live traffic.
    Commit,
    /// Somebody asks what would happen: look, take nothing.
    Peek,
}

/// What a hook gives back: mostly a result at once, sometimes a future.
pub enum Step<'a> {
    /// Decided; nothing was boxed.
    Done(Result<Flow, Reject>),
    /// Something has to be waited for.
    Wait(Wait<'a, Result<Flow, Reject>>),
}

impl Step<'_> {
    /// On to the next filter.
    pub const NEXT: Self = Self::Done(Ok(Flow::Next));
}

impl From<Result<(), Reject>> for Step<'_> {
    fn from(result: Result<(), Reject>) -> Self {
        Step::Done(result.map(|()| Flow::Next))
    }
}

/// Where an exchange goes next.
#[derive(Debug)]
pub enum Flow {
    /// To the next filter.
    Next,
    /// Nowhere until the whole request body is here; then `on_body`.
    Body,
    /// Back: this filter answers.
    Answer(Response),
}

/// How much of the request body a filter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyNeed {
    /// Bytes; a longer body is refused with 413.
    pub limit: usize,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The whole answer has gone out.
    Complete,
    /// The answer had begun and could not be completed.
    Truncated,
    /// The client left.
    Gone,
}

impl Outcome {
    /// The name used in logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Gone => "client_gone",
        }
    }
}

/// A configuration that parses but cannot work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidConfig {
    /// RFC 6901 pointer inside the filter's configuration; empty for the whole.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub expected: Option<String>,
    /// The word that was probably meant.
    pub suggestion: Option<String>,
}

impl InvalidConfig {
    /// A mistake at `pointer`.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            expected: None,
            suggestion: None,
        }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds the word that was probably meant, if there is one.
    #[must_use]
    pub fn suggesting(mut self, suggestion: Option<&str>) -> Self {
        self.suggestion = suggestion.map(Into::into);
        self
    }
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

impl std::error::Error for InvalidConfig {}
