//! The pieces of a line: each a key, given with all that stands before the value, and its value.

use std::{
    io::Write,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

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
        SocketAddr::V4(_) => address(socket.ip(), line),
        SocketAddr::V6(_) => {
            line.push(b'[');
            address(socket.ip(), line);
            line.push(b']');
        }
    }
    line.push(b':');
    digits(socket.port(), line);
}

/// The standard library's formatting costs more than all of the rest of a line takes for its
/// numbers, so the usual family is written by hand.
pub(crate) fn address(address: IpAddr, line: &mut Vec<u8>) {
    let IpAddr::V4(address) = address else {
        // Writing to a Vec cannot fail.
        let _ = write!(line, "{address}");
        return;
    };
    for octet in address.octets() {
        let (text, length) = OCTETS.get(usize::from(octet)).copied().unwrap_or_default();
        line.extend_from_slice(&text);
        line.truncate(line.len() + usize::from(length) - text.len());
    }
    line.pop();
}

/// Every octet with the dot behind it: copying four bytes and taking some back is cheaper than
/// copying as many as there are.
static OCTETS: [([u8; 4], u8); 256] = octets();

const fn octets() -> [([u8; 4], u8); 256] {
    let mut table = [([b'.'; 4], 0); 256];
    let mut rest: &mut [([u8; 4], u8)] = &mut table;
    let mut octet = 0_u8;
    while let Some((entry, tail)) = rest.split_first_mut() {
        let [hundreds, tens, ones] = [
            b'0' + octet / 100,
            b'0' + octet / 10 % 10,
            b'0' + octet % 10,
        ];
        *entry = match octet {
            0..10 => ([ones, b'.', b'.', b'.'], 2),
            10..100 => ([tens, ones, b'.', b'.'], 3),
            100.. => ([hundreds, tens, ones, b'.'], 4),
        };
        octet = octet.wrapping_add(1);
        rest = tail;
    }
    table
}
