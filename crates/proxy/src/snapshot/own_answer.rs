//! What a route answers by itself: `respond` and `redirect`.

use sluicegate_core::{Body, Exchange, Problem, Reject, Response};
use sluicegate_filters::{BadTemplate, BodyText, FieldValue, Location, Template};
use sluicegate_http1::valid_authority;

use super::{document, path_params};

/// A response that is the same for every request, and what has to be filled in.
#[derive(Debug)]
pub(crate) struct OwnAnswer {
    response: Response,
    headers: Vec<(Box<str>, FieldValue)>,
    location: Option<Location>,
    body: Option<BodyText>,
    /// The path parameters that are filled in.
    params: Vec<Box<str>>,
}

impl OwnAnswer {
    fn new(status: u16) -> Self {
        Self {
            response: Response::new(status),
            headers: Vec::new(),
            location: None,
            body: None,
            params: Vec::new(),
        }
    }

    /// The answer to this request.
    ///
    /// # Errors
    /// The request lacks what the answer needs.
    pub(crate) fn render(&self, exchange: &Exchange) -> Result<Response, Reject> {
        let mut response = self.response.clone();
        let mut buffer = Vec::new();
        for (name, value) in &self.headers {
            let value = value.of(exchange, &mut buffer);
            response.head.fields.append(name, value)?;
        }
        if let Some(location) = &self.location {
            let location = location.of(exchange, &mut buffer)?;
            response.head.fields.append("Location", location)?;
        }
        if let Some(body) = &self.body {
            response.body = Body::Bytes(body.of(exchange).into_owned());
        }
        Ok(response)
    }

    /// Whether path parameters are filled in.
    pub(crate) fn wants_params(&self) -> bool {
        !self.params.is_empty()
    }

    /// Remembers the parameters of a template and says which of them the route does not have.
    fn take<'a>(
        &mut self,
        params: impl Iterator<Item = &'a str>,
        (path, at): (&str, &str),
        problems: &mut Vec<Problem>,
    ) {
        for name in params {
            problems.extend(path_params::unknown(path, name, at));
            self.params.push(name.into());
        }
    }
}

/// Builds what a route without an upstream answers; `at` is where the route stands.
pub(super) fn build(
    (route, path): (&document::Route, &str),
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<OwnAnswer> {
    if let Some(config) = &route.respond {
        return respond(config, (path, &format!("{at}/respond")), problems);
    }
    let config = route.redirect.as_ref()?;
    redirect(config, (path, &format!("{at}/redirect")), problems)
}

/// Builds a `respond`; `at` is where it stands, `path` the route's template.
fn respond(
    config: &document::Respond,
    (path, at): (&str, &str),
    problems: &mut Vec<Problem>,
) -> Option<OwnAnswer> {
    let before = problems.len();
    if !(200..600).contains(&config.status) {
        let message = format!("{} is not a final status", config.status);
        problems.push(
            Problem::new(format!("{at}/status"), "bad_status", message).expecting("200 to 599"),
        );
    }
    let mut own = OwnAnswer::new(config.status);
    for (name, text) in &config.headers {
        let token = name.replace('~', "~0").replace('/', "~1");
        header(
            &mut own,
            (name, text),
            (path, &format!("{at}/headers/{token}")),
            problems,
        );
    }
    body(&mut own, config, (path, at), problems);
    (problems.len() == before).then_some(own)
}

fn header(
    own: &mut OwnAnswer,
    (name, text): (&str, &str),
    (path, at): (&str, &str),
    problems: &mut Vec<Problem>,
) {
    let bad = |message: String| Problem::new(at, "bad_header", message);
    let framing = ["content-length", "transfer-encoding", "connection"];
    if framing.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        problems.push(bad("the gateway writes this field itself".to_owned()));
        return;
    }
    let value = match FieldValue::try_from(text.to_owned()) {
        Ok(value) => value,
        Err(message) => return problems.push(bad(message)),
    };
    if let Err(mistake) = value.check_name(name, at) {
        problems.push(bad(mistake.message).expecting(mistake.expected.unwrap_or_default()));
        return;
    }
    let shown = value.literal().unwrap_or_default();
    let fields = &mut own.response.head.fields;
    if fields.append(name, shown.as_bytes()).is_err() {
        problems.push(bad("this cannot stand in a header".to_owned()));
    } else if value.literal().is_none() {
        fields.remove(name);
        own.take(value.params(), (path, at), problems);
        own.headers.push((name.into(), value));
    }
}

