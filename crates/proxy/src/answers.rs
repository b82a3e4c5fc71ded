//! What the gateway's own error answers look like (ER-01 … ER-04).

use std::{collections::BTreeMap, fmt::Write};

use sluicegate_core::{Body, Code, Exchange, Problem, Reject, Response, codes};
use sluicegate_filters::{AnyFilter, Table};

use crate::snapshot::document::{CodeOverride, ErrorFormat, Errors, Template};

/// The error dictionary of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    format: ErrorFormat,
    template: Option<Template>,
    overrides: BTreeMap<String, CodeOverride>,
}

impl Answers {
    pub(crate) fn build(errors: &Errors, problems: &mut Vec<Problem>) -> Self {
        if errors.format == ErrorFormat::Template && errors.template.is_none() {
            problems.push(
                Problem::new(
                    "/errors/template",
                    "missing_template",
                    "the format `template` needs a template",
                )
                .expecting("{content_type: …, body: …}"),
            );
        }
        let known: Vec<&str> = reject_codes().iter().map(|code| code.name).collect();
        for (code, change) in &errors.codes {
            let pointer = format!(
                "/errors/codes/{}",
                code.replace('~', "~0").replace('/', "~1")
            );
            if !known.contains(&code.as_str()) {
                problems.push(
                    Problem::new(
                        &pointer,
                        "unknown_code",
                        format!("there is no error code `{code}`"),
                    )
                    .expecting(format!("one of: {}", known.join(", "))),
                );
            }
            if let Some(status) = change.status
                && !(200..600).contains(&status)
            {
                problems.push(
                    Problem::new(
                        format!("{pointer}/status"),
                        "bad_status",
                        format!("{status} is not a final status"),
                    )
                    .expecting("200 to 599"),
                );
            }
        }
        if let Some(template) = &errors.template
            && template
                .content_type
                .bytes()
                .any(|byte| !(b' '..=b'~').contains(&byte))
        {
            problems.push(Problem::new(
                "/errors/template/content_type",
                "bad_value",
                "this cannot stand in a header field",
            ));
        }
        Self {
            format: errors.format,
            template: errors.template.clone(),
            overrides: errors.codes.clone(),
        }
    }

    /// The answer for a reject. The client learns the code and its text, never the cause.
    pub(crate) fn render(&self, reject: &Reject, exchange: &Exchange) -> Response {
        let code = reject.code;
        let change = self.overrides.get(code.name);
        let status = change
            .and_then(|change| change.status)
            .unwrap_or(code.status);
        let title = change
            .and_then(|change| change.title.as_deref())
            .unwrap_or(code.title);
        let detail = change
            .and_then(|change| change.detail.as_deref())
            .unwrap_or(code.detail);
        let request_id = exchange.request_id.as_ref().map_or("", |id| id.as_str());

        let (content_type, body) = match (self.format, &self.template) {
            (ErrorFormat::CodeMessage, _) => {
                let body = serde_json::json!({"code": code.name, "message": detail}).to_string();
                ("application/json; charset=utf-8", body)
            }
            (ErrorFormat::Template, Some(template)) => {
                let json = template.content_type.contains("json");
                let escape = |text: &str| if json { escaped(text) } else { text.to_owned() };
                let body = template
                    .body
                    .replace("{code}", code.name)
                    .replace("{status}", &status.to_string())
                    .replace("{title}", &escape(title))
                    .replace("{detail}", &escape(detail))
                    .replace("{request_id}", request_id);
                (template.content_type.as_str(), body)
            }
            (ErrorFormat::Problem | ErrorFormat::Template, _) => {
                // RFC 9457 §3: with `about:blank` the title is free text for the status.
                let mut body = serde_json::json!({
                    "type": "about:blank", "title": title, "status": status, "detail": detail, "code": code.name,
                });
                if let (Some(map), false) = (body.as_object_mut(), request_id.is_empty()) {
                    map.insert("request_id".to_owned(), request_id.into());
                }
                ("application/problem+json", body.to_string())
            }
        };

        let mut response = Response::new(status);
        response.body = Body::Bytes(body.into_bytes());
        let fields = &mut response.head.fields;
        // Checked when the snapshot was built, or made here of digits and tokens: these cannot be refused.
        let _ = fields.append("Content-Type", content_type.as_bytes());
        let _ = fields.append("Cache-Control", b"no-store");
        if let Some(after) = reject.retry_after {
            let mut seconds = String::new();
            let _ = write!(seconds, "{}", after.as_millis().div_ceil(1000).max(1));
            let _ = fields.append("Retry-After", seconds.as_bytes());
        }
        for (name, value) in &reject.fields {
            let _ = fields.append(name, value.as_bytes());
        }
        response
    }
}

/// Every code there is: the engine's, then the filters' in the order of the table.
pub(crate) fn reject_codes() -> Vec<&'static Code> {
    let filters = AnyFilter::rows()
        .into_iter()
        .flat_map(|row| row.rejects.iter().copied());
    codes::ALL.iter().copied().chain(filters).collect()
}

/// Text as the inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}
