//! Frames as they pass.

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::websocket::{write_close, write_ping};

const LIMIT: u64 = 1 << 20;

fn server() -> Scanner {
    Scanner::new(Sender::Server, LIMIT, false)
}

/// All pieces of `bytes`, given at once.
fn pieces(scanner: &mut Scanner, mut bytes: &[u8]) -> Result<Vec<Piece>, Violation> {
    let mut seen = Vec::new();
    loop {
        let piece = scanner.next(bytes)?;
        let size = match piece {
            Piece::Wait => return Ok(seen),
            Piece::Data { size, .. }
            | Piece::Ping { size }
            | Piece::Pong { size }
            | Piece::Close { size, .. } => size,
        };
        seen.push(piece);
        bytes = &bytes[size..];
    }
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        short @ 0..126 => out.push(u8::try_from(short).unwrap()),
        long => {
            out.push(126);
            out.extend_from_slice(&u16::try_from(long).unwrap().to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    out
}

#[test]
fn messages_in_fragments_with_a_ping_between_them_pass() {
    let mut bytes = frame(0x01, b"Hel");
    write_ping(b"", None, &mut bytes);
    bytes.extend(frame(0x80, b"lo"));

    let seen = pieces(&mut server(), &bytes).unwrap();

    assert_eq!(
        seen,
        [
            Piece::Data {
                size: 5,
                ends_message: false
            },
            Piece::Ping { size: 2 },
            Piece::Data {
                size: 4,
                ends_message: true
            },
        ]
    );
}

#[test]
fn nothing_passes_of_a_frame_that_breaks_a_rule() {
    let masked = [0x81, 0x81, 1, 2, 3, 4, 0];
    for (bytes, why) in [
        (frame(0x80, b"x"), "fragment"),
        (frame(0xc1, b"x"), "reserved"),
        (frame(0x09, b"x"), "control"),
        (frame(0x89, &[0; 126]), "control"),
        (masked.to_vec(), "masked"),
        (frame(0x83, b"x"), "opcode"),
        (frame(0x88, &[3]), "close frame"),
        ([frame(0x01, b"x"), frame(0x81, b"y")].concat(), "fragment"),
    ] {
        let violation = pieces(&mut server(), &bytes).unwrap_err();
        assert!(
            violation.reason.contains(why),
            "{violation:?} for {bytes:?}"
        );
        assert_eq!(violation.code, CloseCode::PROTOCOL_ERROR);
    }
    let mut client = Scanner::new(Sender::Client, LIMIT, false);
    assert!(client.next(&frame(0x81, b"x")).is_err());
}

#[test]
fn a_long_frame_is_known_by_its_head() {
    let mut scanner = Scanner::new(Sender::Server, 1000, false);

    let violation = scanner.next(&[0x82, 126, 0x03, 0xe9]).unwrap_err();

    assert_eq!(violation.code, CloseCode::TOO_BIG);
}

#[test]
fn a_compressed_message_is_marked_on_its_first_frame_only() {
    let bytes = [frame(0x41, b"a"), frame(0x80, b"b")].concat();
    let mut scanner = Scanner::new(Sender::Server, LIMIT, true);
    assert!(pieces(&mut scanner, &bytes).is_ok());
    let bytes = [frame(0x41, b"a"), frame(0xc0, b"b")].concat();
    let mut scanner = Scanner::new(Sender::Server, LIMIT, true);
    assert!(pieces(&mut scanner, &bytes).is_err());
}

// case: WS-05
#[test]
fn nothing_follows_a_close_frame() {
    let mut bytes = Vec::new();
    write_close(CloseCode(1012), "back soon", None, &mut bytes);
    let mut scanner = server();

    let seen = pieces(&mut scanner, &bytes).unwrap();

    let code = Some(CloseCode(1012));
    assert_eq!(seen, [Piece::Close { size: 13, code }]);
    assert!(scanner.is_closed());
    assert!(scanner.next(b"\x81\x00").is_err());
}

proptest! {
    /// However the same bytes are cut, the same bytes pass, and the same frames are seen.
    #[test]
    fn cutting_changes_nothing(
        frames in vec((0_u8..4, vec(any::<u8>(), 0..300)), 1..12),
        cuts in vec(1_usize..40, 0..200),
    ) {
        let mut bytes = Vec::new();
        for (kind, payload) in &frames {
            match kind {
                0 => bytes.extend(frame(0x81, payload)),
                1 => bytes.extend(frame(0x82, payload)),
                2 => write_ping(payload, None, &mut bytes),
                _ => bytes.extend(frame(0x8a, &payload[..payload.len().min(125)])),
            }
        }
        let whole = pieces(&mut server(), &bytes).unwrap();

        let mut scanner = server();
        let (mut here, mut passed, mut messages, mut controls) = (0, 0, 0, 0);
        let mut cuts = cuts.into_iter();
        while here < bytes.len() {
            here = (here + cuts.next().unwrap_or(usize::MAX / 2)).min(bytes.len());
            for piece in pieces(&mut scanner, &bytes[passed..here]).unwrap() {
                passed += match piece {
                    Piece::Data { size, ends_message } => {
                        messages += usize::from(ends_message);
                        size
                    }
                    Piece::Ping { size } | Piece::Pong { size } | Piece::Close { size, .. } => {
                        controls += 1;
                        size
                    }
                    Piece::Wait => 0,
                };
            }
        }

        prop_assert_eq!(passed, bytes.len());
        prop_assert!(scanner.is_at_boundary());
        let ended = |piece: &&Piece| matches!(piece, Piece::Data { ends_message: true, .. });
        prop_assert_eq!(messages, whole.iter().filter(ended).count());
        let control = |piece: &&Piece| !matches!(piece, Piece::Data { .. });
        prop_assert_eq!(controls, whole.iter().filter(control).count());
    }

    /// Whatever comes: no panic, and never more passes than is there.
    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200), masked: bool) {
        let sender = if masked { Sender::Client } else { Sender::Server };
        let mut scanner = Scanner::new(sender, 1000, masked);
        let _ = pieces(&mut scanner, &bytes);
    }
}
