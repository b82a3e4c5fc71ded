//! What is remembered of a request: a line of the access log, and the metrics.
//!
//! No sockets and no runtime. Engine threads format and count; a writer thread writes; whoever
//! serves `/metrics` asks the [`Registry`] for its text. Time is always an argument.

mod buffer;
mod entry;
mod fields;
mod fixed;
mod format;
mod json;
mod masking;
mod metrics;
mod output;
mod queue;
mod timestamp;
mod writer;

pub use buffer::LogBuffer;
pub use entry::Entry;
pub use fields::{FIELDS, Field, FieldType};
pub use fixed::{ConnectionText, RouteText};
pub use format::LogFormat;
pub use masking::{Masking, SENSITIVE_NAMES};
pub use metrics::{
    AttemptKind, ConnectResult, ConnectionState, Counter, Gauge, Histogram, Kind, METRICS, Metric,
    NO_ROUTE, Registry, RouteSeries, UpstreamSeries,
};
pub use output::{Output, Rotation};
pub use queue::{LogCounts, LogQueue, QueueLimits};
pub use writer::{LogWriter, WriterThread};
