//! The static table: from the list in `lib.rs` to one type that dispatches by `match`.

use std::{any::TypeId, borrow::Cow, sync::OnceLock};

use serde::Serialize;
use serde_json::Value;
use sluicegate_core::{
    Code, Cx, Exchange, Filter, Flow, InvalidConfig, Outcome, Phase, Problem, Reject, Response,
    Stage, Step, codes,
};

use crate::{ConfigSchema, FilterSpec, Link, Secrets, States, secrets};

/// A closed set of filters. [`filters!`](crate::filters) writes the implementation.
pub trait Table: Send + Sync + Sized + 'static {
    /// One request's own, of whichever filter.
    type Carry;

    /// What is known of each filter without a configuration, in the order of the table.
    fn rows() -> Vec<Row>;

    /// Builds the filter that `spec` names.
    ///
    /// # Errors
    /// All that is wrong with it; pointers are relative to `spec`.
    fn build(spec: &FilterSpec, place: &Place<'_>) -> Result<Link<Self>, Vec<Problem>>;

    /// The filter's name.
    fn name(&self) -> &'static str;

    /// A carry for one request through this filter.
    fn carry(&self) -> Self::Carry;

    /// See [`Filter::on_request`].
    fn on_request<'a>(&'a self, cx: Cx<'a>, carry: &'a mut Self::Carry) -> Step<'a>;

    /// See [`Filter::on_body`].
    ///
    /// # Errors
    /// The reject to answer with.
    fn on_body(&self, cx: Cx<'_>, carry: &mut Self::Carry, body: &[u8]) -> Result<Flow, Reject>;

    /// See [`Filter::on_response`].
    fn on_response<'a>(
        &'a self,
        cx: Cx<'a>,
        carry: &'a mut Self::Carry,
        answer: &'a mut Response,
    ) -> Step<'a>;

    /// See [`Filter::on_done`].
    fn on_done(&self, exchange: &Exchange, carry: Self::Carry, outcome: Outcome);
}

/// Where a filter is to stand.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Which of the two chains.
    pub stage: Stage,
    /// Whose chain, such as `route:orders`: state belongs to it.
    pub scope: &'a str,
    /// Where state comes from.
    pub states: &'a States,
    /// The values of secrets by their references; none when somebody only looks at a document.
    pub secrets: Option<&'a Secrets>,
}

/// One filter as the reference, the editor and the error pages see it.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The name users write.
    pub name: &'static str,
    /// Its phase without a configuration; none when the configuration has required fields.
    pub phase: Option<Phase>,
    /// Where else a document without a configuration may put it.
    pub other_phases: &'static [Phase],
    /// What its documentation says, as Markdown.
    pub docs: String,
    /// The JSON Schema of its configuration.
    pub schema: Value,
    /// The codes it may reject with.
    pub rejects: &'static [&'static Code],
}

impl Row {
    /// The row of one filter.
    pub fn of<F: Filter>(schema: &ConfigSchema) -> Self {
        let schema = schema.json().clone();
        let empty = Value::Object(serde_json::Map::new());
        let config: Option<F::Config> = serde_json::from_value(empty).ok();
        Self {
            name: F::NAME,
            phase: config.as_ref().map(F::phase),
            other_phases: config.as_ref().map_or(&[], F::other_phases),
            docs: schema
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            schema,
            rejects: F::REJECTS,
        }
    }
}

/// The scope of state that chains share.
const EVERYWHERE: &str = "everywhere";

/// Builds one link of a chain: schema, parser, phase, filter, in this order.
///
/// # Errors
/// All that the schema finds; else the first that the parser or the filter finds.
pub fn link<F: Filter, T>(
    spec: &FilterSpec,
    place: &Place<'_>,
    schema: &OnceLock<ConfigSchema>,
    wrap: impl FnOnce(F) -> T,
) -> Result<Link<T>, Vec<Problem>> {
    let schema = schema.get_or_init(ConfigSchema::of::<F::Config>);
    let config = match place.secrets {
        Some(known) => Cow::Owned(
            secrets::resolved(&spec.config, schema.json(), known)
                .map_err(|mistake| vec![in_config(mistake)])?,
        ),
        None => Cow::Borrowed(&spec.config),
    };
    let config: F::Config = schema
        .read(&config)
        .map_err(|mistakes| mistakes.into_iter().map(in_config).collect::<Vec<_>>())?;
    let phase = phase::<F>(&config, spec, place.stage).map_err(|problem| vec![problem])?;
    let scope = if F::SHARED { EVERYWHERE } else { place.scope };
    let state = place.states.of::<F>(scope, spec.id());
    let mut filter = F::new(config, state).map_err(|mistake| vec![in_config(mistake)])?;
    filter
        .placed(place.stage, phase)
        .map_err(|mistake| vec![in_config(mistake)])?;
    Ok(Link {
        id: spec.id().into(),
        phase,
        sees_response: filter.sees_response(),
        sees_end: filter.sees_end(),
        answers_preflight: filter.answers_preflight(),
        needs_body: filter.needs_body(),
        path_params: filter.path_params().into(),
        // Routes whose filters have the same state may share a chain.
        keeps_state: !F::SHARED && TypeId::of::<F::State>() != TypeId::of::<()>(),
        filter: wrap(filter),
    })
}

fn in_config(mistake: InvalidConfig) -> Problem {
    Problem {
        pointer: format!("/config{}", mistake.pointer),
        code: "invalid_config",
        message: mistake.message,
        expected: mistake.expected,
        suggestion: mistake.suggestion,
    }
}

