//! `path_rewrite`: gives the upstream another path than the client asked for.

use std::{borrow::Cow, sync::Arc};

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Filter, InvalidConfig, Params, Phase, Reject, Step, codes};

use crate::normal_path::{restored, restored_own};

mod parse;

/// Changes the path that the upstream gets, in exactly one of these ways; the query stays.
///
/// The filter works on the normal form of the path. Escapes are forwarded as they are, a trailing
/// slash is kept, and the result begins with exactly one slash. A result that is no normal form,
/// because a pattern cut an escape in two or made a `..`, is answered with 400.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub struct Config {
    /// How many segments go from the front: 1 makes `/list/` of `/svc/list/`.
    #[schemars(range(min = 1, max = 100))]
    strip_segments: Option<usize>,
    /// Whole segments that go from the front, such as `/svc`; other paths stay as they are.
    strip_prefix: Option<String>,
    /// What is put before the path, such as `/v2`.
    prefix: Option<String>,
    /// A pattern and what takes its place.
    replace: Option<Replace>,
    /// A new path with the parameters of the route, such as `/b/{id}`; `{rest}` is what a trailing
    /// `/**` of the route stands for.
    template: Option<String>,
}

/// A pattern and what takes its place.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replace {
    /// A regular expression that is looked for in the path (syntax of the Rust crate `regex`: no
    /// look-around, linear time). Every match is replaced.
    pattern: String,
    /// What takes the place of a match; `$1` or `${name}` is what a group matched, `$$` a dollar.
    with: String,
}

/// The filter.
pub struct PathRewrite {
    way: Way,
    params: Vec<Box<str>>,
}

enum Way {
    StripSegments(usize),
    StripPrefix(Box<str>),
    Prefix(Box<str>),
    Replace { pattern: Regex, with: Box<str> },
    Template(Box<[Piece]>),
}

enum Piece {
    Text(Box<str>),
    Param(Box<str>),
}

impl Filter for PathRewrite {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "path_rewrite";

    fn phase(_: &Config) -> Phase {
        Phase::Rewrite
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let way = parse::way(config)?;
        let params = match &way {
            Way::Template(pieces) => pieces.iter().filter_map(Piece::param).collect(),
            _ => Vec::new(),
        };
        Ok(Self { way, params })
    }

    fn path_params(&self) -> &[Box<str>] {
        &self.params
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        let exchange = cx.exchange;
        let path = exchange.request.path();
        let rewritten = match self.way.rewrite(path, &exchange.params) {
            Ok(rewritten) => rewritten,
            Err(reject) => return Step::Done(Err(reject)),
        };
        if rewritten == path {
            return Step::NEXT;
        }
        let rewritten = rewritten.into_owned();
        let written = exchange.request.set_path(&rewritten);
        exchange.note(|| format!("the upstream gets `{rewritten}`"));
        written.map_err(Into::into).into()
    }
}

impl Way {
    fn rewrite<'a>(&self, path: &'a str, params: &Params) -> Result<Cow<'a, str>, Reject> {
        let changed = match self {
            Self::StripSegments(count) => Cow::Borrowed(without_segments(path, *count)),
            Self::StripPrefix(prefix) => Cow::Borrowed(without_prefix(path, prefix)),
            Self::Prefix(prefix) => Cow::Owned([prefix, path].concat()),
            Self::Replace { pattern, with } => pattern.replace_all(path, &**with),
            Self::Template(pieces) => Cow::Owned(filled(pieces, params)?),
        };
        let normal = match changed {
            Cow::Borrowed(changed) => restored(changed),
            Cow::Owned(changed) => restored_own(changed).map(Cow::Owned),
        };
        normal.ok_or_else(|| {
            Reject::new(&codes::BAD_PATH).because("path_rewrite made a path that is no normal form")
        })
    }
}

/// What is left after `count` segments; the slash before the rest is kept.
fn without_segments(path: &str, count: usize) -> &str {
    let mut rest = path;
    for _ in 0..count {
        let segment = rest.strip_prefix('/').unwrap_or(rest);
        rest = segment
            .find('/')
            .and_then(|slash| segment.get(slash..))
            .unwrap_or("/");
    }
    rest
}

/// The path without `prefix`, if that ends where a segment ends.
fn without_prefix<'a>(path: &'a str, prefix: &str) -> &'a str {
    match path.strip_prefix(prefix) {
        Some("") => "/",
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}

fn filled(pieces: &[Piece], params: &Params) -> Result<String, Reject> {
    let mut path = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => path.push_str(text),
            Piece::Param(name) => path.push_str(params.get(name).ok_or_else(|| {
                // The compiler of snapshots refuses a name that the route's template lacks.
                Reject::new(&codes::INTERNAL).because(format!("no path parameter `{name}`"))
            })?),
        }
    }
    Ok(path)
}

impl Piece {
    fn param(&self) -> Option<Box<str>> {
        match self {
            Self::Text(_) => None,
            Self::Param(name) => Some(name.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
