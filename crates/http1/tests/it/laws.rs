//! Laws: cutting changes nothing, writing and reading are inverse, edits follow a plain list.

use proptest::collection::vec;
use proptest::prelude::*;
use sluicegate_http1::{
    BodyDecoder, Fields, Framing, HeadLimits, Persistence, RequestHead, ResponseHead, fuzz,
    parse_request, parse_response, request_framing, response_framing, write_chunk,
    write_last_chunk, write_request, write_response,
};

type Pairs = Vec<(String, Vec<u8>)>;

/// A name from few, so that they meet, or from many.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-cA-C]",
        "x-[ab]",
        "Connection|te|Upgrade|Expect",
        "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}"
    ]
    .prop_filter("the test frames and routes itself", |name: &String| {
        !["host", "content-length", "transfer-encoding"]
            .contains(&name.to_ascii_lowercase().as_str())
    })
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    vec(
        prop_oneof![Just(b' '), Just(b'\t'), 0x21..=0x7e_u8, 0x80..=0xff_u8],
        0..20,
    )
    .prop_map(|value| value.trim_ascii().to_vec())
}

fn pairs() -> impl Strategy<Value = Pairs> {
    vec((name(), value()), 0..12)
}

fn pairs_of(fields: &Fields) -> Pairs {
    fields
        .iter()
        .map(|(name, value)| (String::from_utf8(name.to_vec()).unwrap(), value.to_vec()))
        .collect()
}

/// A head that is nearly right: pieces that are right and pieces that are not, in any order.
fn nearly_a_head(first: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => Just("Host: a.test\r\n"),
        4 => Just("A: b\r\n"),
        4 => Just("content-length:5\r\n"),
        2 => Just("Transfer-Encoding: chunked\r\n"),
        2 => Just("Connection: a, close\r\n"),
        1 => Just("A: b\n"),
        1 => Just("A : b\r\n"),
        1 => Just(" c\r\n"),
        1 => Just(": b\r\n"),
        1 => Just("A: b\rc\r\n"),
        1 => Just("A:\0\r\n"),
        6 => Just("\r\n"),
        1 => Just("\n"),
        1 => Just("X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"),
    ];
    (
        prop::sample::select(first),
        vec(piece, 0..8),
        vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
    )
        .prop_map(|(first, pieces, changes)| {
            let mut bytes = first.as_bytes().to_vec();
            for piece in &pieces {
                bytes.extend_from_slice(piece.as_bytes());
            }
            for (place, octet) in changes {
                let place = place.index(bytes.len());
                bytes[place] = octet;
            }
            bytes
        })
}

/// An edit of fields.
#[derive(Clone, Debug)]
enum Edit {
    Set(String, Vec<u8>),
    Append(String, Vec<u8>),
    Remove(String),
    RemoveLongNames,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (name(), value()).prop_map(|(name, value)| Edit::Set(name, value)),
        (name(), value()).prop_map(|(name, value)| Edit::Append(name, value)),
        name().prop_map(Edit::Remove),
        Just(Edit::RemoveLongNames),
    ]
}

fn apply(edit: &Edit, fields: &mut Fields) {
    match edit {
        Edit::Set(name, value) => fields.set(name, value).unwrap(),
        Edit::Append(name, value) => fields.append(name, value).unwrap(),
        Edit::Remove(name) => {
            fields.remove(name);
        }
        Edit::RemoveLongNames => fields.remove_where(|name| name.len() > 10),
    }
}

/// The same on a plain list.
fn apply_to_model(edit: Edit, model: &mut Pairs) {
    match edit {
        Edit::Set(name, value) => {
            let place = model
                .iter()
                .position(|(old, _)| old.eq_ignore_ascii_case(&name))
                .unwrap_or(model.len());
            model.retain(|(old, _)| !old.eq_ignore_ascii_case(&name));
            model.insert(place, (name, value));
        }
        Edit::Append(name, value) => model.push((name, value)),
        Edit::Remove(name) => model.retain(|(old, _)| !old.eq_ignore_ascii_case(&name)),
        Edit::RemoveLongNames => model.retain(|(old, _)| old.len() <= 10),
    }
}

/// The bytes in pieces of the given lengths, repeated until all are used.
fn cut<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for &length in lengths.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Pairs, bool) {
    let mut decoder = BodyDecoder::new(Framing::Chunked);
    let mut data = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let found = decoder.decode(rest).unwrap();
            data.extend_from_slice(&rest[found.data]);
            rest = &rest[found.consumed..];
        }
    }
    (data, pairs_of(decoder.trailers()), decoder.is_done())
}

