//! Routes and requests in few words.

use sluicegate_router::{Found, Predicate, RouteSpec, Router, Scratch, Subject, Test};

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) host: Option<String>,
    pub(crate) path: String,
    pub(crate) method: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
}

impl Subject for Request {
    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn method(&self) -> &str {
        &self.method
    }

    fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    fn header_values(&self, name: &str, each: &mut dyn FnMut(&[u8])) {
        for (field, value) in &self.headers {
            if field.eq_ignore_ascii_case(name) {
                each(value.as_bytes());
            }
        }
    }
}

pub(crate) fn get(target: &str) -> Request {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (target, None),
    };
    Request {
        host: Some("api.example.com".to_owned()),
        path: path.to_owned(),
        method: "GET".to_owned(),
        query,
        headers: Vec::new(),
    }
}

impl Request {
    pub(crate) fn at(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub(crate) fn by(mut self, method: &str) -> Self {
        method.clone_into(&mut self.method);
        self
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A route whose id is its path.
pub(crate) fn route(path: &str) -> RouteSpec {
    RouteSpec {
        id: path.to_owned(),
        path: path.to_owned(),
        ..RouteSpec::default()
    }
}

pub(crate) trait Conditions {
    fn id(self, id: &str) -> Self;
    fn hosts(self, hosts: &[&str]) -> Self;
    fn methods(self, methods: &[&str]) -> Self;
    fn priority(self, priority: i32) -> Self;
    fn header(self, name: &str, test: Test) -> Self;
    fn query(self, name: &str, test: Test) -> Self;
    fn cookie(self, name: &str, test: Test) -> Self;
}

impl Conditions for RouteSpec {
    fn id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.id);
        self
    }

    fn hosts(mut self, hosts: &[&str]) -> Self {
        self.hosts = hosts.iter().map(ToString::to_string).collect();
        self
    }

    fn methods(mut self, methods: &[&str]) -> Self {
        self.methods = methods.iter().map(ToString::to_string).collect();
        self
    }

    fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    fn header(mut self, name: &str, test: Test) -> Self {
        self.headers.push(predicate(name, test));
        self
    }

    fn query(mut self, name: &str, test: Test) -> Self {
        self.query.push(predicate(name, test));
        self
    }

    fn cookie(mut self, name: &str, test: Test) -> Self {
        self.cookies.push(predicate(name, test));
        self
    }
}

fn predicate(name: &str, test: Test) -> Predicate {
    Predicate {
        name: name.to_owned(),
        test,
    }
}

pub(crate) fn equals(value: &str) -> Test {
    Test::Equals(value.to_owned())
}

pub(crate) fn matches(pattern: &str) -> Test {
    Test::Matches(regex::Regex::new(pattern).unwrap())
}

/// The id of the route found, `405` or `404`.
pub(crate) fn taken(specs: &[RouteSpec], request: &Request) -> String {
    let router = Router::build(specs.to_vec()).unwrap();
    match router.find(request, &mut Scratch::default()) {
        Found::Route(index) => specs[index].id.clone(),
        Found::MethodNotAllowed => "405".to_owned(),
        Found::NotFound => "404".to_owned(),
    }
}
