//! From heads and pieces of bodies to bytes.

use crate::fields::{Fields, Line};
use crate::framing::{Framing, declared_length};
use crate::known::{Known, KnownSet};
use crate::persistence::Persistence;
use crate::request::RequestHead;
use crate::response::ResponseHead;

/// Writes a request head for HTTP/1.1. What it says of the body is `framing` alone, in the place
/// of the field that said so when it came.
///
/// [`Framing::Empty`] and [`Framing::UntilClose`], which no request can be, say nothing.
pub fn write_request(head: &RequestHead, framing: Framing, out: &mut Vec<u8>) {
    out.extend_from_slice(head.line().as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    write_fields(&head.fields, Announcement::of(framing), out);
    out.extend_from_slice(b"\r\n");
}

/// Writes a response head. What it says of the body is `framing`, in the place of the field that
/// said so when it came, and of the connection `persistence`, at the end.
///
/// [`Framing::Empty`] means that by definition no body follows (HEAD, 304, 1xx, 204): the head's
/// own `Content-Length` then stays, for it describes what GET would have brought; 1xx and 204
/// carry none. 205 always says 0. [`Framing::UntilClose`] says nothing and needs
/// [`Persistence::Close`].
pub fn write_response(
    head: &ResponseHead,
    framing: Framing,
    persistence: Persistence,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"HTTP/1.1 ");
    write_decimal(u64::from(head.status()), out);
    out.push(b' ');
    out.extend_from_slice(head.reason());
    out.extend_from_slice(b"\r\n");

    let announcement = match (head.status(), framing) {
        (100..=199 | 204, _) => Announcement::Nothing,
        (205, _) => Announcement::Length(0),
        (_, Framing::Empty) => match declared_length(&head.fields) {
            Ok(Some(length)) => Announcement::Length(length),
            Ok(None) | Err(_) => Announcement::Nothing,
        },
        (_, Framing::Length(_) | Framing::Chunked | Framing::UntilClose) => {
            Announcement::of(framing)
        }
    };
    write_fields(&head.fields, announcement, out);

    match persistence {
        Persistence::KeepAlive => out.extend_from_slice(b"\r\n"),
        Persistence::Close => out.extend_from_slice(b"Connection: close\r\n\r\n"),
        Persistence::KeepAliveHttp10 => out.extend_from_slice(b"Connection: keep-alive\r\n\r\n"),
    }
}

