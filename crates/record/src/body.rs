//! A body that is looked at while it passes: nothing of it waits.

use std::str;

use sha2::{Digest, Sha256};
use sluicegate_http1::Fields;

use crate::{
    json::Value,
    masking::Masking,
    policy::{BodyPolicy, Policy},
};

/// Bytes kept beyond the limit, so that a secret which the limit cuts in two is seen whole.
const BEHIND: usize = 256;

/// What a body is, as far as its head tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// JSON, plain text, or nobody says.
    Text,
    /// Parameters of a form.
    Form,
    /// Not text, or text whose secrets cannot be told from the rest; with the word of the record.
    Hidden(&'static str),
}

/// Looks at the bodies of one exchange.
#[derive(Debug, Default)]
pub struct Bodies {
    /// The request's.
    pub request: Option<Tap>,
    /// The answer's.
    pub response: Option<Tap>,
}

/// Sees every byte of one body once, in order.
#[derive(Debug)]
pub struct Tap(Watch);

#[derive(Debug)]
enum Watch {
    /// Boxed: the state is a hundred bytes, and few routes want it.
    Digest(Box<Sha256>),
    Text {
        content: Content,
        kept: Vec<u8>,
        room: usize,
        total: u64,
    },
}

impl Tap {
    /// Begins with the head of the message; `None` when nothing is to be seen.
    pub fn new(policy: BodyPolicy, limit: usize, fields: &Fields) -> Option<Self> {
        match policy {
            BodyPolicy::Size => None,
            BodyPolicy::Digest => Some(Self(Watch::Digest(Box::default()))),
            BodyPolicy::Masked => Some(Self(Watch::Text {
                content: content(fields),
                kept: Vec::new(),
                room: limit.saturating_add(BEHIND),
                total: 0,
            })),
        }
    }

    /// The next bytes.
    pub fn see(&mut self, data: &[u8]) {
        match &mut self.0 {
            Watch::Digest(digest) => digest.update(data),
            Watch::Text {
                content,
                kept,
                room,
                total,
            } => {
                *total += data.len() as u64;
                if !matches!(content, Content::Hidden(_)) && *room > 0 {
                    let piece = data.get(..*room).unwrap_or(data);
                    kept.extend_from_slice(piece);
                    *room -= piece.len();
                }
            }
        }
    }

    /// Appends what has been seen: `,"request_sha256":"…"`, `,"request_body":"…"`, or the word why not.
    pub(crate) fn write(&self, keys: &Keys, limit: usize, masking: &Masking, line: &mut Vec<u8>) {
        match &self.0 {
            Watch::Digest(digest) => {
                line.extend_from_slice(keys.digest);
                for byte in digest.as_ref().clone().finalize() {
                    line.extend([byte >> 4, byte & 15].map(hex_digit));
                }
                line.push(b'"');
            }
            Watch::Text { total: 0, .. } => {}
            Watch::Text {
                content,
                kept,
                total,
                ..
            } => {
                let is_form = match content {
                    Content::Hidden(why) => return omitted(keys, why, line),
                    Content::Form => true,
                    Content::Text => false,
                };
                if !is_text(kept) {
                    return omitted(keys, "binary", line);
                }
                if *content == Content::Text && looks_like_markup(kept) {
                    return omitted(keys, "type", line);
                }
                line.extend_from_slice(keys.text);
                let shown = kept.len().min(limit) as u64;
                let mut value = Value::bounded_elsewhere(line, total.saturating_sub(shown));
                masking.body(kept, is_form, limit, &mut value);
                value.end();
                line.push(b'"');
            }
        }
    }
}

/// How a name set calls what is told of a body; each with what stands before its value.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) digest: &'static [u8],
    pub(crate) text: &'static [u8],
    pub(crate) omitted: &'static [u8],
}

/// The same for both directions.
#[derive(Debug)]
pub(crate) struct BothKeys {
    pub(crate) request: Keys,
    pub(crate) response: Keys,
    /// Says that the request's body did not come to its end.
    pub(crate) partial: &'static [u8],
}

impl Policy {
    /// Taps for the bodies of a request with this head; `None` when its bodies are not looked at.
    pub fn bodies(&self, request: &Fields) -> Option<Box<Bodies>> {
        self.looks_at_bodies().then(|| {
            Box::new(Bodies {
                request: Tap::new(self.request_body, self.limit, request),
                response: None,
            })
        })
    }
}

