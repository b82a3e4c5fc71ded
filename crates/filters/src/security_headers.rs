//! `security_headers`: tells browsers what they may do with an answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Filter, InvalidConfig, Phase, Response, Scheme, Span, Step};
use sluicegate_http1::FieldName;

mod policy;

/// Adds the headers by which browsers protect the users of an answer. Nothing is on unless it is
/// configured. It sees every answer: those of upstreams, of the gateway and its rejects.
///
/// `hsts` is sent to clients that came over TLS only: browsers ignore it elsewhere (RFC 6797 §8.1),
/// and it would tell what listens behind. The scheme is the one a trusted proxy vouches for.
///
/// `frame_options` also gives `frame-ancestors` of `Content-Security-Policy`, which current browsers
/// obey instead: in the configured policy, or as a policy of its own beside the upstream's.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What happens when the upstream sends such a header itself.
    #[serde(default)]
    mode: Mode,
    /// `Strict-Transport-Security`: browsers come over TLS only.
    hsts: Option<Hsts>,
    /// `X-Content-Type-Options: nosniff`: browsers believe the content type.
    #[serde(default)]
    nosniff: bool,
    /// `X-Frame-Options`: who may show the page in a frame.
    frame_options: Option<FrameOptions>,
    /// `Content-Security-Policy`: where a page may load from.
    content_security_policy: Option<String>,
    /// `Referrer-Policy`: how much of the address other sites get to see.
    referrer_policy: Option<ReferrerPolicy>,
    /// `Permissions-Policy`: which features of the browser a page may use, such as `geolocation=()`.
    permissions_policy: Option<String>,
    /// `X-XSS-Protection`: only 0, which switches off a filter of old browsers that did harm.
    #[schemars(range(min = 0, max = 0))]
    xss_protection: Option<u8>,
}

/// What happens when a header is there already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// It is replaced.
    #[default]
    Set,
    /// It stays.
    IfAbsent,
}

/// How long and how widely browsers come over TLS only.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Hsts {
    /// How long browsers remember it; whole seconds, 0s makes them forget. One year by default.
    max_age: Span,
    /// Every subdomain too, also those that this gateway does not serve.
    include_subdomains: bool,
    /// Asks to be put on the list that browsers are shipped with; hard to undo. Needs a year or more
    /// and the subdomains, as the list does.
    preload: bool,
}

const YEAR: u64 = 31_536_000;

impl Default for Hsts {
    fn default() -> Self {
        Self {
            max_age: Span(std::time::Duration::from_secs(YEAR)),
            include_subdomains: true,
            preload: false,
        }
    }
}

/// Who may show the page in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum FrameOptions {
    /// Nobody.
    Deny,
    /// Pages of the same origin.
    SameOrigin,
}

/// The values of the referrer policy (W3C, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ReferrerPolicy {
    NoReferrer,
    NoReferrerWhenDowngrade,
    SameOrigin,
    Origin,
    StrictOrigin,
    OriginWhenCrossOrigin,
    StrictOriginWhenCrossOrigin,
    UnsafeUrl,
}

/// The filter.
#[derive(Default)]
pub struct SecurityHeaders {
    if_absent: bool,
    /// Over TLS only.
    hsts: Option<(FieldName, Box<str>)>,
    fields: Vec<(FieldName, Box<str>)>,
    /// A policy that stands beside the upstream's: browsers obey both.
    frame_ancestors: Option<(FieldName, &'static str)>,
}

impl Filter for SecurityHeaders {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "security_headers";

