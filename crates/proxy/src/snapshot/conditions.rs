//! The conditions of a route, as the router wants them.

use sluicegate_core::Problem;
use sluicegate_router::{Predicate, RouteSpec, Test};

use super::document::{self, OneOrMany};

/// The conditions of a route, once for each of its paths; what is wrong goes to `problems`.
pub(super) fn specs(
    route: &document::Route,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Vec<RouteSpec> {
    let at = format!("{at}/match");
    let mut tests = |list: &[document::Predicate], kind: &str| -> Vec<Predicate> {
        list.iter()
            .enumerate()
            .filter_map(|(index, predicate)| {
                test(predicate, &format!("{at}/{kind}/{index}"), problems)
            })
            .collect()
    };
    let matches = &route.matches;
    let common = RouteSpec {
        id: route.id.clone(),
        priority: route.priority,
        hosts: matches.host.clone().into_list(),
        path: String::new(),
        methods: matches.methods.clone(),
        headers: tests(&matches.headers, "headers"),
        query: tests(&matches.query, "query"),
        cookies: tests(&matches.cookies, "cookies"),
    };
    let paths = matches.path.clone().into_list();
    if paths.is_empty() {
        let problem = Problem::new(format!("{at}/path"), "no_path", "a route needs a path");
        problems.push(problem.expecting("a path such as /orders/{id}, or a list of them"));
    }
    let one = paths.len() == 1;
    paths
        .into_iter()
        .map(|path| RouteSpec {
            // The router wants an id of its own for each; it only ever shows it in messages.
            id: if one {
                route.id.clone()
            } else {
                format!("{}: {path}", route.id)
            },
            path,
            ..common.clone()
        })
        .collect()
}

/// The place of a mistake that the router has found in the conditions of one path.
pub(super) fn pointer(route: &document::Route, at: &str, path: usize, field: &str) -> String {
    match &route.matches.path {
        OneOrMany::Many(_) if matches!(field, "/match" | "/match/path") => {
            format!("{at}/match/path/{path}")
        }
        OneOrMany::Many(_) | OneOrMany::One(_) => format!("{at}{field}"),
    }
}

fn test(
    predicate: &document::Predicate,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<Predicate> {
    let test = match (&predicate.value, &predicate.regex, predicate.present) {
        (Some(OneOrMany::One(value)), None, None) => Test::Equals(value.clone()),
        (Some(OneOrMany::Many(values)), None, None) => one_of(values, at, problems)?,
        (None, None, Some(present)) => Test::Present(present),
        (None, Some(pattern), None) => matching(pattern, &format!("{at}/regex"), problems)?,
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
        name: predicate.name.clone(),
        test,
    })
}

/// Any of several values: the pattern of their texts.
fn one_of(values: &[String], at: &str, problems: &mut Vec<Problem>) -> Option<Test> {
    let before = problems.len();
    if values.is_empty() {
        let message = "a list without values is never met";
        problems.push(Problem::new(format!("{at}/value"), "no_value", message));
    }
    for (index, value) in values.iter().enumerate() {
        if value.trim_ascii() != value || value.contains(['\r', '\n']) {
            let message = "a value with spaces around it or a line break never arrives";
            let at = format!("{at}/value/{index}");
            problems.push(Problem::new(at, "bad_match", message));
        }
    }
    if problems.len() > before {
        return None;
    }
    let mut texts: Vec<String> = values.iter().map(|value| regex::escape(value)).collect();
    texts.sort_unstable();
    matching(&texts.join("|"), &format!("{at}/value"), problems)
}

fn matching(pattern: &str, at: &str, problems: &mut Vec<Problem>) -> Option<Test> {
    match regex::Regex::new(pattern) {
        Ok(regex) => Some(Test::Matches(regex)),
        Err(error) => {
            problems.push(Problem::new(
                at,
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
            None
        }
    }
}
