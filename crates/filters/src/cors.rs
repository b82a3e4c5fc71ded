//! `cors`: which pages of other origins may read an answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{
    Cx, Exchange, Filter, Flow, InvalidConfig, Phase, Response, Span, Stage, Step,
};
use sluicegate_http1::Fields;

use crate::header_name::HeaderName;

mod origin;
mod preflight;

use origin::{OriginRule, Origins};
use preflight::Preflight;

/// Lets pages of other origins read answers (the CORS protocol of the Fetch standard).
///
/// On a route it answers preflights with 204, before authentication and limits and without the
/// upstream; the route is found by the method that the preflight asks for. An `OPTIONS` without
/// `Access-Control-Request-Method` is a request like any other. Every answer of the route, rejects
/// and failures of the upstream too, gets the headers of this configuration; what the upstream says
/// in `Access-Control-…` headers goes. An origin that is not allowed gets none of them. `null`, lists
/// and a second `Origin` are never reflected.
///
/// On the entry chain it is what answers get that are given before a route is known: 404, 405, and
/// rejects of the entry chain. It has no say once a route is found: routes have a `cors` of their own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The origins that may read: `https://a.example`, `https://*.example.com` for every subdomain,
    /// `{regex: …}` for a pattern of the whole origin, or `"*"` alone for all of them.
    #[serde(default)]
    origins: Vec<OriginRule>,
    /// Methods that a preflight is told; left out, the one it asks for, since the route accepts it.
    methods: Option<Vec<String>>,
    /// Request headers that a page may set: a list, or `"*"` for those it asks for.
    #[serde(default)]
    headers: AllowedHeaders,
    /// Answer headers that a page may read besides the safelisted ones.
    #[serde(default)]
    expose: Vec<HeaderName>,
    /// The browser may send cookies and the like. Needs concrete origins.
    #[serde(default)]
    credentials: bool,
    /// How long browsers remember a preflight, in whole seconds; they cut it at two hours or so.
    max_age: Option<Span>,
    /// Pages of public sites may reach this one in a private network.
    #[serde(default)]
    private_network: bool,
}

/// Request headers that a page may set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum AllowedHeaders {
    /// These.
    Names(Vec<HeaderName>),
    /// All it asks for.
    Any(Any),
}

/// `"*"`.
#[derive(Debug, Deserialize, JsonSchema)]
enum Any {
    #[serde(rename = "*")]
    Star,
}

impl Default for AllowedHeaders {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

/// How they all begin.
const OWN_PREFIX: &[u8] = b"access-control-";

/// Headers that only the gateway may write.
const OWN: [&str; 7] = [
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Credentials",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Private-Network",
    "Access-Control-Expose-Headers",
    "Access-Control-Max-Age",
];

/// The filter.
pub struct Cors {
    origins: Origins,
    credentials: bool,
    expose: Option<Box<str>>,
    preflight: Preflight,
    /// It stands on a route, else on the entry chain.
    on_route: bool,
}

/// Whether this request may be read by the origin it names; kept, because filters behind may
/// change the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Judged {
    /// Not yet: the request was answered before.
    #[default]
    Unmet,
    /// It names no origin that is allowed.
    Refused,
    /// This origin may read.
    Allowed(Box<[u8]>),
    /// Every origin may read.
    Everybody,
}

impl Filter for Cors {
    type Config = Config;
    type State = ();
    type Carry = Judged;
    const NAME: &'static str = "cors";

    fn phase(_: &Config) -> Phase {
        Phase::Negotiate
    }

