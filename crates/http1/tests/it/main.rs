//! The crate as its users see it: cases, laws, and the corpora of the fuzz targets.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod corpora;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod responses;