    fn phase(_: &Config) -> Phase {
        Phase::Respond
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let mut filter = Self {
            if_absent: config.mode == Mode::IfAbsent,
            ..Self::default()
        };
        if let Some(hsts) = config.hsts {
            let name = FieldName::of_ours("Strict-Transport-Security");
            filter.hsts = Some((name, hsts.value()?));
        }
        if config.nosniff {
            filter.add("X-Content-Type-Options", "nosniff");
        }
        if let Some(frames) = config.frame_options {
            filter.add("X-Frame-Options", frames.value());
        }
        let ancestors = config.frame_options.map(FrameOptions::ancestors);
        if let Some(policy) = config.content_security_policy {
            let policy = policy::content_security(&policy, ancestors)?;
            filter.add("Content-Security-Policy", &policy);
        } else {
            let name = FieldName::of_ours("Content-Security-Policy");
            filter.frame_ancestors = ancestors.map(|policy| (name, policy));
        }
        if let Some(policy) = config.referrer_policy {
            filter.add("Referrer-Policy", policy.value());
        }
        if let Some(policy) = config.permissions_policy {
            policy::check_permissions(&policy)?;
            filter.add("Permissions-Policy", &policy);
        }
        if config.xss_protection.is_some() {
            filter.add("X-XSS-Protection", "0");
        }
        if filter.fields.is_empty() && filter.hsts.is_none() {
            return Err(InvalidConfig::new("", "no header is asked for").expecting(
                "one of: hsts, nosniff, frame_options, content_security_policy, referrer_policy, \
                 permissions_policy, xss_protection",
            ));
        }
        Ok(filter)
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, _: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        Step::NEXT
    }

    fn on_response<'a>(&'a self, cx: Cx<'a>, (): &'a mut (), answer: &'a mut Response) -> Step<'a> {
        let fields = &mut answer.head.fields;
        let over_tls = cx.exchange.scheme == Scheme::Https;
        let hsts = self.hsts.as_ref().filter(|_| over_tls);
        let framed = self.if_absent
            && (fields.contains("X-Frame-Options") || fields.contains("Content-Security-Policy"));
        for (name, value) in hsts.into_iter().chain(&self.fields) {
            if self.if_absent && fields.contains(name.as_str()) {
                continue;
            }
            // Every value was checked when the filter was built.
            let _ = fields.set_named(name, value.as_bytes());
        }
        if let Some((name, policy)) = self.frame_ancestors.as_ref().filter(|_| !framed) {
            let _ = fields.append_named(name, policy.as_bytes());
        }
        Step::NEXT
    }
}

impl SecurityHeaders {
    fn add(&mut self, name: &'static str, value: &str) {
        self.fields.push((FieldName::of_ours(name), value.into()));
    }
}

impl Hsts {
    fn value(&self) -> Result<Box<str>, InvalidConfig> {
        let age = self.max_age.0;
        if age.subsec_nanos() != 0 {
            return Err(
                InvalidConfig::new("/hsts/max_age", "browsers count whole seconds")
                    .expecting("such as 8760h"),
            );
        }
        let seconds = age.as_secs();
        if self.preload && (seconds < YEAR || !self.include_subdomains) {
            return Err(InvalidConfig::new(
                "/hsts/preload",
                "the preload list takes no host with less than that",
            )
            .expecting("`max_age` of 8760h or more and `include_subdomains: true`"));
        }
        let mut value = format!("max-age={seconds}");
        if self.include_subdomains {
            value.push_str("; includeSubDomains");
        }
        if self.preload {
            value.push_str("; preload");
        }
        Ok(value.into())
    }
}

impl FrameOptions {
    const fn value(self) -> &'static str {
        match self {
            Self::Deny => "DENY",
            Self::SameOrigin => "SAMEORIGIN",
        }
    }

    const fn ancestors(self) -> &'static str {
        match self {
            Self::Deny => "frame-ancestors 'none'",
            Self::SameOrigin => "frame-ancestors 'self'",
        }
    }
}

impl ReferrerPolicy {
    const fn value(self) -> &'static str {
        match self {
            Self::NoReferrer => "no-referrer",
            Self::NoReferrerWhenDowngrade => "no-referrer-when-downgrade",
            Self::SameOrigin => "same-origin",
            Self::Origin => "origin",
            Self::StrictOrigin => "strict-origin",
            Self::OriginWhenCrossOrigin => "origin-when-cross-origin",
            Self::StrictOriginWhenCrossOrigin => "strict-origin-when-cross-origin",
            Self::UnsafeUrl => "unsafe-url",
        }
    }
}

#[cfg(test)]
mod tests;
