//! Addresses that a name stood for and the policy did not allow: counted, told, shown.

use std::net::IpAddr;

use serde_json::json;
use sluicegate_core::Event;

use crate::{core::Core, upstream::shared::Shared};

/// Not an engine's thread: what it counts goes to the row that is shared.
const HOUSE: usize = usize::MAX;

/// Notes what one round of resolving has refused. Each is counted; they are told when others than
/// in the round before were refused, so that a wrong name does not fill the log.
pub(crate) fn note(core: &Core, shared: &Shared, refused: &[(&str, IpAddr)]) {
    shared.series.refused(HOUSE, refused.len() as u64);
    let addresses: Vec<IpAddr> = refused.iter().map(|(_, address)| *address).collect();
    let changed = shared.set_refused(addresses);
    if !changed || refused.is_empty() {
        return;
    }
    let payload = json!({
        "upstream": &*shared.id,
        "addresses": refused
            .iter()
            .map(|(host, address)| json!({"host": host, "address": address.to_string()}))
            .collect::<Vec<_>>(),
    });
    core.emit(Event {
        kind: "upstream_address_refused",
        payload: payload.to_string(),
    });
}
