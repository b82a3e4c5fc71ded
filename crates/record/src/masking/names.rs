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
/// What is looked at of a name as it is written: an escape of JSON takes six bytes for one.
const LONGEST_WRITTEN: usize = 6 * LONGEST;

/// Names in the form in which they are compared: small letters and digits only.
#[derive(Debug, Clone)]
pub(super) struct Names {
    names: Box<[Box<[u8]>]>,
    endings: Endings,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Box<[Box<[u8]>]> = names
            .map(|name| significant(name.as_bytes()).collect::<Box<[u8]>>())
            .filter(|name| name.len() > 1)
            .collect();
        let mut endings = Endings::default();
        for name in &names {
            if let [.., before, last] = **name {
                endings.add(before, last);
            }
        }
        Self { names, endings }
    }

    /// Whether a name that ends here could be one of them. Two letters tell for nearly all; what is
    /// encoded, quoted or in brackets has to be looked at closely.
    pub(super) fn may_end(&self, before: &[u8]) -> bool {
        match *before {
            [.., fourth, third, before, last]
                if fourth != b'%'
                    && third != b'%'
                    && before.is_ascii_alphanumeric()
                    && last.is_ascii_alphanumeric() =>
            {
                self.endings.may_have(before, last)
            }
            _ => true,
        }
    }

    /// Whether the value of this name has to be hidden. It may be percent-encoded, quoted, or in
    /// brackets: the last word of it counts.
    pub(super) fn contain(&self, name: &[u8]) -> bool {
        let name = ending(name, LONGEST_WRITTEN);
        let mut decoded = [0; LONGEST_WRITTEN];
        let word = ending(last_word(decode(name, &mut decoded)), LONGEST);
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

/// A set of pairs of last letters: for each last letter, one bit for each letter before it. Only the
/// five bits that tell letters apart count, so it may have more than was added.
#[derive(Debug, Clone, Copy, Default)]
struct Endings([u32; 32]);

impl Endings {
    fn add(&mut self, before: u8, last: u8) {
        if let Some(letters) = self.0.get_mut(usize::from(last & 31)) {
            *letters |= 1 << (before & 31);
        }
    }

    fn may_have(&self, before: u8, last: u8) -> bool {
        let letters = self.0.get(usize::from(last & 31));
        letters.is_some_and(|letters| letters & (1 << (before & 31)) != 0)
    }
}

/// The last bytes of a name.
fn ending(name: &[u8], longest: usize) -> &[u8] {
    let start = name.len().saturating_sub(longest);
    name.get(start..).unwrap_or(name)
}

/// `Access-Token`, `access_token` and `accessToken` are one name.
fn significant(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter()
        .filter(|byte| !matches!(byte, b'_' | b'-'))
        .map(u8::to_ascii_lowercase)
}

/// Resolves the escapes of addresses and of JSON, if there are any: `%74oken` and `\u0074oken` are
/// `token` to the upstream.
fn decode<'a>(name: &'a [u8], buffer: &'a mut [u8; LONGEST_WRITTEN]) -> &'a [u8] {
    if memchr::memchr2(b'%', b'\\', name).is_none() {
        return name;
    }
    let mut length = 0;
    let mut rest = name;
    for place in buffer.iter_mut() {
        let Some((byte, tail)) = rest.split_first() else {
            break;
        };
        let escape = match (byte, tail) {
            (b'%', tail) | (b'\\', [b'u', b'0', b'0', tail @ ..]) => tail.split_at_checked(2),
            _ => None,
        };
        let resolved = escape.and_then(|(digits, tail)| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, tail))
        });
        (*place, rest) = resolved.unwrap_or((*byte, tail));
        length += 1;
    }
    buffer.get(..length).unwrap_or_default()
}

/// `password` of `user[password]`, `user.password` and `"password"`.
fn last_word(name: &[u8]) -> &[u8] {
    let is_word = |byte: &u8| super::is_word(*byte);
    let end = name.iter().rposition(is_word).map_or(0, |last| last + 1);
    let name = name.get(..end).unwrap_or_default();
    let other = name.iter().rposition(|byte| !is_word(byte));
    name.get(other.map_or(0, |other| other + 1)..)
        .unwrap_or_default()
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
            r#""passwor\u0064""#,
            r#""\u0070\u0061\u0073\u0073\u0077\u006F\u0072\u0064""#,
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
            r#""passwor\u0164""#,
        ] {
            assert!(!names.contain(harmless.as_bytes()), "{harmless}");
        }
    }
}
