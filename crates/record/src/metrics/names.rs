//! The names that others know the same counts by (PX-34).

use super::{
    registry::NO_ROUTE,
    route::RouteSeries,
    table::{Kind, METRICS, Metric},
    text::Text,
};

/// The reason of codes that answer a request for a limit (OB-20).
pub(crate) const LIMIT: &str = "limit";

/// A set of names for what is counted of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricNames {
    /// Our own; they begin with the prefix.
    Sluicegate,
    /// OB-25 … OB-27.
    FlashSale,
    /// OB-28 … OB-31.
    Campus,
}

impl MetricNames {
    /// Every set, in the order of the reference.
    pub const ALL: [Self; 3] = [Self::Sluicegate, Self::FlashSale, Self::Campus];

    /// The set of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// As the configuration calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sluicegate => "sluicegate",
            Self::FlashSale => "flash-sale",
            Self::Campus => "campus",
        }
    }

    /// The metrics of this set; what it has no names for is shown under our own.
    pub const fn metrics(self) -> &'static [Metric] {
        match self {
            Self::Sluicegate => METRICS,
            Self::FlashSale => &[HTTP_REQUESTS, DURATION, RATE_LIMITED],
            Self::Campus => &[REQUESTS, DURATION, LIMIT_EXCEEDED],
        }
    }
}

const HTTP_REQUESTS: Metric = Metric {
    name: "gateway_http_requests_total",
    kind: Kind::Counter,
    labels: &["path", "method", "status_class", "route_id"],
    meaning: "Requests by path template, method and class of status.",
};
const DURATION: Metric = Metric {
    name: "gateway_request_duration_seconds",
    kind: Kind::Histogram,
    labels: &["path", "route_id"],
    meaning: "From the complete request head to the end of the answer, by path template.",
};
const RATE_LIMITED: Metric = Metric {
    name: "gateway_rate_limited_total",
    kind: Kind::Counter,
    labels: &["type", "path", "route_id"],
    meaning: "Requests refused for a limit, by the code of the refusal and path template.",
};
const REQUESTS: Metric = Metric {
    name: "gateway_request_total",
    kind: Kind::Counter,
    labels: &["path", "status_code", "service_id", "route_id"],
    meaning: "Requests by path template, status and upstream.",
};
const LIMIT_EXCEEDED: Metric = Metric {
    name: "gateway_rate_limit_exceeded_total",
    kind: Kind::Counter,
    labels: &["route_id"],
    meaning: "Requests refused for a limit.",
};

/// A route as these sets name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RouteNames {
    /// The path template, never the path (OB-32).
    pub(crate) path: Box<str>,
    /// The upstream; empty when the route answers by itself.
    pub(crate) service: Box<str>,
}

impl Default for RouteNames {
    fn default() -> Self {
        Self {
            path: NO_ROUTE.into(),
            service: Box::default(),
        }
    }
}

/// Writes the samples of one metric for every route.
pub(crate) fn expose<'a, R>(sets: &[MetricNames], routes: &R, text: &mut Text<'_>)
where
    R: Fn() -> Box<dyn Iterator<Item = (&'a str, &'a RouteSeries)> + 'a>,
{
    let has = |set| sets.contains(&set);
    if has(MetricNames::FlashSale) {
        text.family(&HTTP_REQUESTS);
        for (id, series) in routes() {
            let names = series.names();
            for (method, class, count) in series.requests() {
                let labels = [
                    ("path", &*names.path),
                    ("method", method),
                    ("status_class", class),
                    ("route_id", id),
                ];
                text.sample(HTTP_REQUESTS.name, "", &labels, None);
                text.number(count);
            }
        }
        text.family(&RATE_LIMITED);
        for (id, series) in routes() {
            let names = series.names();
            for (_, code, count) in series.rejected().filter(|(reason, ..)| *reason == LIMIT) {
                let labels = [("type", code), ("path", &*names.path), ("route_id", id)];
                text.sample(RATE_LIMITED.name, "", &labels, None);
                text.number(count);
            }
        }
    }
    if has(MetricNames::Campus) {
        text.family(&REQUESTS);
        for (id, series) in routes() {
            expose_statuses(id, series, text);
        }
        text.family(&LIMIT_EXCEEDED);
        for (id, series) in routes() {
            let limited = series.rejected().filter(|(reason, ..)| *reason == LIMIT);
            let count: u64 = limited.map(|(.., count)| count).sum();
            if count > 0 {
                text.sample(LIMIT_EXCEEDED.name, "", &[("route_id", id)], None);
                text.number(count);
            }
        }
    }
    if has(MetricNames::FlashSale) || has(MetricNames::Campus) {
        text.family(&DURATION);
        for (id, series) in routes() {
            let names = series.names();
            let labels = [("path", &*names.path), ("route_id", id)];
            series.expose_duration_as(DURATION.name, &labels, text);
        }
    }
}

fn expose_statuses(id: &str, series: &RouteSeries, text: &mut Text<'_>) {
    let names = series.names();
    for (status, count) in series.statuses() {
        let mut digits = itoa::Buffer::new();
        let code = match status {
            0 => "other",
            status => digits.format(status),
        };
        let labels = [
            ("path", &*names.path),
            ("status_code", code),
            ("service_id", &*names.service),
            ("route_id", id),
        ];
        text.sample(REQUESTS.name, "", &labels, None);
        text.number(count);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sluicegate_core::{Code, Outcome};

    use super::*;

    static LIMITED: Code = Code {
        name: "rate_limited",
        status: 429,
        title: "",
        detail: "",
        reason: LIMIT,
    };

    // spec: OB-25, OB-30
    #[test]
    fn refusals_for_a_limit_are_counted_under_the_names_of_both_sets() {
        let series = RouteSeries::new(1);
        series.call("/c/{id}", "courses");
        for code in [None, Some(&LIMITED), Some(&LIMITED)] {
            series.record(0, "GET", 429, Duration::ZERO, code, Outcome::Complete);
        }

        let mut out = String::new();
        let routes = || -> Box<dyn Iterator<Item = (&str, &RouteSeries)>> {
            Box::new(std::iter::once(("course", &series)))
        };
        let sets = [MetricNames::FlashSale, MetricNames::Campus];
        expose(&sets, &routes, &mut Text::new(&mut out, "x"));

        for sample in [
            r#"gateway_rate_limited_total{type="rate_limited",path="/c/{id}",route_id="course"} 2"#,
            r#"gateway_rate_limit_exceeded_total{route_id="course"} 2"#,
        ] {
            assert!(out.lines().any(|line| line == sample), "{out}");
        }
    }
}
