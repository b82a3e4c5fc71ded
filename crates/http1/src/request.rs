//! `RequestHead`: request line and fields.

use crate::authority::valid_authority;
use crate::fields::{Fields, InvalidField};
use crate::known::Known;
use crate::malformed::Fault;
use crate::octets::{is_path_text, is_target_text, is_token_text};
use crate::target::Target;

/// The version of HTTP that a message came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    #[default]
    Http11,
    /// HTTP/2
    Http2,
}

/// Request line and fields of a request. Reusable: parsing into it keeps its buffers.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    /// The header fields.
    pub fields: Fields,
    /// `method SP target`, as they would be written now.
    line: String,
    method_len: usize,
    /// Where `?` is in `line`.
    query_at: Option<usize>,
    /// The target as received, once it differs from the one in `line`.
    original: String,
    is_rewritten: bool,
    version: Version,
    /// The last `Host` that was found valid: on one connection it is mostly the next one too.
    valid_host: Vec<u8>,
}

impl RequestHead {
    /// A head without fields, but for the `Host` of a target in absolute form.
    ///
    /// # Errors
    ///
    /// The method is not a token, or the target has none of the forms that this method may use.
    pub fn build(method: &str, target: &str, version: Version) -> Result<Self, InvalidField> {
        if !is_token_text(method.as_bytes()) {
            return Err(InvalidField);
        }
        let form = Target::parse(method, target).map_err(|_| InvalidField)?;
        let mut head = Self::default();
        head.begin(method, target, version);
        head.adopt(form)?;
        Ok(head)
    }

    /// The method, in the case it came.
    pub fn method(&self) -> &str {
        self.line.get(..self.method_len).unwrap_or_default()
    }

    /// The target without scheme and authority: `/path?query`, `*`, or what CONNECT names.
    pub fn target(&self) -> &str {
        self.line.get(self.target_at()..).unwrap_or_default()
    }

    /// The target up to `?`.
    pub fn path(&self) -> &str {
        self.line
            .get(self.target_at()..self.path_end())
            .unwrap_or_default()
    }

    /// What follows `?`; an empty query differs from none.
    pub fn query(&self) -> Option<&str> {
        self.query_at.and_then(|at| self.line.get(at + 1..))
    }

    /// The version that the sender spoke.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Host and port for which the request is meant: those of a target in absolute form (then
    /// `Host` was rewritten to them), else those of `Host`.
    pub fn authority(&self) -> Option<&str> {
        self.fields
            .known(Known::Host)
            .next()
            .and_then(|value| std::str::from_utf8(value).ok())
    }

    /// As [`RequestHead::authority`], as it stands in the field; empty if there is none.
    pub fn authority_bytes(&self) -> &[u8] {
        self.fields.known(Known::Host).next().unwrap_or_default()
    }

    /// The target as received, for logs.
    pub fn original_target(&self) -> &str {
        if self.is_rewritten {
            &self.original
        } else {
            self.target()
        }
    }

    /// Replaces the path, keeping the query.
    ///
    /// # Errors
    ///
    /// It does not begin with `/`, or has a `?`, a `#`, white space or a byte that is not visible
    /// ASCII; then nothing changed.
    pub fn set_path(&mut self, path: &str) -> Result<(), InvalidField> {
        if !path.starts_with('/') || !is_path_text(path.as_bytes()) {
            return Err(InvalidField);
        }
        self.keep_original();
        let target_at = self.target_at();
        match &mut self.query_at {
            None => {
                self.line.truncate(target_at);
                self.line.push_str(path);
            }
            Some(mark) => {
                self.line.replace_range(target_at..*mark, path);
                *mark = target_at + path.len();
            }
        }
        Ok(())
    }

    /// Replaces the query, or removes it with its `?`.
    ///
    /// # Errors
    ///
    /// It has a `#`, white space or a byte that is not visible ASCII; then nothing changed.
    pub fn set_query(&mut self, query: Option<&str>) -> Result<(), InvalidField> {
        if query.is_some_and(|query| !is_target_text(query.as_bytes())) {
            return Err(InvalidField);
        }
        self.keep_original();
        self.line.truncate(self.path_end());
        if let Some(query) = query {
            self.line.push('?');
            self.line.push_str(query);
        }
        self.find_query();
        Ok(())
    }

    /// Replaces the method.
    ///
    /// # Errors
    ///
    /// It is not a token; then nothing changed.
    pub fn set_method(&mut self, method: &str) -> Result<(), InvalidField> {
        if !is_token_text(method.as_bytes()) {
            return Err(InvalidField);
        }
        self.line.replace_range(..self.method_len, method);
        self.method_len = method.len();
        self.find_query();
        Ok(())
    }

