//! The route table: built once per snapshot, read-only afterwards.

use crate::explain::{self, Candidate};
use crate::host::{HostIndex, HostPattern, request_host};
use crate::method::Asked;
use crate::predicate::Predicate;
use crate::problem::Problem;
use crate::route::{self, Route};
use crate::subject::Subject;
use crate::tree::{Entry, Growing, Tree};
use crate::walk::Walk;

/// The conditions of one route, as the user wrote them.
#[derive(Clone, Debug, Default)]
pub struct RouteSpec {
    /// Unique in the table.
    pub id: String,
    /// When several routes match, the higher wins.
    pub priority: i32,
    /// Exact names or `*.suffix`; empty is any host.
    pub hosts: Vec<String>,
    /// Literal segments, `{parameters}`, and `/**` or `/{*name}` at the end for any number more.
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
    /// No route matches, but one would with another method.
    MethodNotAllowed,
    /// No route matches.
    NotFound,
}

/// Buffers that one thread reuses from request to request.
#[derive(Debug, Default)]
pub struct Scratch {
    host: String,
    value: Vec<u8>,
}

/// The route table.
///
/// All routes that match a request compete: by priority, then by host (exact, the longest
/// wildcard, any), then by path (precise before broad, from its first segment on), then by the
/// number of other conditions, then by their place in the document. This order does not depend on
/// the request, so it is settled when the table is built.
#[derive(Debug, Default)]
pub struct Router {
    pub(crate) routes: Vec<Route>,
    hosts: HostIndex,
    tree: Tree,
    /// The route by rank in the competition; small, because every request looks into it.
    pub(crate) ranks: Vec<u32>,
    /// The host by rank, for explanations.
    pub(crate) rank_hosts: Vec<HostPattern>,
}

