//! Path templates: literals, `{parameters}` and a trailing `/**`.

use crate::normal_form::{Normal, normalize};

/// Deeper templates are refused, so that the walk of the tree stays shallow.
const MOST_SEGMENTS: usize = 64;
const LONGEST: usize = 2048;
/// Stands for a parameter while the literals are put into normal form, which leaves it alone.
const STAND_IN: &str = "~0parameter0~";

/// A template, read once and compared many times.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    text: Box<str>,
    segments: Box<[Segment]>,
    tail: Tail,
}

/// One segment of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Exactly this; empty for a trailing slash.
    Literal(Box<str>),
    /// A parameter between two texts of which one may be empty, or both.
    Parameter {
        prefix: Box<str>,
        name: Box<str>,
        suffix: Box<str>,
    },
}

/// What may follow the segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing.
    End,
    /// Zero or more segments, with their name in `/{*name}`.
    Rest(Option<Box<str>>),
}

/// Why a template cannot be used, and what would be right.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadTemplate {
    pub(crate) message: String,
    pub(crate) expected: Option<String>,
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, BadTemplate> {
        let Some(inner) = text.strip_prefix('/') else {
            return refuse("does not begin with a slash", Some(format!("/{text}")));
        };
        if text.len() > LONGEST || inner.split('/').count() > MOST_SEGMENTS {
            return refuse(
                "is too long",
                Some(format!("at most {MOST_SEGMENTS} segments")),
            );
        }

        let (inner, tail) = split_tail(inner)?;
        let segments = match (inner, &tail) {
            (None, _) => Vec::new(),
            (Some(inner), _) => inner
                .split('/')
                .map(Segment::parse)
                .collect::<Result<Vec<_>, _>>()?,
        };
        let template = Self {
            text: text.into(),
            segments: segments.into(),
            tail,
        };
        template.check_names()?;
        template.check_normal_form()?;
        Ok(template)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Whether it goes on with `/**` or `/{*name}`.
    pub(crate) fn is_open(&self) -> bool {
        match self.tail {
            Tail::End => false,
            Tail::Rest(_) => true,
        }
    }

    /// Where it stands among the templates that match one path: precise before broad.
    pub(crate) fn precision(&self) -> Vec<Precision> {
        let last = match self.tail {
            Tail::End => Precision::End,
            Tail::Rest(_) => Precision::Rest,
        };
        let segments = self.segments.iter().map(|segment| match segment {
            Segment::Literal(_) => Precision::Literal,
            Segment::Parameter { prefix, suffix, .. } => Precision::Parameter {
                text_beyond: usize::MAX - prefix.len() - suffix.len(),
                prefix_beyond: usize::MAX - prefix.len(),
            },
        });
        segments.chain([last]).collect()
    }

    /// The template without the names: two of the same shape match the same paths.
    pub(crate) fn shape(&self) -> String {
        let mut shape = String::new();
        for segment in &self.segments {
            shape.push('/');
            match segment {
                Segment::Literal(text) => shape.push_str(text),
                Segment::Parameter { prefix, suffix, .. } => {
                    shape.push_str(prefix);
                    shape.push_str("{}");
                    shape.push_str(suffix);
                }
            }
        }
        if let Tail::Rest(_) = self.tail {
            shape.push_str("/**");
        }
        shape
    }

    /// What is left of a path in normal form after the segments; `None` when it does not match.
    pub(crate) fn rest_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut tail = path.strip_prefix('/');
        for segment in &self.segments {
            let (text, next) = split_segment(tail?);
            if !segment.takes(text) {
                return None;
            }
            tail = next;
        }
        (tail.is_none() || self.is_open()).then(|| tail.unwrap_or_default())
    }

    /// The segment at a place, as written.
    pub(crate) fn text_of(&self, place: usize) -> &str {
        let mut written = self.text.split('/').skip(1);
        written.nth(place).unwrap_or_default()
    }

    /// What is written from a place on, with its slash.
    pub(crate) fn text_from(&self, place: usize) -> &str {
        let mut start = self.text.match_indices('/').map(|(slash, _)| slash);
        let start = start.nth(place).unwrap_or_default();
        self.text.get(start..).unwrap_or_default()
    }

    /// Whether it would take a path if capitals did not count.
    pub(crate) fn takes_in_lower_case(&self, path: &str) -> bool {
        let lower = |text: &str| text.to_ascii_lowercase().into_boxed_str();
        let segments = self.segments.iter().map(|segment| match segment {
            Segment::Literal(text) => Segment::Literal(lower(text)),
            Segment::Parameter {
                prefix,
                name,
                suffix,
            } => Segment::Parameter {
                prefix: lower(prefix),
                name: name.clone(),
                suffix: lower(suffix),
            },
        });
        let template = Self {
            text: self.text.clone(),
            segments: segments.collect(),
            tail: self.tail.clone(),
        };
        template.rest_of(&lower(path)).is_some()
    }

    /// Name and value of each parameter in a path that matches.
    pub(crate) fn params<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut tail = path.strip_prefix('/');
        let within = self.segments.iter().filter_map(move |segment| {
            let (text, next) = split_segment(tail?);
            tail = next;
            match segment {
                Segment::Literal(_) => None,
                Segment::Parameter {
                    prefix,
                    name,
                    suffix,
                } => Some((&**name, between(text, prefix, suffix)?)),
            }
        });
        let rest = match &self.tail {
            Tail::Rest(Some(name)) => self.rest_of(path).map(|rest| (&**name, rest)),
            Tail::Rest(None) | Tail::End => None,
        };
        within.chain(rest)
    }

    fn check_names(&self) -> Result<(), BadTemplate> {
        let mut names: Vec<&str> = Vec::new();
        let parameters = self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(_) => None,
            Segment::Parameter { name, .. } => Some(&**name),
        });
        let rest = match &self.tail {
            Tail::Rest(Some(name)) => Some(&**name),
            Tail::Rest(None) | Tail::End => None,
        };
        for name in parameters.chain(rest) {
            if names.contains(&name) {
                return refuse(&format!("has two parameters called `{name}`"), None);
            }
            names.push(name);
        }
        Ok(())
    }

    /// A literal that is not in normal form would wait for a request that never comes.
    fn check_normal_form(&self) -> Result<(), BadTemplate> {
        let mut path = String::new();
        for segment in &self.segments {
            path.push('/');
            match segment {
                Segment::Literal(text) => path.push_str(text),
                Segment::Parameter { prefix, suffix, .. } => {
                    path.push_str(prefix);
                    path.push_str(STAND_IN);
                    path.push_str(suffix);
                }
            }
        }
        if path.is_empty() {
            return Ok(());
        }
        if path.ends_with('/') && self.is_open() {
            // `/a//**`: nothing follows an empty segment, they are merged in every request.
            let right = self.with_names(path.trim_end_matches('/'));
            return refuse(
                "has an empty segment, so no request would match",
                Some(right),
            );
        }
        let mut normal = String::new();
        match normalize(&path, &mut normal) {
            Ok(Normal::Unchanged) => Ok(()),
            Ok(Normal::Changed) => refuse(
                "is not in path normal form, so no request would match",
                Some(self.with_names(&normal)),
            ),
            Err(bad) => refuse(&format!("could never match: {}", bad.reason()), None),
        }
    }

    fn with_names(&self, normal: &str) -> String {
        let mut text = normal.to_owned();
        for segment in &self.segments {
            if let Segment::Parameter { name, .. } = segment {
                text = text.replacen(STAND_IN, &format!("{{{name}}}"), 1);
            }
        }
        match &self.tail {
            Tail::End => text,
            Tail::Rest(None) => format!("{}/**", text.trim_end_matches('/')),
            Tail::Rest(Some(name)) => format!("{}/{{*{name}}}", text.trim_end_matches('/')),
        }
    }
}