    fn other_phases(_: &Config) -> &'static [Phase] {
        &[Phase::Respond]
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let origins = Origins::new(config.origins, config.credentials)?;
        let preflight = Preflight::new(
            config.methods,
            config.headers,
            config.max_age,
            config.private_network,
        )?;
        let star = config.expose.iter().position(|name| name.as_str() == "*");
        if let Some(index) = star.filter(|_| config.credentials) {
            let at = format!("/expose/{index}");
            return Err(
                InvalidConfig::new(at, "with credentials `*` is the name of a header")
                    .expecting("the names of the headers"),
            );
        }
        Ok(Self {
            origins,
            credentials: config.credentials,
            expose: preflight::joined(&config.expose),
            preflight,
            on_route: true,
        })
    }

    fn placed(&mut self, stage: Stage, phase: Phase) -> Result<(), InvalidConfig> {
        if stage == Stage::Route && phase == Phase::Respond {
            return Err(
                InvalidConfig::new("", "on a route it has to see the request first")
                    .expecting("phase `negotiate`"),
            );
        }
        self.on_route = stage == Stage::Route;
        Ok(())
    }

    fn answers_preflight(&self) -> bool {
        self.on_route
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, carry: &'a mut Judged) -> Step<'a> {
        *carry = self.judge(cx.exchange);
        let request = &cx.exchange.request;
        if !preflight::is_preflight(request) {
            return Step::NEXT;
        }
        let mut answer = Response::new(204);
        if !matches!(carry, Judged::Refused | Judged::Unmet) {
            self.preflight.answer(request, &mut answer.head.fields);
        }
        cx.exchange.note(|| match carry {
            Judged::Refused | Judged::Unmet => "a preflight of an origin that is not allowed",
            Judged::Allowed(_) | Judged::Everybody => "a preflight",
        });
        Step::Done(Ok(Flow::Answer(answer)))
    }

    fn on_response<'a>(
        &'a self,
        cx: Cx<'a>,
        carry: &'a mut Judged,
        answer: &'a mut Response,
    ) -> Step<'a> {
        if !self.on_route && cx.exchange.route.is_some() {
            return Step::NEXT;
        }
        if *carry == Judged::Unmet {
            *carry = self.judge(cx.exchange);
        }
        let is_preflight = self.on_route && preflight::is_preflight(&cx.exchange.request);
        self.dress(carry, is_preflight, &mut answer.head.fields);
        Step::NEXT
    }
}

impl Cors {
    fn judge(&self, exchange: &Exchange) -> Judged {
        if self.origins.everybody() {
            return Judged::Everybody;
        }
        let mut origins = exchange.request.fields.get_all("Origin");
        match (origins.next(), origins.next()) {
            (Some(origin), None) if self.origins.contain(origin) => Judged::Allowed(origin.into()),
            _ => Judged::Refused,
        }
    }

    fn dress(&self, judged: &Judged, is_preflight: bool, fields: &mut Fields) {
        if !is_preflight {
            fields.remove_where(|name| {
                let is_cors = |start: &[u8]| start.eq_ignore_ascii_case(OWN_PREFIX);
                name.get(..OWN_PREFIX.len()).is_some_and(is_cors)
                    && OWN
                        .iter()
                        .any(|own| own.as_bytes().eq_ignore_ascii_case(name))
            });
        }
        if *judged != Judged::Everybody {
            vary(fields, "Origin");
        }
        let origin = match judged {
            Judged::Unmet | Judged::Refused => return,
            Judged::Everybody => b"*",
            Judged::Allowed(origin) => &**origin,
        };
        // An origin that is allowed is visible ASCII, and all else was checked when the filter was
        // built: nothing here can be refused.
        let _ = fields.set("Access-Control-Allow-Origin", origin);
        if self.credentials {
            let _ = fields.set("Access-Control-Allow-Credentials", b"true");
        }
        if let Some(names) = self.expose.as_deref().filter(|_| !is_preflight) {
            let _ = fields.set("Access-Control-Expose-Headers", names.as_bytes());
        }
    }
}

/// Tells caches what the answer depends on, unless they know.
fn vary(fields: &mut Fields, name: &str) {
    let known = fields.get_all("Vary").any(|value| {
        value
            .split(|byte| *byte == b',')
            .map(<[u8]>::trim_ascii)
            .any(|member| member == b"*" || member.eq_ignore_ascii_case(name.as_bytes()))
    });
    if !known {
        let _ = fields.append("Vary", name.as_bytes());
    }
}

#[cfg(test)]
mod tests;
