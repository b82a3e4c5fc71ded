//! What there is to configure, for editors, the portal and the reference pages.

use serde_json::{Value, json};
use sluicegate_filters::{AnyFilter, Table};

use crate::answers::reject_codes;

/// Every filter with the schema of its configuration, and every reject code.
pub fn schema() -> Value {
    let filters: serde_json::Map<String, Value> = AnyFilter::rows()
        .into_iter()
        .map(|row| {
            let rejects: Vec<&str> = row.rejects.iter().map(|code| code.name).collect();
            let phase = row.phase.map(sluicegate_core::Phase::name);
            (
                row.name.to_owned(),
                json!({"schema": row.schema, "phase": phase, "docs": row.docs, "rejects": rejects}),
            )
        })
        .collect();
    json!({"filters": filters, "rejects": reject_codes()})
}