/// Precise before broad, at one place of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precision {
    /// The template ends where the path does.
    End,
    Literal,
    /// More text beside the parameter first, then more of it before.
    Parameter {
        text_beyond: usize,
        prefix_beyond: usize,
    },
    Rest,
}

impl Segment {
    /// Whether it takes a segment of a path.
    pub(crate) fn takes(&self, text: &str) -> bool {
        match self {
            Self::Literal(literal) => **literal == *text,
            Self::Parameter { prefix, suffix, .. } => between(text, prefix, suffix).is_some(),
        }
    }

    fn parse(text: &str) -> Result<Self, BadTemplate> {
        let Some((prefix, rest)) = text.split_once('{') else {
            if text.contains('}') {
                return refuse("has a `}` without its `{`", None);
            }
            if text.contains('*') {
                let right = "`{name}` for one segment, a trailing `/**` for any number";
                return refuse("has a `*` in it", Some(right.to_owned()));
            }
            return Ok(Self::Literal(text.into()));
        };
        let Some((name, suffix)) = rest.split_once('}') else {
            return refuse("has a `{` without its `}` in the same segment", None);
        };
        if name.starts_with('*') {
            return refuse(
                "has `{*…}` before its end",
                Some("it as the whole last segment".into()),
            );
        }
        if prefix.contains(['}', '*']) || suffix.contains(['{', '}', '*']) {
            let right = "one `{name}` in a segment";
            return refuse("has a segment that is not simple", Some(right.to_owned()));
        }
        check_name(name)?;
        Ok(Self::Parameter {
            prefix: prefix.into(),
            name: name.into(),
            suffix: suffix.into(),
        })
    }
}

