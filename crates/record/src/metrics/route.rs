//! What is counted for one route.

use std::{
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use sluicegate_core::{Code, Outcome};

use super::{
    cells::Cells, histogram::Buckets, names::RouteNames, statuses::Statuses, table, text::Text,
};
use crate::entry::shown_status;

/// Methods that have a series of their own; a client's inventions share the last (ME-01).
const METHODS: [&str; 10] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "OTHER",
];

/// The first digit of a status; the first place is for answers that never had one.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// How many different codes one route can count; what comes after them shares one more place.
const CODES: usize = 23;

/// The histogram and the row of `GET` come first and side by side: with a thousand routes every
/// request counts outside the cache, and these two lines are all that most requests touch.
const DURATION: Buckets = Buckets(0);
const REQUESTS: usize = DURATION.0 + Buckets::WIDTH;
const TRUNCATED: usize = REQUESTS + METHODS.len() * CLASSES.len();
const GONE: usize = TRUNCATED + 1;
const REJECTS: usize = GONE + 1;
const WIDTH: usize = REJECTS + CODES + 1;

/// The counts of one route. They outlive snapshots as long as the route's id stays.
#[derive(Debug)]
pub struct RouteSeries {
    cells: Cells,
    /// Once a name set wants exact statuses.
    statuses: OnceLock<Box<Statuses>>,
    threads: usize,
    /// What other name sets call it; read by scrapes, written when a snapshot is compiled.
    names: Mutex<RouteNames>,
    /// Which place belongs to which code: the first come, the first placed.
    codes: [OnceLock<&'static Code>; CODES],
}

impl RouteSeries {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            cells: Cells::new(threads, WIDTH),
            statuses: OnceLock::new(),
            threads,
            names: Mutex::default(),
            codes: [const { OnceLock::new() }; CODES],
        }
    }

    /// Counts one request on the engine thread that served it: no lock, no allocation, and nothing
    /// that another thread writes.
    ///
    /// `status` is as in [`crate::Entry`]; `code` is the reject's, when the gateway answered itself.
    pub fn record(
        &self,
        thread: usize,
        method: &str,
        status: u16,
        took: Duration,
        code: Option<&'static Code>,
        outcome: Outcome,
    ) {
        let status = shown_status(status, outcome);
        let class = class_index(status);
        let request = REQUESTS + method_index(method) * CLASSES.len() + class;
        self.cells.add(thread, request, 1);
        DURATION.record(&self.cells, thread, took);
        if let Some(statuses) = self.statuses.get() {
            statuses.count(thread, status);
        }
        match outcome {
            Outcome::Complete => {}
            Outcome::Truncated => self.cells.add(thread, TRUNCATED, 1),
            Outcome::Gone => self.cells.add(thread, GONE, 1),
        }
        if let Some(code) = code {
            self.cells.add(thread, REJECTS + self.place(code), 1);
        }
    }

    fn place(&self, code: &'static Code) -> usize {
        self.codes
            .iter()
            .position(|place| place.get_or_init(|| code).name == code.name)
            .unwrap_or(CODES)
    }

    /// Other name sets call it by its path template and its upstream.
    pub fn call(&self, template: &str, upstream: &str) {
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = RouteNames {
            path: template.into(),
            service: upstream.into(),
        };
    }

    /// Counts every status by itself from now on, for a name set that shows them.
    pub fn count_statuses(&self) {
        self.statuses
            .get_or_init(|| Box::new(Statuses::new(self.threads)));
    }

    pub(crate) fn names(&self) -> RouteNames {
        let names = self.names.lock();
        names.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Method, class of status, and how many. Only what has been counted: ten methods times six
    /// classes would be mostly zeros.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        METHODS.iter().enumerate().flat_map(move |(row, method)| {
            let classes = CLASSES.iter().enumerate();
            let counts = classes.map(move |(column, class)| {
                let count = self.cells.sum(REQUESTS + row * CLASSES.len() + column);
                (*method, *class, count)
            });
            counts.filter(|(.., count)| *count > 0)
        })
    }

    /// Reason, code, and how many.
    pub(crate) fn rejected(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let known = self.codes.iter().map_while(|place| place.get());
        let known = known.map(|code| (code.reason, code.name));
        let counts = known.enumerate().chain([(CODES, ("other", "other"))]);
        counts
            .map(|(place, (reason, code))| (reason, code, self.cells.sum(REJECTS + place)))
            .filter(|(.., count)| *count > 0)
    }

    /// Every status and how many, once [`Self::count_statuses`] was called; 0 is all others.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        self.statuses.get().into_iter().flat_map(|all| all.counts())
    }

    pub(crate) fn expose_requests(&self, id: &str, text: &mut Text<'_>) {
        for (method, class, count) in self.requests() {
            let labels = [("route", id), ("method", method), ("status_class", class)];
            text.sample(table::REQUESTS.name, "", &labels, None);
            text.number(count);
        }
    }

    pub(crate) fn expose_duration(&self, id: &str, text: &mut Text<'_>) {
        self.expose_duration_as(table::REQUEST_DURATION.name, &[("route", id)], text);
    }

    pub(crate) fn expose_duration_as(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        text: &mut Text<'_>,
    ) {
        if DURATION.count(&self.cells) > 0 {
            DURATION.expose(&self.cells, text, name, labels);
        }
    }

    pub(crate) fn expose_rejected(&self, id: &str, text: &mut Text<'_>) {
        for (reason, code, count) in self.rejected() {
            let labels = [("route", id), ("reason", reason), ("code", code)];
            text.sample(table::REJECTED.name, "", &labels, None);
            text.number(count);
        }
    }

    pub(crate) fn expose_incomplete(&self, id: &str, text: &mut Text<'_>) {
        for (cell, outcome) in [(TRUNCATED, Outcome::Truncated), (GONE, Outcome::Gone)] {
            let count = self.cells.sum(cell);
            if count > 0 {
                let labels = [("route", id), ("outcome", outcome.name())];
                text.sample(table::INCOMPLETE.name, "", &labels, None);
                text.number(count);
            }
        }
    }
}

