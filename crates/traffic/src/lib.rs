//! Traffic decisions as pure functions of state and time.

pub mod backoff;
pub mod balance;
mod pace;

pub use pace::Pace;
