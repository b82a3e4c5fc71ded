//! `ResponseHead`: status line and fields.

use crate::fields::Fields;
use crate::reason_phrase::reason_phrase;
use crate::request::Version;

/// Status line and fields of a response. Reusable: parsing into it keeps its buffers.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// The header fields.
    pub fields: Fields,
    status: u16,
    reason: Vec<u8>,
    version: Version,
}

impl ResponseHead {
    /// A head without fields, with the registered reason phrase.
    pub fn new(status: u16) -> Self {
        let mut head = Self {
            fields: Fields::default(),
            status,
            reason: Vec::new(),
            version: Version::Http11,
        };
        head.set_status(status);
        head
    }

    /// Starts over, keeping the buffers.
    pub fn reset(&mut self, status: u16) {
        self.fields.clear();
        self.version = Version::Http11;
        self.set_status(status);
    }

    /// The status, 100 to 999.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Replaces status and reason phrase; the nearest valid status is taken.
    pub fn set_status(&mut self, status: u16) {
        self.status = status.clamp(100, 999);
        self.reason.clear();
        self.reason
            .extend_from_slice(reason_phrase(self.status).as_bytes());
    }

    /// The reason phrase, which may be empty.
    pub fn reason(&self) -> &[u8] {
        &self.reason
    }

    /// The version that the sender spoke.
    pub fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn begin(&mut self, status: u16, reason: &str, version: Version) {
        self.fields.clear();
        self.status = status;
        self.reason.clear();
        self.reason.extend_from_slice(reason.as_bytes());
        self.version = version;
    }
}

impl Default for ResponseHead {
    /// 200 without fields.
    fn default() -> Self {
        Self::new(200)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_brings_its_phrase() {
        let mut head = ResponseHead::new(404);
        assert_eq!((head.status(), head.reason()), (404, &b"Not Found"[..]));

        head.set_status(299);
        assert_eq!((head.status(), head.reason()), (299, &b""[..]));
        head.set_status(7);
        assert_eq!(head.status(), 100);
    }

    #[test]
    fn reset_forgets_the_fields() {
        let mut head = ResponseHead::new(200);
        head.fields.set("X-A", b"1").unwrap();

        head.reset(503);

        assert!(head.fields.is_empty());
        assert_eq!(head.reason(), b"Service Unavailable");
    }
}
