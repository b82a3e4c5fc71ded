//! Values that have the right form and still make no sense: the engine trusts no writer of documents.

use sluicegate_core::{Problem, Span};

use super::document::{Document, Respond, RouteTimeouts};

/// Adds a problem for every duration of zero, which would end everything at once, and for counts
/// that nothing fits into.
pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    for (index, listener) in document.listeners.iter().enumerate() {
        let timeouts = &listener.timeouts;
        let spans = [
            ("header", Some(timeouts.header)),
            ("body", Some(timeouts.body)),
            ("idle", Some(timeouts.idle)),
            ("write", Some(timeouts.write)),
        ];
        positive(&format!("/listeners/{index}/timeouts"), spans, problems);
        if listener.limits.connections == 0 {
            let at = format!("/listeners/{index}/limits/connections");
            problems.push(none_fits(at));
        }
        for (field, right) in listener.http2.faults() {
            let at = format!("/listeners/{index}/http2/{field}");
            problems.push(Problem::new(at, "bad_value", "not possible").expecting(right));
        }
    }
    for (index, upstream) in document.upstreams.iter().enumerate() {
        let (timeouts, connections) = (&upstream.timeouts, &upstream.connections);
        let at = format!("/upstreams/{index}");
        let spans = [
            ("connect", Some(timeouts.connect)),
            ("response", Some(timeouts.response)),
            ("idle", Some(timeouts.idle)),
            ("total", timeouts.total),
        ];
        positive(&format!("{at}/timeouts"), spans, problems);
        let spans = [
            ("acquire", Some(connections.acquire)),
            ("idle", Some(connections.idle)),
            ("life", Some(connections.life)),
        ];
        positive(&format!("{at}/connections"), spans, problems);
        let spans = [("refresh", Some(upstream.dns.refresh))];
        positive(&format!("{at}/dns"), spans, problems);
    }
    of_a_route(
        "/route_defaults",
        &document.route_defaults.timeouts,
        problems,
    );
    for (index, route) in document.routes.iter().enumerate() {
        of_a_route(&format!("/routes/{index}"), &route.timeouts, problems);
        if let Some(respond) = &route.respond {
            body_fits(respond, &format!("/routes/{index}/respond"), problems);
        }
    }
    if document.access_log.rotate.keep == 0 {
        problems.push(none_fits("/access_log/rotate/keep".to_owned()));
    }
    if document.access_log.output.is_empty() {
        let problem = Problem::new("/access_log/output", "bad_value", "there is no such place");
        problems.push(problem.expecting("stdout, off, or the path of a file"));
    }
}

fn of_a_route(at: &str, timeouts: &RouteTimeouts, problems: &mut Vec<Problem>) {
    let spans = [
        ("response", timeouts.response),
        ("idle", timeouts.idle),
        ("total", timeouts.total),
    ];
    positive(&format!("{at}/timeouts"), spans, problems);
}

fn positive<const COUNT: usize>(
    at: &str,
    spans: [(&str, Option<Span>); COUNT],
    problems: &mut Vec<Problem>,
) {
    for (name, span) in spans {
        if span.is_some_and(|span| span.0.is_zero()) {
            problems.push(Problem::new(
                format!("{at}/{name}"),
                "out_of_range",
                "a duration of zero would end everything at once",
            ));
        }
    }
}

fn none_fits(at: String) -> Problem {
    Problem::new(at, "out_of_range", "nothing could pass").expecting("1 or more")
}

/// Answers of these statuses end with their head (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
fn body_fits(respond: &Respond, at: &str, problems: &mut Vec<Problem>) {
    if matches!(respond.status, 204 | 205 | 304) && !respond.body.is_empty() {
        let message = format!("an answer of status {} has no body", respond.status);
        problems.push(Problem::new(format!("{at}/body"), "contradiction", message));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointers(document: serde_json::Value) -> Vec<String> {
        let document = serde_json::from_value(document).unwrap();
        let mut problems = Vec::new();
        check(&document, &mut problems);
        problems
            .into_iter()
            .map(|problem| problem.pointer)
            .collect()
    }

    #[test]
    fn what_would_end_everything_at_once_is_refused() {
        let found = pointers(json!({
            "format": 1,
            "version": 1,
            "listeners": [{"id": "a", "address": "[::]:0", "timeouts": {"idle": "0s"}}],
            "upstreams": [{
                "id": "a",
                "endpoints": [],
                "timeouts": {"total": "0ms"},
                "connections": {"life": "0h"},
            }],
            "routes": [
                {"id": "a", "match": {"path": "/"}, "respond": {"status": 204, "body": "x"}},
                {"id": "b", "match": {"path": "/"}, "timeouts": {"response": "0s"}},
            ],
            "access_log": {"output": "", "rotate": {"keep": 0}},
        }));

        assert_eq!(
            found,
            [
                "/listeners/0/timeouts/idle",
                "/upstreams/0/timeouts/total",
                "/upstreams/0/connections/life",
                "/routes/0/respond/body",
                "/routes/1/timeouts/response",
                "/access_log/rotate/keep",
                "/access_log/output",
            ]
        );
    }

    #[test]
    fn what_is_left_out_is_fine() {
        let found = pointers(json!({"format": 1, "version": 1}));

        assert!(found.is_empty(), "{found:?}");
    }
}
