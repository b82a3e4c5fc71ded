//! The checked-in corpora of the fuzz targets, replayed.

use std::fs;
use std::path::Path;

use sluicegate_http1::fuzz;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let input = fs::read(entry.unwrap().path()).unwrap();
        run(&input);
        count += 1;
    }
    assert!(count >= 20, "the corpus of {target} is there");
}

#[test]
fn request_heads_keep_their_promises() {
    replay("request_head", fuzz::request_head);
}

#[test]
fn response_heads_keep_their_promises() {
    replay("response_head", fuzz::response_head);
}

#[test]
fn chunked_bodies_keep_their_promises() {
    replay("chunked", fuzz::chunked);
}
