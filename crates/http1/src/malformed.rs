//! Why a message cannot be understood, and what a server answers then.

use std::fmt;

/// Why a message was refused. After it nothing on the connection may be read as a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Malformed(Fault);

impl Malformed {
    /// A stable phrase for logs and metrics; it never contains bytes of the message.
    pub fn reason(&self) -> &'static str {
        self.0.describe().1
    }

    /// What a server answers: 400, 414, 417, 431, 501 or 505. A gateway that met the fault in an
    /// upstream's answer says 502 instead.
    pub fn status(&self) -> u16 {
        self.0.describe().0
    }
}

impl fmt::Debug for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Malformed({}, {:?})", self.status(), self.reason())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for Malformed {}

impl From<Fault> for Malformed {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

/// One way of being malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    BadLineEnd,
    BlankLines,
    BodyEndedEarly,
    ChunkBadEnd,
    ChunkBadExtension,
    ChunkBadSize,
    ChunkOverhead,
    ChunkSizeTooLarge,
    ChunkLineTooLong,
    FieldName,
    FieldValue,
    HeadTooLarge,
    HostInvalid,
    HostMissing,
    HostTwice,
    LengthAndEncoding,
    LengthConflict,
    LengthInvalid,
    RequestLine,
    StatusLine,
    Target,
    TargetForm,
    TargetTooLong,
    TooManyFields,
    TrailerInvalid,
    TrailersTooLarge,
    TransferEncodingInvalid,
    TransferEncodingOnHttp10,
    TransferEncodingTwice,
    TransferEncodingUnknown,
    UnknownExpectation,
    Version,
}

impl Fault {
    fn describe(self) -> (u16, &'static str) {
        match self {
            Self::BadLineEnd => (400, "line not ended by CRLF"),
            Self::BlankLines => (400, "empty lines before the message"),
            Self::BodyEndedEarly => (400, "body ended early"),
            Self::ChunkBadEnd => (400, "chunk not ended by CRLF"),
            Self::ChunkBadExtension => (400, "invalid chunk extension"),
            Self::ChunkBadSize => (400, "invalid chunk size"),
            Self::ChunkOverhead => (400, "too much chunk overhead"),
            Self::ChunkSizeTooLarge => (400, "chunk size too large"),
            Self::ChunkLineTooLong => (400, "chunk extension too long"),
            Self::FieldName => (400, "invalid field name"),
            Self::FieldValue => (400, "invalid field value"),
            Self::HeadTooLarge => (431, "head too large"),
            Self::HostInvalid => (400, "invalid host"),
            Self::HostMissing => (400, "host missing"),
            Self::HostTwice => (400, "host more than once"),
            Self::LengthAndEncoding => (400, "content-length and transfer-encoding together"),
            Self::LengthConflict => (400, "content-length values differ"),
            Self::LengthInvalid => (400, "invalid content-length"),
            Self::RequestLine => (400, "invalid request line"),
            Self::StatusLine => (400, "invalid status line"),
            Self::Target => (400, "invalid request target"),
            Self::TargetForm => (400, "request target does not fit the method"),
            Self::TargetTooLong => (414, "request target too long"),
            Self::TooManyFields => (431, "too many fields"),
            Self::TrailerInvalid => (400, "invalid trailer field"),
            Self::TrailersTooLarge => (431, "trailers too large"),
            Self::TransferEncodingInvalid => (400, "invalid transfer-encoding"),
            Self::TransferEncodingOnHttp10 => (400, "transfer-encoding in HTTP/1.0"),
            Self::TransferEncodingTwice => (400, "transfer-encoding more than once"),
            Self::TransferEncodingUnknown => (501, "transfer-encoding not supported"),
            Self::UnknownExpectation => (417, "unknown expectation"),
            Self::Version => (505, "HTTP version not supported"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_status_and_phrase() {
        let malformed = Malformed::from(Fault::LengthAndEncoding);

        assert_eq!(malformed.status(), 400);
        assert_eq!(
            malformed.to_string(),
            "content-length and transfer-encoding together"
        );
    }

    #[test]
    fn it_is_small() {
        assert_eq!(size_of::<Malformed>(), 1);
    }
}
