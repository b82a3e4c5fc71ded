//! `header_hygiene`: removes what a client forges and what an upstream should not tell.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Filter, InvalidConfig, Phase, Response, Step};

use crate::{header_name::HeaderName, name_set::NameSet};

/// Removes forged internal headers from requests, and `Server` and `X-Powered-By` from answers.
///
/// Upstreams trust the headers in which the gateway says who calls. A client must not be able to
/// send them itself, so they go before any decision, whether or not the gateway writes them later:
/// `X-User-*`, `X-Tenant-*`, `X-Auth-*`, `X-Role`, `X-Roles`, `X-Data-Scope`, `X-Gray`,
/// `X-Gray-Tag`. `X_User_Id` counts as `X-User-Id`: many upstreams cannot tell them apart.
///
/// `X-Env`, `X-Version` and `X-Release` pass, because routes match on them; name them under
/// `request.remove` where only the gateway may choose the version. Hop-by-hop fields, and those
/// nominated by `Connection`, are removed by the engine on every request, before any filter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What goes from requests.
    #[serde(default)]
    request: RequestNames,
    /// What goes from answers.
    #[serde(default)]
    response: ResponseNames,
}

/// Names that go from requests, besides the built-in ones.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RequestNames {
    /// More headers to remove.
    remove: Vec<HeaderName>,
    /// More beginnings of names to remove, such as `X-Internal-`.
    prefixes: Vec<HeaderName>,
    /// Headers that stay although a list or a prefix says otherwise, such as `X-Auth-Token`.
    keep: Vec<HeaderName>,
    /// Remove the built-in names too.
    defaults: bool,
}

/// Names that go from answers, besides the built-in ones.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ResponseNames {
    /// More headers to remove.
    remove: Vec<HeaderName>,
    /// Headers that stay although a list says otherwise.
    keep: Vec<HeaderName>,
    /// Remove `Server` and `X-Powered-By` too.
    defaults: bool,
}

impl Default for RequestNames {
    fn default() -> Self {
        Self {
            remove: Vec::new(),
            prefixes: Vec::new(),
            keep: Vec::new(),
            defaults: true,
        }
    }
}

impl Default for ResponseNames {
    fn default() -> Self {
        Self {
            remove: Vec::new(),
            keep: Vec::new(),
            defaults: true,
        }
    }
}

const INTERNAL: [&str; 5] = ["X-Role", "X-Roles", "X-Data-Scope", "X-Gray", "X-Gray-Tag"];
const INTERNAL_PREFIXES: [&str; 3] = ["X-User-", "X-Tenant-", "X-Auth-"];
const TELLTALE: [&str; 2] = ["Server", "X-Powered-By"];

/// The filter.
pub struct HeaderHygiene {
    request: NameSet,
    response: NameSet,
}

impl Filter for HeaderHygiene {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "header_hygiene";

    fn phase(_: &Config) -> Phase {
        Phase::Sanitize
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let Config { request, response } = config;
        for (index, name) in request.remove.iter().enumerate() {
            name.check_writable(&format!("/request/remove/{index}"))?;
        }
        for (index, name) in response.remove.iter().enumerate() {
            name.check_writable(&format!("/response/remove/{index}"))?;
        }

        let internal = built_in(request.defaults, &INTERNAL);
        let prefixes = built_in(request.defaults, &INTERNAL_PREFIXES);
        let telltale = built_in(response.defaults, &TELLTALE);
        Ok(Self {
            request: NameSet::new(
                internal.chain(texts(&request.remove)),
                prefixes.chain(texts(&request.prefixes)),
                texts(&request.keep),
            ),
            response: NameSet::new(
                telltale.chain(texts(&response.remove)),
                [],
                texts(&response.keep),
            ),
        })
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let fields = &mut cx.exchange.request.fields;
        let before = fields.len();
        fields.remove_where(|name| self.request.contains(name));
        let removed = before - fields.len();
        if removed > 0 {
            cx.exchange
                .note(|| format!("{removed} internal headers of the client are removed"));
        }
        Step::NEXT
    }

