//! Conditions on headers, query parameters and cookies.

use regex::Regex;

use crate::method::is_token_byte;
use crate::problem::Problem;
use crate::query;
use crate::router::RouteSpec;
use crate::subject::Subject;
use crate::why_not::WhyNot;

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

const HEADER: &str = "header";
const QUERY: &str = "query";
const COOKIE: &str = "cookie";
/// Of the values that a request has instead, so many are shown, and so many bytes of each.
const MOST_SHOWN: usize = 3;
const LONGEST_SHOWN: usize = 100;

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
    pub(crate) fn are_met<S: Subject + ?Sized>(&self, request: &S, buffer: &mut Vec<u8>) -> bool {
        let query = || request.query().unwrap_or_default();
        self.headers
            .iter()
            .all(|header| header.is_met_by_header(request))
            && self
                .query
                .iter()
                .all(|parameter| parameter.is_met_by_query(query(), buffer))
            && self
                .cookies
                .iter()
                .all(|cookie| cookie.is_met_by_cookies(request))
    }

    /// Every condition that a request does not meet.
    pub(crate) fn unmet<S: Subject + ?Sized>(&self, request: &S) -> Vec<WhyNot> {
        let query = request.query().unwrap_or_default();
        let mut buffer = Vec::new();
        let headers = self.headers.iter();
        let mut unmet: Vec<WhyNot> = headers
            .filter(|header| !header.is_met_by_header(request))
            .map(|header| header.why_not(HEADER, request))
            .collect();
        for parameter in &self.query {
            if !parameter.is_met_by_query(query, &mut buffer) {
                unmet.push(parameter.why_not(QUERY, request));
            }
        }
        let cookies = self.cookies.iter();
        unmet.extend(
            cookies
                .filter(|cookie| !cookie.is_met_by_cookies(request))
                .map(|cookie| cookie.why_not(COOKIE, request)),
        );
        unmet
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
        self.visit_header(request, |value| verdict.note(self.test.accepts(value)));
        verdict.of(&self.test)
    }

    fn is_met_by_query(&self, query: &str, buffer: &mut Vec<u8>) -> bool {
        let mut verdict = Verdict::default();
        self.visit_query(query, buffer, |value| {
            verdict.note(self.test.accepts(value));
        });
        verdict.of(&self.test)
    }

    fn is_met_by_cookies<S: Subject + ?Sized>(&self, request: &S) -> bool {
        let mut verdict = Verdict::default();
        self.visit_cookies(request, |value| verdict.note(self.test.accepts(value)));
        verdict.of(&self.test)
    }

    fn visit_header<S: Subject + ?Sized>(&self, request: &S, mut each: impl FnMut(&[u8])) {
        request.header_values(&self.name, &mut |value| each(value.trim_ascii()));
    }

    fn visit_query(&self, query: &str, buffer: &mut Vec<u8>, mut each: impl FnMut(&[u8])) {
        query::values_of(query, &self.name, |raw| {
            buffer.clear();
            buffer.extend(query::decoded(raw));
            each(buffer);
        });
    }

    fn visit_cookies<S: Subject + ?Sized>(&self, request: &S, mut each: impl FnMut(&[u8])) {
        request.header_values("cookie", &mut |line| {
            for pair in line.split(|byte| *byte == b';') {
                let mut halves = pair.splitn(2, |byte| *byte == b'=');
                let (Some(name), Some(value)) = (halves.next(), halves.next()) else {
                    continue;
                };
                if name.trim_ascii() == self.name.as_bytes() {
                    each(value.trim_ascii());
                }
            }
        });
    }

    /// Why a request does not meet it, with the values it has.
    fn why_not<S: Subject + ?Sized>(&self, kind: &'static str, request: &S) -> WhyNot {
        let mut has = Vec::new();
        let mut each = |value: &[u8]| {
            if has.len() < MOST_SHOWN {
                let shown = value.get(..LONGEST_SHOWN).unwrap_or(value);
                has.push(String::from_utf8_lossy(shown).into_owned());
            }
        };
        match kind {
            HEADER => self.visit_header(request, &mut each),
            QUERY => {
                let query = request.query().unwrap_or_default();
                self.visit_query(query, &mut Vec::new(), &mut each);
            }
            _ => self.visit_cookies(request, &mut each),
        }
        WhyNot::Condition {
            kind,
            name: self.name.clone(),
            wanted: self.test.clone(),
            has,
        }
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
