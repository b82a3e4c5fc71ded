//! Route matching: path normal form, host index, path tree, predicates. Pure; knows nobody.

mod explain;
mod normal_form;
mod predicate;
mod problem;
mod router;
mod subject;

pub use explain::{Candidate, WhyNot};
pub use normal_form::{BadPath, Normal, has_encoded_slash, normalize};
pub use predicate::{Predicate, Test};
pub use problem::Problem;
pub use router::{Found, RouteSpec, Router, Scratch};
pub use subject::Subject;