/// The phase the document asks for, or the filter's own.
fn phase<F: Filter>(config: &F::Config, spec: &FilterSpec, stage: Stage) -> Result<Phase, Problem> {
    let own = F::phase(config);
    let mut choices = vec![own];
    choices.extend_from_slice(F::other_phases(config));
    choices.retain(|phase| phase.allowed_in(stage));
    choices.dedup();
    let only = match *choices {
        [only] => only,
        _ => own,
    };
    let wanted = spec.phase.unwrap_or(only);
    if choices.contains(&wanted) {
        return Ok(wanted);
    }

    let (name, stage) = (F::NAME, stage.name());
    let phases: Vec<_> = choices.iter().map(|phase| phase.name()).collect();
    let problem = match (spec.phase, phases.is_empty()) {
        (_, true) => Problem::new(
            "/name",
            "wrong_stage",
            format!("`{name}` cannot stand in the {stage} chain"),
        ),
        (None, false) => Problem::new(
            "",
            "wrong_phase",
            format!("in the {stage} chain `{name}` needs a `phase`"),
        ),
        (Some(wanted), false) => Problem::new(
            "/phase",
            "wrong_phase",
            format!(
                "in the {stage} chain `{name}` cannot stand in phase `{}`",
                wanted.name()
            ),
        ),
    };
    Err(if phases.is_empty() {
        problem.expecting(format!("a chain that has the phase `{}`", own.name()))
    } else {
        problem.expecting(format!("one of: {}", phases.join(", ")))
    })
}

/// The reject for a carry of another filter: a mistake of the engine, which must not let a request pass.
pub fn no_carry() -> Reject {
    debug_assert!(false, "a filter was given the carry of another");
    Reject::new(&codes::INTERNAL).because("a filter was given the carry of another")
}

/// Makes `AnyFilter` and `AnyCarry` out of a list of `module::Filter` rows.
#[doc(hidden)]
#[macro_export]
macro_rules! filters {
    ($($module:ident::$filter:ident),+ $(,)?) => {
        /// A filter of the table.
        pub enum AnyFilter {
            $(
                #[doc = concat!("`", stringify!($module), "`")]
                $filter($module::$filter),
            )+
        }

        /// What one request carries through a filter of the table.
        pub enum AnyCarry {
            $(
                #[doc = concat!("`", stringify!($module), "`")]
                $filter(<$module::$filter as ::sluicegate_core::Filter>::Carry),
            )+
        }

        const _: () = {
            use ::std::sync::OnceLock;

            use ::sluicegate_core::{Cx, Exchange, Filter, Flow, Outcome, Problem, Reject, Response, Step};
            use $crate::{ConfigSchema, FilterSpec, Link, Place, Row, Table};

            /// The configuration schemas, generated when first needed.
            #[derive(Default)]
            #[expect(non_snake_case, reason = "the fields have the names of the filters")]
            struct Schemas {
                $($filter: OnceLock<ConfigSchema>,)+
            }

            static SCHEMAS: Schemas = Schemas { $($filter: OnceLock::new(),)+ };

            #[allow(unreachable_patterns, reason = "a table may have one row")]
            impl Table for AnyFilter {
                type Carry = AnyCarry;

                fn rows() -> Vec<Row> {
                    vec![$({
                        type Of = $module::$filter;
                        let schema = SCHEMAS.$filter.get_or_init(ConfigSchema::of::<<Of as Filter>::Config>);
                        Row::of::<Of>(schema)
                    },)+]
                }

                fn build(spec: &FilterSpec, place: &Place<'_>) -> Result<Link<Self>, Vec<Problem>> {
                    match spec.name.as_str() {
                        $(<$module::$filter as Filter>::NAME => {
                            $crate::link(spec, place, &SCHEMAS.$filter, Self::$filter)
                        })+
                        _ => Err(vec![spec.unknown(&[$(<$module::$filter as Filter>::NAME,)+])]),
                    }
                }

                fn name(&self) -> &'static str {
                    match self {
                        $(Self::$filter(_) => <$module::$filter as Filter>::NAME,)+
                    }
                }

                fn carry(&self) -> AnyCarry {
                    match self {
                        $(Self::$filter(_) => AnyCarry::$filter(Default::default()),)+
                    }
                }

                fn on_request<'a>(&'a self, cx: Cx<'a>, carry: &'a mut AnyCarry) -> Step<'a> {
                    match (self, carry) {
                        $((Self::$filter(filter), AnyCarry::$filter(carry)) => filter.on_request(cx, carry),)+
                        _ => Step::Done(Err($crate::no_carry())),
                    }
                }

                fn on_body(&self, cx: Cx<'_>, carry: &mut AnyCarry, body: &[u8]) -> Result<Flow, Reject> {
                    match (self, carry) {
                        $((Self::$filter(filter), AnyCarry::$filter(carry)) => filter.on_body(cx, carry, body),)+
                        _ => Err($crate::no_carry()),
                    }
                }

                fn on_response<'a>(
                    &'a self,
                    cx: Cx<'a>,
                    carry: &'a mut AnyCarry,
                    answer: &'a mut Response,
                ) -> Step<'a> {
                    match (self, carry) {
                        $((Self::$filter(filter), AnyCarry::$filter(carry)) => {
                            filter.on_response(cx, carry, answer)
                        })+
                        _ => Step::Done(Err($crate::no_carry())),
                    }
                }

                fn on_done(&self, exchange: &Exchange, carry: AnyCarry, outcome: Outcome) {
                    match (self, carry) {
                        $((Self::$filter(filter), AnyCarry::$filter(carry)) => {
                            filter.on_done(exchange, carry, outcome);
                        })+
                        _ => {}
                    }
                }
            }
        };
    };
}

pub(crate) use filters;
