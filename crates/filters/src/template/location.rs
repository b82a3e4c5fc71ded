//! Where a redirect leads, in configurations.

use sluicegate_core::{Exchange, Reject, codes};

use super::{BadTemplate, Escape, Form, Part, Placeholder, Template};

/// A value of `Location`. Where it leads is the configuration's decision alone: what a client sends
/// may be part of its path or a value in its query, never its scheme or another host.
#[derive(Debug, Clone)]
pub struct Location {
    form: Target,
    /// The request's query is added.
    keep_query: bool,
}

#[derive(Debug, Clone)]
enum Target {
    Text(Box<str>),
    Parts(Box<[(Part, Escape)]>),
}

/// Which part of the URL the reader is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Scheme,
    Authority,
    Path,
    Query,
}

const STARTS: &str = "a location that begins with `/`, `{path}`, `https://`, `http://` or `{scheme}://`, \
    with nothing but text and `{host}` before its path";

impl Location {
    /// Reads a location.
    ///
    /// # Errors
    /// It is no address, or a placeholder stands where a client could choose the host.
    pub fn parse(template: &Template, keep_query: bool) -> Result<Self, BadTemplate> {
        let form = match &template.0 {
            Form::Text(text) => {
                check_text(text)?;
                if text.is_empty() {
                    return Err(BadTemplate::new("a location cannot be empty").expecting(STARTS));
                }
                Target::Text(text.clone())
            }
            Form::Parts(parts) => Target::Parts(placed(parts)?),
        };
        Ok(Self { form, keep_query })
    }

    /// Adds what is left of the path behind so many segments.
    ///
    /// # Errors
    /// As for [`Location::parse`].
    pub fn with_path_after(
        front: &Template,
        segments: usize,
        keep_query: bool,
    ) -> Result<Self, BadTemplate> {
        let mut parts = match &front.0 {
            Form::Text(text) if text.is_empty() => Vec::new(),
            Form::Text(text) => vec![Part::Text(text.clone())],
            Form::Parts(parts) => parts.to_vec(),
        };
        parts.push(Part::Value(Placeholder::PathAfter(segments)));
        let form = Target::Parts(placed(&parts)?);
        Ok(Self { form, keep_query })
    }

    /// The value for this exchange; `buffer` is only used when there is something to fill in.
    ///
    /// # Errors
    /// The request has no host, and it is needed.
    pub fn of<'a>(
        &'a self,
        exchange: &Exchange,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Reject> {
        let query = exchange.request.query().filter(|query| !query.is_empty());
        let query = query.filter(|_| self.keep_query);
        buffer.clear();
        match &self.form {
            Target::Text(text) if query.is_none() => return Ok(text.as_bytes()),
            Target::Text(text) => buffer.extend_from_slice(text.as_bytes()),
            Target::Parts(parts) => fill(parts, exchange, buffer)?,
        }
        if let Some(query) = query {
            add_query(query, buffer);
        }
        Ok(buffer)
    }

    /// The text, when it is the same for every request.
    pub fn literal(&self) -> Option<&str> {
        match &self.form {
            Target::Text(text) if !self.keep_query => Some(text),
            Target::Text(_) | Target::Parts(_) => None,
        }
    }
}

fn fill(parts: &[(Part, Escape)], exchange: &Exchange, out: &mut Vec<u8>) -> Result<(), Reject> {
    for (part, escape) in parts {
        match part {
            Part::Text(text) => out.extend_from_slice(text.as_bytes()),
            Part::Value(value) => {
                let before = out.len();
                value.write(exchange, *escape, out);
                let is_empty = out.len() == before;
                if is_empty && *value == Placeholder::Host {
                    return Err(Reject::new(&codes::BAD_REQUEST)
                        .because("a redirect needs the host, and the request names none"));
                }
                if is_empty
                    && *value == Placeholder::Query
                    && matches!(out.last(), Some(b'?' | b'&'))
                {
                    out.pop();
                }
            }
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
    // A browser takes `//host` for another site.
    if out.first() == Some(&b'/') {
        let slashes = out.iter().take_while(|byte| matches!(byte, b'/' | b'\\'));
        let more = slashes.count().saturating_sub(1);
        out.drain(1..=more);
    }
    Ok(())
}

fn add_query(query: &str, out: &mut Vec<u8>) {
    let end = out.iter().position(|byte| *byte == b'#');
    let fragment = out.split_off(end.unwrap_or(out.len()));
    let mark = match (out.contains(&b'?'), out.last()) {
        (false, _) => Some(b'?'),
        (true, Some(b'?' | b'&')) => None,
        (true, _) => Some(b'&'),
    };
    out.extend(mark);
    out.extend_from_slice(query.as_bytes());
    out.extend_from_slice(&fragment);
}

fn placed(parts: &[Part]) -> Result<Box<[(Part, Escape)]>, BadTemplate> {
    let mut place = Place::Start;
    let mut placed = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| parts.get(index));
        let escape = match part {
            Part::Text(text) => {
                check_text(text)?;
                place = behind(text, place)?;
                Escape::Nothing
            }
            Part::Value(value) => {
                let around = (before, parts.get(index + 1));
                let (next, escape) = value_at(value, place, around)?;
                place = next;
                escape
            }
        };
        placed.push((part.clone(), escape));
    }
    if matches!(place, Place::Start | Place::Scheme) {
        return Err(BadTemplate::new("this is not an address").expecting(STARTS));
    }
    Ok(placed.into())
}

