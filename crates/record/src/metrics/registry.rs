//! All metrics of the process, and their text.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    cells::Cells,
    custom::Custom,
    handle::{Counter, Gauge},
    histogram::{Buckets, Histogram},
    instance::Instance,
    kept::Kept,
    names::{self, MetricNames},
    route::RouteSeries,
    table::{self, Kind, Metric},
    text::Text,
    upstream::UpstreamSeries,
};
use crate::queue::LogQueue;

/// The route of requests that met none.
pub const NO_ROUTE: &str = "none";

/// Everything that is counted.
///
/// Handles are resolved when a snapshot is compiled; from then on an engine thread counts in cells
/// of its own and meets neither a lock nor another thread. Indexes of engine threads are
/// `0..threads`; any other index counts in a shared row.
#[derive(Debug)]
pub struct Registry {
    threads: usize,
    /// Read by scrapes, written when a snapshot has others.
    naming: Mutex<Naming>,
    instance: Instance,
    /// Guards which series there are, never their counts.
    series: Mutex<Series>,
}

/// How metrics are called.
#[derive(Debug, Clone)]
struct Naming {
    prefix: String,
    sets: Vec<MetricNames>,
}

#[derive(Debug, Default)]
struct Series {
    routes: Kept<RouteSeries>,
    upstreams: Kept<UpstreamSeries>,
    custom: Custom,
}

impl Registry {
    /// A registry that has counted nothing. In `prefix`, what Prometheus forbids becomes `_`.
    pub fn new(threads: usize, prefix: &str) -> Self {
        let registry = Self {
            threads,
            naming: Mutex::new(Naming {
                prefix: allowed(prefix),
                sets: vec![MetricNames::Sluicegate],
            }),
            instance: Instance::new(threads),
            series: Mutex::default(),
        };
        registry.unmatched();
        registry
    }

    /// Every name of ours begins with this word from now on, and requests are shown under the names
    /// of these sets. In `prefix`, what Prometheus forbids becomes `_`.
    pub fn set_names(&self, prefix: &str, sets: &[MetricNames]) {
        *self.naming.lock().unwrap_or_else(PoisonError::into_inner) = Naming {
            prefix: allowed(prefix),
            sets: sets.to_vec(),
        };
        if sets.contains(&MetricNames::Campus) {
            let series = self.lock();
            series
                .routes
                .iter()
                .for_each(|(_, route)| route.count_statuses());
        }
    }

    /// The series of a route: the one from before if the id is known, so that counters go on.
    pub fn route(&self, id: &str) -> Arc<RouteSeries> {
        self.lock()
            .routes
            .get(id, || RouteSeries::new(self.threads))
    }

    /// The series of requests that met no route, heads that could not be parsed among them.
    pub fn unmatched(&self) -> Arc<RouteSeries> {
        self.route(NO_ROUTE)
    }

    /// The series of an upstream: the one from before if the id is known, so that counters go on.
    pub fn upstream(&self, id: &str) -> Arc<UpstreamSeries> {
        self.lock()
            .upstreams
            .get(id, || UpstreamSeries::new(self.threads))
    }

    /// A new snapshot has these routes and upstreams: the series of others go `grace` from now, so
    /// that the requests still running are counted and scraped.
    pub fn retain(&self, routes: &[&str], upstreams: &[&str], now: Duration, grace: Duration) {
        let until = now.saturating_add(grace);
        let mut series = self.lock();
        let routes = routes.iter().copied().chain([NO_ROUTE]);
        series.routes.retain(routes, until);
        series.upstreams.retain(upstreams.iter().copied(), until);
        series.forget(now);
    }

    /// A counter by name (without prefix) and labels; the same one whenever it is asked for again.
    pub fn counter(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
    ) -> Counter {
        Counter(self.custom((name, Kind::Counter, help), labels, 1))
    }

    /// A gauge by name (without prefix) and labels; the same one whenever it is asked for again.
    pub fn gauge(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
    ) -> Gauge {
        Gauge(self.custom((name, Kind::Gauge, help), labels, 1))
    }

