//! HTTP/2 of a listener, as it is written and as it is obeyed (HT-02).

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::ByteSize;

/// How much one connection may ask for at once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Document {
    enabled: bool,
    streams: u32,
    stream_window: ByteSize,
    window: ByteSize,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            enabled: true,
            streams: 100,
            stream_window: ByteSize(64 << 10),
            window: ByteSize(1 << 20),
        }
    }
}

/// The same, in the units of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Http2 {
    pub(crate) enabled: bool,
    /// Streams open at once.
    pub(crate) streams: u32,
    /// Bytes of a body that a client may send ahead on one stream.
    pub(crate) stream_window: u32,
    /// The same for all streams of a connection.
    pub(crate) window: u32,
}

/// The largest window there is (RFC 9113 section 6.9.1).
const LARGEST: u64 = (1 << 31) - 1;

impl Document {
    /// What is impossible in it: the field, and what would be right.
    pub(super) fn faults(&self) -> Vec<(&'static str, &'static str)> {
        let mut faults = Vec::new();
        if self.streams == 0 {
            faults.push(("streams", "1 or more"));
        }
        for (name, size) in [
            ("stream_window", self.stream_window),
            ("window", self.window),
        ] {
            if !(1 << 14..=LARGEST).contains(&size.0) {
                faults.push((name, "16KiB to 2147483647B"));
            }
        }
        faults
    }

    pub(super) fn settings(&self) -> Http2 {
        let size = |size: ByteSize| u32::try_from(size.0).unwrap_or(u32::MAX);
        Http2 {
            enabled: self.enabled,
            streams: self.streams,
            stream_window: size(self.stream_window),
            window: size(self.window),
        }
    }
}