impl Router {
    /// Builds the table.
    ///
    /// # Errors
    ///
    /// All the mistakes of all the routes.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the caller has no use for the conditions once the table stands"
    )]
    pub fn build(specs: Vec<RouteSpec>) -> Result<Self, Vec<Problem>> {
        let mut router = Self {
            routes: route::read_all(&specs)?,
            ..Self::default()
        };

        let mut contenders: Vec<_> = router
            .routes
            .iter()
            .enumerate()
            .flat_map(|(index, route)| {
                let standing = move |host| (route.standing(index, host), index, host);
                route.hosts.iter().map(standing)
            })
            .collect();
        contenders.sort_unstable();

        let mut growing = Growing::default();
        for ((_, index, host), rank) in contenders.into_iter().zip(0_u32..) {
            let Some(route) = router.routes.get(index) else {
                continue;
            };
            let number = u32::try_from(index).unwrap_or(u32::MAX);
            let entry = Entry {
                rank,
                route: number,
                methods: route.methods.bits(),
                is_plain: route.predicates.len() == 0,
            };
            let root = router.hosts.root(host, || growing.new_root());
            growing.insert(root, &route.template, entry);
            router.ranks.push(number);
            router.rank_hosts.push(host.clone());
        }
        router.tree = growing.finish();
        Ok(router)
    }

    /// The route for a request.
    pub fn find<S: Subject + ?Sized>(&self, request: &S, scratch: &mut Scratch) -> Found {
        let asked = Asked::new(request.method());
        let best = self.compete(request, scratch, |entry, buffer| {
            self.admits(entry, asked) && self.meets(entry, request, buffer)
        });
        if let Some(route) = best.and_then(|rank| self.ranks.get(rank as usize)) {
            return Found::Route(*route as usize);
        }
        // Only a request that nobody takes pays for the difference between 404 and 405.
        let with_another_method = self.compete(request, scratch, |entry, buffer| {
            self.meets(entry, request, buffer)
        });
        match with_another_method {
            Some(_) => Found::MethodNotAllowed,
            None => Found::NotFound,
        }
    }

    /// The rank that answers a request. `may_judge` is told of every candidate whether nothing but
    /// the method is asked, and may pass it over.
    pub(crate) fn best<S: Subject + ?Sized>(
        &self,
        request: &S,
        scratch: &mut Scratch,
        mut may_judge: impl FnMut(bool) -> bool,
    ) -> Option<u32> {
        let asked = Asked::new(request.method());
        self.compete(request, scratch, |entry, buffer| {
            may_judge(entry.is_plain)
                && self.admits(entry, asked)
                && self.meets(entry, request, buffer)
        })
    }

    /// Calls `each` for every route that takes the host and path of a request, whatever else it
    /// asks, until it says that it has seen enough.
    pub(crate) fn at_path<S: Subject + ?Sized>(
        &self,
        request: &S,
        scratch: &mut Scratch,
        mut has_enough: impl FnMut(usize) -> bool,
    ) {
        self.compete(request, scratch, |entry, _| {
            has_enough(entry.route as usize)
        });
    }

    /// Appends the methods that would find a route, as the value of an `Allow` field.
    pub fn allow<S: Subject + ?Sized>(&self, request: &S, scratch: &mut Scratch, out: &mut String) {
        let mut names: Vec<&str> = Vec::new();
        self.compete(request, scratch, |entry, buffer| {
            if self.meets(entry, request, buffer)
                && let Some(route) = self.routes.get(entry.route as usize)
            {
                names.extend(route.methods.names());
            }
            false
        });
        names.sort_unstable();
        names.dedup();
        for (index, name) in names.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { ", " });
            out.push_str(name);
        }
    }

    /// Why each route near the request was or was not taken: those that match, in the order of
    /// competition, then the nearest others; ten of each at most. Looks at every route: not for
    /// traffic.
    pub fn explain<S: Subject + ?Sized>(&self, request: &S) -> Vec<Candidate> {
        let mut buffer = String::new();
        let host = request
            .host()
            .and_then(|host| request_host(host, &mut buffer));
        let contenders = self
            .ranks
            .iter()
            .zip(&self.rank_hosts)
            .filter_map(|(index, pattern)| {
                let index = *index as usize;
                Some((index, self.routes.get(index)?, pattern))
            });
        explain::candidates(contenders, host, request)
    }

    /// Name and value of each parameter of the route's template, in a path that it matches.
    ///
    /// Values are in the normal form of the path, so `%2F` is still an escape in them.
    pub fn params<'a>(
        &'a self,
        route: usize,
        path: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let route = self.routes.get(route);
        route
            .into_iter()
            .flat_map(|route| route.template.params(path))
    }

    /// What a trailing `/**` or `/{*name}` of the route stands for, without the leading slash.
    ///
    /// `None` when the template does not end so, or does not match the path.
    pub fn rest<'a>(&'a self, route: usize, path: &'a str) -> Option<&'a str> {
        let template = &self.routes.get(route)?.template;
        template.rest_of(path).filter(|_| template.is_open())
    }

    /// The route's path template as written: a label of bounded cardinality.
    pub fn template(&self, route: usize) -> Option<&str> {
        self.routes.get(route).map(|route| route.template.text())
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// The rank of the best candidate for host and path that `accept` takes.
    fn compete<S: Subject + ?Sized>(
        &self,
        request: &S,
        scratch: &mut Scratch,
        mut accept: impl FnMut(&Entry, &mut Vec<u8>) -> bool,
    ) -> Option<u32> {
        let Scratch { host, value } = scratch;
        let host = if self.hosts.is_indifferent() {
            None
        } else {
            request
                .host()
                .and_then(|authority| request_host(authority, host))
        };
        let mut walk = Walk::new(&self.tree, |entry| accept(entry, value));
        for root in self.hosts.roots(host) {
            walk.below(root, request.path());
        }
        walk.best()
    }

    fn admits(&self, entry: &Entry, asked: Asked<'_>) -> bool {
        entry.methods.admit(asked).unwrap_or_else(|| {
            let route = self.routes.get(entry.route as usize);
            route.is_some_and(|route| route.methods.admits(asked))
        })
    }

    fn meets<S: Subject + ?Sized>(&self, entry: &Entry, request: &S, buffer: &mut Vec<u8>) -> bool {
        entry.is_plain
            || self
                .routes
                .get(entry.route as usize)
                .is_some_and(|route| route.predicates.are_met(request, buffer))
    }
}
