//! What the gateway's own error answers look like (ER-01 … ER-04).

use std::{collections::BTreeMap, fmt::Write};

use sluicegate_core::{Body, Code, Problem, Reject, Response, codes};
use sluicegate_filters::{AnyFilter, Table};

use crate::snapshot::document::{CodeOverride, ErrorFormat, Errors, Template};

/// The error dictionary of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    format: ErrorFormat,
    type_base: Option<String>,
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
        for (code, change) in &errors.codes {
            check_override(code, change, problems);
        }
        if let Some(base) = &errors.type_base {
            check_type_base(base, errors.format, problems);
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
            type_base: errors.type_base.clone(),
            template: errors.template.clone(),
            overrides: errors.codes.clone(),
        }
    }

    /// The answer for a reject. The client learns the code and its text, never the cause.
    /// Without an id in `request_id` a problem has none.
    pub(crate) fn render(&self, reject: &Reject, request_id: &str) -> Response {
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
                // RFC 9457 §4.2.1: `about:blank` says that the status tells it all; our `code` tells more,
                // and becomes the type where there is a base to resolve it.
                let kind = self.type_base.as_ref().map_or_else(
                    || "about:blank".to_owned(),
                    |base| format!("{base}{}", code.name),
                );
                let mut body = serde_json::json!({
                    "type": kind, "title": title, "status": status, "detail": detail, "code": code.name,
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

fn check_override(code: &str, change: &CodeOverride, problems: &mut Vec<Problem>) {
    let known: Vec<&str> = reject_codes().iter().map(|code| code.name).collect();
    let pointer = format!(
        "/errors/codes/{}",
        code.replace('~', "~0").replace('/', "~1")
    );
    if !known.contains(&code) {
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
        && !(400..600).contains(&status)
    {
        // Anything else would tell caches and clients that all is well.
        problems.push(
            Problem::new(
                format!("{pointer}/status"),
                "bad_status",
                format!("{status} is not the status of an error"),
            )
            .expecting("400 to 599"),
        );
    }
}

fn check_type_base(base: &str, format: ErrorFormat, problems: &mut Vec<Problem>) {
    let pointer = "/errors/type_base";
    if format != ErrorFormat::Problem {
        let problem = Problem::new(
            pointer,
            "contradiction",
            "only the format `problem` has a type",
        );
        problems.push(problem.expecting("`format: problem`, or no `type_base`"));
    }
    let absolute = base
        .strip_prefix("https://")
        .or_else(|| base.strip_prefix("http://"))
        .is_some_and(|rest| !rest.is_empty());
    let written = base
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    if !absolute || !written {
        let problem = Problem::new(pointer, "bad_value", format!("`{base}` is not a URL"));
        problems.push(problem.expecting(
            "the beginning of a URL that the code completes, such as https://api.example.com/errors/",
        ));
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

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSE: &str =
        "connect 10.0.0.7:9000 of upstream orders-db: /etc/keys/app.pem token=s3cr3t";

    fn answers(errors: &str) -> Answers {
        let errors: Errors = serde_json::from_str(errors).unwrap();
        let mut problems = Vec::new();
        let answers = Answers::build(&errors, &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        answers
    }

    fn text(response: &Response) -> String {
        let Body::Bytes(body) = &response.body else {
            panic!("an error has a body");
        };
        String::from_utf8(body.clone()).unwrap()
    }

    // spec: ER-01, PX-40
    #[test]
    fn no_code_in_any_format_tells_its_cause() {
        let template = r#"{"content_type": "text/plain", "body": "{code} {status} {title} {detail} {request_id}"}"#;
        let formats = [
            r#"{"format": "problem"}"#.to_owned(),
            r#"{"format": "problem", "type_base": "https://api.example.com/errors/"}"#.to_owned(),
            r#"{"format": "code-message"}"#.to_owned(),
            format!(r#"{{"format": "template", "template": {template}}}"#),
        ];
        for format in formats {
            let answers = answers(&format);
            for code in reject_codes() {
                let reject = Reject::new(code).because(CAUSE);

                let response = answers.render(&reject, "id-1");

                let text = text(&response);
                assert_eq!(response.head.status(), code.status);
                assert!(text.contains(code.name), "{text}");
                assert!(text.contains(code.detail), "{text}");
                for inner in ["10.0.0.7", "9000", "orders-db", "/etc", "s3cr3t"] {
                    assert!(!text.contains(inner), "{text}");
                }
            }
        }
    }

    // spec: ER-04
    #[test]
    fn texts_are_whole_sentences_without_places_and_names() {
        for code in reject_codes() {
            assert!(
                !code.title.ends_with('.') && !code.title.is_empty(),
                "{code:?}"
            );
            assert!(code.detail.ends_with('.'), "{code:?}");
            for sign in ["{", "}", "://", "\n", "sluicegate", ".rs"] {
                assert!(!code.detail.contains(sign), "{code:?}");
            }
        }
    }

    #[test]
    fn the_code_completes_the_base_of_the_type() {
        let answers = answers(r#"{"type_base": "https://api.example.com/errors/"}"#);

        let response = answers.render(&Reject::new(&codes::NO_ROUTE), "");

        let body: serde_json::Value = serde_json::from_str(&text(&response)).unwrap();
        assert_eq!(
            body.get("type"),
            Some(&"https://api.example.com/errors/no_route".into())
        );
        assert_eq!(body.get("request_id"), None);
    }

    #[test]
    fn a_base_that_is_no_url_and_a_status_that_is_no_error_are_refused() {
        let wrong = r#"{"format": "code-message", "type_base": "errors/", "codes": {"no_route": {"status": 204}}}"#;
        let errors: Errors = serde_json::from_str(wrong).unwrap();
        let mut problems = Vec::new();

        Answers::build(&errors, &mut problems);

        let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["bad_status", "contradiction", "bad_value"]);
    }
}
