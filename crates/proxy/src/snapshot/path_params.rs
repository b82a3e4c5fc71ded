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
    let given = names(template);
    for link in chain.links() {
        for wanted in &link.path_params {
            if given.contains(&&**wanted) {
                continue;
            }
            let is_this = |spec: &FilterSpec| spec.id() == &*link.id;
            let index = filters.specs.iter().position(is_this).unwrap_or_default();
            let at = format!("{}/config", filters.pointer(at, index));
            let message = format!(
                "the path `{template}` of the route `{}` has no parameter `{wanted}`",
                route.id
            );
            let mut problem = Problem::new(at, "unknown_parameter", message);
            problem.expected = Some(match given.as_slice() {
                [] => format!("a path with `{{{wanted}}}`, or a template without parameters"),
                given => format!("one of: {}", given.join(", ")),
            });
            problem.suggestion = closest(wanted, given.iter().copied()).map(ToOwned::to_owned);
            problems.push(problem);
        }
    }
}

fn names(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for segment in template.split('/') {
        let name = segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
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
    use super::names;

    #[test]
    fn every_kind_of_template_names_its_parameters() {
        assert_eq!(names("/a/{id}/b/{n}"), ["id", "n"]);
        assert_eq!(names("/a/{id}/**"), ["id", "rest"]);
        assert_eq!(names("/a/{*tail}"), ["tail", "rest"]);
        assert!(names("/a/b").is_empty());
    }
}
