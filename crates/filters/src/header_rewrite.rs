//! `header_rewrite`: sets, appends and removes headers of requests and answers.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Exchange, Filter, InvalidConfig, Phase, Response, Step};
use sluicegate_http1::{Fields, InvalidField};

use crate::{field_value::FieldValue, header_name::HeaderName};

/// Changes headers of the request on its way in and of the answer on its way back.
///
/// The operations run in this order: `set`, `append`, `remove`, `set_if_absent`. Values may
/// contain `{request_id}`, `{client_ip}`, `{route}`, `{host}`, `{path}`, `{query}`, `{scheme}`,
/// `{method}`, `{param.NAME}` (a parameter of the route's path) and `{header.NAME}` (the first value
/// of a request header) as they are at that moment; what is not there is nothing, and doubled braces
/// are the text itself. Headers that frame messages or connections belong to the engine, `Host` to
/// `host_rewrite` and the upstream's setting `host`.
///
/// With operations on answers only it stands in phase `respond` and sees every answer, rejects too;
/// else in `rewrite`, where it sees the answers of requests that came so far. In phase `sanitize`
/// it changes requests before the route is matched.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What happens to the request.
    #[serde(default)]
    request: Operations,
    /// What happens to the answer.
    #[serde(default)]
    response: Operations,
}

/// Operations on one head, in the order in which they run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Operations {
    /// Headers that get this value; all earlier values go.
    set: BTreeMap<HeaderName, FieldValue>,
    /// Values that are added beside those that are there.
    append: BTreeMap<HeaderName, FieldValue>,
    /// Headers that go.
    remove: Vec<HeaderName>,
    /// Headers that get this value when they are not there.
    set_if_absent: BTreeMap<HeaderName, FieldValue>,
}

/// The filter.
pub struct HeaderRewrite {
    request: Operations,
    response: Operations,
    params: Vec<Box<str>>,
}

impl Filter for HeaderRewrite {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "header_rewrite";

    fn phase(config: &Config) -> Phase {
        if config.request.is_empty() && !config.response.is_empty() {
            Phase::Respond
        } else {
            Phase::Rewrite
        }
    }

    fn other_phases(config: &Config) -> &'static [Phase] {
        // In `respond` no request passes any more.
        if config.request.is_empty() {
            &[Phase::Rewrite]
        } else {
            &[Phase::Sanitize]
        }
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let Config { request, response } = config;
        if request.is_empty() && response.is_empty() {
            return Err(InvalidConfig::new("", "nothing is to be changed")
                .expecting("an operation under `request` or `response`"));
        }
        request.check("/request")?;
        response.check("/response")?;
        let params = request.values().chain(response.values());
        let params = params.flat_map(FieldValue::params).map(Into::into);
        let params = params.collect();
        Ok(Self {
            request,
            response,
            params,
        })
    }

    fn path_params(&self) -> &[Box<str>] {
        &self.params
    }

    fn sees_response(&self) -> bool {
        !self.response.is_empty()
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        // The operations read the exchange while they change its fields.
        let mut fields = std::mem::take(&mut cx.exchange.request.fields);
        let written = self.request.apply(&mut fields, cx.exchange);
        cx.exchange.request.fields = fields;
        written.map_err(Into::into).into()
    }

    fn on_response<'a>(&'a self, cx: Cx<'a>, (): &'a mut (), answer: &'a mut Response) -> Step<'a> {
        let written = self.response.apply(&mut answer.head.fields, cx.exchange);
        written.map_err(Into::into).into()
    }
}

impl Operations {
    fn is_empty(&self) -> bool {
        self.set.is_empty()
            && self.append.is_empty()
            && self.remove.is_empty()
            && self.set_if_absent.is_empty()
    }

    fn values(&self) -> impl Iterator<Item = &FieldValue> {
        let maps = [&self.set, &self.append, &self.set_if_absent];
        maps.into_iter().flat_map(BTreeMap::values)
    }

    fn check(&self, at: &str) -> Result<(), InvalidConfig> {
        let maps = [
            ("set", &self.set),
            ("append", &self.append),
            ("set_if_absent", &self.set_if_absent),
        ];
        for (operation, map) in maps {
            for (name, value) in map {
                // A header name has no `/`, but it may have a `~`.
                let token = name.as_str().replace('~', "~0");
                let pointer = format!("{at}/{operation}/{token}");
                name.check_writable(&pointer)?;
                value.check_name(name.as_str(), &pointer)?;
            }
        }
        for (index, name) in self.remove.iter().enumerate() {
            let pointer = format!("{at}/remove/{index}");
            name.check_writable(&pointer)?;
            if self
                .set
                .keys()
                .chain(self.append.keys())
                .any(|set| set.is(name.as_str()))
            {
                let message = format!("`{}` is written and removed at once", name.as_str());
                return Err(InvalidConfig::new(pointer, message)
                    .expecting("`set` alone: it replaces all earlier values"));
            }
        }
        Ok(())
    }

    fn apply(&self, fields: &mut Fields, exchange: &Exchange) -> Result<(), InvalidField> {
        let mut buffer = Vec::new();
        for (name, value) in &self.set {
            fields.set_named(name.field(), value.of(exchange, &mut buffer))?;
        }
        for (name, value) in &self.append {
            fields.append_named(name.field(), value.of(exchange, &mut buffer))?;
        }
        for name in &self.remove {
            fields.remove(name.as_str());
        }
        for (name, value) in &self.set_if_absent {
            if !fields.contains(name.as_str()) {
                fields.set_named(name.field(), value.of(exchange, &mut buffer))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