fn check_text(text: &str) -> Result<(), BadTemplate> {
    // Braces among them: a placeholder that was not closed is no address.
    let is_part = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    if text.bytes().all(is_part) {
        return Ok(());
    }
    Err(BadTemplate::new("this is not an address")
        .expecting("a URL or a path, with spaces and other characters escaped"))
}

/// The part of the URL in which a text ends.
fn behind(text: &str, place: Place) -> Result<Place, BadTemplate> {
    let start = || Err(BadTemplate::new("where this leads is not certain").expecting(STARTS));
    let (mut place, mut rest) = match place {
        Place::Start => {
            let absolute = text
                .strip_prefix("https://")
                .or_else(|| text.strip_prefix("http://"));
            match absolute {
                Some(rest) => (Place::Authority, rest),
                None if text.starts_with("//") || !text.starts_with('/') => return start(),
                None => (Place::Path, text),
            }
        }
        Place::Scheme => match text.strip_prefix("://") {
            Some(rest) => (Place::Authority, rest),
            None => return start(),
        },
        other => (other, text),
    };
    if place == Place::Authority
        && let Some(end) = rest.find(['/', '?', '#', '\\'])
    {
        place = Place::Path;
        rest = rest.get(end..).unwrap_or_default();
    }
    if place == Place::Path && rest.contains(['?', '#']) {
        place = Place::Query;
    }
    Ok(place)
}

fn value_at(
    value: &Placeholder,
    place: Place,
    (before, after): (Option<&Part>, Option<&Part>),
) -> Result<(Place, Escape), BadTemplate> {
    let name = value.name();
    let refused = |message: String, expected: &str| {
        Err(BadTemplate::new(message).expecting(expected.to_owned()))
    };
    match (place, value) {
        (Place::Start, Placeholder::Scheme) => Ok((Place::Scheme, Escape::Nothing)),
        (Place::Authority, Placeholder::Host) => Ok((Place::Authority, Escape::Nothing)),
        (Place::Authority | Place::Start, Placeholder::Path | Placeholder::PathAfter(_)) => {
            Ok((Place::Path, Escape::Nothing))
        }
        (Place::Start | Place::Scheme | Place::Authority, _) => refused(
            format!("`{name}` stands where it would decide which host is asked"),
            STARTS,
        ),
        (Place::Path, Placeholder::Path | Placeholder::PathAfter(_)) => {
            if matches!(before, Some(Part::Text(text)) if text.ends_with('/')) {
                return refused(
                    format!("`{name}` brings its own slash"),
                    "no slash before it",
                );
            }
            Ok((Place::Path, Escape::Nothing))
        }
        // A parameter is a piece of the normal form, which has neither `?` nor `#`.
        (Place::Path, Placeholder::Param(_)) => Ok((Place::Path, Escape::Nothing)),
        (Place::Path, Placeholder::Query | Placeholder::Header(_)) => refused(
            format!("`{name}` cannot stand in the path of a location"),
            "a place behind `?`",
        ),
        (Place::Query, Placeholder::Query) => {
            let opens = matches!(before, Some(Part::Text(text)) if text.ends_with(['?', '&']));
            let closes = match after {
                None => true,
                Some(Part::Text(text)) => text.starts_with(['&', '#']),
                Some(Part::Value(_)) => false,
            };
            let whole = opens && closes;
            let escape = if whole {
                Escape::Nothing
            } else {
                Escape::Component
            };
            Ok((Place::Query, escape))
        }
        (Place::Path | Place::Query, _) => Ok((place, Escape::Component)),
    }
}
