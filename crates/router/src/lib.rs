//! Route matching: path normal form, host index, path tree, predicates. Pure; knows nobody.
//!
//! There is no cache of results: a match is itself a few hash lookups, and a cache that hostile
//! paths can fill would need a bound and an eviction.

mod explain;
#[doc(hidden)]
pub mod fuzz;
mod host;
mod method;
mod normal_form;
mod predicate;
mod problem;
mod prove;
mod query;
mod route;
mod router;
mod subject;
mod template;
mod tree;
mod walk;
mod why_not;

pub use explain::Candidate;
pub use normal_form::{BadPath, Normal, has_encoded_slash, normalize};
pub use predicate::{Predicate, Test};
pub use problem::Problem;
pub use prove::{Decided, Finding, Kind, Level, Limits, Report, Witness};
pub use router::{Found, RouteSpec, Router, Scratch};
pub use subject::Subject;
pub use why_not::{PathGap, WhyNot};
