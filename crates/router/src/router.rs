//! The route table: built once per snapshot, read-only afterwards.

use crate::explain::Candidate;
use crate::predicate::Predicate;
use crate::problem::Problem;
use crate::subject::Subject;

/// The conditions of one route, as the user wrote them.
#[derive(Clone, Debug, Default)]
pub struct RouteSpec {
    /// Unique in the table.
    pub id: String,
    /// When several routes match, the higher wins.
    pub priority: i32,
    /// Exact names or `*.suffix`; empty is any host.
    pub hosts: Vec<String>,
    /// The path template.
    pub path: String,
    /// Methods admitted; empty is any, `GET` admits `HEAD`.
    pub methods: Vec<String>,
    /// Conditions on headers.
    pub headers: Vec<Predicate>,
    /// Conditions on query parameters.
    pub query: Vec<Predicate>,
    /// Conditions on cookies.
    pub cookies: Vec<Predicate>,
}

/// What the table says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Index of the route.
    Route(usize),
    /// Routes match but for the method.
    MethodNotAllowed,
    /// No route matches.
    NotFound,
}

/// Buffers that one thread reuses from request to request.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) host: String,
    pub(crate) value: String,
}

/// The route table.
#[derive(Debug, Default)]
pub struct Router {
    specs: Vec<RouteSpec>,
}

impl Router {
    /// Builds the table.
    ///
    /// # Errors
    ///
    /// All the mistakes of all the routes.
    pub fn build(specs: Vec<RouteSpec>) -> Result<Self, Vec<Problem>> {
        Ok(Self { specs })
    }

    /// The route for a request.
    pub fn find<S: Subject + ?Sized>(&self, _request: &S, _scratch: &mut Scratch) -> Found {
        Found::NotFound
    }

    /// Appends the methods admitted for this request, as the value of an `Allow` field.
    pub fn allow<S: Subject + ?Sized>(
        &self,
        _request: &S,
        _scratch: &mut Scratch,
        _out: &mut String,
    ) {
    }

    /// Why each route near the request was or was not taken, in the order of competition.
    pub fn explain<S: Subject + ?Sized>(&self, _request: &S) -> Vec<Candidate> {
        Vec::new()
    }

    /// Name and value of each parameter of the route's template in a path that it matches.
    pub fn params<'a>(
        &'a self,
        _route: usize,
        _path: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        std::iter::empty()
    }

    /// What a trailing `/**` or `/{*rest}` of the route stands for, without the leading slash.
    pub fn rest<'a>(&self, _route: usize, _path: &'a str) -> Option<&'a str> {
        None
    }

    /// The route's path template as written: a label of bounded cardinality.
    pub fn template(&self, route: usize) -> Option<&str> {
        self.specs.get(route).map(|spec| spec.path.as_str())
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }
}
