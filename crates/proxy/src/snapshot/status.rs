//! Where a route is in its life: only a published one is served, all are checked.

use schemars::JsonSchema;
use serde::Deserialize;

/// The life of a route (RT-16).
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Somebody still writes it.
    Draft,
    /// Somebody else looks at it.
    Reviewing,
    /// It takes requests.
    #[default]
    Published,
    /// It has been taken out of service.
    Disabled,
}

impl Status {
    /// Whether the route takes requests.
    pub(crate) fn is_served(self) -> bool {
        match self {
            Self::Published => true,
            Self::Draft | Self::Reviewing | Self::Disabled => false,
        }
    }
}
