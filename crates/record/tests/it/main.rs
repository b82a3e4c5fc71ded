//! The record seen from outside: the line, the queue with its writer, and the metrics.

mod exposition;
mod line;
mod queue;
mod support;
mod writer;
