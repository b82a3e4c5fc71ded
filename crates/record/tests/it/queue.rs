//! A full queue drops and counts, and holds up nobody.

use std::{sync::Arc, time::Duration};

use sluicegate_record::{
    LogBuffer, LogCounts, LogFormat, LogQueue, LogWriter, Output, QueueLimits,
};

use crate::support::{entry, forwarded};

const LIMITS: QueueLimits = QueueLimits {
    bytes: 100,
    records: 5,
};

// spec: OB-08
// case: ME-02
#[test]
fn a_full_queue_drops_the_newest_batch_and_counts_its_records() {
    let queue = LogQueue::new(LIMITS);

    assert!(queue.offer(vec![b'x'; 60], 2));
    assert!(!queue.offer(vec![b'x'; 50], 2), "too many bytes");
    assert!(!queue.offer(vec![b'x'; 10], 4), "too many records");
    assert!(queue.offer(vec![b'x'; 40], 3));

    assert_eq!(queue.counts().dropped, 6);
}

// spec: OB-08
#[test]
fn a_batch_larger_than_the_queue_is_taken_when_nothing_else_waits() {
    let queue = LogQueue::new(LIMITS);

    assert!(queue.offer(vec![b'x'; 1000], 10));
    assert!(!queue.offer(vec![b'x'; 1], 1));
}

#[test]
fn a_buffer_is_handed_over_by_size_or_by_age() {
    let exchange = forwarded("GET", "/");
    let mut buffer = LogBuffer::new(Arc::new(LogFormat::default()));
    let finished = entry(&exchange).finished;
    assert!(
        !buffer.due(finished + Duration::from_secs(9)),
        "nothing is there"
    );

    buffer.push(&entry(&exchange));
    assert!(!buffer.due(finished + Duration::from_millis(99)));
    assert!(buffer.due(finished + Duration::from_millis(100)));

    while !buffer.due(finished) {
        buffer.push(&entry(&exchange));
    }
    let queue = LogQueue::new(QueueLimits {
        bytes: 100_000,
        records: 1000,
    });
    buffer.hand_over(&queue);
    assert!(!buffer.due(finished + Duration::from_secs(9)));
}

// case: ME-02
#[test]
fn written_and_dropped_together_are_all_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let queue = Arc::new(LogQueue::new(QueueLimits {
        bytes: 200_000,
        records: 300,
    }));
    let output = Output::File {
        path: path.clone(),
        rotation: None,
    };
    let writer = LogWriter::new(queue.clone(), output).spawn().unwrap();

    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let exchange = forwarded("GET", "/");
                let mut buffer = LogBuffer::new(Arc::new(LogFormat::default()));
                for number in 0..5_000 {
                    buffer.push(&entry(&exchange));
                    if number % 64 == 0 || buffer.due(entry(&exchange).finished) {
                        buffer.hand_over(&queue);
                    }
                }
                buffer.hand_over(&queue);
            });
        }
    });
    assert!(writer.stop(Duration::from_secs(20)));

    let LogCounts {
        written,
        dropped,
        bytes,
        failures,
    } = queue.counts();
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(written + dropped, 20_000);
    assert_eq!(text.lines().count() as u64, written);
    assert_eq!(text.len() as u64, bytes);
    assert_eq!(failures, 0);
    assert!(
        text.lines()
            .all(|line| line.starts_with('{') && line.ends_with('}'))
    );
}
