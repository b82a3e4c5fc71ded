//! The lines of one engine thread on their way to the queue.

use std::{sync::Arc, time::Duration};

use crate::{entry::Entry, format::LogFormat, queue::LogQueue, timestamp::Timestamp};

/// Enough that the queue's lock and the writer's wake cost nothing per request.
const BYTES: usize = 64 * 1024;
/// Short enough that somebody who follows the log sees it live.
const AGE: Duration = Duration::from_millis(100);

/// Gathers lines, so that nobody is woken for a single request.
#[derive(Debug)]
pub struct LogBuffer {
    format: Arc<LogFormat>,
    timestamp: Timestamp,
    lines: Vec<u8>,
    records: usize,
    oldest: Duration,
}

impl LogBuffer {
    /// An empty buffer.
    pub fn new(format: Arc<LogFormat>) -> Self {
        Self {
            format,
            timestamp: Timestamp::default(),
            lines: Vec::new(),
            records: 0,
            oldest: Duration::ZERO,
        }
    }

    /// A new snapshot has another format.
    pub fn set_format(&mut self, format: Arc<LogFormat>) {
        self.format = format;
    }

    /// Writes the line of one exchange.
    pub fn push(&mut self, entry: &Entry<'_>) {
        if self.records == 0 {
            self.oldest = entry.finished;
        }
        self.format
            .write_after(&mut self.timestamp, entry, &mut self.lines);
        self.records += 1;
    }

    /// It is time to hand over: 64 KiB are there, or the oldest line is 100 ms old.
    pub fn due(&self, now: Duration) -> bool {
        self.records > 0 && (self.lines.len() >= BYTES || now.saturating_sub(self.oldest) >= AGE)
    }

    /// Offers the lines to the queue, and goes on with a buffer that the writer gave back.
    pub fn hand_over(&mut self, queue: &LogQueue) {
        if self.records == 0 {
            return;
        }
        let lines = std::mem::replace(&mut self.lines, queue.spare());
        let records = std::mem::take(&mut self.records);
        queue.offer(lines, records);
    }
}
