//! What the load generator and the cheap upstream of the benchmarks share.

pub mod arguments;
pub mod body;
pub mod client;
pub mod latencies;
pub mod messages;
pub mod pace;
