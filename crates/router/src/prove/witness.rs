//! A request that shows what is said of two routes.

use crate::subject::Subject;

use super::condition::Kind;

/// A request to try: `explain` and the router say of it what the finding says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The method.
    pub method: String,
    /// The host, without a port.
    pub host: String,
    /// The path in normal form, without the query.
    pub path: String,
    /// Escaped names and values, joined by `&`, without the question mark; empty for none.
    pub query: String,
    /// Header fields beside `Host`; cookies are in one `cookie` field.
    pub headers: Vec<(String, String)>,
    /// Whether a header, parameter or cookie stands in it with two different values: no usual
    /// client sends that, but one that is up to something can.
    pub repeats: bool,
}

impl Witness {
    pub(super) fn new(method: String, host: String, path: String) -> Self {
        Self {
            method,
            host,
            path,
            query: String::new(),
            headers: Vec::new(),
            repeats: false,
        }
    }

    pub(super) fn add(&mut self, kind: Kind, name: &str, values: Vec<String>) {
        self.repeats |= values.len() > 1;
        for value in values {
            match kind {
                Kind::Header => self.headers.push((name.to_owned(), value)),
                Kind::Query => {
                    let joint = if self.query.is_empty() { "" } else { "&" };
                    self.query.push_str(joint);
                    push_escaped(name, &mut self.query);
                    self.query.push('=');
                    push_escaped(&value, &mut self.query);
                }
                Kind::Cookie => self.add_cookie(&format!("{name}={value}")),
            }
        }
    }

    /// Path and query as they stand in a request line.
    pub fn target(&self) -> String {
        if self.query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }

    fn add_cookie(&mut self, pair: &str) {
        // A field of its own when the route asks for one by name.
        match self.headers.last_mut() {
            Some((name, line)) if name == "cookie" => {
                line.push_str("; ");
                line.push_str(pair);
            }
            Some(_) | None => self.headers.push(("cookie".to_owned(), pair.to_owned())),
        }
    }
}

impl Subject for Witness {
    fn host(&self) -> Option<&str> {
        Some(&self.host)
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn method(&self) -> &str {
        &self.method
    }

    fn query(&self) -> Option<&str> {
        Some(self.query.as_str()).filter(|query| !query.is_empty())
    }

    fn header_values(&self, name: &str, each: &mut dyn FnMut(&[u8])) {
        if name == "host" {
            each(self.host.as_bytes());
        }
        for (_, value) in self.headers.iter().filter(|(field, _)| field == name) {
            each(value.as_bytes());
        }
    }
}

/// Escapes everything but the unreserved characters (RFC 3986 section 2.3).
fn push_escaped(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
            out.extend(['%', digit(byte >> 4), digit(byte & 15)].map(|c| c.to_ascii_uppercase()));
        }
    }
}
