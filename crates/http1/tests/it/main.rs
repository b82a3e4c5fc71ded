//! The crate as its users see it: cases, laws, and the corpora of the fuzz targets.

mod bodies;
mod corpora;
mod laws;
mod requests;
mod responses;
