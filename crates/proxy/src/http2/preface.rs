//! Which version of HTTP the first bytes of a connection are.

/// What a client that speaks HTTP/2 sends first (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What the first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preface {
    /// The client speaks HTTP/2.
    Http2,
    /// So far it may.
    Unclear,
    /// It does not.
    Other,
}

/// Looks at the first bytes of a connection.
pub(crate) fn look(bytes: &[u8]) -> Preface {
    if bytes.starts_with(PREFACE) {
        Preface::Http2
    } else if PREFACE.starts_with(bytes) {
        Preface::Unclear
    } else {
        Preface::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_preface_is_one() {
        assert_eq!(look(PREFACE), Preface::Http2);
        assert_eq!(
            look(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0"),
            Preface::Http2
        );
        assert_eq!(look(b"PRI * HT"), Preface::Unclear);
        assert_eq!(look(b"PRI * HTTP/1.1\r\n"), Preface::Other);
        assert_eq!(look(b"PUT / HTTP/1.1\r\n"), Preface::Other);
    }
}
