//! The Rust engine: listeners, routes, filters and upstreams, and what they decide.
//!
//! Every value that crosses is JSON text; `sluicegate.engine` gives it types. No rule of the
//! gateway lives here.

mod error;
mod module;

/// The engine allocates on its own threads all the time; mimalloc is quicker there than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
