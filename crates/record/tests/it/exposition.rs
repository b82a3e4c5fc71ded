//! The text of `/metrics`: right, small, and without the values of clients.

use std::{
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use sluicegate_core::{Outcome, codes};
use sluicegate_record::{
    AttemptKind, ConnectResult, ConnectionState, LogQueue, METRICS, QueueLimits, Registry,
};

const NOW: Duration = Duration::from_secs(100);
const GRACE: Duration = Duration::from_mins(1);

fn text(registry: &Registry, now: Duration) -> String {
    let mut out = String::new();
    registry.expose(now, &mut out);
    out
}

/// Uses every metric of the gateway once.
fn used() -> Registry {
    let registry = Registry::new(2, "sluicegate");
    let route = registry.route("orders");
    let took = Duration::from_millis(12);
    route.record(0, "GET", 200, took, None, Outcome::Complete);
    route.record(1, "GET", 204, took, None, Outcome::Truncated);
    route.record(
        1,
        "FOO1",
        504,
        took * 100,
        Some(&codes::UPSTREAM_TIMEOUT),
        Outcome::Complete,
    );
    route.record(usize::MAX, "POST", 0, took, None, Outcome::Gone);
    let upstream = registry.upstream("orders");
    upstream.begun(
        0,
        AttemptKind {
            retry: false,
            reused: true,
        },
    );
    upstream.begun(
        1,
        AttemptKind {
            retry: true,
            reused: false,
        },
    );
    upstream.answered(0, took);
    upstream.ended(1);
    upstream.connected(0, ConnectResult::Ok, took);
    upstream.connected(0, ConnectResult::Failed, took);
    upstream.waited(0, took);
    upstream.connections(0, ConnectionState::Active, 3);
    upstream.connections(1, ConnectionState::Active, -1);
    upstream.connections(1, ConnectionState::Idle, 4);
    upstream.connections(1, ConnectionState::Waiting, 1);
    registry.connections("http").add(0, 5);
    registry.loop_delay(1, Duration::from_micros(2500), NOW);
    registry.snapshot_applied(12, NOW);
    registry.config_rejected();
    let limits = QueueLimits {
        bytes: 10,
        records: 1,
    };
    let queue = Arc::new(LogQueue::new(limits));
    queue.offer(vec![b'x'; 5], 1);
    queue.offer(vec![b'x'; 50], 3);
    registry.watch_log(queue);
    registry
}

// spec: OB-17, OB-18, OB-19, OB-20, OB-21, OB-22, OB-23, OB-24, HT-18
#[test]
fn every_metric_of_the_table_is_shown_with_its_help_type_and_labels() {
    let text = text(&used(), NOW + Duration::from_millis(1500));

    for metric in METRICS {
        let prefix = if metric.name.starts_with("process_") {
            ""
        } else {
            "sluicegate_"
        };
        let name = format!("{prefix}{}", metric.name);
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
        assert!(
            text.contains(&format!("# TYPE {name} {}\n", metric.kind.name())),
            "{name}"
        );
        let mut samples = text.lines().filter(|line| line.starts_with(&name));
        let sample = samples.next().expect(&name);
        for label in metric.labels {
            assert!(sample.contains(&format!("{label}=\"")), "{name}: {label}");
        }
    }
    for line in [
        r#"sluicegate_requests_total{route="orders",method="GET",status_class="2xx"} 2"#,
        r#"sluicegate_requests_total{route="orders",method="OTHER",status_class="5xx"} 1"#,
        r#"sluicegate_requests_total{route="orders",method="POST",status_class="4xx"} 1"#,
        r#"sluicegate_request_duration_seconds_bucket{route="orders",le="0.01"} 0"#,
        r#"sluicegate_request_duration_seconds_bucket{route="orders",le="0.03"} 3"#,
        r#"sluicegate_request_duration_seconds_bucket{route="orders",le="+Inf"} 4"#,
        r#"sluicegate_request_duration_seconds_sum{route="orders"} 1.236000"#,
        r#"sluicegate_request_duration_seconds_count{route="orders"} 4"#,
        r#"sluicegate_rejected_total{route="orders",reason="timeout",code="upstream_timeout"} 1"#,
        r#"sluicegate_incomplete_total{route="orders",outcome="truncated"} 1"#,
        r#"sluicegate_incomplete_total{route="orders",outcome="client_gone"} 1"#,
        r#"sluicegate_in_flight{upstream="orders"} 1"#,
        r#"sluicegate_upstream_connections{upstream="orders",state="active"} 2"#,
        r#"sluicegate_upstream_connects_total{upstream="orders",result="failed"} 1"#,
        r#"sluicegate_upstream_connect_seconds_sum{upstream="orders"} 0.024000"#,
        r#"sluicegate_upstream_connect_seconds_count{upstream="orders"} 2"#,
        r#"sluicegate_upstream_retries_total{upstream="orders"} 1"#,
        r#"sluicegate_connections{listener="http"} 5"#,
        r#"sluicegate_loop_delay_seconds{thread="1"} 0.002500"#,
        "sluicegate_snapshot_version 12",
        "sluicegate_snapshot_age_seconds 1.500000",
        "sluicegate_config_rejected_total 1",
        r#"sluicegate_log_records_total{result="written"} 0"#,
        r#"sluicegate_log_records_total{result="dropped"} 3"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn the_samples_of_a_family_stand_together_and_occur_once() {
    let text = text(&used(), NOW);
    let mut families = std::collections::HashSet::new();
    let mut samples = std::collections::HashSet::new();

    let mut family = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap();
            assert!(families.insert(family), "{family} twice");
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').unwrap();
            assert!(series.starts_with(family), "{series} in {family}");
            assert!(samples.insert(series), "{series} twice");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}

// spec: OB-32
// case: ME-01
#[test]
fn what_clients_invent_makes_no_new_series() {
    let registry = used();
    registry.unmatched().record(
        0,
        "GET",
        404,
        Duration::ZERO,
        Some(&codes::NO_ROUTE),
        Outcome::Complete,
    );
    let before = text(&registry, NOW).lines().count();

    for number in 0..10_000 {
        let method = format!("FOO{number}");
        registry
            .route("orders")
            .record(0, &method, 200, Duration::ZERO, None, Outcome::Complete);
        registry.unmatched().record(
            0,
            &method,
            404,
            Duration::ZERO,
            Some(&codes::NO_ROUTE),
            Outcome::Complete,
        );
    }

    let after = text(&registry, NOW);
    assert!(after.lines().count() < before + 50);
    assert!(!after.contains("FOO"));
    assert!(after.contains(r#"{route="none",method="OTHER",status_class="4xx"} 10000"#));
}

// case: ME-01
#[test]
fn series_of_what_was_removed_go_after_a_grace_time() {
    let registry = used();
    let route = registry.route("orders");

    registry.retain(&["other"], &[], NOW, GRACE);
    route.record(0, "GET", 200, Duration::ZERO, None, Outcome::Complete);
    let soon = text(&registry, NOW + Duration::from_secs(59));
    let later = text(&registry, NOW + GRACE);

    assert!(soon.contains(r#"{route="orders",method="GET",status_class="2xx"} 3"#));
    assert!(soon.contains(r#"{upstream="orders"}"#));
    assert!(!later.contains("orders"), "{later}");
}

// case: ME-01
#[test]
fn a_route_that_comes_back_in_time_counts_on() {
    let registry = used();

    registry.retain(&[], &[], NOW, GRACE);
    registry
        .route("orders")
        .record(0, "GET", 200, Duration::ZERO, None, Outcome::Complete);
    registry.retain(&["orders"], &[], NOW + Duration::from_secs(1), GRACE);

    let text = text(&registry, NOW + GRACE * 2);
    assert!(text.contains(r#"{route="orders",method="GET",status_class="2xx"} 3"#));
    assert!(!text.contains("upstream=\"orders\""));
}

// case: ME-01
#[test]
fn many_routes_created_and_deleted_leave_nothing_behind() {
    let registry = Registry::new(2, "sluicegate");
    let before = text(&registry, NOW).lines().count();

    for round in 0..500 {
        let id = format!("route-{round}");
        let now = NOW + Duration::from_secs(round);
        registry
            .route(&id)
            .record(0, "GET", 200, Duration::ZERO, None, Outcome::Complete);
        registry.upstream(&id);
        registry.retain(&[&id], &[&id], now, GRACE);
    }
    registry.retain(&[], &[], NOW + Duration::from_secs(500), GRACE);

    assert_eq!(
        text(&registry, NOW + Duration::from_secs(560))
            .lines()
            .count(),
        before
    );
}

// case: ME-01
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a scrape has to be fast by the clock on the wall"
)]
fn a_scrape_of_a_thousand_busy_routes_is_fast_and_small() {
    let registry = Registry::new(4, "sluicegate");
    for number in 0..1000 {
        let route = registry.route(&format!("route-{number:04}"));
        for thread in 0..4 {
            let took = Duration::from_micros(1234 * (number % 97));
            for _ in 0..250 {
                route.record(thread, "GET", 200, took, None, Outcome::Complete);
            }
            route.record(thread, "GET", 404, took, None, Outcome::Complete);
        }
    }
    for number in 0..20 {
        registry.upstream(&format!("upstream-{number:02}"));
    }

    let begun = Instant::now();
    let text = text(&registry, NOW);
    let took = begun.elapsed();

    assert!(took < Duration::from_millis(100), "{took:?}");
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
}

// spec: OB-23
#[test]
fn a_short_stall_stays_visible_until_the_next_scrapes() {
    let registry = Registry::new(1, "x");
    let shown = |registry: &Registry| {
        let text = text(registry, NOW);
        let line = text
            .lines()
            .find(|line| line.starts_with("x_loop_delay_seconds{"))
            .unwrap();
        line.rsplit_once(' ').unwrap().1.to_owned()
    };
    let at = |seconds| NOW + Duration::from_secs(seconds);

    registry.loop_delay(0, Duration::from_millis(800), at(0));
    registry.loop_delay(0, Duration::from_millis(1), at(16));
    assert_eq!(shown(&registry), "0.800000");

    registry.loop_delay(0, Duration::from_millis(2), at(32));
    assert_eq!(shown(&registry), "0.002000");
}

#[test]
fn other_parts_register_their_own() {
    let registry = Registry::new(1, "a-b");
    let mut expected = String::new();

    for _ in 0..2 {
        registry
            .counter("cache_hits_total", "Hits.", &[("cache", "tokens")])
            .add(0, 2);
    }
    registry
        .counter("cache_hits_total", "Hits.", &[("cache", "keys")])
        .add(7, 1);
    registry.gauge("depth", "Depth.", &[]).set(0, -3);
    registry
        .histogram("wait_seconds", "Waits.", &[])
        .record(0, Duration::from_secs(9));

    write!(
        expected,
        "# HELP a_b_cache_hits_total Hits.\n# TYPE a_b_cache_hits_total counter\n\
         a_b_cache_hits_total{{cache=\"keys\"}} 1\na_b_cache_hits_total{{cache=\"tokens\"}} 4\n\
         # HELP a_b_depth Depth.\n# TYPE a_b_depth gauge\na_b_depth -3\n"
    )
    .unwrap();
    let text = text(&registry, NOW);
    assert!(text.contains(&expected), "{text}");
    assert!(
        text.contains(
            "a_b_wait_seconds_bucket{le=\"3\"} 0\na_b_wait_seconds_bucket{le=\"+Inf\"} 1\n"
        )
    );
}
