//! The JSON Schema of a filter's configuration: finds all mistakes at once and says what would be right.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind as Kind};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;
use sluicegate_core::{InvalidConfig, closest};

/// The schema of one configuration type.
pub struct ConfigSchema {
    json: Value,
    /// None only if the generated schema were not valid itself; the parser then stands alone.
    validator: Option<Validator>,
}

impl ConfigSchema {
    /// Generates the schema from the type and its doc comments.
    pub fn of<C: JsonSchema>() -> Self {
        let json = schemars::schema_for!(C).to_value();
        let validator = jsonschema::validator_for(&json).ok();
        debug_assert!(validator.is_some(), "a generated schema is not valid");
        Self { json, validator }
    }

    /// The schema itself (JSON Schema 2020-12).
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Everything that the schema finds, or else what the parser finds.
    pub fn read<C: DeserializeOwned>(&self, config: &Value) -> Result<C, Vec<InvalidConfig>> {
        let mut mistakes = Vec::new();
        for error in self.validator.iter().flat_map(|v| v.iter_errors(config)) {
            self.explain(&error, &mut mistakes);
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        serde_path_to_error::deserialize(config).map_err(|error| {
            vec![InvalidConfig::new(
                pointer(error.path()),
                error.inner().to_string(),
            )]
        })
    }

    fn explain(&self, error: &ValidationError<'_>, mistakes: &mut Vec<InvalidConfig>) {
        let path = error.instance_path().as_str();
        let place = self.place(error);
        let mistake = match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                mistakes.extend(
                    unexpected
                        .iter()
                        .map(|name| unexpected_field(path, name, place)),
                );
                return;
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                return self.explain_alternatives(error, context, mistakes);
            }
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                InvalidConfig::new(path, format!("the field `{name}` is missing"))
            }
            Kind::Enum { options } => {
                let options = options.as_array().into_iter().flatten();
                not_an_option(
                    error,
                    &options.filter_map(Value::as_str).collect::<Vec<_>>(),
                )
            }
            Kind::Type { .. } => InvalidConfig::new(
                path,
                format!("{} has the wrong type", shown(error.instance())),
            )
            .expecting(wanted_type(place)),
            Kind::Pattern { .. } => InvalidConfig::new(
                path,
                format!("{} is not valid here", shown(error.instance())),
            )
            .expecting(wanted_text(place)),
            Kind::Minimum { limit } => too(path, error, &format!("at least {limit}")),
            Kind::Maximum { limit } => too(path, error, &format!("at most {limit}")),
            Kind::ExclusiveMinimum { limit } => too(path, error, &format!("more than {limit}")),
            Kind::ExclusiveMaximum { limit } => too(path, error, &format!("less than {limit}")),
            Kind::MinProperties { limit } => {
                let known = keys(place, "properties").join(", ");
                InvalidConfig::new(path, "there are too few fields")
                    .expecting(format!("at least {limit} of: {known}"))
            }
            Kind::MaxProperties { limit } => {
                let known = keys(place, "properties").join(", ");
                InvalidConfig::new(path, "there are too many fields")
                    .expecting(format!("at most {limit} of: {known}"))
            }
            _ => InvalidConfig::new(path, error.masked().to_string()),
        };
        mistakes.push(mistake);
    }

    /// Reports the alternative that was meant: the one whose type fits. An optional field, for one,
    /// is its type or null; an enum with documented variants is a list of constants.
    fn explain_alternatives(
        &self,
        error: &ValidationError<'_>,
        alternatives: &[Vec<ValidationError<'static>>],
        mistakes: &mut Vec<InvalidConfig>,
    ) {
        let constants: Vec<_> = alternatives
            .iter()
            .flatten()
            .filter_map(|inner| match inner.kind() {
                Kind::Constant { expected_value } => expected_value.as_str(),
                _ => None,
            })
            .collect();
        if !constants.is_empty() {
            return mistakes.push(not_an_option(error, &constants));
        }
        let is_other_type = |inner: &ValidationError<'_>| {
            matches!(inner.kind(), Kind::Type { .. })
                && inner.instance_path() == error.instance_path()
        };
        let meant = alternatives
            .iter()
            .filter(|errors| !errors.iter().any(is_other_type))
            .min_by_key(|errors| errors.len());
        let path = error.instance_path().as_str();
        match meant {
            Some(errors) => errors
                .iter()
                .for_each(|inner| self.explain(inner, mistakes)),
            None => mistakes.push(InvalidConfig::new(
                path,
                format!("{} has the wrong type", shown(error.instance())),
            )),
        }
    }

    /// The part of the schema whose keyword complained.
    fn place(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let (parent, _keyword) = error.schema_path().as_str().rsplit_once('/')?;
        self.json.pointer(parent)
    }
}

fn not_an_option(error: &ValidationError<'_>, options: &[&str]) -> InvalidConfig {
    let value = error.instance();
    let suggestion = closest(value.as_str().unwrap_or_default(), options.iter().copied());
    InvalidConfig::new(
        error.instance_path().as_str(),
        format!("{} is not known here", shown(value)),
    )
    .expecting(format!("one of: {}", options.join(", ")))
    .suggesting(suggestion)
}

fn unexpected_field(path: &str, name: &str, place: Option<&Value>) -> InvalidConfig {
    let pointer = format!("{path}/{}", escaped(name));
    if let [pattern] = keys(place, "patternProperties").as_slice() {
        return InvalidConfig::new(pointer, format!("`{name}` cannot be a name here"))
            .expecting(format!("a name of the form {pattern}"));
    }
    let known = keys(place, "properties");
    let mistake = InvalidConfig::new(pointer, format!("there is no field `{name}`"));
    if known.is_empty() {
        return mistake.expecting("no fields at all");
    }
    mistake
        .expecting(format!("one of: {}", known.join(", ")))
        .suggesting(closest(name, known))
}

fn keys<'a>(place: Option<&'a Value>, of: &str) -> Vec<&'a str> {
    place
        .and_then(|place| place.get(of)?.as_object())
        .map(|fields| fields.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

fn too(path: &str, error: &ValidationError<'_>, expected: &str) -> InvalidConfig {
    InvalidConfig::new(path, format!("{} is out of range", shown(error.instance())))
        .expecting(expected)
}

fn wanted_type(place: Option<&Value>) -> String {
    let types = match place.and_then(|place| place.get("type")) {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => {
            let names: Vec<_> = several
                .iter()
                .filter_map(Value::as_str)
                .filter(|name| *name != "null")
                .collect();
            names.join(" or ")
        }
        _ => "another type".to_owned(),
    };
    match example(place) {
        Some(example) => format!("{types}, such as {example}"),
        None => types,
    }
}

fn wanted_text(place: Option<&Value>) -> String {
    let pattern = place.and_then(|place| place.get("pattern")?.as_str());
    match (example(place), pattern) {
        (Some(example), _) => format!("text such as {example}"),
        (None, Some(pattern)) => format!("text of the form {pattern}"),
        (None, None) => "other text".to_owned(),
    }
}

fn example(place: Option<&Value>) -> Option<&str> {
    place?.get("examples")?.as_array()?.first()?.as_str()
}

/// A value as the user wrote it, when it is short.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() <= 60 => format!("`{}`", text.escape_debug()),
        Value::String(_) => "this text".to_owned(),
        Value::Object(_) => "this object".to_owned(),
        Value::Array(_) => "this list".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
    }
}

/// A name as a token of an RFC 6901 pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", escaped(key)),
            Segment::Enum { .. } | Segment::Unknown => String::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
