//! Conditions on headers, query parameters and cookies.

use regex::Regex;

use crate::method::is_token_byte;
use crate::problem::Problem;
use crate::query;
use crate::router::RouteSpec;
use crate::subject::Subject;

/// A condition on one named header, query parameter or cookie.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// Header names are case-insensitive, the names of parameters and cookies are not.
    pub name: String,
    /// What is asked of its values.
    pub test: Test,
}

/// What a predicate asks; with several values of one name, one that passes is enough.
#[derive(Clone, Debug)]
pub enum Test {
    /// A value is exactly this.
    Equals(String),
    /// A value matches as a whole, from its first to its last character.
    Matches(Regex),
    /// There is a value (`true`) or there is none (`false`).
    Present(bool),
}

/// The predicates of one route, ready to be asked.
#[derive(Debug, Default)]
pub(crate) struct Predicates {
    headers: Box<[Predicate]>,
    query: Box<[Predicate]>,
    cookies: Box<[Predicate]>,
}

/// The first condition that a request does not meet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unmet<'r> {
    Header(&'r str),
    Query(&'r str),
    Cookie(&'r str),
}

impl Predicates {
    pub(crate) fn new(index: usize, spec: &RouteSpec, problems: &mut Vec<Problem>) -> Self {
        let mut read = |kind: &str, predicates: &[Predicate], is_name: fn(&str) -> bool| {
            let mut ready = Vec::new();
            for (place, predicate) in predicates.iter().enumerate() {
                let field = format!("/match/{kind}/{place}");
                match predicate.prepare(is_name) {
                    Ok(predicate) => ready.push(predicate),
                    Err((tail, message)) => {
                        problems.push(Problem::new(index, format!("{field}{tail}"), message));
                    }
                }
            }
            ready
        };
        let is_token = |name: &str| !name.is_empty() && name.bytes().all(is_token_byte);
        let mut headers = read("headers", &spec.headers, is_token);
        for header in &mut headers {
            header.name.make_ascii_lowercase();
        }
        Self {
            headers: headers.into(),
            query: read("query", &spec.query, |name| !name.is_empty()).into(),
            cookies: read("cookies", &spec.cookies, is_token).into(),
        }
    }

    /// Their names are in lower case.
    pub(crate) fn headers(&self) -> &[Predicate] {
        &self.headers
    }

    pub(crate) fn query(&self) -> &[Predicate] {
        &self.query
    }

    pub(crate) fn cookies(&self) -> &[Predicate] {
        &self.cookies
    }

    pub(crate) fn len(&self) -> usize {
        self.headers.len() + self.query.len() + self.cookies.len()
    }

    /// `buffer` is for values that have to be decoded before they can be read.
    pub(crate) fn first_unmet<S: Subject + ?Sized>(
        &self,
        request: &S,
        buffer: &mut Vec<u8>,
    ) -> Option<Unmet<'_>> {
        for header in &self.headers {
            if !header.is_met_by_header(request) {
                return Some(Unmet::Header(&header.name));
            }
        }
        for parameter in &self.query {
            if !parameter.is_met_by_query(request.query().unwrap_or_default(), buffer) {
                return Some(Unmet::Query(&parameter.name));
            }
        }
        for cookie in &self.cookies {
            if !cookie.is_met_by_cookies(request) {
                return Some(Unmet::Cookie(&cookie.name));
            }
        }
        None
    }

    /// The same text for the same predicates, in whatever order they were written.
    pub(crate) fn fingerprint(&self) -> String {
        [&self.headers, &self.query, &self.cookies]
            .map(|predicates| {
                let mut all: Vec<String> = predicates
                    .iter()
                    .map(|predicate| format!("{:?}{:?}", predicate.name, predicate.test))
                    .collect();
                all.sort_unstable();
                all.join("&")
            })
            .join("\n")
    }
}

impl Predicate {
    fn prepare(&self, is_name: fn(&str) -> bool) -> Result<Self, (&'static str, String)> {
        if !is_name(&self.name) {
            return Err(("/name", format!("`{}` cannot be a name here", self.name)));
        }
        let test = match &self.test {
            Test::Equals(value) if value.trim_ascii() != value || value.contains(['\r', '\n']) => {
                let message = "a value with spaces around it or a line break never arrives";
                return Err(("/value", message.to_owned()));
            }
            // Whoever writes `v2` does not mean `xv21`; Envoy anchors in the same way.
            Test::Matches(pattern) => Regex::new(&format!(r"\A(?:{})\z", pattern.as_str()))
                .map(Test::Matches)
                .map_err(|error| ("/regex", error.to_string()))?,
            Test::Equals(_) | Test::Present(_) => self.test.clone(),
        };
        Ok(Self {
            name: self.name.clone(),
            test,
        })
    }

    fn is_met_by_header<S: Subject + ?Sized>(&self, request: &S) -> bool {
        let mut verdict = Verdict::default();
        request.header_values(&self.name, &mut |value| {
            verdict.note(self.test.accepts(value.trim_ascii()));
        });
        verdict.of(&self.test)
    }

    fn is_met_by_query(&self, query: &str, buffer: &mut Vec<u8>) -> bool {
        let mut verdict = Verdict::default();
        query::values_of(query, &self.name, |raw| {
            buffer.clear();
            buffer.extend(query::decoded(raw));
            verdict.note(self.test.accepts(buffer));
        });
        verdict.of(&self.test)
    }

    fn is_met_by_cookies<S: Subject + ?Sized>(&self, request: &S) -> bool {
        let mut verdict = Verdict::default();
        request.header_values("cookie", &mut |line| {
            for pair in line.split(|byte| *byte == b';') {
                let mut halves = pair.splitn(2, |byte| *byte == b'=');
                let (Some(name), Some(value)) = (halves.next(), halves.next()) else {
                    continue;
                };
                if name.trim_ascii() == self.name.as_bytes() {
                    verdict.note(self.test.accepts(value.trim_ascii()));
                }
            }
        });
        verdict.of(&self.test)
    }
}

impl Test {
    pub(crate) fn accepts(&self, value: &[u8]) -> bool {
        match self {
            Self::Equals(wanted) => wanted.as_bytes() == value,
            Self::Matches(pattern) => {
                std::str::from_utf8(value).is_ok_and(|value| pattern.is_match(value))
            }
            Self::Present(_) => true,
        }
    }
}

/// What was seen while the values went by.
#[derive(Default)]
struct Verdict {
    has_value: bool,
    has_accepted: bool,
}

impl Verdict {
    fn note(&mut self, is_accepted: bool) {
        self.has_value = true;
        self.has_accepted |= is_accepted;
    }

    fn of(&self, test: &Test) -> bool {
        match test {
            Test::Present(wanted) => self.has_value == *wanted,
            Test::Equals(_) | Test::Matches(_) => self.has_accepted,
        }
    }
}
