//! Which hosts the gateway answers for.

use sluicegate_core::InvalidConfig;
use sluicegate_http1::host_and_port;

/// Names, and endings such as `.example.com`; in lower case.
pub(super) struct Hosts {
    names: Vec<Box<str>>,
    endings: Vec<Box<str>>,
}

impl Hosts {
    pub(super) fn new(hosts: &[String]) -> Result<Self, InvalidConfig> {
        if hosts.is_empty() {
            return Err(InvalidConfig::new("/hosts", "no request would pass")
                .expecting("at least one host, or no such list"));
        }
        let mut built = Self {
            names: Vec::new(),
            endings: Vec::new(),
        };
        for (index, text) in hosts.iter().enumerate() {
            let bare = text.strip_prefix("*.").unwrap_or(text);
            let host = host_and_port(bare).filter(|(host, port)| port.is_none() && *host == bare);
            let Some((host, _)) = host else {
                let message = format!("`{}` is not a host", text.escape_debug());
                return Err(InvalidConfig::new(format!("/hosts/{index}"), message)
                    .expecting("a name or an address without a port, or *.example.com"));
            };
            let host = host.to_ascii_lowercase();
            if bare.len() == text.len() {
                built.names.push(host.into());
            } else {
                built.endings.push(format!(".{host}").into());
            }
        }
        Ok(built)
    }

    pub(super) fn contain(&self, host: &str) -> bool {
        let ends = |ending: &str| {
            host.len()
                .checked_sub(ending.len())
                .filter(|before| *before > 0)
                .and_then(|before| host.get(before..))
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        self.names
            .iter()
            .any(|name| name.eq_ignore_ascii_case(host))
            || self.endings.iter().any(|ending| ends(ending))
    }
}
