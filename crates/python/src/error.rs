//! The engine's error as Python exceptions.

use pyo3::{create_exception, exceptions::PyException, prelude::*};
use serde_json::json;
use sluicegate_proxy::EngineError;

create_exception!(
    _engine,
    PyEngineError,
    PyException,
    "The engine could not do what it was asked; the text says why."
);
create_exception!(
    _engine,
    PyPortTaken,
    PyEngineError,
    "An address of a listener, or of the operations port, is in use by another process."
);
create_exception!(
    _engine,
    PyFactRefused,
    PyEngineError,
    "A fact that a filter did not take; nothing has changed."
);
create_exception!(
    _engine,
    PySnapshotRefused,
    PyEngineError,
    "A snapshot that was not applied; nothing has changed."
);

/// One engine error, one exception, its fields as attributes.
pub(crate) fn raised(py: Python<'_>, error: &EngineError) -> PyErr {
    let text = error.to_string();
    let problems = match error {
        EngineError::Refused(problems) => json!(problems),
        EngineError::Stale { .. } => {
            json!([{"pointer": "/version", "code": "stale_version", "message": text}])
        }
        EngineError::Fact(problem) => {
            return with_problems(py, PyFactRefused::new_err(text), &json!([problem]));
        }
        EngineError::PortTaken { .. } => return PyPortTaken::new_err(text),
        EngineError::Event(_)
        | EngineError::Request(_)
        | EngineError::Stopped
        | EngineError::Thread(_) => {
            return PyEngineError::new_err(text);
        }
    };
    with_problems(py, PySnapshotRefused::new_err(text), &problems)
}

fn with_problems(py: Python<'_>, raised: PyErr, problems: &serde_json::Value) -> PyErr {
    match raised.value(py).setattr("problems", problems.to_string()) {
        Ok(()) => raised,
        Err(other) => other,
    }
}
