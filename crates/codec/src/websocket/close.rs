//! Close codes (RFC 6455 section 7.4 and the IANA registry).

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The end of the purpose.
    pub const NORMAL: Self = Self(1000);
    /// An endpoint goes away, or this server does.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1002);
    /// Text that is not UTF-8.
    pub const INVALID_PAYLOAD: Self = Self(1007);
    /// The peer broke a rule that has no code of its own.
    pub const POLICY: Self = Self(1008);
    /// A message, or a frame of it, is too long.
    pub const TOO_BIG: Self = Self(1009);
    /// The other side is gone without a word.
    pub const INTERNAL_ERROR: Self = Self(1011);
    /// The service restarts; coming back makes sense.
    pub const SERVICE_RESTART: Self = Self(1012);

    /// Whether it may stand in a frame. 1004 to 1006 and 1015 are for the ears of an application
    /// only; below 3000 the registry decides.
    pub const fn may_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

/// The code in the payload of a close frame; none when there is no payload.
///
/// # Errors
/// The code with which to refuse it: a payload of one byte, a code that may not be sent, or a reason
/// that is not UTF-8.
pub fn close_code(payload: &[u8]) -> Result<Option<CloseCode>, CloseCode> {
    match payload {
        [] => Ok(None),
        [high, low, reason @ ..] => {
            let code = CloseCode(u16::from_be_bytes([*high, *low]));
            if !code.may_be_sent() {
                Err(CloseCode::PROTOCOL_ERROR)
            } else if std::str::from_utf8(reason).is_err() {
                Err(CloseCode::INVALID_PAYLOAD)
            } else {
                Ok(Some(code))
            }
        }
        [_] => Err(CloseCode::PROTOCOL_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: u16, reason: &[u8]) -> Result<Option<CloseCode>, CloseCode> {
        let mut payload = code.to_be_bytes().to_vec();
        payload.extend_from_slice(reason);
        close_code(&payload)
    }

    // case: WS-05
    #[test]
    fn registered_codes_pass() {
        for code in [1000, 1001, 1011, 1012, 1013, 1014, 3000, 4999] {
            assert_eq!(read(code, &[b'x'; 123]), Ok(Some(CloseCode(code))));
        }
        assert_eq!(close_code(&[]), Ok(None));
    }

    // case: WS-05
    #[test]
    fn what_may_not_be_sent_is_refused() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000] {
            assert_eq!(read(code, b""), Err(CloseCode::PROTOCOL_ERROR), "{code}");
        }
        assert_eq!(close_code(&[3]), Err(CloseCode::PROTOCOL_ERROR));
        assert_eq!(read(1000, &[0xff]), Err(CloseCode::INVALID_PAYLOAD));
    }
}
