//! The upstream's side: endpoints, connections, attempts.

mod acquire;
pub(crate) mod attempts;
mod heads;
mod multiplex;
mod permits;
pub(crate) mod policy;
pub(crate) mod pool;
pub(crate) mod refusals;
pub(crate) mod resolve;
pub(crate) mod shared;
mod tally;
pub(crate) mod upload;
mod watch;
