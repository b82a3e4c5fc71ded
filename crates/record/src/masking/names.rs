//! Names whose values are secrets.

/// The names that are always masked. A name of five letters or more also covers the names that end
/// in it: `token` covers `access_token`.
pub const SENSITIVE_NAMES: &[&str] = &[
    "token",
    "jwt",
    "authorization",
    "cookie",
    "session",
    "session_id",
    "sid",
    "ticket",
    "sign",
    "signature",
    "sig",
    "secret",
    "secret_key",
    "private_key",
    "api_key",
    "access_key",
    "password",
    "passwd",
    "pwd",
    "code",
    "otp",
    "captcha",
    "phone",
    "phone_number",
    "mobile",
    "tel",
    "telephone",
    "id_card",
    "id_card_no",
    "id_no",
    "id_number",
    "diagnosis",
    "prescription",
    "symptoms",
    "medical_record",
];

/// From this length on a name also covers those that end in it; `sign` must not cover `design`.
const COVERS_ENDINGS: usize = 5;

/// Names longer than this are compared by their end only.
const LONGEST: usize = 48;

/// Names in the form in which they are compared: small letters and digits only.
#[derive(Debug, Clone)]
pub(super) struct Names {
    names: Box<[Box<[u8]>]>,
    /// Which pairs of last letters occur: most names are told by them alone.
    endings: Endings,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Box<[Box<[u8]>]> = names
            .map(|name| significant(name.as_bytes()).collect())
            .filter(|name: &Box<[u8]>| name.len() > 1)
            .collect();
        let mut endings = Endings([0; 2]);
        for name in &names {
            endings.add(name.iter().copied());
        }
        Self { names, endings }
    }

    /// Whether a name that ends here could be one of them. Two letters tell for nearly all; what is
    /// encoded, quoted or in brackets has to be looked at closely.
    pub(super) fn may_end(&self, before: &[u8]) -> bool {
        match before {
            [.., fourth, third, second, last]
                if *fourth != b'%'
                    && *third != b'%'
                    && second.is_ascii_alphanumeric()
                    && last.is_ascii_alphanumeric() =>
            {
                self.endings.may_have(significant(&[*second, *last]))
            }
            _ => true,
        }
    }

    /// Whether the value of this name has to be hidden. It may be percent-encoded, quoted, or in
    /// brackets: the last word of it counts.
    pub(super) fn contain(&self, name: &[u8]) -> bool {
        let name = name
            .get(name.len().saturating_sub(LONGEST)..)
            .unwrap_or(name);
        let mut decoded = [0; LONGEST];
        let name = without_end(decode(name, &mut decoded));
        if !self.endings.may_have(significant(name)) {
            return false;
        }
        let word = last_word(name);
        let mut buffer = [0; LONGEST];
        let mut length = 0;
        for (place, byte) in buffer.iter_mut().zip(significant(word)) {
            *place = byte;
            length += 1;
        }
        let word = buffer.get(..length).unwrap_or_default();
        self.names
            .iter()
            .any(|name| word == &**name || (name.len() >= COVERS_ENDINGS && word.ends_with(name)))
    }
}

/// A set of pairs of last letters, one bit for several of them.
#[derive(Debug, Clone, Copy)]
struct Endings([u128; 2]);

impl Endings {
    fn add(&mut self, name: impl DoubleEndedIterator<Item = u8>) {
        if let Some((last, before)) = Self::bits(name) {
            let [lasts, befores] = &mut self.0;
            *lasts |= last;
            *befores |= before;
        }
    }

    fn may_have(&self, name: impl DoubleEndedIterator<Item = u8>) -> bool {
        let [lasts, befores] = self.0;
        Self::bits(name).is_some_and(|(last, before)| lasts & last != 0 && befores & before != 0)
    }

    fn bits(mut name: impl DoubleEndedIterator<Item = u8>) -> Option<(u128, u128)> {
        let last = name.next_back()?;
        let before = name.next_back()?;
        let mixed = before.wrapping_mul(7).wrapping_add(last.wrapping_mul(31));
        Some((1 << (last & 127), 1 << (mixed & 127)))
    }
}

/// `Access-Token`, `access_token` and `accessToken` are one name.
fn significant(name: &[u8]) -> impl DoubleEndedIterator<Item = u8> {
    name.iter()
        .filter(|byte| !matches!(byte, b'_' | b'-'))
        .map(u8::to_ascii_lowercase)
}

/// Resolves percent escapes, if there are any: `%74oken` is `token` to the upstream.
fn decode<'a>(name: &'a [u8], buffer: &'a mut [u8; LONGEST]) -> &'a [u8] {
    if memchr::memchr(b'%', name).is_none() {
        return name;
    }
    let mut length = 0;
    let mut rest = name;
    for place in buffer.iter_mut() {
        let Some((byte, tail)) = rest.split_first() else {
            break;
        };
        let escape = (*byte == b'%').then(|| tail.split_at_checked(2)).flatten();
        let resolved = escape.and_then(|(digits, tail)| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, tail))
        });
        (*place, rest) = resolved.unwrap_or((*byte, tail));
        length += 1;
    }
    buffer.get(..length).unwrap_or_default()
}

/// Without the bracket or quote after a name.
fn without_end(name: &[u8]) -> &[u8] {
    let last = name.iter().rposition(|byte| super::is_word(*byte));
    name.get(..last.map_or(0, |last| last + 1))
        .unwrap_or_default()
}

/// `password` of `user[password`, `user.password` and `"password`.
fn last_word(name: &[u8]) -> &[u8] {
    let start = name
        .iter()
        .rposition(|byte| !super::is_word(*byte))
        .map_or(0, |stop| stop + 1);
    name.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: OB-14, SE-25
    #[test]
    fn a_name_is_known_however_it_is_written() {
        let names = Names::new(SENSITIVE_NAMES.iter().copied());
        for sensitive in [
            "token",
            "TOKEN",
            "access_token",
            "accessToken",
            "X-Access-Token",
            "sign",
            "sig",
            "appSecret",
            "app_secret",
            "newPassword",
            "user[password]",
            "user.password",
            "\"phone\"",
            "%74oken",
            "user%5Bpassword%5D",
            "https%3A%2F%2Fx%2F%3Ftoken",
            "%22idCard%22",
            "ID-CARD",
        ] {
            assert!(names.contain(sensitive.as_bytes()), "{sensitive}");
        }
        for harmless in [
            "",
            "page",
            "design",
            "postcode",
            "tokens_left",
            "q",
            "%",
            "%7",
            "id",
            "[]",
        ] {
            assert!(!names.contain(harmless.as_bytes()), "{harmless}");
        }
    }
}