    /// A histogram of spans by name (without prefix) and labels; the same one whenever it is asked for again.
    pub fn histogram(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
    ) -> Histogram {
        Histogram(self.custom((name, Kind::Histogram, help), labels, Buckets::WIDTH))
    }

    /// Open connections of clients at one listener.
    pub fn connections(&self, listener: &str) -> Gauge {
        let Metric { name, meaning, .. } = table::CONNECTIONS;
        self.gauge(name, meaning, &[("listener", listener)])
    }

    /// An engine thread came to its sweep this much later than it should (OB-23).
    pub fn loop_delay(&self, thread: usize, delay: Duration, now: Duration) {
        self.instance.loop_delay(thread, delay, now);
    }

    /// This version is in force from now on.
    pub fn snapshot_applied(&self, version: u64, now: Duration) {
        self.instance.snapshot_applied(version, now);
    }

    /// A configuration was refused; the one before stays in force.
    pub fn config_rejected(&self) {
        self.instance.config_rejected();
    }

    /// The queue whose counts are shown.
    pub fn watch_log(&self, queue: Arc<LogQueue>) {
        self.instance.watch_log(queue);
    }

    /// Appends everything in the Prometheus text format 0.0.4
    /// (`text/plain; version=0.0.4; charset=utf-8`).
    pub fn expose(&self, now: Duration, out: &mut String) {
        let naming = self
            .naming
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut text = Text::new(out, &naming.prefix);
        let mut series = self.lock();
        series.forget(now);
        if naming.sets.contains(&MetricNames::Sluicegate) {
            series.expose_routes(&mut text);
        }
        names::expose(&naming.sets, &|| Box::new(series.routes.iter()), &mut text);
        series.expose(&mut text);
        drop(series);
        self.instance.expose(now, &mut text);
    }

    fn custom(
        &self,
        family: (&'static str, Kind, &'static str),
        labels: &[(&'static str, &str)],
        width: usize,
    ) -> Arc<Cells> {
        let new = || Cells::new(self.threads, width);
        self.lock().custom.cells(family, labels, new)
    }

    fn lock(&self) -> MutexGuard<'_, Series> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the samples of one metric of a series with this id.
type Expose<T> = fn(&T, &str, &mut Text<'_>);

fn allowed(prefix: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    prefix.chars().map(allowed).collect()
}

impl Series {
    fn forget(&mut self, now: Duration) {
        self.routes.forget(now);
        self.upstreams.forget(now);
    }

    fn expose_routes(&self, text: &mut Text<'_>) {
        let of_routes: [(&Metric, Expose<RouteSeries>); 4] = [
            (&table::REQUESTS, RouteSeries::expose_requests),
            (&table::REQUEST_DURATION, RouteSeries::expose_duration),
            (&table::REJECTED, RouteSeries::expose_rejected),
            (&table::INCOMPLETE, RouteSeries::expose_incomplete),
        ];
        for (metric, expose) in of_routes {
            text.family(metric);
            self.routes
                .iter()
                .for_each(|(id, series)| expose(series, id, text));
        }
    }

    fn expose(&self, text: &mut Text<'_>) {
        let of_upstreams: [(&Metric, Expose<UpstreamSeries>); 10] = [
            (&table::UPSTREAM_DURATION, UpstreamSeries::expose_duration),
            (&table::IN_FLIGHT, UpstreamSeries::expose_in_flight),
            (
                &table::UPSTREAM_CONNECTIONS,
                UpstreamSeries::expose_connections,
            ),
            (&table::CONNECTS, UpstreamSeries::expose_connects),
            (&table::CONNECT_TIME, UpstreamSeries::expose_connect_time),
            (&table::ACQUIRE_TIME, UpstreamSeries::expose_acquire_time),
            (&table::ATTEMPTS, UpstreamSeries::expose_attempts),
            (&table::RETRIES, UpstreamSeries::expose_retries),
            (&table::REUSED, UpstreamSeries::expose_reused),
            (&table::ADDRESSES_REFUSED, UpstreamSeries::expose_refused),
        ];
        for (metric, expose) in of_upstreams {
            text.family(metric);
            self.upstreams
                .iter()
                .for_each(|(id, series)| expose(series, id, text));
        }
        self.custom.expose(text);
    }
}
