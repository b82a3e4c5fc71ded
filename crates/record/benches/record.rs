//! What one request costs: its line and its metrics.

fn main() {}