proptest! {
    // Each prefix of the bytes is parsed, and gives nothing yet, the same, or the same refusal.
    #[test]
    fn however_a_request_head_is_cut_it_reads_the_same(
        bytes in nearly_a_head(&[
            "GET / HTTP/1.1\r\n", "POST http://b.test/x HTTP/1.1\r\n", "GET / HTTP/1.0\r\n", "\r\nGET /?a HTTP/1.1\r\n",
        ]),
    ) {
        fuzz::request_head(&bytes);
    }

    #[test]
    fn however_a_response_head_is_cut_it_reads_the_same(
        bytes in nearly_a_head(&["HTTP/1.1 200 OK\r\n", "HTTP/1.0 304\r\n", "HTTP/1.1 205 Reset Content\r\n"]),
    ) {
        fuzz::response_head(&bytes);
    }

    #[test]
    fn any_bytes_keep_the_promises(bytes in vec(any::<u8>(), 0..200)) {
        fuzz::request_head(&bytes);
        fuzz::response_head(&bytes);
        fuzz::chunked(&bytes);
    }

    #[test]
    fn nearly_chunked_bytes_decode_the_same_however_cut(
        pieces in vec(prop::sample::select(&[
            "5\r\nhello\r\n", "1;a=\"b\"\r\nx\r\n", "0\r\n", "\r\n", "X: y\r\n", "2\r\n", "ok", "\n", ";", "Host: b\r\n", "\r",
        ][..]), 0..10),
        piece in any::<u8>(),
    ) {
        let mut bytes = vec![piece];
        for piece in &pieces {
            bytes.extend_from_slice(piece.as_bytes());
        }

        fuzz::chunked(&bytes);
    }

    #[test]
    fn what_is_written_in_chunks_is_read_however_it_is_cut(
        chunks in vec(vec(any::<u8>(), 0..300), 0..6),
        trailers in vec(("x-[a-z]{1,8}", value()), 0..3),
        lengths in vec(1_usize..40, 1..6),
    ) {
        let trailers: Pairs = trailers.into_iter().filter(|(name, _)| name != "x-real-ip").collect();
        let mut fields = Fields::default();
        for (name, value) in &trailers {
            fields.append(name, value).unwrap();
        }
        let mut bytes = Vec::new();
        for chunk in &chunks {
            write_chunk(chunk, &mut bytes);
        }
        write_last_chunk(Some(&fields), &mut bytes);

        prop_assert_eq!(decode(&cut(&bytes, &lengths)), (chunks.concat(), trailers, true));
    }

    #[test]
    fn a_written_request_reads_the_same(
        method in "[A-Z]{1,7}",
        path in "/[!-\"$->@-~]{0,20}",
        query in prop::option::of("[!-\"$-~]{0,20}"),
        pairs in pairs(),
        framing in prop_oneof![Just(Framing::Empty), any::<u64>().prop_map(Framing::Length), Just(Framing::Chunked)],
    ) {
        prop_assume!(method != "CONNECT");
        let target = query.as_ref().map_or(path.clone(), |query| format!("{path}?{query}"));
        let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: a.test\r\n").into_bytes();
        for (name, value) in &pairs {
            bytes.extend_from_slice(&[name.as_bytes(), b":", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");

        let mut head = RequestHead::default();
        prop_assert_eq!(parse_request(&bytes, &HeadLimits::default(), &mut head), Ok(Some(bytes.len())));
        prop_assert_eq!((head.method(), head.path(), head.query()), (method.as_str(), path.as_str(), query.as_deref()));
        let mut out = Vec::new();
        write_request(&head, framing, &mut out);
        let mut again = RequestHead::default();
        prop_assert_eq!(parse_request(&out, &HeadLimits::default(), &mut again), Ok(Some(out.len())));

        prop_assert_eq!(again.target(), target);
        prop_assert_eq!(request_framing(&again), Ok(framing));
        again.fields.remove("Content-Length");
        again.fields.remove("Transfer-Encoding");
        again.fields.remove("Host");
        prop_assert_eq!(pairs_of(&again.fields), pairs);
    }

    #[test]
    fn a_written_response_reads_the_same(
        status in prop_oneof![Just(200_u16), Just(404), 400..=999_u16],
        pairs in pairs(),
        framing in prop_oneof![any::<u64>().prop_map(Framing::Length), Just(Framing::Chunked), Just(Framing::UntilClose)],
    ) {
        let mut head = ResponseHead::new(status);
        for (name, value) in &pairs {
            head.fields.append(name, value).unwrap();
        }
        let mut out = Vec::new();
        write_response(&head, framing, Persistence::KeepAlive, &mut out);
        let mut again = ResponseHead::default();

        prop_assert_eq!(parse_response(&out, &HeadLimits::default(), &mut again), Ok(Some(out.len())));

        prop_assert_eq!((again.status(), again.reason()), (status, head.reason()));
        prop_assert_eq!(response_framing(&again, "GET"), Ok(framing));
        again.fields.remove("Content-Length");
        again.fields.remove("Transfer-Encoding");
        prop_assert_eq!(pairs_of(&again.fields), pairs);
    }

    #[test]
    fn edits_do_what_they_do_to_a_plain_list(start in pairs(), edits in vec(edit(), 0..12), asked in name()) {
        let mut fields = Fields::default();
        for (name, value) in &start {
            fields.append(name, value).unwrap();
        }
        let mut model = start;
        for edit in edits {
            apply(&edit, &mut fields);
            apply_to_model(edit, &mut model);

            prop_assert_eq!(pairs_of(&fields), model.clone());
            prop_assert_eq!(fields.len(), model.len());
            let expected: Vec<&[u8]> =
                model.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&asked)).map(|(_, value)| &value[..]).collect();
            prop_assert_eq!(fields.get(&asked), expected.first().copied());
            prop_assert_eq!(fields.count(&asked), expected.len());
            prop_assert_eq!(fields.get_all(&asked).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn no_edit_can_make_a_line(text in vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(0), Just(b'a'), Just(b' ')], 0..6)) {
        let mut fields = Fields::default();
        let is_clean = text.iter().all(|octet| matches!(octet, b'a' | b' ')) && text.trim_ascii() == text;

        prop_assert_eq!(fields.set("X-A", &text).is_ok(), is_clean);
        prop_assert_eq!(fields.append("X-A", &text).is_ok(), is_clean);
        let name = String::from_utf8(text.clone()).unwrap();
        let is_token = !name.is_empty() && name.bytes().all(|octet| octet == b'a');
        prop_assert_eq!(fields.set(&name, b"").is_ok(), is_token);
    }
}