/// Writes one chunk; nothing for no data, which would be the last chunk.
pub fn write_chunk(data: &[u8], out: &mut Vec<u8>) {
    if !data.is_empty() {
        write_chunk_head(data.len(), out);
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes the size line of a chunk; the caller lets `length` bytes and CRLF follow. `length` is
/// not 0, which would be the last chunk.
pub fn write_chunk_head(length: usize, out: &mut Vec<u8>) {
    debug_assert_ne!(length, 0, "a chunk of size 0 ends the body");
    let digits = (usize::BITS - length.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        let digit = u8::try_from(length >> (place * 4) & 0xf).unwrap_or_default();
        out.push(if digit < 10 {
            b'0' + digit
        } else {
            b'a' + digit - 10
        });
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes the last chunk and the trailers.
pub fn write_last_chunk(trailers: Option<&Fields>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n");
    if let Some(trailers) = trailers {
        // Whatever was put among them, a trailer never frames a message.
        write_fields(trailers, Announcement::Nothing, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// What a head says of the body.
#[derive(Clone, Copy)]
enum Announcement {
    Nothing,
    Length(u64),
    Chunked,
}

impl Announcement {
    fn of(framing: Framing) -> Self {
        match framing {
            Framing::Empty | Framing::UntilClose => Self::Nothing,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Length(length) => {
                out.extend_from_slice(b"Content-Length: ");
                write_decimal(length, out);
                out.extend_from_slice(b"\r\n");
            }
            Self::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        }
    }
}

/// Writes the fields, those of framing replaced by one that says `announcement`.
fn write_fields(fields: &Fields, announcement: Announcement, out: &mut Vec<u8>) {
    let (bytes, lines) = fields.raw();
    if !fields.seen().meets(KnownSet::FRAMING) {
        write_lines(bytes, lines, out);
        announcement.write(out);
        return;
    }
    let mut is_written = false;
    for (index, group) in lines.split(is_framing).enumerate() {
        if index > 0 && !is_written {
            announcement.write(out);
            is_written = true;
        }
        write_lines(bytes, group, out);
    }
}

fn is_framing(line: &Line) -> bool {
    matches!(line.known(), Known::ContentLength | Known::TransferEncoding)
}

/// Copies lines, those that lie behind each other in one go.
fn write_lines(bytes: &[u8], lines: &[Line], out: &mut Vec<u8>) {
    let mut run = 0..0;
    for line in lines {
        if line.start() != run.end {
            out.extend_from_slice(bytes.get(run).unwrap_or_default());
            run = line.start()..line.start();
        }
        run.end = line.end();
    }
    out.extend_from_slice(bytes.get(run).unwrap_or_default());
}

fn write_decimal(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;

    fn request(fields: &[(&str, &str)], framing: Framing) -> String {
        let mut head = RequestHead::build("POST", "/x?y", Version::Http10).unwrap();
        for (name, value) in fields {
            head.fields.append(name, value.as_bytes()).unwrap();
        }
        let mut out = Vec::new();
        write_request(&head, framing, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn response(
        status: u16,
        fields: &[(&str, &str)],
        framing: Framing,
        persistence: Persistence,
    ) -> String {
        let mut head = ResponseHead::new(status);
        for (name, value) in fields {
            head.fields.append(name, value.as_bytes()).unwrap();
        }
        let mut out = Vec::new();
        write_response(&head, framing, persistence, &mut out);
        String::from_utf8(out).unwrap()
    }

    // case: SM-05
    #[test]
    fn one_length_is_written_in_the_place_of_the_first() {
        let fields = [
            ("A", "1"),
            ("content-length", "5, 5"),
            ("B", "2"),
            ("Content-Length", "5"),
        ];

        let written = request(&fields, Framing::Length(5));

        assert_eq!(
            written,
            "POST /x?y HTTP/1.1\r\nA: 1\r\nContent-Length: 5\r\nB: 2\r\n\r\n"
        );
    }

    // case: SM-01
    #[test]
    fn the_body_is_announced_as_it_is_sent_not_as_it_was_announced() {
        let both = [
            ("Content-Length", "5"),
            ("A", "1"),
            ("Transfer-Encoding", "chunked"),
        ];

        assert_eq!(
            request(&both, Framing::Chunked),
            "POST /x?y HTTP/1.1\r\nTransfer-Encoding: chunked\r\nA: 1\r\n\r\n"
        );
        assert_eq!(
            request(&both, Framing::Empty),
            "POST /x?y HTTP/1.1\r\nA: 1\r\n\r\n"
        );
        assert_eq!(
            request(&[("A", "1")], Framing::Length(0)),
            "POST /x?y HTTP/1.1\r\nA: 1\r\nContent-Length: 0\r\n\r\n"
        );
    }

    #[test]
    fn the_connection_is_told_apart() {
        let of = |persistence| response(200, &[("A", "1")], Framing::Length(12), persistence);

        assert_eq!(
            of(Persistence::KeepAlive),
            "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 12\r\n\r\n"
        );
        assert!(of(Persistence::Close).ends_with("\r\nConnection: close\r\n\r\n"));
        assert!(of(Persistence::KeepAliveHttp10).ends_with("\r\nConnection: keep-alive\r\n\r\n"));
    }

    // case: BD-05
    #[test]
    fn responses_without_body_announce_what_they_may() {
        let table = [
            (204, Some("5"), None),
            (103, Some("5"), None),
            (304, Some("1234"), Some("1234")),
            (200, Some("1234, 1234"), Some("1234")),
            (200, None, None),
            (205, Some("5"), Some("0")),
            (205, None, Some("0")),
        ];

        for (status, has, expected) in table {
            let fields: Vec<_> = has
                .map(|length| ("Content-Length", length))
                .into_iter()
                .collect();
            let written = response(status, &fields, Framing::Empty, Persistence::KeepAlive);
            let said = written
                .split("Content-Length: ")
                .nth(1)
                .and_then(|rest| rest.split("\r\n").next());
            assert_eq!(said, expected, "{written}");
        }
        let chunked = [("Transfer-Encoding", "chunked")];
        assert_eq!(
            response(200, &chunked, Framing::Empty, Persistence::KeepAlive),
            "HTTP/1.1 200 OK\r\n\r\n"
        );
    }

    #[test]
    fn an_unregistered_status_keeps_the_space_before_its_empty_phrase() {
        assert_eq!(
            response(299, &[], Framing::Empty, Persistence::KeepAlive),
            "HTTP/1.1 299 \r\n\r\n"
        );
    }

    #[test]
    fn chunks_have_their_size_in_hexadecimal() {
        let mut out = Vec::new();

        write_chunk(b"", &mut out);
        write_chunk(&[b'x'; 26], &mut out);
        write_chunk_head(0xab_cdef, &mut out);

        assert_eq!(
            out,
            [&b"1a\r\n"[..], &[b'x'; 26], b"\r\nabcdef\r\n"].concat()
        );
    }

    // case: BD-04
    #[test]
    fn trailers_follow_the_last_chunk() {
        let mut trailers = Fields::default();
        trailers.append("X-Sum", b"9").unwrap();
        trailers.append("Content-Length", b"5").unwrap();
        let mut out = Vec::new();

        write_last_chunk(Some(&trailers), &mut out);
        write_last_chunk(None, &mut out);

        assert_eq!(out, b"0\r\nX-Sum: 9\r\n\r\n0\r\n\r\n");
    }
}
