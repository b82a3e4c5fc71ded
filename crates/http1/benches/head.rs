//! What one head costs: parse, edit, write.

fn main() {}
