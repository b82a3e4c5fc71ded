//! Which endpoint takes the next request.

mod round_robin;

pub use round_robin::SmoothWeighted;
