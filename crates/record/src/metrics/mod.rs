//! Counting, and the text of `/metrics`.

mod cells;
mod custom;
mod handle;
mod histogram;
mod instance;
mod kept;
mod names;
mod process;
mod registry;
mod route;
mod statuses;
mod table;
mod text;
mod upstream;

pub use handle::{Counter, Gauge};
pub use histogram::Histogram;
pub use names::MetricNames;
pub use registry::{NO_ROUTE, Registry};
pub use route::RouteSeries;
pub use table::{Kind, METRICS, Metric};
pub use upstream::{AttemptKind, ConnectResult, ConnectionState, UpstreamSeries};
