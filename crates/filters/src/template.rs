//! Text in configurations with placeholders for what is known of an exchange.

use sluicegate_core::{Exchange, closest};

mod body;
mod escape;
mod location;
mod placeholder;

pub use body::BodyText;
pub(crate) use escape::Escape;
pub use location::Location;
pub(crate) use placeholder::{KNOWN, Placeholder};

/// Text in which words in braces stand for the exchange's own, such as `{request_id}`. Any other
/// brace is a brace, so JSON may stand here; `{{route}}` is the text `{route}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Text(Box<str>),
    Parts(Box<[Part]>),
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(Box<str>),
    Value(Placeholder),
}

/// Text that is no template, or that cannot stand where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTemplate {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub expected: Option<String>,
    /// The placeholder that was probably meant.
    pub suggestion: Option<String>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`BadTemplate`]: a word in braces is no placeholder.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            literal.push_str(before);
            if let Some((word, tail)) = after.strip_prefix('{').and_then(word)
                && let Some(tail) = tail.strip_prefix('}')
            {
                literal.extend(["{", word, "}"]);
                rest = tail;
            } else if let Some((word, tail)) = word(after) {
                let value = Placeholder::named(word).ok_or_else(|| unknown(word))?;
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal).into()));
                }
                parts.push(Part::Value(value));
                rest = tail;
            } else {
                literal.push('{');
                rest = after;
            }
        }
        literal.push_str(rest);
        if parts.is_empty() {
            return Ok(Self(Form::Text(literal.into())));
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal.into()));
        }
        Ok(Self(Form::Parts(parts.into())))
    }

    /// The text, when nothing is to be filled in.
    pub fn literal(&self) -> Option<&str> {
        match &self.0 {
            Form::Text(text) => Some(text),
            Form::Parts(_) => None,
        }
    }

    /// The path parameters of the route that stand in it.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().filter_map(|part| match part {
            Part::Value(Placeholder::Param(name)) => Some(&**name),
            Part::Text(_) | Part::Value(_) => None,
        })
    }

    /// The pieces of a template that has placeholders.
    fn parts(&self) -> &[Part] {
        match &self.0 {
            Form::Text(_) => &[],
            Form::Parts(parts) => parts,
        }
    }

    /// The text for this exchange; `buffer` is only used when there is something to fill in.
    pub(crate) fn fill<'a>(
        &'a self,
        exchange: &Exchange,
        escape: Escape,
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let parts = match &self.0 {
            Form::Text(text) => return text.as_bytes(),
            Form::Parts(parts) => parts,
        };
        buffer.clear();
        for part in parts {
            match part {
                Part::Text(text) => buffer.extend_from_slice(text.as_bytes()),
                Part::Value(value) => value.write(exchange, escape, buffer),
            }
        }
        buffer
    }
}

/// The word before the next `}`, when it is one, and what follows: `route`, `param.id`.
fn word(text: &str) -> Option<(&str, &str)> {
    let (word, tail) = text.split_once('}')?;
    let (head, name) = word.split_once('.').unwrap_or((word, "x"));
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    let is_word = !head.is_empty()
        && head.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        && name.bytes().all(is_token);
    is_word.then_some((word, tail))
}

fn unknown(word: &str) -> BadTemplate {
    let (head, name) = match word.split_once('.') {
        Some((head, name)) => (head, Some(name)),
        None => (word, None),
    };
    let meant = closest(
        head,
        KNOWN.map(|known| known.split('.').next().unwrap_or(known)),
    );
    let meant = meant.map(|meant| match (meant, name) {
        ("param" | "header", name) => format!("{{{meant}.{}}}", name.unwrap_or("NAME")),
        _ => format!("{{{meant}}}"),
    });
    BadTemplate {
        message: format!("there is no placeholder `{{{word}}}`"),
        expected: Some(format!(
            "one of: {}; or `{{{{{word}}}}}` for the text",
            KNOWN.map(|known| format!("{{{known}}}")).join(", ")
        )),
        suggestion: meant,
    }
}

impl BadTemplate {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            expected: None,
            suggestion: None,
        }
    }

    #[must_use]
    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// All of it in one sentence, for parsers that take one.
    pub(crate) fn into_sentence(self) -> String {
        let Self {
            mut message,
            expected,
            suggestion,
        } = self;
        if let Some(suggestion) = suggestion {
            message.extend(["; did you mean `", &suggestion, "`?"]);
        }
        if let Some(expected) = expected {
            message.extend([" (", &expected, ")"]);
        }
        message
    }
}

#[cfg(test)]
mod tests;
