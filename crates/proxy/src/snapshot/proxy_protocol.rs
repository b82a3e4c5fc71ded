//! The PROXY protocol of a listener, as it is written and as it is obeyed (SE-19).

use std::{net::IpAddr, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Network, Span};

/// Every connection begins with a header; who may write it, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProxyProtocol {
    /// The balancers. Nobody else gets in: a header from a stranger would be believed.
    pub(crate) trusted: Vec<Network>,
    #[serde(default = "three_seconds")]
    pub(crate) timeout: Span,
}

const fn three_seconds() -> Span {
    Span(Duration::from_secs(3))
}

impl ProxyProtocol {
    pub(crate) fn trusts(&self, peer: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(peer))
    }
}
