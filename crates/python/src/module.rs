//! The extension module: a class whose methods hand text over and let go of the interpreter.

use std::{collections::HashMap, time::Duration};

use pyo3::prelude::*;
use sluicegate_proxy::{Engine, EngineError, Settings, explain, prove, schema};

use crate::error::{PyEngineError, PyFactRefused, PyPortTaken, PySnapshotRefused, raised};

/// A running data plane; its threads never wait for the interpreter.
#[pyclass(name = "Engine", frozen, module = "sluicegate._engine")]
struct PyEngine(Engine);

#[pymethods]
impl PyEngine {
    /// Start the threads; without a snapshot nothing listens but the operations port.
    #[staticmethod]
    fn start(py: Python<'_>, settings: &str) -> PyResult<Self> {
        let settings: Settings = serde_json::from_str(settings)
            .map_err(|error| PyEngineError::new_err(error.to_string()))?;
        released(py, || Engine::start(&settings)).map(Self)
    }

    /// Say what is wrong with a snapshot, as a JSON list of problems; starts nothing.
    #[staticmethod]
    fn check(py: Python<'_>, snapshot: &str) -> String {
        let problems = py.detach(|| Engine::check(snapshot));
        serde_json::json!(problems).to_string()
    }

    /// Say what would happen to a request under a snapshot; nothing is sent or counted.
    #[staticmethod]
    #[pyo3(name = "explain")]
    fn explain_dry(py: Python<'_>, snapshot: &str, request: &str, facts: &str) -> PyResult<String> {
        released(py, || explain(snapshot, request, facts)).map(|value| value.to_string())
    }

    /// Say what the routes of a snapshot do with all requests: which are never reached, which
    /// meet and who wins, as JSON with a request that shows each.
    #[staticmethod]
    #[pyo3(name = "prove")]
    fn prove_routes(py: Python<'_>, snapshot: &str) -> PyResult<String> {
        released(py, || prove(snapshot)).map(|value| value.to_string())
    }

    /// Give the JSON Schema of every filter's configuration, and the codes of rejects.
    #[staticmethod]
    #[pyo3(name = "schema")]
    fn catalogue() -> String {
        schema().to_string()
    }

    /// Compile a snapshot aside, then make it current in one step; its filters know the facts then.
    #[pyo3(signature = (snapshot, secrets, facts = Vec::new()))]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a mapping of Python is copied once at the door"
    )]
    fn apply(
        &self,
        py: Python<'_>,
        snapshot: &str,
        secrets: HashMap<String, Vec<u8>>,
        facts: Vec<String>,
    ) -> PyResult<()> {
        released(py, || self.0.apply(snapshot, &secrets, &facts))
    }

    /// Like `explain`, under the current snapshot and with the state of this engine.
    fn explain_live(&self, py: Python<'_>, request: &str, facts: &str) -> PyResult<String> {
        released(py, || self.0.explain_live(request, facts)).map(|value| value.to_string())
    }

    /// Push a fact in: a JSON object with its `kind`.
    fn tell(&self, py: Python<'_>, event: &str) -> PyResult<()> {
        released(py, || self.0.tell(event))
    }

    /// Say what is running: version, listeners, connections, exchanges in flight.
    fn status(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.status()).to_string()
    }

    /// Take what has happened since the last call: kind and JSON of each event.
    fn take_events(&self) -> Vec<(&'static str, String)> {
        let events = self.0.take_events().into_iter();
        events.map(|event| (event.kind, event.payload)).collect()
    }

    /// Let `/readyz` succeed or fail, whatever else is true.
    fn set_ready(&self, ready: bool) {
        self.0.set_ready(ready);
    }

    /// Accept nothing new and let running exchanges end; true when all ended in time.
    fn drain(&self, py: Python<'_>, seconds: f64) -> bool {
        let within = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| self.0.drain(within))
    }

    /// Move the clock of an engine that was started with `"clock": "manual"`.
    fn advance(&self, milliseconds: u64) {
        self.0.advance(Duration::from_millis(milliseconds));
    }

    /// End everything at once; a stopped engine answers no other call.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }
}

/// Lets other Python threads run while Rust works.
fn released<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, EngineError> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(|error| raised(py, &error))
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<PyEngine>()?;
    module.add("EngineError", py.get_type::<PyEngineError>())?;
    module.add("FactRefused", py.get_type::<PyFactRefused>())?;
    module.add("PortTaken", py.get_type::<PyPortTaken>())?;
    module.add("SnapshotRefused", py.get_type::<PySnapshotRefused>())?;
    module.add(
        "__all__",
        [
            "Engine",
            "EngineError",
            "FactRefused",
            "PortTaken",
            "SnapshotRefused",
        ],
    )
}
