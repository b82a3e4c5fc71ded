//! The chains of one snapshot, each made once.

use std::{collections::HashMap, sync::Arc};

use sluicegate_core::{Problem, Stage};

use crate::{AnyFilter, Chain, FilterSpec, Place, Secrets, States, Table};

/// Chains by what the document says. Routes that say the same share one chain, as long as none of
/// its filters has state: a random request to one of a thousand routes then finds it in the cache.
pub struct Chains<'a, F = AnyFilter> {
    states: &'a States,
    secrets: Option<&'a Secrets>,
    known: HashMap<(Stage, Vec<FilterSpec>), Arc<Chain<F>>>,
}

impl<'a, F: Table> Chains<'a, F> {
    /// No chains yet; filters will take their state from `states`.
    pub fn new(states: &'a States) -> Self {
        Self {
            states,
            secrets: None,
            known: HashMap::new(),
        }
    }

    /// Secrets have these values.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Option<&'a Secrets>) -> Self {
        self.secrets = secrets;
        self
    }

    /// The chain of `scope` (such as `route:orders`).
    ///
    /// # Errors
    /// As for [`Chain::build`].
    pub fn chain(
        &mut self,
        stage: Stage,
        specs: &[FilterSpec],
        scope: &str,
    ) -> Result<Arc<Chain<F>>, Vec<Problem>> {
        let key = (stage, specs.to_vec());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let place = Place {
            stage,
            scope,
            states: self.states,
            secrets: self.secrets,
        };
        let chain = Arc::new(Chain::build_at(&place, specs)?);
        if !chain.keeps_state() {
            self.known.insert(key, chain.clone());
        }
        Ok(chain)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sluicegate_core::{Cx, Filter, InvalidConfig, Phase, Step};

    use super::*;

    mod counting {
        use std::sync::atomic::AtomicU32;

        use super::*;

        pub(super) struct Counting(pub(super) Arc<AtomicU32>);

        #[derive(serde::Deserialize, schemars::JsonSchema)]
        pub(super) struct Config {}

        impl Filter for Counting {
            type Config = Config;
            type State = AtomicU32;
            type Carry = ();
            const NAME: &'static str = "counting";

            fn phase(_: &Config) -> Phase {
                Phase::Meter
            }

            fn new(_: Config, state: Arc<AtomicU32>) -> Result<Self, InvalidConfig> {
                Ok(Self(state))
            }

            fn on_request<'a>(&'a self, _: Cx<'a>, (): &'a mut ()) -> Step<'a> {
                Step::NEXT
            }
        }
    }

    #[expect(
        unreachable_pub,
        reason = "the macro is written for the list of a crate"
    )]
    mod table {
        use super::counting;

        crate::table::filters! { counting::Counting }
    }

    #[test]
    fn routes_that_say_the_same_share_one_chain() {
        let states = States::default();
        let mut chains: Chains<'_> = Chains::new(&states);
        let strips = |segments: u32| {
            let config = json!({"strip_segments": segments});
            [FilterSpec::new("path_rewrite", config)]
        };
        let mut chain = |specs: &[FilterSpec], scope: &str| {
            let chain = chains.chain(Stage::Route, specs, scope);
            chain.unwrap()
        };

        let first = chain(&strips(1), "route:a");
        let same = chain(&strips(1), "route:b");
        let other = chain(&strips(2), "route:c");

        assert!(Arc::ptr_eq(&first, &same));
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn a_filter_with_state_is_its_routes_own() {
        let states = States::default();
        let mut chains: Chains<'_, table::AnyFilter> = Chains::new(&states);
        let specs = [FilterSpec::new("counting", json!({}))];

        let first = chains.chain(Stage::Route, &specs, "route:a").ok().unwrap();
        let second = chains.chain(Stage::Route, &specs, "route:b").ok().unwrap();

        let state = |chain: &Chain<table::AnyFilter>| {
            let table::AnyFilter::Counting(counting) = &chain.links()[0].filter;
            Arc::clone(&counting.0)
        };
        assert!(!Arc::ptr_eq(&state(&first), &state(&second)));
    }
}
