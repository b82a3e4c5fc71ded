//! The places of a chain, in the order in which a request meets them.

use serde::{Deserialize, Serialize};

/// The two chains around the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The chain of the listener, before the route is known.
    Entry,
    /// The chain of the matched route.
    Route,
}

impl Stage {
    /// The name used in logs, metrics and explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Route => "route",
        }
    }
}

/// Where in its chain a filter stands. The order is the order of the variants; it never comes from numbers.
///
/// The phases realise the fifteen stages of PL-28 … PL-42.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Request id, trace context (entry).
    Identify,
    /// Real client address; forged internal headers removed (entry, PL-45).
    Sanitize,
    /// Method, characters, limits (entry).
    Validate,
    /// Address lists, dynamic blacklist (entry).
    Admit,
    /// Limit per address, overload (entry).
    Guard,
    /// Priority classes under overload (route).
    Shed,
    /// CORS: a preflight never authenticates (route).
    Negotiate,
    /// Open-API signature (route).
    Verify,
    /// Who is calling (route).
    Authenticate,
    /// What they may do (route).
    Authorize,
    /// Limits and quotas by user, app and API (route).
    Meter,
    /// Gray decision, sticky binding (route).
    Tag,
    /// Identity headers, path, query (route).
    Rewrite,
    /// Breaker, concurrency, bulkhead (route).
    Isolate,
    /// Errors, degradation, headers on the way back (either chain).
    Respond,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Self; 15] = [
        Self::Identify,
        Self::Sanitize,
        Self::Validate,
        Self::Admit,
        Self::Guard,
        Self::Shed,
        Self::Negotiate,
        Self::Verify,
        Self::Authenticate,
        Self::Authorize,
        Self::Meter,
        Self::Tag,
        Self::Rewrite,
        Self::Isolate,
        Self::Respond,
    ];

    /// The name users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identify => "identify",
            Self::Sanitize => "sanitize",
            Self::Validate => "validate",
            Self::Admit => "admit",
            Self::Guard => "guard",
            Self::Shed => "shed",
            Self::Negotiate => "negotiate",
            Self::Verify => "verify",
            Self::Authenticate => "authenticate",
            Self::Authorize => "authorize",
            Self::Meter => "meter",
            Self::Tag => "tag",
            Self::Rewrite => "rewrite",
            Self::Isolate => "isolate",
            Self::Respond => "respond",
        }
    }

    /// Whether a filter of this phase may stand in the chain of `stage`.
    ///
    /// What needs the route waits for the route; what needs only the request may also be asked for on one route.
    pub const fn allowed_in(self, stage: Stage) -> bool {
        match stage {
            Stage::Entry => matches!(
                self,
                Self::Identify
                    | Self::Sanitize
                    | Self::Validate
                    | Self::Admit
                    | Self::Guard
                    | Self::Respond
            ),
            Stage::Route => !matches!(self, Self::Identify),
        }
    }
}