/// The first segment of what follows a slash, and what follows the next slash.
pub(crate) fn split_segment(tail: &str) -> (&str, Option<&str>) {
    // Segments are so short that a plain loop beats the vectorised search of the standard library.
    let slash = tail.bytes().position(|byte| byte == b'/');
    let split = slash.and_then(|slash| Some((tail.get(..slash)?, tail.get(slash + 1..)?)));
    split.map_or((tail, None), |(segment, next)| (segment, Some(next)))
}

/// The value of a parameter between two texts: not empty, and cut through no escape.
pub(crate) fn between<'a>(segment: &'a str, prefix: &str, suffix: &str) -> Option<&'a str> {
    let value = segment.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let cuts_an_escape = matches!(value.as_bytes(), [.., b'%'] | [.., b'%', _]);
    (!value.is_empty() && !cuts_an_escape).then_some(value)
}

fn split_tail(inner: &str) -> Result<(Option<&str>, Tail), BadTemplate> {
    let (before, last) = match inner.rsplit_once('/') {
        Some((before, last)) => (Some(before), last),
        None => (None, inner),
    };
    if last == "**" {
        return Ok((before, Tail::Rest(None)));
    }
    let named = last
        .strip_prefix("{*")
        .and_then(|rest| rest.strip_suffix('}'));
    if let Some(name) = named {
        check_name(name)?;
        return Ok((before, Tail::Rest(Some(name.into()))));
    }
    if inner.split('/').any(|segment| segment == "**") {
        return refuse(
            "has `**` before its end",
            Some("`/**` as the end only".into()),
        );
    }
    Ok((Some(inner), Tail::End))
}

fn check_name(name: &str) -> Result<(), BadTemplate> {
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let goes_on_well = |rest: char| rest.is_ascii_alphanumeric() || rest == '_' || rest == '-';
    if begins_well && name.len() <= 64 && name.chars().all(goes_on_well) {
        return Ok(());
    }
    refuse(
        &format!("has a parameter with the name `{name}`"),
        Some("a letter, then letters, digits, `_` or `-`".to_owned()),
    )
}

fn refuse<T>(message: &str, expected: Option<String>) -> Result<T, BadTemplate> {
    Err(BadTemplate {
        message: message.to_owned(),
        expected,
    })
}
