//! The writer rotates, opens again, survives a failing output, and ends in time.

use std::{fs, os::fd::AsRawFd, path::Path, sync::Arc, time::Duration};

use sluicegate_record::{LogQueue, LogWriter, Output, QueueLimits, Rotation};

fn queue() -> Arc<LogQueue> {
    Arc::new(LogQueue::new(QueueLimits {
        bytes: 10_000,
        records: 1000,
    }))
}

fn file(path: &Path, rotation: Option<Rotation>) -> Output {
    Output::File {
        path: path.to_owned(),
        rotation,
    }
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_file_is_rotated_by_size_and_only_so_many_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.log");
    let queue = queue();
    let rotation = Rotation { size: 10, keep: 2 };
    let mut writer = LogWriter::new(queue.clone(), file(&path, Some(rotation)));

    for line in ["11111\n", "22222\n", "33333\n", "44\n", "55555\n"] {
        queue.offer(line.into(), 1);
        assert!(writer.drain_once());
    }

    assert_eq!(read(&path), "55555\n");
    assert_eq!(read(folder.path().join("a.log.1")), "33333\n44\n");
    assert_eq!(read(folder.path().join("a.log.2")), "22222\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    assert_eq!(queue.counts().written, 5);
}

#[test]
fn a_file_moved_away_is_opened_anew_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.log");
    let queue = queue();
    let mut writer = LogWriter::new(queue.clone(), file(&path, None));
    queue.offer("1\n".into(), 1);
    writer.drain_once();

    fs::rename(&path, folder.path().join("moved")).unwrap();
    queue.offer("2\n".into(), 1);
    writer.drain_once();
    queue.reopen();
    queue.offer("3\n".into(), 1);
    writer.drain_once();

    assert_eq!(read(folder.path().join("moved")), "1\n2\n");
    assert_eq!(read(&path), "3\n");
}

#[test]
fn a_new_snapshot_can_name_another_output() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["a", "b"].map(|name| folder.path().join(name));
    let queue = queue();
    let mut writer = LogWriter::new(queue.clone(), file(&first, None));
    queue.offer("1\n".into(), 1);
    writer.drain_once();

    queue.redirect(file(&second, None));
    queue.offer("2\n".into(), 1);
    writer.drain_once();

    assert_eq!(read(first), "1\n");
    assert_eq!(read(second), "2\n");
}

// spec: OB-08
// case: ME-02
#[test]
fn a_failing_output_is_tried_again_and_loses_nothing_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("not yet").join("a.log");
    let queue = queue();
    let mut writer = LogWriter::new(queue.clone(), file(&path, None));

    queue.offer("1\n".into(), 1);
    assert!(!writer.drain_once());
    assert!(!writer.drain_once());
    assert_eq!(queue.counts().failures, 2);
    assert!(queue.last_failure().is_some());
    queue.offer("2\n".into(), 1);
    fs::create_dir(folder.path().join("not yet")).unwrap();

    assert!(writer.drain_once());
    assert_eq!(read(path), "1\n2\n");
    assert_eq!(queue.counts().written, 2);
    assert_eq!(queue.counts().dropped, 0);
    assert_eq!(queue.last_failure(), None);
}

// case: ME-02
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fills_the_queue_and_every_lost_record_is_counted() {
    let queue = queue();
    let writer = LogWriter::new(queue.clone(), file(Path::new("/dev/full"), None));
    let writer = writer.spawn().unwrap();

    for _ in 0..100 {
        queue.offer(vec![b'x'; 1000], 7);
    }
    let all_went_out = writer.stop(Duration::from_millis(100));

    assert!(!all_went_out);
    assert_eq!(queue.counts().written, 0);
    assert_eq!(queue.counts().dropped, 700);
    assert!(queue.counts().failures > 0);
    assert!(!queue.offer(b"late\n".into(), 1));
    assert_eq!(queue.counts().dropped, 701);
}

// case: ME-02
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_does_not_read_delays_nobody_beyond_the_deadline() {
    let (reader, end) = std::io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", end.as_raw_fd());
    let queue = Arc::new(LogQueue::new(QueueLimits {
        bytes: 1 << 20,
        records: 1000,
    }));
    let writer = LogWriter::new(queue.clone(), file(Path::new(&path), None));
    let writer = writer.spawn().unwrap();

    for _ in 0..10 {
        queue.offer(vec![b'\n'; 200_000], 9);
    }
    let all_went_out = writer.stop(Duration::from_millis(50));

    assert!(!all_went_out);
    let counts = queue.counts();
    assert_eq!(counts.written + counts.dropped, 90);
    drop(reader);
}

// case: ME-02
#[test]
fn what_is_queued_is_written_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.log");
    let queue = queue();
    let writer = LogWriter::new(queue.clone(), file(&path, None))
        .spawn()
        .unwrap();

    for number in 0..50 {
        queue.offer(format!("{number}\n").into(), 1);
    }

    assert!(writer.stop(Duration::from_secs(20)));
    assert_eq!(read(path).lines().count(), 50);
}
