//! Request heads: no panic, no ambiguity, what is written reads the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sluicegate_http1::fuzz::request_head(input));