fn body(
    own: &mut OwnAnswer,
    config: &document::Respond,
    (path, at): (&str, &str),
    problems: &mut Vec<Problem>,
) {
    let in_headers = config
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map(|(_, value)| value.as_str());
    let content_type = match (config.content_type.as_deref(), in_headers) {
        (Some(_), Some(_)) => {
            let message = "the content type stands in `headers` too";
            problems.push(
                Problem::new(format!("{at}/content_type"), "contradiction", message)
                    .expecting("one of the two"),
            );
            return;
        }
        (Some(own), None) | (None, Some(own)) => Some(own),
        (None, None) => None,
    };
    let text = match BodyText::parse(&config.body, content_type.unwrap_or("text/plain")) {
        Ok(text) => text,
        Err(bad) => {
            problems.push(problem(bad, &format!("{at}/body"), "bad_template"));
            return;
        }
    };
    // A browser that has to guess the type could take what a client sent for a page.
    let filled = text.literal().is_none();
    let written = match (&config.content_type, filled, in_headers) {
        (Some(own), ..) => Some(own.as_str()),
        (None, true, None) => Some("text/plain; charset=utf-8"),
        (None, ..) => None,
    };
    if let Some(written) = written
        && own
            .response
            .head
            .fields
            .append("Content-Type", written.as_bytes())
            .is_err()
    {
        let message = "this cannot stand in a header";
        problems.push(Problem::new(
            format!("{at}/content_type"),
            "bad_header",
            message,
        ));
    }
    match text.literal() {
        Some("") => {}
        Some(text) => own.response.body = Body::Bytes(text.as_bytes().to_vec()),
        None => {
            own.take(text.params(), (path, &format!("{at}/body")), problems);
            own.body = Some(text);
        }
    }
}

/// Builds a `redirect`; `at` is where it stands, `path` the route's template.
fn redirect(
    config: &document::Redirect,
    (path, at): (&str, &str),
    problems: &mut Vec<Problem>,
) -> Option<OwnAnswer> {
    let before = problems.len();
    if !matches!(config.status, 301 | 302 | 303 | 307 | 308) {
        let message = format!("{} does not redirect", config.status);
        let problem = Problem::new(format!("{at}/status"), "bad_status", message);
        problems.push(problem.expecting("301, 302, 303, 307 or 308"));
    }
    let mut own = OwnAnswer::new(config.status);
    match location(config, (path, at), &mut own, problems) {
        Ok(location) => match location.literal() {
            Some(fixed) => {
                let _ = own
                    .response
                    .head
                    .fields
                    .append("Location", fixed.as_bytes());
            }
            None => own.location = Some(location),
        },
        Err(problem) => problems.push(problem),
    }
    (problems.len() == before).then_some(own)
}

fn location(
    config: &document::Redirect,
    (path, at): (&str, &str),
    own: &mut OwnAnswer,
    problems: &mut Vec<Problem>,
) -> Result<Location, Problem> {
    let document::Redirect {
        location,
        scheme,
        host,
        path: to_path,
        path_prefix,
        ..
    } = config;
    let parts = [scheme, host, to_path, path_prefix];
    let has_parts = parts.iter().any(|part| part.is_some());
    if location.is_some() == has_parts {
        return Err(Problem::new(
            at,
            "one_target",
            "where a redirect leads is said in one way",
        )
        .expecting("`location`, or some of `scheme`, `host`, `path` and `path_prefix`"));
    }
    if to_path.is_some() && path_prefix.is_some() {
        return Err(Problem::new(
            format!("{at}/path_prefix"),
            "contradiction",
            "there is a `path` too",
        )
        .expecting("one of the two"));
    }
    if let Some(scheme) = scheme
        && !matches!(scheme.as_str(), "http" | "https")
    {
        let message = format!("`{scheme}` is no scheme");
        return Err(
            Problem::new(format!("{at}/scheme"), "bad_scheme", message).expecting("http or https")
        );
    }
    if let Some(host) = host
        && !host.contains('{')
        && !valid_authority(host)
    {
        let message = format!("`{host}` is not a host");
        return Err(Problem::new(format!("{at}/host"), "bad_host", message)
            .expecting("a host name, perhaps with a port"));
    }
    for (name, part) in [("path", to_path), ("path_prefix", path_prefix)] {
        if let Some(part) = part
            && !part.starts_with('/')
        {
            let message = format!("`{part}` does not begin with `/`");
            return Err(Problem::new(format!("{at}/{name}"), "bad_path", message)
                .suggesting(Some(&format!("/{part}"))));
        }
    }
    let origin = match (scheme, host) {
        (None, None) => String::new(),
        (scheme, host) => {
            let scheme = scheme.as_deref().unwrap_or("{scheme}");
            let host = host.as_deref().unwrap_or("{host}");
            format!("{scheme}://{host}")
        }
    };
    let (text, field) = match (location, to_path, path_prefix) {
        (Some(location), ..) => (location.clone(), "location"),
        (None, Some(path), _) => (format!("{origin}{path}"), "path"),
        (None, None, Some(front)) => (
            format!("{origin}{}", front.trim_end_matches('/')),
            "path_prefix",
        ),
        (None, None, None) => (format!("{origin}{{path}}"), "host"),
    };
    let at = format!("{at}/{field}");
    let wrong = |bad| problem(bad, &at, "bad_location");
    let template = Template::parse(&text).map_err(wrong)?;
    own.take(template.params(), (path, &at), problems);
    let keep_query = config.keep_query.unwrap_or(location.is_none());
    if path_prefix.is_none() {
        return Location::parse(&template, keep_query).map_err(wrong);
    }
    let Some(front) = path_params::segments_before_rest(path) else {
        let message = "the route's path ends with no `/**`: there is nothing to keep";
        return Err(Problem::new(&at, "bad_location", message)
            .expecting("`path`, or a route for a whole subtree"));
    };
    Location::with_path_after(&template, front, keep_query).map_err(wrong)
}

fn problem(bad: BadTemplate, at: &str, code: &'static str) -> Problem {
    let mut problem = Problem::new(at, code, bad.message);
    problem.expected = bad.expected;
    problem.suggestion = bad.suggestion;
    problem
}