/// Methods are case-sensitive (RFC 9110, §9.1): `get` is a method nobody registered.
fn method_index(method: &str) -> usize {
    match method {
        "GET" => 0,
        "HEAD" => 1,
        "POST" => 2,
        "PUT" => 3,
        "DELETE" => 4,
        "PATCH" => 5,
        "OPTIONS" => 6,
        "CONNECT" => 7,
        "TRACE" => 8,
        _ => 9,
    }
}

fn class_index(status: u16) -> usize {
    match status {
        100..600 => usize::from(status / 100),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_of_the_list_has_its_own_place() {
        for (index, method) in METHODS.iter().enumerate() {
            assert_eq!(method_index(method), index);
        }
        assert_eq!(method_index("get"), 9);
        assert_eq!(method_index(""), 9);
    }

    #[test]
    fn a_route_that_sees_too_many_codes_counts_the_rest_together() {
        let series = RouteSeries::new(1);
        for number in 0..30 {
            let name: &'static str = format!("code_{number}").leak();
            let code: &'static Code = Box::leak(Box::new(Code {
                name,
                status: 400,
                title: "",
                detail: "",
                reason: "test",
            }));
            series.record(0, "GET", 400, Duration::ZERO, Some(code), Outcome::Complete);
            series.record(0, "GET", 400, Duration::ZERO, Some(code), Outcome::Complete);
        }

        let mut out = String::new();
        series.expose_rejected("r", &mut Text::new(&mut out, "x"));

        assert!(out.contains("code=\"code_0\"} 2\n"), "{out}");
        assert!(
            out.contains("reason=\"other\",code=\"other\"} 14\n"),
            "{out}"
        );
        assert_eq!(out.lines().count(), 24);
    }
}
