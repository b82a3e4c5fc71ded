//! Facts that the Python side pushes in.

use std::{net::SocketAddr, time::Duration};

use serde::Deserialize;
use sluicegate_core::Problem;
use sluicegate_filters::States;

use crate::{
    core::Core,
    error::EngineError,
    upstream::{
        policy::UpstreamPolicy,
        refusals,
        shared::{Endpoints, Shared},
    },
};

/// A fact from the Python side.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Told {
    /// A document was refused before it became a snapshot.
    ConfigRejected { reason: String },
    /// Log files have been moved away.
    ReopenLogs {},
    /// A registry knows these instances.
    Endpoints {
        upstream: String,
        endpoints: Vec<ToldEndpoint>,
    },
    /// What the filters called `id` want to know at once.
    Filter(FilterFact),
}

/// An instance of a registry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToldEndpoint {
    pub(crate) address: SocketAddr,
    pub(crate) weight: u32,
}

impl Told {
    /// # Errors
    /// An unknown kind, or fields that do not belong to it.
    pub(crate) fn read(event: &str) -> Result<Self, EngineError> {
        serde_json::from_str(event).map_err(|error| EngineError::Event(error.to_string()))
    }
}

/// Takes over the instances of a registry, but for those that the policy does not allow (SE-23).
pub(crate) fn follow_registry(
    core: &Core,
    policy: &UpstreamPolicy,
    shared: &Shared,
    told: Vec<ToldEndpoint>,
) {
    let (allowed, refused): (Vec<_>, Vec<_>) = told
        .into_iter()
        .partition(|endpoint| policy.allows(endpoint.address.ip()));
    let refused: Vec<_> = refused
        .iter()
        .map(|endpoint| ("a registry", endpoint.address.ip()))
        .collect();
    refusals::note(core, shared, &refused);
    let list: Vec<_> = allowed
        .into_iter()
        .map(|endpoint| {
            let written = endpoint.address.to_string().into();
            (endpoint.address, endpoint.weight, written)
        })
        .collect();
    shared.set_endpoints_if_changed(Endpoints::new(&list));
}

/// A fact for the filters of one name and `id`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterFact {
    filter: String,
    id: Option<String>,
    event: serde_json::Value,
}

impl FilterFact {
    /// # Errors
    /// No filter wants it, or one does not take it.
    pub(crate) fn tell(&self, states: &States, unix: Duration) -> Result<(), EngineError> {
        let told = self.tell_any(states, unix).map_err(EngineError::Fact)?;
        if told > 0 {
            return Ok(());
        }
        let (filter, id) = (&self.filter, self.id());
        let nobody = format!("no filter `{filter}` called `{id}` keeps state");
        Err(EngineError::Event(nobody))
    }

    fn id(&self) -> &str {
        self.id.as_ref().unwrap_or(&self.filter)
    }

    /// How many states there are to tell.
    fn tell_any(&self, states: &States, unix: Duration) -> Result<usize, Problem> {
        let (filter, id) = (&self.filter, self.id());
        let told = states.tell(filter, id, &self.event, unix);
        told.map_err(|mistake| Problem {
            pointer: format!("/event{}", mistake.pointer),
            code: "fact_refused",
            message: format!("{filter} `{id}`: {}", mistake.message),
            expected: mistake.expected,
            suggestion: mistake.suggestion,
        })
    }
}

/// Tells filters the facts that come with a snapshot. One that no filter wants is no mistake: a
/// default of routes may be used by none.
///
/// # Errors
/// The first that is no fact for a filter, or is not taken.
pub(crate) fn all(facts: &[String], states: &States, unix: Duration) -> Result<(), EngineError> {
    for fact in facts {
        match Told::read(fact)? {
            Told::Filter(fact) => fact
                .tell_any(states, unix)
                .map_err(|problem| EngineError::Refused(vec![problem]))?,
            Told::ConfigRejected { .. } | Told::ReopenLogs {} | Told::Endpoints { .. } => {
                let other = "only facts for filters come with a snapshot".to_owned();
                return Err(EngineError::Event(other));
            }
        };
    }
    Ok(())
}
