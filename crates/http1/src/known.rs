//! Names that decide how a message is read: recognised once, while it is parsed.

/// A field name that framing, routing or the connection depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Known {
    Other,
    Connection,
    ContentLength,
    Expect,
    Host,
    KeepAlive,
    /// No name of its own: any other field that `Connection` declares to be of this hop.
    Nominated,
    ProxyAuthenticate,
    ProxyAuthorization,
    ProxyConnection,
    Te,
    TransferEncoding,
    Upgrade,
}

impl Known {
    pub(crate) fn of(name: &[u8]) -> Self {
        let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
        match name.len() {
            2 if is(b"te") => Self::Te,
            4 if is(b"host") => Self::Host,
            6 if is(b"expect") => Self::Expect,
            7 if is(b"upgrade") => Self::Upgrade,
            10 if is(b"connection") => Self::Connection,
            10 if is(b"keep-alive") => Self::KeepAlive,
            14 if is(b"content-length") => Self::ContentLength,
            16 if is(b"proxy-connection") => Self::ProxyConnection,
            17 if is(b"transfer-encoding") => Self::TransferEncoding,
            18 if is(b"proxy-authenticate") => Self::ProxyAuthenticate,
            19 if is(b"proxy-authorization") => Self::ProxyAuthorization,
            _ => Self::Other,
        }
    }

    /// A field of this connection only, which an intermediary does not pass on.
    pub(crate) fn is_hop_by_hop(self) -> bool {
        KnownSet::HOP_BY_HOP.contains(self)
    }

    /// Whether `Connection` may take this field away. The length and the host are the message's
    /// own, whatever a sender says of them; what is hop-by-hop goes anyway.
    pub(crate) fn can_be_nominated(self) -> bool {
        matches!(self, Self::Other | Self::Expect)
    }
}

/// A set of known names in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownSet(u16);

impl KnownSet {
    pub(crate) const FRAMING: Self = Self(bit(Known::ContentLength) | bit(Known::TransferEncoding));
    pub(crate) const HOP_BY_HOP: Self = Self(
        bit(Known::Connection)
            | bit(Known::KeepAlive)
            | bit(Known::Nominated)
            | bit(Known::ProxyAuthenticate)
            | bit(Known::ProxyAuthorization)
            | bit(Known::ProxyConnection)
            | bit(Known::Te)
            | bit(Known::TransferEncoding)
            | bit(Known::Upgrade),
    );

    pub(crate) fn insert(&mut self, known: Known) {
        self.0 |= bit(known);
    }

    pub(crate) fn remove(&mut self, known: Known) {
        self.0 &= !bit(known);
    }

    pub(crate) fn contains(self, known: Known) -> bool {
        self.0 & bit(known) != 0
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

const fn bit(known: Known) -> u16 {
    1 << known as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_case() {
        assert_eq!(Known::of(b"Content-Length"), Known::ContentLength);
        assert_eq!(Known::of(b"TRANSFER-encoding"), Known::TransferEncoding);
        assert_eq!(Known::of(b"hOST"), Known::Host);
        assert_eq!(Known::of(b"X-Host"), Known::Other);
    }

    #[test]
    fn a_set_tells_what_was_put_in() {
        let mut set = KnownSet::default();
        set.insert(Known::Te);

        assert!(set.contains(Known::Te));
        assert!(set.meets(KnownSet::HOP_BY_HOP));
        assert!(!set.meets(KnownSet::FRAMING));

        set.remove(Known::Te);
        assert_eq!(set, KnownSet::default());
    }

    #[test]
    fn routing_and_length_are_end_to_end() {
        assert!(!Known::Host.is_hop_by_hop());
        assert!(!Known::ContentLength.is_hop_by_hop());
        assert!(Known::Upgrade.is_hop_by_hop());
    }
}
