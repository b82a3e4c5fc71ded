//! One route's conditions, checked and ready to be asked.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::host::HostPattern;
use crate::method::{self, MethodSet};
use crate::predicate::Predicates;
use crate::problem::Problem;
use crate::prove::Decided;
use crate::router::RouteSpec;
use crate::template::{Precision, Template};

/// A route whose every condition can be met.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) priority: i32,
    /// Sorted, each once, never empty.
    pub(crate) hosts: Box<[HostPattern]>,
    pub(crate) template: Template,
    pub(crate) methods: MethodSet,
    pub(crate) predicates: Predicates,
}

/// Where a route under one of its hosts stands; the smallest wins.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Standing {
    priority: Reverse<i32>,
    host: HostStanding,
    path: Vec<Precision>,
    conditions: Reverse<usize>,
    /// A route for `HEAD` itself comes before one that admits it with `GET`.
    is_not_for_head: bool,
    place: usize,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HostStanding {
    Exact,
    Under { length: Reverse<usize> },
    Any,
}

impl Standing {
    /// What sets it before another one.
    pub(crate) fn decided_before(&self, other: &Self) -> Decided {
        if self.priority != other.priority {
            Decided::Priority
        } else if self.host != other.host {
            Decided::Host
        } else if self.path != other.path {
            Decided::Path
        } else if self.conditions != other.conditions {
            Decided::Conditions
        } else if self.is_not_for_head != other.is_not_for_head {
            Decided::Head
        } else {
            Decided::Place
        }
    }

    /// The same route with another priority.
    pub(crate) fn with_priority(self, priority: i32) -> Self {
        Self {
            priority: Reverse(priority),
            ..self
        }
    }
}

/// Reads every route and finds every mistake.
pub(crate) fn read_all(specs: &[RouteSpec]) -> Result<Vec<Route>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut conditions: HashMap<String, usize> = HashMap::new();
    let mut routes = Vec::with_capacity(specs.len());
    for (index, spec) in specs.iter().enumerate() {
        if let Some(first) = ids.insert(&spec.id, index) {
            ids.insert(&spec.id, first);
            let message = format!("route {first} has the id `{}` already", spec.id);
            problems.push(Problem::new(index, "/id", message).expecting("another id"));
        }
        let Some(route) = Route::read(index, spec, &mut problems) else {
            continue;
        };
        if let Some(first) = conditions.insert(route.fingerprint(), index) {
            let other = specs.get(first).map_or("", |spec| spec.id.as_str());
            let message =
                format!("has the same conditions as route `{other}`, so one never matches");
            problems.push(
                Problem::new(index, "/match", message).expecting("another condition or priority"),
            );
        }
        routes.push(route);
    }
    if problems.is_empty() {
        Ok(routes)
    } else {
        Err(problems)
    }
}

impl Route {
    fn read(index: usize, spec: &RouteSpec, problems: &mut Vec<Problem>) -> Option<Self> {
        let before = problems.len();
        let hosts = read_hosts(index, spec, problems);
        check_methods(index, spec, problems);
        let predicates = Predicates::new(index, spec, problems);
        let template = Template::parse(&spec.path)
            .map_err(|bad| {
                problems.push(Problem {
                    route: index,
                    field: "/match/path".to_owned(),
                    message: format!("`{}` {}", spec.path, bad.message),
                    expected: bad.expected,
                });
            })
            .ok()?;
        (problems.len() == before).then(|| Self {
            priority: spec.priority,
            hosts,
            template,
            methods: MethodSet::new(spec.methods.iter().map(String::as_str)),
            predicates,
        })
    }

    /// How many conditions narrow the route beside host and path.
    fn conditions(&self) -> usize {
        self.predicates.len() + usize::from(!self.methods.is_any())
    }

    pub(crate) fn standing(&self, place: usize, host: &HostPattern) -> Standing {
        Standing {
            priority: Reverse(self.priority),
            host: match host {
                HostPattern::Exact(_) => HostStanding::Exact,
                HostPattern::Under(suffix) => HostStanding::Under {
                    length: Reverse(suffix.len()),
                },
                HostPattern::Any => HostStanding::Any,
            },
            path: self.template.precision(),
            conditions: Reverse(self.conditions()),
            is_not_for_head: !self.methods.names_head_alone(),
            place,
        }
    }

    fn fingerprint(&self) -> String {
        let methods: Vec<&str> = self.methods.names().collect();
        format!(
            "{}\n{:?}\n{}\n{methods:?}\n{}",
            self.priority,
            self.hosts,
            self.template.shape(),
            self.predicates.fingerprint(),
        )
    }
}

fn read_hosts(index: usize, spec: &RouteSpec, problems: &mut Vec<Problem>) -> Box<[HostPattern]> {
    let mut hosts = Vec::new();
    for (place, text) in spec.hosts.iter().enumerate() {
        match HostPattern::parse(text) {
            Ok(pattern) => hosts.push(pattern),
            Err((message, expected)) => {
                let field = format!("/match/host/{place}");
                let message = format!("`{text}` {message}");
                problems.push(Problem::new(index, field, message).expecting(expected));
            }
        }
    }
    if spec.hosts.is_empty() {
        hosts.push(HostPattern::Any);
    }
    hosts.sort_unstable();
    hosts.dedup();
    hosts.into()
}

fn check_methods(index: usize, spec: &RouteSpec, problems: &mut Vec<Problem>) {
    for (place, text) in spec.methods.iter().enumerate() {
        if let Some((message, expected)) = method::complaint(text) {
            let field = format!("/match/methods/{place}");
            let message = format!("`{text}` {message}");
            problems.push(Problem::new(index, field, message).expecting(expected));
        }
    }
}
