//! The record seen from outside: the line, the queue with its writer, and the metrics.
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test may fail like the test itself"
)]

mod exposition;
mod line;
mod policy;
mod queue;
mod support;
mod writer;
