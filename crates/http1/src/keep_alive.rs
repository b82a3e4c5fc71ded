//! How long a server says it keeps an idle connection (`Keep-Alive: timeout=5`, RFC 2068 section 19.7.1).

use std::time::Duration;

use crate::known::Known;
use crate::list::members;
use crate::octets::trim;
use crate::response::ResponseHead;

/// The announced time, if the response has one that can be read. It ends with the connection, so
/// it must be asked for before the fields of this hop are removed.
pub fn keep_alive_timeout(head: &ResponseHead) -> Option<Duration> {
    head.fields
        .known(Known::KeepAlive)
        .flat_map(members)
        .find_map(seconds)
        .map(Duration::from_secs)
}

fn seconds(member: &[u8]) -> Option<u64> {
    let (name, value) = member.split_at_checked(member.iter().position(|&octet| octet == b'=')?)?;
    if !trim(name).eq_ignore_ascii_case(b"timeout") {
        return None;
    }
    let digits = trim(value.get(1..)?);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // case: KA-01
    #[test]
    fn a_timeout_is_found_among_the_parameters() {
        let table = [
            ("timeout=5", Some(5)),
            ("Timeout = 5, max=100", Some(5)),
            ("max=100, timeout=5", Some(5)),
            ("timeout=0", Some(0)),
            ("timeout=5s", None),
            ("timeout=-1", None),
            ("timeout=", None),
            ("timeout", None),
            ("max=100", None),
            ("timeout=99999999999999999999", None),
        ];

        for (value, expected) in table {
            let mut head = ResponseHead::new(200);
            head.fields.append("Keep-Alive", value.as_bytes()).unwrap();
            let read = keep_alive_timeout(&head);
            assert_eq!(read, expected.map(Duration::from_secs), "{value}");
        }
        assert_eq!(keep_alive_timeout(&ResponseHead::new(200)), None);
    }
}
