//! The contract of filters: what the engine and every filter promise each other.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests may fail too"
)]

#[expect(unreachable_pub, reason = "written as it would stand in the crate")]
mod example;
mod example_contract;
mod peek;
