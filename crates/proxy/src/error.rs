//! What the engine refuses, as seen from outside.

use std::{fmt, io, net::SocketAddr};

use sluicegate_core::Problem;

/// Why a call to the engine did not succeed. Nothing has changed then.
#[derive(Debug)]
pub enum EngineError {
    /// The snapshot has these mistakes.
    Refused(Vec<Problem>),
    /// The snapshot is not newer than the current one (CF-07).
    Stale {
        /// The version offered.
        offered: u64,
        /// The version in force.
        current: u64,
    },
    /// Somebody else listens there.
    PortTaken {
        /// The address that was asked for.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The event cannot be understood.
    Event(String),
    /// A filter does not take a fact; the pointer leads into the event.
    Fact(Problem),
    /// The request to explain cannot be understood.
    Request(String),
    /// The engine has been stopped.
    Stopped,
    /// A thread could not be started.
    Thread(io::Error),
}

impl EngineError {
    pub(crate) const fn thread(error: io::Error) -> Self {
        Self::Thread(error)
    }

    pub(crate) fn port(address: &SocketAddr, source: io::Error) -> Self {
        Self::PortTaken {
            address: address.to_string(),
            source,
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(problems) => {
                write!(f, "the snapshot has {} mistake(s)", problems.len())?;
                problems
                    .iter()
                    .try_for_each(|problem| write!(f, "; {}: {}", problem.pointer, problem.message))
            }
            Self::Stale { offered, current } => {
                write!(
                    f,
                    "version {offered} is not newer than the current version {current}"
                )
            }
            Self::PortTaken { address, source } => {
                write!(f, "cannot listen on {address}: {source}")
            }
            Self::Event(why) => write!(f, "the event cannot be understood: {why}"),
            Self::Fact(problem) => write!(f, "{}", problem.message),
            Self::Request(why) => write!(f, "the request cannot be understood: {why}"),
            Self::Stopped => f.write_str("the engine has been stopped"),
            Self::Thread(error) => write!(f, "a thread could not be started: {error}"),
        }
    }
}

impl std::error::Error for EngineError {}
