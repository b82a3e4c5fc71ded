//! The pieces of a line: each a key, given with all that stands before the value, and its value.

use std::{net::SocketAddr, time::Duration};

use sluicegate_core::write_address;

use crate::json;

#[inline]
pub(crate) fn text(key: &[u8], content: &[u8], line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    json::string(content, line);
}

/// A word whose type admits nothing that would have to be escaped.
#[inline]
pub(crate) fn known(key: &[u8], word: &[u8], line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    line.extend_from_slice(word);
    line.push(b'"');
}

#[inline]
pub(crate) fn some_text(key: &[u8], content: &[u8], line: &mut Vec<u8>) {
    if !content.is_empty() {
        text(key, content, line);
    }
}

#[inline]
pub(crate) fn number(key: &[u8], number: impl itoa::Integer, line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    digits(number, line);
}

fn digits(number: impl itoa::Integer, line: &mut Vec<u8>) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Always with three decimals: an index that saw `3` first would refuse `45.2` afterwards.
#[inline]
pub(crate) fn millis(key: &[u8], span: Duration, line: &mut Vec<u8>) {
    line.extend_from_slice(key);
    let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
    digits(micros / 1_000, line);
    let fraction = micros % 1_000;
    let digit = |power| b'0' + u8::try_from(fraction / power % 10).unwrap_or(0);
    line.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
}

pub(crate) fn socket(socket: SocketAddr, line: &mut Vec<u8>) {
    match socket {
        SocketAddr::V4(_) => write_address(socket.ip(), line),
        SocketAddr::V6(_) => {
            line.push(b'[');
            write_address(socket.ip(), line);
            line.push(b']');
        }
    }
    line.push(b':');
    digits(socket.port(), line);
}
