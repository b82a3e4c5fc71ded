//! `query_rewrite`: changes the parameters of the query that the upstream gets.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Exchange, Filter, InvalidConfig, Phase, Step};

use crate::template::{Escape, Template};

mod pairs;

use pairs::Pairs;

/// Changes parameters of the query; the path stays.
///
/// The operations run in this order: `keep_only`, `remove`, `rename`, `set`, `add`. A parameter is
/// known by its decoded name: `%61` is `a`, and `+` is a space. What no operation touches is
/// forwarded byte for byte, in its place, so `+` and `%20` stay what they are. Values may have
/// the placeholders of `header_rewrite`; values are percent-encoded. A query from which everything has
/// gone goes with its `?`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("minProperties" = 1))]
pub struct Config {
    /// The only parameters that stay; all others go.
    keep_only: Option<Vec<ParamName>>,
    /// Parameters that go.
    remove: Vec<ParamName>,
    /// Parameters that get another name; the value stays as it is.
    rename: BTreeMap<ParamName, ParamName>,
    /// Parameters that get this value, in the place of the first of that name, else at the end; all
    /// others of that name go.
    set: BTreeMap<ParamName, ParamValue>,
    /// Parameters that are added at the end, beside those that are there.
    add: BTreeMap<ParamName, ParamValue>,
}

/// The name of a parameter, decoded: as people write it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(transparent)]
struct ParamName(#[schemars(length(min = 1, max = 200))] Box<str>);

/// The value of a parameter, not encoded yet.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct ParamValue(Template);

impl TryFrom<String> for ParamValue {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Template::parse(&text)
            .map(Self)
            .map_err(crate::template::BadTemplate::into_sentence)
    }
}

/// The filter.
pub struct QueryRewrite {
    config: Config,
    params: Vec<Box<str>>,
}

impl Filter for QueryRewrite {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "query_rewrite";

    fn phase(_: &Config) -> Phase {
        Phase::Rewrite
    }

    fn other_phases(_: &Config) -> &'static [Phase] {
        &[Phase::Sanitize]
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        for name in &config.remove {
            if config.set.contains_key(name) || config.add.contains_key(name) {
                let message = format!("`{}` is removed and written at once", name.0);
                return Err(InvalidConfig::new("/remove", message)
                    .expecting("`set` alone: it replaces all earlier values"));
            }
        }
        if config.keep_only.as_ref().is_some_and(Vec::is_empty) {
            return Err(
                InvalidConfig::new("/keep_only", "this removes every parameter")
                    .expecting("a name"),
            );
        }
        for (index, (old, new)) in config.rename.iter().enumerate() {
            if old == new || config.rename.contains_key(new) {
                let message = format!("`{}` becomes `{}`, which is renamed itself", old.0, new.0);
                return Err(InvalidConfig::new(
                    format!("/rename/{}", pointer_token(&old.0)),
                    message,
                )
                .expecting("names that are not renamed again"));
            }
            let twin = config.rename.values().take(index).any(|other| other == new);
            if twin {
                let message = format!("two parameters become `{}`", new.0);
                return Err(InvalidConfig::new(
                    format!("/rename/{}", pointer_token(&old.0)),
                    message,
                ));
            }
        }
        let values = config.set.values().chain(config.add.values());
        let params = values.flat_map(|value| value.0.params()).map(Into::into);
        let params = params.collect();
        Ok(Self { config, params })
    }

    fn path_params(&self) -> &[Box<str>] {
        &self.params
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let exchange = cx.exchange;
        let query = exchange.request.query().unwrap_or_default();
        let pairs = self.config.rewrite(Pairs::of(query), exchange);
        if !pairs.changed {
            return Step::NEXT;
        }
        let rewritten = pairs.into_query();
        let written = exchange.request.set_query(rewritten.as_deref());
        exchange.note(|| match &rewritten {
            Some(query) => format!("the upstream gets the query `{query}`"),
            None => "the upstream gets no query".to_owned(),
        });
        written.map_err(Into::into).into()
    }
}

impl Config {
    fn rewrite<'a>(&self, mut pairs: Pairs<'a>, exchange: &Exchange) -> Pairs<'a> {
        if let Some(kept) = &self.keep_only {
            pairs.retain(|name| kept.iter().any(|kept| name.is(&kept.0)));
        }
        if !self.remove.is_empty() {
            pairs.retain(|name| !self.remove.iter().any(|gone| name.is(&gone.0)));
        }
        for (old, new) in &self.rename {
            pairs.rename(&old.0, &new.0);
        }
        let mut buffer = Vec::new();
        for (name, value) in &self.set {
            let value = value.0.fill(exchange, Escape::Nothing, &mut buffer);
            pairs.set(&name.0, value);
        }
        for (name, value) in &self.add {
            let value = value.0.fill(exchange, Escape::Nothing, &mut buffer);
            pairs.add(&name.0, value);
        }
        pairs
    }
}

/// A name as a step of a JSON pointer.
fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests;
