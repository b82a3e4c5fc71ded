//! The conditions of a route, as the router wants them.

use sluicegate_core::Problem;
use sluicegate_router::{Predicate, RouteSpec, Test};

use super::document;

/// Reads the conditions; what is wrong with them goes to `problems`.
pub(super) fn spec(route: document::Route, at: &str, problems: &mut Vec<Problem>) -> RouteSpec {
    let at = format!("{at}/match");
    let mut tests = |list: Vec<document::Predicate>, kind: &str| -> Vec<Predicate> {
        list.into_iter()
            .enumerate()
            .filter_map(|(index, predicate)| {
                test(predicate, &format!("{at}/{kind}/{index}"), problems)
            })
            .collect()
    };
    RouteSpec {
        id: route.id,
        priority: route.priority,
        hosts: route.matches.host.into_list(),
        path: route.matches.path,
        methods: route.matches.methods,
        headers: tests(route.matches.headers, "headers"),
        query: tests(route.matches.query, "query"),
        cookies: tests(route.matches.cookies, "cookies"),
    }
}

fn test(
    predicate: document::Predicate,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<Predicate> {
    let test = match (predicate.value, predicate.regex, predicate.present) {
        (Some(value), None, None) => Test::Equals(value),
        (None, None, Some(present)) => Test::Present(present),
        (None, Some(pattern), None) => match regex::Regex::new(&pattern) {
            Ok(regex) => Test::Matches(regex),
            Err(error) => {
                problems.push(Problem::new(
                    format!("{at}/regex"),
                    "bad_regex",
                    // The last line says what is wrong; the others draw where.
                    error
                        .to_string()
                        .lines()
                        .last()
                        .unwrap_or("not a regular expression")
                        .trim()
                        .to_owned(),
                ));
                return None;
            }
        },
        _ => {
            let problem = Problem::new(
                at,
                "one_test",
                "a condition has exactly one of `value`, `regex` and `present`",
            );
            problems.push(problem);
            return None;
        }
    };
    Some(Predicate {
        name: predicate.name,
        test,
    })
}
