//! What kept a route from taking a request, in words.

use std::fmt;

use crate::predicate::Test;

/// A condition that a request does not meet.
#[derive(Clone, Debug)]
pub enum WhyNot {
    /// Another host; the hosts the route is for.
    Host(Vec<String>),
    /// Another path.
    Path(PathGap),
    /// The method is not admitted; the methods that are.
    Method(Vec<String>),
    /// A condition on a header, a query parameter or a cookie.
    Condition {
        /// `header`, `query` or `cookie`.
        kind: &'static str,
        /// As in the document; header names in lower case.
        name: String,
        /// What is asked of it.
        wanted: Test,
        /// The values it has, a few of them.
        has: Vec<String>,
    },
}

/// Where a path and a template part. Segments are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathGap {
    /// Only the template ends with a slash (`true`), or only the path does.
    Slash(bool),
    /// The same but for capitals.
    Case {
        /// Place of the first segment that differs.
        segment: usize,
        /// The template's.
        wanted: String,
        /// The path's.
        has: String,
    },
    /// A segment that the template does not take.
    Segment {
        /// Its place.
        segment: usize,
        /// The template's.
        wanted: String,
        /// The path's.
        has: String,
    },
    /// The path ends where this part of the template would have to follow.
    Ends(String),
    /// The template ends where this part of the path follows.
    GoesOn(String),
}

impl WhyNot {
    /// What the condition is about, for programs.
    pub fn condition(&self) -> &'static str {
        match self {
            Self::Host(_) => "host",
            Self::Path(_) => "path",
            Self::Method(_) => "method",
            Self::Condition { kind, .. } => kind,
        }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(hosts) => write!(f, "host: it is for {}", hosts.join(", ")),
            Self::Path(gap) => write!(f, "path: {gap}"),
            Self::Method(methods) => write!(f, "method: it takes {}", methods.join(", ")),
            Self::Condition {
                kind,
                name,
                wanted,
                has,
            } => {
                write!(f, "{kind} {name}: ")?;
                match wanted {
                    Test::Equals(value) => write!(f, "`{value}` is wanted")?,
                    Test::Matches(pattern) => {
                        let text = pattern.as_str();
                        // The router has added the anchors.
                        let inner = text.strip_prefix(r"\A(?:");
                        let inner = inner.and_then(|inner| inner.strip_suffix(r")\z"));
                        write!(f, "a match of `{}` is wanted", inner.unwrap_or(text))?;
                    }
                    Test::Present(true) => f.write_str("it has to be there")?,
                    Test::Present(false) => return f.write_str("it must not be there"),
                }
                if has.is_empty() {
                    f.write_str(", there is none")
                } else {
                    write!(f, ", there is `{}`", has.join("`, `"))
                }
            }
        }
    }
}

impl fmt::Display for PathGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slash(true) => f.write_str("only the trailing slash is missing"),
            Self::Slash(false) => f.write_str("only the trailing slash is too many"),
            Self::Case {
                segment,
                wanted,
                has,
            } => write!(
                f,
                "segment {segment} is `{has}`, not `{wanted}`: capitals count"
            ),
            Self::Segment {
                segment,
                wanted,
                has,
            } => write!(f, "segment {segment} is `{has}`, not `{wanted}`"),
            Self::Ends(missing) => write!(f, "it ends where `{missing}` has to follow"),
            Self::GoesOn(rest) => {
                write!(
                    f,
                    "it goes on with `{rest}`, which only `/**` at the end would take"
                )
            }
        }
    }
}
