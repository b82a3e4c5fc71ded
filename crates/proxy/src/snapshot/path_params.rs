//! The path parameters that a route's filters read have to be in its template.

use sluicegate_core::{Problem, closest};
use sluicegate_filters::{Chain, FilterSpec};

use super::{defaults::Effective, document};

/// What a trailing `/**` is called.
const REST: &str = "rest";

/// Adds a problem for every parameter that a filter asks for and the template does not give.
pub(crate) fn check(
    (route, template): (&document::Route, &str),
    (filters, chain): (&Effective, &Chain),
    at: &str,
    problems: &mut Vec<Problem>,
) {
    for link in chain.links() {
        for wanted in &link.path_params {
            let is_this = |spec: &FilterSpec| spec.id() == &*link.id;
            let index = filters.specs.iter().position(is_this).unwrap_or_default();
            let at = format!("{}/config", filters.pointer(at, index));
            problems.extend(unknown(template, wanted, &at).map(|mut problem| {
                // The filter may be a default one: then its place does not say whose path it is.
                problem.message = format!("{} (route `{}`)", problem.message, route.id);
                problem
            }));
        }
    }
}

/// Adds a problem for every filter that asks for a path parameter where no route is known.
pub(crate) fn check_entry(
    (specs, chain): (&[FilterSpec], &Chain),
    at: &str,
    problems: &mut Vec<Problem>,
) {
    for link in chain
        .links()
        .iter()
        .filter(|link| !link.path_params.is_empty())
    {
        let index = specs.iter().position(|spec| spec.id() == &*link.id);
        let at = format!("{at}/{}/config", index.unwrap_or_default());
        let message = "the entry chain has no path parameters: no route is known yet";
        problems.push(
            Problem::new(at, "unknown_parameter", message).expecting("a filter of the route"),
        );
    }
}

/// The problem that the template has no such parameter.
pub(crate) fn unknown(template: &str, wanted: &str, at: &str) -> Option<Problem> {
    let given = names(template);
    if given.contains(&wanted) {
        return None;
    }
    let message = format!("the path `{template}` has no parameter `{wanted}`");
    let mut problem = Problem::new(at, "unknown_parameter", message);
    problem.expected = Some(match given.as_slice() {
        [] => format!("a path with `{{{wanted}}}`, or a template without parameters"),
        given => format!("one of: {}", given.join(", ")),
    });
    problem.suggestion = closest(wanted, given.iter().copied()).map(ToOwned::to_owned);
    Some(problem)
}

/// How many segments stand before a trailing `/**` or `/{*rest}`; none without one.
pub(crate) fn segments_before_rest(template: &str) -> Option<usize> {
    let (front, last) = template.rsplit_once('/')?;
    let is_open = last == "**" || last.starts_with("{*");
    is_open.then(|| front.split('/').skip(1).count())
}

fn names(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for segment in template.split('/') {
        // A parameter may have text around it, as in `{name}.json`.
        let name = segment
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'))
            .map(|(name, _)| name);
        match (name, name.and_then(|name| name.strip_prefix('*'))) {
            (_, Some(open)) => names.extend([open, REST]),
            (Some(name), None) => names.push(name),
            (None, None) if segment == "**" => names.push(REST),
            (None, None) => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{names, segments_before_rest};

    #[test]
    fn every_kind_of_template_names_its_parameters() {
        assert_eq!(names("/a/{id}/b/{n}"), ["id", "n"]);
        assert_eq!(names("/a/{id}/**"), ["id", "rest"]);
        assert_eq!(names("/a/{*tail}"), ["tail", "rest"]);
        assert_eq!(names("/a/{file}.json"), ["file"]);
        assert!(names("/a/b").is_empty());
    }

    #[test]
    fn the_rest_begins_behind_whole_segments() {
        assert_eq!(segments_before_rest("/a/{id}/**"), Some(2));
        assert_eq!(segments_before_rest("/{*all}"), Some(0));
        assert_eq!(segments_before_rest("/a/b"), None);
    }
}
