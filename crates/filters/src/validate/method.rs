//! Which methods pass.

use sluicegate_core::{InvalidConfig, Reject};

use super::{METHOD_REFUSED, METHOD_UNKNOWN};
use crate::method::{REGISTERED, check};

/// Methods that pass, and how `Allow` names them.
pub(super) struct Methods {
    names: Box<[String]>,
    allow: String,
}

impl Methods {
    pub(super) fn new(names: Vec<String>) -> Result<Self, InvalidConfig> {
        if names.is_empty() {
            return Err(InvalidConfig::new("/methods", "no request would pass")
                .expecting("at least one method, or no such list"));
        }
        for (index, name) in names.iter().enumerate() {
            check(name, &format!("/methods/{index}"))?;
        }
        Ok(Self {
            allow: names.join(", "),
            names: names.into(),
        })
    }

    pub(super) fn check(&self, method: &str) -> Result<(), Reject> {
        if self.names.iter().any(|name| name == method) {
            return Ok(());
        }
        if REGISTERED.contains(&method) {
            return Err(Reject::new(&METHOD_REFUSED).with_field("Allow", self.allow.as_str()));
        }
        Err(Reject::new(&METHOD_UNKNOWN))
    }
}
