//! What there is to configure, for editors, the portal and the reference pages.

use serde_json::{Value, json};
use sluicegate_filters::{AnyFilter, Table};
use sluicegate_record::{FIELDS, METRICS};

use crate::answers::reject_codes;

/// Every filter with the schema of its configuration, every reject code, every key of a record and every metric.
pub fn schema() -> Value {
    let filters: serde_json::Map<String, Value> = AnyFilter::rows()
        .into_iter()
        .map(|row| {
            let rejects: Vec<&str> = row.rejects.iter().map(|code| code.name).collect();
            let phase = row.phase.map(sluicegate_core::Phase::name);
            let facts = json!({
                "schema": row.schema,
                "phase": phase,
                "other_phases": row.other_phases,
                "docs": row.docs,
                "rejects": rejects,
            });
            (row.name.to_owned(), facts)
        })
        .collect();
    let log_fields: Vec<Value> = FIELDS
        .iter()
        .map(|field| {
            let kind = field.kind.name();
            json!({"name": field.name, "type": kind, "always": field.always, "meaning": field.meaning})
        })
        .collect();
    let metrics: Vec<Value> = METRICS
        .iter()
        .map(|metric| {
            let kind = metric.kind.name();
            json!({"name": metric.name, "type": kind, "labels": metric.labels, "meaning": metric.meaning})
        })
        .collect();
    json!({"filters": filters, "rejects": reject_codes(), "log_fields": log_fields, "metrics": metrics})
}
