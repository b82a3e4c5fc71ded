//! `host_rewrite`: which host the upstream is asked for.

use std::{borrow::Cow, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use sluicegate_core::{Cx, Filter, InvalidConfig, Phase, Reject, Step, codes};
use sluicegate_http1::valid_authority;

use crate::template::{Escape, Template};

/// Gives the upstream another `Host`; it goes before the upstream's setting `host`.
///
/// The host is fixed or has the placeholders of `header_rewrite`, such as
/// `{param.tenant}.shop.internal`. When what is filled in makes no host, the answer is 400.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct Config {
    /// A host, with a port if the upstream is to see one.
    host: Option<Host>,
}

/// A host in a configuration, with placeholders.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
struct Host(Template);

/// The filter.
pub struct HostRewrite {
    host: Template,
    params: Vec<Box<str>>,
}

impl Filter for HostRewrite {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "host_rewrite";

    fn phase(_: &Config) -> Phase {
        Phase::Rewrite
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let Some(Host(host)) = config.host else {
            return Err(InvalidConfig::new("/host", "which host is not said").expecting("a host"));
        };
        let params = host.params().map(Into::into).collect();
        Ok(Self { host, params })
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
        let mut buffer = Vec::new();
        let host = self.host.fill(exchange, Escape::Nothing, &mut buffer);
        let Some(host) = std::str::from_utf8(host)
            .ok()
            .filter(|host| valid_authority(host))
        else {
            return Step::Done(Err(
                Reject::new(&codes::BAD_REQUEST).because("host_rewrite made no valid host")
            ));
        };
        let host: Box<str> = host.into();
        exchange.note(|| format!("the upstream is asked for `{host}`"));
        exchange.upstream_host = Some(host);
        Step::NEXT
    }
}

impl TryFrom<String> for Host {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let template =
            Template::parse(&text).map_err(crate::template::BadTemplate::into_sentence)?;
        match template.literal() {
            Some(host) if !valid_authority(host) => {
                Err(format!("`{}` is not a host", host.escape_debug()))
            }
            _ => Ok(Self(template)),
        }
    }
}

impl JsonSchema for Host {
    fn schema_name() -> Cow<'static, str> {
        "HostTemplate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "examples": ["orders.internal", "{param.tenant}.shop.internal:8443"],
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Trial, exchange, filter};

    fn asked(host: &str, tenant: &str) -> Result<Option<Box<str>>, Reject> {
        let filter: HostRewrite = filter(&json!({"host": host})).unwrap();
        let mut exchange = exchange("GET", "/", &[("Host", "a.test:1")]).unwrap();
        exchange.params = [("tenant", tenant)].into_iter().collect();
        let mut trial = Trial::new(exchange);
        trial.request(&filter).unwrap()?;
        Ok(trial.exchange.upstream_host)
    }

    #[test]
    fn the_upstream_is_asked_for_the_new_host() {
        let some = |host: &str| Some(Box::from(host));

        assert_eq!(asked("b.test:8443", "").unwrap(), some("b.test:8443"));
        assert_eq!(
            asked("{param.tenant}.b.test", "t1").unwrap(),
            some("t1.b.test")
        );
        assert_eq!(asked("{host}", "").unwrap(), some("a.test"));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for tenant in ["", "a%2Fb", "a.", "x:1", "a,b", "a@b"] {
            let reject = asked("{param.tenant}.b.test", tenant).unwrap_err();
            assert_eq!(reject.code.status, 400, "{tenant:?}");
        }
        for host in ["", "a b", "http://a.test", "a.test/x", "{tenant}.a.test"] {
            assert!(
                filter::<HostRewrite>(&json!({"host": host})).is_err(),
                "{host}"
            );
        }
    }
}