fn omitted(keys: &Keys, why: &str, line: &mut Vec<u8>) {
    line.extend_from_slice(keys.omitted);
    line.extend_from_slice(why.as_bytes());
    line.push(b'"');
}

fn hex_digit(nibble: u8) -> u8 {
    match nibble {
        0..10 => b'0' + nibble,
        10.. => b'a' - 10 + nibble,
    }
}

/// Only where secrets can be found by their names may a body be shown: not in XML, in the parts of
/// a multipart form, or in a table.
fn content(fields: &Fields) -> Content {
    let codings = fields.get_all("content-encoding");
    let mut codings = codings.flat_map(|line| line.split(|byte| *byte == b','));
    if codings.any(|coding| {
        let coding = coding.trim_ascii();
        !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")
    }) {
        return Content::Hidden("compressed");
    }
    let mut types = fields.get_all("content-type");
    let Some(media_type) = types.next() else {
        return Content::Text;
    };
    if types.next().is_some() {
        return Content::Hidden("type");
    }
    let end = media_type.iter().position(|byte| *byte == b';');
    let essence = media_type.get(..end.unwrap_or(media_type.len()));
    let essence = essence.unwrap_or_default().trim_ascii();
    let is = |name: &[u8]| essence.eq_ignore_ascii_case(name);
    let ends = |suffix: &[u8]| {
        let at = essence.len().saturating_sub(suffix.len());
        essence
            .get(at..)
            .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    if is(b"application/x-www-form-urlencoded") {
        Content::Form
    } else if ends(b"json") || is(b"text/plain") || is(b"text/event-stream") {
        Content::Text
    } else {
        Content::Hidden("type")
    }
}

/// UTF-8 without control characters but those that make lines; its last character may be cut off.
fn is_text(bytes: &[u8]) -> bool {
    let is_whole = match str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    is_whole && !bytes.iter().any(is_control)
}

/// XML or HTML that does not say so.
fn looks_like_markup(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.trim_ascii_start().first() == Some(&b'<')
}

#[cfg(test)]
mod tests {
    use sluicegate_http1::{RequestHead, Version};

    use super::*;
    use crate::masking::Pattern;

    const KEYS: Keys = Keys {
        digest: b",\"sha256\":\"",
        text: b",\"text\":\"",
        omitted: b",\"omitted\":\"",
    };

    fn told(policy: BodyPolicy, limit: usize, fields: &[(&str, &str)], pieces: &[&[u8]]) -> String {
        let mut head = RequestHead::build("POST", "/", Version::Http11).unwrap();
        for (name, value) in fields {
            head.fields.append(name, value.as_bytes()).unwrap();
        }
        let mut tap = Tap::new(policy, limit, &head.fields).unwrap();
        for piece in pieces {
            tap.see(piece);
        }
        let mut line = Vec::new();
        let own = Pattern::new("EMP-([0-9]{2})[0-9]+", "EMP-$1**").unwrap();
        let masking = Masking::default().and_patterns(vec![own]);
        tap.write(&KEYS, limit, &masking, &mut line);
        let line = String::from_utf8(line).unwrap();
        let object = format!("{{{}}}", line.trim_start_matches(','));
        let value: serde_json::Value = serde_json::from_str(&object).unwrap();
        value
            .as_object()
            .unwrap()
            .values()
            .next()
            .map_or_else(String::new, |value| value.as_str().unwrap().to_owned())
    }

    fn masked(fields: &[(&str, &str)], text: &str) -> String {
        told(BodyPolicy::Masked, 4096, fields, &[text.as_bytes()])
    }

    const JSON: &[(&str, &str)] = &[("Content-Type", "application/json; charset=utf-8")];
    const FORM: &[(&str, &str)] = &[("Content-Type", "application/x-www-form-urlencoded")];

    // spec: OB-15, PX-36
    // FIPS 180-4, the example of the message `abc`.
    #[test]
    fn a_digest_is_that_of_the_whole_body_however_it_came() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(told(BodyPolicy::Digest, 0, &[], &[b"abc"]), expected);
        assert_eq!(
            told(BodyPolicy::Digest, 0, &[], &[b"a", b"", b"bc"]),
            expected
        );
    }

    // spec: OB-14, OB-15, OB-16, SE-25, SE-29
    #[test]
    fn a_shown_body_has_no_secret_in_it() {
        for (text, shown) in [
            (
                r#"{"idCard":"11010519491231002X","n":1}"#,
                r#"{"idCard":"***","n":1}"#,
            ),
            (r#"{"phone" : "13800138000"}"#, r#"{"phone" : "***"}"#),
            (
                "{\"password\":\n\t\"a\\\"b'c, d\",\"n\":1}",
                "{\"password\":\n\t\"***\",\"n\":1}",
            ),
            (
                r#"{"token":{"a":["x]}"],"b":2},"n":1}"#,
                r#"{"token":***,"n":1}"#,
            ),
            (r#"{"secret":["a","b"],"n":1}"#, r#"{"secret":***,"n":1}"#),
            (r#"{"passwor\u0064":"x"}"#, r#"{"passwor\u0064":"***"}"#),
            (r#"{"phone":13800138000,"n":1}"#, r#"{"phone":***,"n":1}"#),
            (r#"{"note":"call 13800138000"}"#, r#"{"note":"call ***"}"#),
            (r#"{"who":"EMP-12345"}"#, r#"{"who":"EMP-12**"}"#),
            (r#"{"password":"EMP-12345"}"#, r#"{"password":"***"}"#),
            (r#"{"password":"cut"#, r#"{"password":"***"#),
        ] {
            assert_eq!(masked(JSON, text), shown);
            assert_eq!(masked(&[], text), shown);
        }
        assert_eq!(
            masked(FORM, "user=u&password=a b;c,d&n=1"),
            "user=u&password=***&n=1"
        );
    }

    // spec: OB-15
    #[test]
    fn what_is_no_plain_text_is_never_shown() {
        let text = r#"{"a":1}"#;
        for (fields, body, why) in [
            (&[("Content-Encoding", "gzip")][..], text, "compressed"),
            (&[("Content-Encoding", "identity, br")], text, "compressed"),
            (&[("Content-Type", "image/png")], text, "type"),
            (
                &[("Content-Type", "application/xml")],
                "<password>x</password>",
                "type",
            ),
            (
                &[("Content-Type", "multipart/form-data; boundary=b")],
                text,
                "type",
            ),
            (
                &[
                    ("Content-Type", "application/json"),
                    ("Content-Type", "text/xml"),
                ],
                text,
                "type",
            ),
            (JSON, "\u{0}\u{1}", "binary"),
            (JSON, "a\u{1b}[2J", "binary"),
            (&[], " <password>x</password>", "type"),
        ] {
            assert_eq!(masked(fields, body), why, "{fields:?}");
        }
        let latin1 = told(BodyPolicy::Masked, 99, JSON, &[b"caf\xe9 x"]);
        assert_eq!(latin1, "binary");
        assert_eq!(masked(&[("Content-Encoding", "identity")], text), text);
        assert_eq!(masked(JSON, ""), "", "there is nothing to show");
    }

    // spec: OB-15
    #[test]
    fn a_body_that_is_cut_says_how_much_more_came() {
        let cut = |limit, pieces: &[&[u8]]| told(BodyPolicy::Masked, limit, JSON, pieces);

        assert_eq!(cut(4, &[b"abcdef"]), "abcd…+2");
        assert_eq!(cut(4, &[b"ab", b"cd"]), "abcd");
        assert_eq!(cut(4, &[&[b'a'; 1000], &[b'b'; 1000]]), "aaaa…+1996");
        assert_eq!(cut(4, &["a订单".as_bytes()]), "a订…+3");
    }

    // spec: OB-14
    #[test]
    fn a_secret_across_the_limit_is_not_shown_in_part() {
        let body = r#"{"note":"13800138000","password":"hunter2"}"#;
        for limit in 1..body.len() {
            let shown = told(BodyPolicy::Masked, limit, JSON, &[body.as_bytes()]);
            assert!(!shown.contains("138"), "{limit}: {shown}");
            assert!(!shown.contains("hun"), "{limit}: {shown}");
        }
    }
}
