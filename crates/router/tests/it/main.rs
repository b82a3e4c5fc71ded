//! What a user of the router sees.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the settings for tests do not reach what tests share"
)]

mod conditions;
mod explain;
mod law;
mod matching;
mod mistakes;
mod normal_form;
mod prove;
mod prove_law;
mod support;
