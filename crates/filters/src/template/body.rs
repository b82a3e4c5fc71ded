//! Bodies in configurations, with placeholders.

use std::borrow::Cow;

use sluicegate_core::Exchange;

use super::{BadTemplate, Escape, Template};

/// A body whose values are escaped as its content type needs it.
#[derive(Debug, Clone)]
pub struct BodyText {
    template: Template,
    escape: Escape,
}

impl BodyText {
    /// Reads a body of this content type.
    ///
    /// # Errors
    /// An unknown placeholder, or a placeholder in a type for which no escaping is known.
    pub fn parse(text: &str, content_type: &str) -> Result<Self, BadTemplate> {
        let template = Template::parse(text)?;
        let escape = match (escape_for(content_type), template.literal()) {
            (Some(escape), _) => escape,
            (None, Some(_)) => Escape::Nothing,
            (None, None) => {
                return Err(BadTemplate::new(format!(
                    "a body of the type `{content_type}` has no placeholders: nobody knows how to escape a value there"
                ))
                .expecting("text/plain, HTML, XML or JSON; or doubled braces for the text itself"));
            }
        };
        Ok(Self { template, escape })
    }

    /// The text, when nothing is to be filled in.
    pub fn literal(&self) -> Option<&str> {
        self.template.literal()
    }

    /// The path parameters of the route that stand in it.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.template.params()
    }

    /// The body for this exchange.
    pub fn of(&self, exchange: &Exchange) -> Cow<'_, [u8]> {
        if let Some(text) = self.template.literal() {
            return Cow::Borrowed(text.as_bytes());
        }
        let mut body = Vec::new();
        self.template.fill(exchange, self.escape, &mut body);
        Cow::Owned(body)
    }
}

fn escape_for(content_type: &str) -> Option<Escape> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let media_type = media_type.to_ascii_lowercase();
    let (_, subtype) = media_type.split_once('/')?;
    match subtype.rsplit('+').next().unwrap_or(subtype) {
        "plain" => Some(Escape::Nothing),
        "html" | "xml" => Some(Escape::Markup),
        "json" => Some(Escape::Json),
        "x-www-form-urlencoded" => Some(Escape::Component),
        _ => None,
    }
}