    fn on_response<'a>(&'a self, _: Cx<'a>, (): &'a mut (), answer: &'a mut Response) -> Step<'a> {
        let fields = &mut answer.head.fields;
        fields.remove_where(|name| self.response.contains(name));
        Step::NEXT
    }
}

fn built_in<'a>(wanted: bool, names: &'a [&'static str]) -> impl Iterator<Item = &'a str> {
    names.iter().copied().filter(move |_| wanted)
}

fn texts(names: &[HeaderName]) -> impl Iterator<Item = &str> {
    names.iter().map(HeaderName::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Trial, exchange, filter};

    fn passing(config: &Value, fields: &[(&str, &str)]) -> Vec<String> {
        let filter: HeaderHygiene = filter(config).unwrap();
        let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
        trial.request(&filter).unwrap().unwrap();
        let names = trial.exchange.request.fields.iter();
        names
            .map(|(name, _)| String::from_utf8(name.to_vec()).unwrap())
            .collect()
    }

    // spec: PL-45
    // spec: SE-06
    // spec: ID-28
    #[test]
    fn forged_identity_never_passes() {
        let forged = [
            ("X-User-Id", "1"),
            ("x-tenant-type", "other"),
            ("X-TENANT", "stays"),
            ("X-Roles", "admin"),
            ("X-Auth-Role", "admin"),
            ("X_User_Id", "1"),
            ("X-Data-Scope", "all"),
            ("X-Gray", "true"),
            ("X-Gray-Tag", "v2"),
            ("X-User-Id", "2"),
            ("Accept", "*/*"),
        ];

        assert_eq!(passing(&json!({}), &forged), ["X-TENANT", "Accept"]);
    }

    #[test]
    fn ordinary_headers_pass_untouched() {
        let fields = [
            ("Host", "a.test"),
            ("X-Request-Id", "1"),
            ("X-Env", "gray"),
            ("X-Version", "2"),
            ("X-Forwarded-For", "192.0.2.1"),
            ("Authorization", "Bearer x"),
        ];

        assert_eq!(passing(&json!({}), &fields).len(), fields.len());
    }

    #[test]
    fn lists_add_to_the_built_in_names_and_exceptions_take_away() {
        let config = json!({"request": {
            "remove": ["X-Env"], "prefixes": ["X-Internal-"], "keep": ["X-Auth-Token"],
        }});
        let fields = [
            ("x-env", "green"),
            ("X-Internal-Debug", "1"),
            ("X-Auth-Token", "t"),
            ("X-Auth-User", "u"),
        ];

        assert_eq!(passing(&config, &fields), ["X-Auth-Token"]);
        let bare = json!({"request": {"defaults": false}});
        assert_eq!(passing(&bare, &fields).len(), 4);
    }

    // spec: SE-04
    #[test]
    fn an_answer_does_not_tell_what_made_it() {
        let filter: HeaderHygiene =
            filter(&json!({"response": {"remove": ["X-Runtime"]}})).unwrap();
        let mut trial = Trial::new(exchange("GET", "/", &[]).unwrap());
        let mut answer = Response::new(200);
        for name in ["Server", "X-Powered-By", "x-runtime", "Content-Type"] {
            answer.head.fields.append(name, b"x").unwrap();
        }

        trial.response(&filter, &mut answer).unwrap().unwrap();

        let names: Vec<_> = answer.head.fields.iter().map(|(name, _)| name).collect();
        assert_eq!(names, [b"Content-Type"]);
    }

    #[test]
    fn framing_is_not_hygiene() {
        let config = json!({"response": {"remove": ["Content-Length"]}});
        let mistake = crate::testing::filter::<HeaderHygiene>(&config);

        assert!(mistake.err().unwrap().starts_with("/response/remove/0: "));
    }
}
