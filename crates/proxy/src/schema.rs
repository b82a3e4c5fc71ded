//! What there is to configure, for editors, the portal and the reference pages.

use serde_json::{Map, Value, json};
use sluicegate_filters::{AnyFilter, Table};
use sluicegate_record::{Field, Metric, MetricNames, NameSet};

use crate::answers::reject_codes;

/// Every filter with the schema of its configuration, every reject code, every key of a record and every metric.
pub fn schema() -> Value {
    let filters: Map<String, Value> = AnyFilter::rows()
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
    json!({
        "filters": filters,
        "rejects": reject_codes(),
        "log_fields": log_fields(NameSet::Sluicegate.fields()),
        "log_field_sets": sets(NameSet::ALL.map(|set| (set.name(), log_fields(set.fields())))),
        "metrics": metrics(MetricNames::Sluicegate.metrics()),
        "metric_sets": sets(MetricNames::ALL.map(|set| (set.name(), metrics(set.metrics())))),
    })
}

fn log_fields(fields: &[Field]) -> Value {
    fields
        .iter()
        .map(|field| {
            let kind = field.kind.name();
            json!({"name": field.name, "type": kind, "always": field.always, "meaning": field.meaning})
        })
        .collect()
}

/// Ours are without their prefix.
fn metrics(metrics: &[Metric]) -> Value {
    metrics
        .iter()
        .map(|metric| {
            let kind = metric.kind.name();
            json!({"name": metric.name, "type": kind, "labels": metric.labels, "meaning": metric.meaning})
        })
        .collect()
}

fn sets(sets: impl IntoIterator<Item = (&'static str, Value)>) -> Map<String, Value> {
    let named = sets.into_iter().map(|(name, rows)| (name.to_owned(), rows));
    named.collect()
}
