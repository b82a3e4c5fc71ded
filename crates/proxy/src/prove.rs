//! What the routes of a snapshot do with all requests: the router's prover, in ids and places.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use sluicegate_core::Problem;
use sluicegate_router::{Decided, Finding, Kind, Level, Limits, Report};

use crate::{
    error::EngineError,
    snapshot::{Condition, RouteTable, alone, document::Document, read},
};

/// Examines the routes alone: no filter is built, nothing is started. It takes seconds where
/// there are thousands of routes.
///
/// # Errors
/// The snapshot cannot be read, or a route has mistakes.
pub fn prove(snapshot: &str) -> Result<Value, EngineError> {
    let document = read(snapshot).map_err(EngineError::Refused)?;
    let mut problems: Vec<Problem> = Vec::new();
    let (conditions, tables) = alone(&document, &mut problems);
    if !problems.is_empty() {
        return Err(EngineError::Refused(problems));
    }
    let tables = tables.distinct();
    let mut proof = Proof::new(&document, &conditions, tables.len() > 1);
    for (listeners, table) in &tables {
        proof.add(listeners, table);
    }
    Ok(proof.said())
}

/// The reports of all tables as one.
struct Proof<'d> {
    document: &'d Document,
    conditions: &'d [Condition],
    /// Listeners see different routes, so each finding needs the name of one.
    has_several_tables: bool,
    findings: Vec<Value>,
    /// What was said through another listener already.
    seen: HashSet<(Kind, usize, Vec<usize>)>,
    totals: BTreeMap<&'static str, usize>,
    undecided: Vec<usize>,
    pairs: usize,
    pairs_by_repetition: usize,
    cut_short: usize,
}

impl<'d> Proof<'d> {
    fn new(document: &'d Document, conditions: &'d [Condition], has_several_tables: bool) -> Self {
        Self {
            document,
            conditions,
            has_several_tables,
            findings: Vec::new(),
            seen: HashSet::new(),
            totals: BTreeMap::new(),
            undecided: Vec::new(),
            pairs: 0,
            pairs_by_repetition: 0,
            cut_short: 0,
        }
    }

    fn add(&mut self, listeners: &[&str], table: &RouteTable) {
        let served: Vec<usize> = (0..table.router.len())
            .filter_map(|index| table.served(index))
            .collect();
        let upstreams: Vec<Option<&str>> = served
            .iter()
            .map(|index| self.route_of(*index)?.1.upstream.as_deref())
            .collect();
        let report = table.router.prove(&upstreams, Limits::default());

        let mut totals: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (kind, count) in &report.totals {
            totals.insert(kind.name(), *count);
        }
        for finding in &report.findings {
            if !self.say(finding, &served, listeners)
                && let Some(count) = totals.get_mut(finding.kind.name())
            {
                *count = count.saturating_sub(1);
            }
        }
        for (kind, count) in totals {
            *self.totals.entry(kind).or_default() += count;
        }
        self.add_remarks(&report, &served);
    }

    fn add_remarks(&mut self, report: &Report, served: &[usize]) {
        let undecided = report.undecided.iter();
        for index in undecided.filter_map(|index| served.get(*index)) {
            if !self.undecided.contains(index) {
                self.undecided.push(*index);
            }
        }
        self.pairs += report.pairs;
        self.pairs_by_repetition += report.pairs_by_repetition;
        self.cut_short = self.cut_short.max(report.cut_short);
    }

    /// Whether it is said: not twice, and not of a route beside itself.
    fn say(&mut self, finding: &Finding, served: &[usize], listeners: &[&str]) -> bool {
        let condition = |index: &usize| served.get(*index).copied();
        let Some(own) = condition(&finding.route) else {
            return false;
        };
        let others: Vec<usize> = finding.others.iter().filter_map(condition).collect();
        let document_index = |index: usize| self.route_of(index).map(|(index, _)| index);
        let is_own = |other: &usize| document_index(*other) == document_index(own);
        let is_beside_itself = !others.is_empty() && others.iter().all(is_own);
        let is_reached = !matches!(finding.kind, Kind::Equal | Kind::Shadowed);
        if (is_beside_itself && is_reached)
            || !self.seen.insert((finding.kind, own, others.clone()))
        {
            return false;
        }
        let listener = listeners.first().filter(|_| self.has_several_tables);
        let witness = finding.witness.as_ref().map(|witness| {
            json!({
                "method": witness.method,
                "host": witness.host,
                "target": witness.target(),
                "headers": witness.headers,
                "repeats": witness.repeats,
                "listener": listener,
            })
        });
        let level = match finding.level {
            Level::Warning if !is_beside_itself => "warning",
            Level::Warning | Level::Note => "note",
        };
        let answer = finding.answered_by.as_ref().and_then(condition);
        let answer = answer.and_then(|index| self.route_of(index));
        let said = json!({
            "kind": finding.kind.name(),
            "level": level,
            "route": self.named(own),
            "others": others.iter().map(|index| self.named(*index)).collect::<Vec<_>>(),
            "decided": finding.decided.map(Decided::name),
            "witness": witness,
            "answered_by": answer.map(|(_, route)| &route.id),
            "expected": finding.expected,
        });
        self.findings.push(said);
        true
    }

    fn said(self) -> Value {
        let most = Limits::default().findings;
        let undecided = self.undecided.iter().take(most);
        json!({
            "routes": self.document.routes.len(),
            "pairs": self.pairs,
            "pairs_by_repetition": self.pairs_by_repetition,
            "findings": self.findings,
            "totals": self.totals,
            "undecided": undecided.map(|index| self.named(*index)).collect::<Vec<_>>(),
            "undecided_total": self.undecided.len(),
            "cut_short": self.cut_short,
        })
    }

    /// The route that a condition belongs to, and its index in the document.
    fn route_of(&self, condition: usize) -> Option<(usize, &'d crate::snapshot::document::Route)> {
        let index = self.conditions.get(condition)?.route;
        Some((index, self.document.routes.get(index)?))
    }

    fn named(&self, condition: usize) -> Value {
        let Some((index, route)) = self.route_of(condition) else {
            return Value::Null;
        };
        let path = self.conditions.get(condition).map_or(0, |one| one.path);
        let template = route.matches.path.clone().into_list().into_iter().nth(path);
        json!({"index": index, "id": route.id, "path": path, "template": template})
    }
}
