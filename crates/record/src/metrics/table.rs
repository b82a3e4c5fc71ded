//! Every metric the gateway gives by itself: the reference page is made from this table.

/// What a number means to Prometheus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Buckets, sum and count of spans.
    Histogram,
    /// Sum and count of spans.
    Summary,
}

impl Kind {
    /// The word of the text format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
        }
    }
}

/// One row of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The name without the prefix; those that begin with `process_` have none.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: Kind,
    /// The labels, in their order.
    pub labels: &'static [&'static str],
    /// What it says.
    pub meaning: &'static str,
}

/// Declares the metrics and the list of all of them in one place.
macro_rules! metrics {
    ($($constant:ident = $name:literal $kind:ident [$($label:literal),*] $meaning:literal;)*) => {
        $(
            pub(crate) const $constant: Metric =
                Metric { name: $name, kind: Kind::$kind, labels: &[$($label),*], meaning: $meaning };
        )*
        /// Every metric of the gateway, in the order of the reference.
        pub const METRICS: &[Metric] = &[$($constant),*];
    };
}

metrics! {
    REQUESTS = "requests_total" Counter ["route", "method", "status_class"]
        "Requests by route, method and class of status; methods nobody registered count as OTHER, requests without a route as none.";
    REQUEST_DURATION = "request_duration_seconds" Histogram ["route"]
        "From the complete request head to the end of the answer.";
    REJECTED = "rejected_total" Counter ["route", "reason", "code"]
        "Requests the gateway answered with an error itself.";
    INCOMPLETE = "incomplete_total" Counter ["route", "outcome"]
        "Answers that did not reach the client whole: truncated, or client_gone when the client left.";
    UPSTREAM_DURATION = "upstream_duration_seconds" Histogram ["upstream"]
        "From the beginning of an attempt to the complete head of its answer.";
    IN_FLIGHT = "in_flight" Gauge ["upstream"]
        "Attempts that have begun and not ended.";
    UPSTREAM_CONNECTIONS = "upstream_connections" Gauge ["upstream", "state"]
        "Connections to the upstream: active serve a request, idle could, waiting are requests without one.";
    CONNECTS = "upstream_connects_total" Counter ["upstream", "result"]
        "Connections begun to the upstream, by result ok or failed.";
    CONNECT_TIME = "upstream_connect_seconds" Summary ["upstream"]
        "How long connecting took, TLS included.";
    ACQUIRE_TIME = "upstream_acquire_seconds" Summary ["upstream"]
        "How long requests waited for a connection at the limit.";
    ATTEMPTS = "upstream_attempts_total" Counter ["upstream"]
        "Requests begun at an endpoint.";
    RETRIES = "upstream_retries_total" Counter ["upstream"]
        "Attempts that were not the first of their request.";
    REUSED = "upstream_reused_total" Counter ["upstream"]
        "Attempts on a connection that had served before; the share of all attempts is the reuse rate.";
    ADDRESSES_REFUSED = "upstream_addresses_refused_total" Counter ["upstream"]
        "Addresses that a name of the upstream stood for and `upstream_policy` did not allow, counted each time they were found.";
    CONNECTIONS = "connections" Gauge ["listener"]
        "Open connections of clients.";
    LOOP_DELAY = "loop_delay_seconds" Gauge ["thread"]
        "How late the engine thread came to its regular sweep; the worst of the last 15 to 30 seconds.";
    SNAPSHOT_VERSION = "snapshot_version" Gauge []
        "The version of the configuration in force; 0 before the first.";
    SNAPSHOT_AGE = "snapshot_age_seconds" Gauge []
        "How long it has been in force.";
    CONFIG_REJECTED = "config_rejected_total" Counter []
        "Configurations refused; the one before stayed in force.";
    LOG_RECORDS = "log_records_total" Counter ["result"]
        "Records of the access log: written, or dropped because the queue was full. Together they are all requests.";
    LOG_BYTES = "log_bytes_total" Counter []
        "Bytes of the access log that were written.";
    LOG_FAILURES = "log_failures_total" Counter []
        "Failed attempts to write, open or rotate the access log.";
    BUILD_INFO = "build_info" Gauge ["version"]
        "Always 1; the label names the build.";
    MEMORY = "process_resident_memory_bytes" Gauge []
        "Resident memory of the process.";
    CPU = "process_cpu_seconds_total" Counter []
        "Processor time of the process, user and system.";
    OPEN_FDS = "process_open_fds" Gauge []
        "Open file descriptors of the process.";
    MAX_FDS = "process_max_fds" Gauge []
        "How many file descriptors the process may open.";
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: OB-32
    #[test]
    fn no_label_takes_a_value_that_a_client_chooses() {
        let fixed = [
            "route",
            "method",
            "status_class",
            "reason",
            "code",
            "outcome",
            "upstream",
            "state",
            "result",
            "listener",
            "thread",
            "version",
        ];

        let labels = METRICS.iter().flat_map(|metric| metric.labels);

        assert!(labels.copied().all(|label| fixed.contains(&label)));
    }

    #[test]
    fn counters_end_in_total_and_names_are_unique() {
        let mut names: Vec<_> = METRICS.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();

        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
            assert_eq!(
                metric.kind == Kind::Counter,
                metric.name.ends_with("_total"),
                "{metric:?}"
            );
        }
    }
}