    /// RFC 9112 section 3.2: exactly one valid `Host`; HTTP/1.0 may do without.
    pub(crate) fn check_host(&mut self) -> Result<(), Fault> {
        let mut hosts = self.fields.known(Known::Host);
        let Some(host) = hosts.next() else {
            return match self.version {
                Version::Http10 => Ok(()),
                Version::Http11 | Version::Http2 => Err(Fault::HostMissing),
            };
        };
        if hosts.next().is_some() {
            return Err(Fault::HostTwice);
        }
        if !host.is_empty() && host == self.valid_host {
            return Ok(());
        }
        if !std::str::from_utf8(host).is_ok_and(valid_authority) {
            return Err(Fault::HostInvalid);
        }
        self.valid_host.clear();
        self.valid_host.extend_from_slice(host);
        Ok(())
    }

    /// Method and target as one text, ready to be written.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Starts over with the request line as received.
    pub(crate) fn begin(&mut self, method: &str, target: &str, version: Version) {
        self.fields.clear();
        self.line.clear();
        self.line.push_str(method);
        self.line.push(' ');
        self.line.push_str(target);
        self.method_len = method.len();
        self.is_rewritten = false;
        self.version = version;
        self.find_query();
    }

    /// Turns the absolute form into the origin form and `Host`; the others stay as they are.
    pub(crate) fn adopt(&mut self, form: Target<'_>) -> Result<(), InvalidField> {
        let Target::Absolute { authority, rest } = form else {
            return Ok(());
        };
        self.keep_original();
        self.line.truncate(self.target_at());
        if !rest.starts_with('/') {
            // RFC 9112 section 3.2.4: OPTIONS without path and query asks the server itself.
            self.line
                .push(if rest.is_empty() && self.method() == "OPTIONS" {
                    '*'
                } else {
                    '/'
                });
        }
        self.line.push_str(rest);
        self.find_query();
        self.fields.set("Host", authority.as_bytes())
    }

    fn target_at(&self) -> usize {
        self.method_len + 1
    }

    fn path_end(&self) -> usize {
        self.query_at.unwrap_or(self.line.len())
    }

    fn find_query(&mut self) {
        self.query_at = memchr::memchr(b'?', self.line.as_bytes());
    }

    fn keep_original(&mut self) {
        if !self.is_rewritten {
            self.is_rewritten = true;
            self.original.clear();
            let target_at = self.target_at();
            self.original
                .push_str(self.line.get(target_at..).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(method: &str, target: &str) -> RequestHead {
        RequestHead::build(method, target, Version::Http11).unwrap()
    }

    #[test]
    fn a_target_has_a_path_and_perhaps_a_query() {
        let head = build("GET", "/a/b?c=d?e");

        assert_eq!(
            (head.method(), head.path(), head.query()),
            ("GET", "/a/b", Some("c=d?e"))
        );
        assert_eq!(build("GET", "/a?").query(), Some(""));
        assert_eq!(build("GET", "/a").query(), None);
    }

    // case: SM-13
    #[test]
    fn the_absolute_form_becomes_origin_form_and_host() {
        let head = build("GET", "http://B.test:81?x");

        assert_eq!(
            (head.target(), head.authority()),
            ("/?x", Some("B.test:81"))
        );
        assert_eq!(head.original_target(), "http://B.test:81?x");
        assert_eq!(build("OPTIONS", "http://b.test").target(), "*");
        assert_eq!(build("GET", "http://b.test").target(), "/");
    }

    #[test]
    fn edits_keep_the_rest_and_the_original() {
        let mut head = build("GET", "/old?q=1");

        head.set_path("/new/path").unwrap();
        assert_eq!(head.target(), "/new/path?q=1");
        head.set_query(Some("r=2&s=?")).unwrap();
        assert_eq!((head.path(), head.query()), ("/new/path", Some("r=2&s=?")));
        head.set_method("OPTIONS").unwrap();
        assert_eq!(
            (head.method(), head.target()),
            ("OPTIONS", "/new/path?r=2&s=?")
        );
        head.set_query(None).unwrap();
        assert_eq!(head.target(), "/new/path");
        assert_eq!(head.original_target(), "/old?q=1");
    }

    #[test]
    fn an_edit_that_would_break_the_line_changes_nothing() {
        let mut head = build("GET", "/a?b");

        for path in ["", "a", "/a b", "/a?b", "/a#b", "/a\r\n", "/\0", "/ä"] {
            assert_eq!(head.set_path(path), Err(InvalidField), "{path:?}");
        }
        for query in ["a b", "a#b", "a\r\nb", "ä"] {
            assert_eq!(head.set_query(Some(query)), Err(InvalidField), "{query:?}");
        }
        for method in ["", "GET ", "G\r\n"] {
            assert_eq!(head.set_method(method), Err(InvalidField), "{method:?}");
            assert!(RequestHead::build(method, "/", Version::Http11).is_err());
        }
        assert_eq!((head.method(), head.target()), ("GET", "/a?b"));
    }
}
