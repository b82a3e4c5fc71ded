//! Chunked bodies: however they are cut, they decode to the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sluicegate_http1::fuzz::chunked(input));
