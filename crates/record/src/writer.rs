//! The thread that writes the access log.

use std::{io, sync::Arc, thread, time::Duration};

use crate::{
    output::{Output, Sink},
    queue::{Batch, LogQueue},
};

/// The first pause after a failure; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Writes what the queue holds. A failing output is tried again and again; meanwhile the queue
/// fills, and then drops and counts.
#[derive(Debug)]
pub struct LogWriter {
    queue: Arc<LogQueue>,
    sink: Sink,
    current: Option<Current>,
}

/// A batch being written.
#[derive(Debug)]
struct Current {
    batch: Batch,
    written: usize,
}

impl LogWriter {
    /// A writer from `queue` to `output`, which is opened when the first lines come.
    pub fn new(queue: Arc<LogQueue>, output: Output) -> Self {
        Self {
            queue,
            sink: Sink::new(output),
            current: None,
        }
    }

    /// Starts the writer on a thread of its own: standard output may block for as long as its
    /// reader likes, and nothing else may wait for that.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn spawn(self) -> io::Result<WriterThread> {
        let queue = self.queue.clone();
        thread::Builder::new()
            .name("access-log".into())
            .spawn(move || self.run())?;
        Ok(WriterThread { queue })
    }

    /// Writes until the queue is empty; false when the output failed before.
    pub fn drain_once(&mut self) -> bool {
        loop {
            self.follow_orders();
            let Some(current) = self.current.take().or_else(|| self.next()) else {
                return true;
            };
            if !self.write(current) {
                return false;
            }
        }
    }

    fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let goes_on = if self.drain_once() {
                pause = FIRST_PAUSE;
                self.queue.wait_for_work()
            } else {
                let waited = self.queue.wait_for_retry(pause);
                pause = LONGEST_PAUSE.min(pause * 2);
                waited
            };
            if !goes_on {
                break;
            }
        }
        self.queue.set_ended();
    }

    /// An output that is opened anew gets the line again that the old one has a part of.
    fn follow_orders(&mut self) {
        let orders = self.queue.take_orders();
        if orders.is_empty() {
            return;
        }
        match orders.output {
            Some(output) => self.sink = Sink::new(output),
            None => self.sink.close(),
        }
        if let Some(Current { batch, written }) = &mut self.current {
            let begun = batch.lines.get(..*written).unwrap_or_default();
            *written = memchr::memrchr(b'\n', begun).map_or(0, |end| end + 1);
        }
    }

    fn next(&self) -> Option<Current> {
        let batch = self.queue.next_batch()?;
        Some(Current { batch, written: 0 })
    }

    /// Writes a batch to its end, or keeps it for the next time.
    fn write(&mut self, mut current: Current) -> bool {
        let result = self.write_rest(&mut current);
        match result {
            Ok(()) => self.queue.release(current.batch),
            Err(ref error) => {
                self.queue.failed(error);
                self.current = Some(current);
            }
        }
        result.is_ok()
    }

    fn write_rest(&mut self, current: &mut Current) -> io::Result<()> {
        // In the middle of a line the file may not change.
        if current.written == 0
            && let Some(error) = self.sink.prepare(current.batch.lines.len())?
        {
            self.queue.failed(&error);
        }
        while let Some(rest) = current
            .batch
            .lines
            .get(current.written..)
            .filter(|rest| !rest.is_empty())
        {
            match self.sink.write(rest) {
                Ok(taken) => current.written += taken,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The running writer.
#[derive(Debug)]
pub struct WriterThread {
    queue: Arc<LogQueue>,
}

impl WriterThread {
    /// Writes what is queued and ends. What cannot be written `within` is given up and counted as
    /// dropped; true when nothing had to be. A thread that is stuck in a write is left behind.
    pub fn stop(self, within: Duration) -> bool {
        self.queue.close(within)
    }
}
