//! What is remembered of a request: a line of the access log, and the metrics.
//!
//! No sockets and no runtime. Engine threads format and count; a writer thread writes; whoever
//! serves `/metrics` asks the [`Registry`] for its text. Time is always an argument.

mod body;
mod buffer;
mod campus;
mod entry;
mod fields;
mod fixed;
mod format;
mod json;
mod line;
mod masking;
mod metrics;
mod name_set;
mod output;
mod policy;
mod queue;
mod timestamp;
mod writer;

pub use body::{Bodies, Tap};
pub use buffer::LogBuffer;
pub use entry::Entry;
pub use fields::{CAMPUS_FIELDS, FIELDS, Field, FieldType};
pub use fixed::{ConnectionText, RouteText};
pub use format::LogFormat;
pub use masking::{BadPattern, Masking, Pattern, SENSITIVE_NAMES};
pub use metrics::{
    AttemptKind, ConnectResult, ConnectionState, Counter, Gauge, Histogram, Kind, METRICS, Metric,
    MetricNames, NO_ROUTE, Registry, RouteSeries, UpstreamSeries,
};
pub use name_set::NameSet;
pub use output::{Output, Rotation};
pub use policy::{BodyPolicy, Headers, Policy};
pub use queue::{LogCounts, LogQueue, QueueLimits};
pub use writer::{LogWriter, WriterThread};
