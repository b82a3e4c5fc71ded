//! The ordered chain of one listener or route.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use sluicegate_core::{BodyNeed, Phase, Problem, Stage, closest};

use crate::{AnyFilter, Place, States, Table};

/// A filter as the document names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterSpec {
    /// Which filter.
    pub name: String,
    /// Tells two uses of one filter apart; the name by default.
    #[serde(default)]
    pub id: Option<String>,
    /// Another phase than the filter's own.
    #[serde(default)]
    pub phase: Option<Phase>,
    /// The filter's configuration; only the filter knows what is inside.
    #[serde(default = "nothing")]
    pub config: Value,
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

impl FilterSpec {
    /// A filter by its name, with a configuration.
    pub fn new(name: &str, config: Value) -> Self {
        Self {
            name: name.to_owned(),
            id: None,
            phase: None,
            config,
        }
    }

    /// What state, logs and metrics know it by.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }

    /// The problem that no filter has this name.
    pub fn unknown(&self, known: &[&str]) -> Problem {
        let message = format!("there is no filter `{}`", self.name);
        Problem::new("/name", "unknown_filter", message)
            .expecting(format!("one of: {}", known.join(", ")))
            .suggesting(closest(&self.name, known.iter().copied()))
    }
}

/// A filter in its place.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is what one method of the filter said when it was built"
)]
pub struct Link<F = AnyFilter> {
    /// The name users gave this use of the filter.
    pub id: Box<str>,
    /// Where it stands.
    pub phase: Phase,
    /// Whether `on_response` is worth a call.
    pub sees_response: bool,
    /// Whether `on_done` is worth a call; the carry is dropped in any case.
    pub sees_end: bool,
    /// Whether it answers CORS preflights.
    pub answers_preflight: bool,
    /// How much of the request body it may ask for.
    pub needs_body: Option<BodyNeed>,
    /// The path parameters it reads.
    pub path_params: Box<[Box<str>]>,
    /// Whether it has state, which belongs to one chain.
    pub keeps_state: bool,
    /// The filter itself.
    pub filter: F,
}

/// Filters in the order of their phases; within a phase the user's order stands.
pub struct Chain<F = AnyFilter> {
    links: Box<[Link<F>]>,
    /// How many links stand before the phase `respond`.
    inbound: usize,
}

impl<F> Default for Chain<F> {
    /// A chain without filters.
    fn default() -> Self {
        Self {
            links: Box::default(),
            inbound: 0,
        }
    }
}

impl<F: Table> Chain<F> {
    /// Builds the chain of `scope` (such as `route:orders`).
    ///
    /// # Errors
    /// All that is wrong with all filters; pointers begin with the filter's index.
    pub fn build(
        stage: Stage,
        specs: &[FilterSpec],
        scope: &str,
        states: &States,
    ) -> Result<Self, Vec<Problem>> {
        let place = Place {
            stage,
            scope,
            states,
            secrets: None,
        };
        Self::build_at(&place, specs)
    }

    /// The same in a place that also says where secrets come from.
    ///
    /// # Errors
    /// As for [`Chain::build`].
    pub fn build_at(place: &Place<'_>, specs: &[FilterSpec]) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut links = Vec::with_capacity(specs.len());
        for (index, spec) in specs.iter().enumerate() {
            let pointer = format!("/{index}");
            if let Some(problem) = twin(specs, index).or_else(|| bad_id(spec)) {
                problems.push(problem.under(&pointer));
                continue;
            }
            match F::build(spec, place) {
                Ok(link) => links.push(link),
                Err(found) => {
                    problems.extend(found.into_iter().map(|problem| problem.under(&pointer)));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        links.sort_by_key(|link| link.phase);
        let inbound = links.partition_point(|link| link.phase < Phase::Respond);
        Ok(Self {
            links: links.into(),
            inbound,
        })
    }

    /// All filters in order.
    pub fn links(&self) -> &[Link<F>] {
        &self.links
    }

    /// The filters whose `on_request` a request meets; those entered see its answer in reverse.
    pub fn inbound(&self) -> &[Link<F>] {
        self.links.get(..self.inbound).unwrap_or_default()
    }

    /// The filters of phase `respond`: only their `on_response` runs, for every answer, in this
    /// order, after those that were entered.
    pub fn respond(&self) -> &[Link<F>] {
        self.links.get(self.inbound..).unwrap_or_default()
    }

    /// The most any filter may ask of the request body; without such a filter nothing is buffered.
    pub fn needs_body(&self) -> Option<BodyNeed> {
        self.links
            .iter()
            .filter_map(|link| link.needs_body)
            .max_by_key(|need| need.limit)
    }

    /// Whether a filter has state of its own, so that no other route may have this chain too.
    pub fn keeps_state(&self) -> bool {
        self.links.iter().any(|link| link.keeps_state)
    }

    /// Whether a filter answers CORS preflights.
    pub fn answers_preflight(&self) -> bool {
        self.links.iter().any(|link| link.answers_preflight)
    }

    /// The path parameters that filters of this chain read; mostly none.
    pub fn path_params(&self) -> impl Iterator<Item = &str> {
        self.links
            .iter()
            .flat_map(|link| link.path_params.iter().map(AsRef::as_ref))
    }
}

/// The problem that this cannot be an id: ids stand in logs, metrics and keys.
fn bad_id(spec: &FilterSpec) -> Option<Problem> {
    let id = spec.id.as_deref()?;
    let fits = id.len() <= 100
        && id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    (!fits).then(|| {
        let message = format!("`{}` cannot be the id of a filter", id.escape_debug());
        Problem::new("/id", "bad_id", message).expecting(
            "a letter or digit, then letters, digits, dots, dashes and underscores; 100 at most",
        )
    })
}

/// The problem that an earlier filter has the same name and id.
fn twin(specs: &[FilterSpec], index: usize) -> Option<Problem> {
    let spec = specs.get(index)?;
    specs
        .iter()
        .take(index)
        .any(|other| other.name == spec.name && other.id() == spec.id())
        .then(|| {
            let message = format!(
                "`{}` with the id `{}` is already here",
                spec.name,
                spec.id()
            );
            let at = if spec.id.is_some() { "/id" } else { "/name" };
            Problem::new(at, "duplicate_filter", message)
                .expecting("an `id` of its own for each use of a filter")
        })
}

#[cfg(test)]
mod tests;
