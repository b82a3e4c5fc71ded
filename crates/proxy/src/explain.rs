//! What would happen to a request: the chains of live traffic, driven without a socket.

use std::{
    collections::HashMap,
    net::SocketAddr,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use sluicegate_core::{
    Body, DryEffects, Effects, Exchange, Intent, Peer, Problem, Reject, Stage, Wait, codes,
};
use sluicegate_filters::{States, Table};
use sluicegate_http1::{Framing, RequestHead, Version, strip_hop_by_hop};
use sluicegate_record::{Policy, Registry};

use crate::{
    error::EngineError,
    life_of_a_request::{Decision, decide},
    passage::{Passage, WholeBody},
    snapshot::{Ground, HostRule, Snapshot, Terminal, compile, read, websocket::OpenCounts},
    subject::HeadSubject,
    thread::Thread,
    view::{RouteView, View},
};

/// The request asked about, and what the world would have said.
#[derive(Debug)]
pub(crate) struct Request {
    asked: Asked,
    facts: Facts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    method: String,
    target: String,
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    listener: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Facts {
    peer: Option<SocketAddr>,
    /// Seconds since the Unix epoch.
    time: Option<f64>,
}

impl Request {
    pub(crate) fn read(request: &str, facts: &str) -> Result<Self, EngineError> {
        let malformed = |error: serde_json::Error| EngineError::Request(error.to_string());
        let facts = if facts.trim().is_empty() { "{}" } else { facts };
        Ok(Self {
            asked: serde_json::from_str(request).map_err(malformed)?,
            facts: serde_json::from_str(facts).map_err(malformed)?,
        })
    }

    fn head(&self) -> Result<RequestHead, EngineError> {
        let refused = |what: String| EngineError::Request(what);
        let mut head = RequestHead::build(&self.asked.method, &self.asked.target, Version::Http11)
            .map_err(|_| {
                refused(format!(
                    "`{} {}` is not a request line",
                    self.asked.method, self.asked.target
                ))
            })?;
        for (name, value) in &self.asked.headers {
            head.fields
                .append(name, value.as_bytes())
                .map_err(|_| refused(format!("`{name}: {value}` is not a header field")))?;
        }
        if let Some(host) = &self.asked.host {
            head.fields
                .set("Host", host.as_bytes())
                .map_err(|_| refused(format!("`{host}` is not a host")))?;
        }
        Ok(head)
    }
}

/// Compiles a snapshot that nobody will serve: fresh state, fresh metrics.
pub(crate) fn dry_snapshot(snapshot: &str) -> Result<Snapshot, Vec<Problem>> {
    let document = read(snapshot)?;
    let states = States::default();
    let registry = Registry::new(0, "sluicegate");
    let ground = Ground {
        states: &states,
        registry: &registry,
        upstreams: &HashMap::new(),
        open_websockets: &OpenCounts::default(),
        secrets: None,
    };
    compile(document, &ground).map(|compiled| compiled.snapshot)
}

/// What the configuration alone says: nothing of the world is read but the facts given.
///
/// # Errors
/// The snapshot has mistakes, or the request cannot be read.
pub fn explain(snapshot: &str, request: &str, facts: &str) -> Result<Value, EngineError> {
    let snapshot = dry_snapshot(snapshot).map_err(EngineError::Refused)?;
    let request = Request::read(request, facts)?;
    request.head()?;
    let time = request
        .facts
        .time
        .filter(|time| *time >= 0.0)
        .map(Duration::from_secs_f64);
    let effects = DryEffects::default().at(time.unwrap_or_default());
    let view = Rc::new(View::new(Arc::new(snapshot)));
    // Dry effects are ready at once, so one poll is enough.
    let mut future = Box::pin(run(&request, view, &effects));
    let mut cx = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(EngineError::Request(
            "a filter waits for something that facts do not give".into(),
        )),
    }
}

/// The same by the state of a running thread: it looks and takes nothing.
pub(crate) async fn live(thread: &Thread, request: &Request) -> Value {
    run(request, thread.view(), thread).await
}

async fn run(request: &Request, view: Rc<View>, effects: &dyn Effects) -> Value {
    let mut head = match request.head() {
        Ok(head) => head,
        Err(error) => return json!({"error": error.to_string()}),
    };
    strip_hop_by_hop(&mut head.fields);
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let peer = Peer {
        remote: request.facts.peer.unwrap_or(nowhere),
        local: nowhere,
    };
    let settings = request.asked.listener.as_deref().map_or_else(
        || view.snapshot.listeners.first().cloned(),
        |id| view.snapshot.listener(id),
    );
    let listener: Rc<str> = settings
        .as_ref()
        .map_or("none", |settings| &*settings.id)
        .into();
    let body_limit = settings
        .as_ref()
        .map_or(u64::MAX, |settings| settings.body_limit);
    let body = request.asked.body.as_deref().unwrap_or_default();
    let framing = if body.is_empty() {
        Framing::Empty
    } else {
        Framing::Length(body.len() as u64)
    };

    let mut exchange = Exchange::new(head, peer, listener, effects.now());
    exchange.notes = Some(Vec::new());
    let mut passage = Passage::new(
        &mut exchange,
        framing,
        view.clone(),
        body_limit,
        (effects, Intent::Peek),
        Vec::new(),
    );
    passage.steps = Some(Vec::new());
    let decided = decide(
        &mut passage,
        &mut GivenBody {
            bytes: body.as_bytes(),
            limit: body_limit,
        },
    )
    .await;
    let normal_path = passage
        .matched_head
        .as_ref()
        .unwrap_or(&passage.exchange.request)
        .path()
        .to_owned();
    let (outcome, upstream_request) = outcome(decided, &mut passage).await;
    let steps = steps(&mut passage);
    passage.end(sluicegate_core::Outcome::Complete);

    json!({
        "snapshot_version": view.snapshot.version,
        "normal_path": normal_path,
        "route": passage.route.as_ref().map(|route| &*route.facts.id),
        "route_version": passage.route.as_ref().and_then(|route| route.facts.version),
        "params": params(&view, &passage),
        "candidates": candidates(&view, &passage),
        "steps": steps,
        "outcome": outcome,
        "upstream_request": upstream_request,
    })
}

async fn outcome(decided: Result<Decision, Reject>, passage: &mut Passage<'_>) -> (Value, Value) {
    match decided {
        Ok(Decision::Forward(route)) => (forward(&route), sent(&route, passage)),
        Ok(Decision::Answer(response)) => {
            let terminal = passage
                .route
                .as_ref()
                .is_some_and(|route| matches!(route.route.terminal, Terminal::Answer(_)));
            let response = passage.back(response).await;
            let location = response
                .head
                .fields
                .get_str("Location")
                .map(ToOwned::to_owned);
            let kind = if location.is_some() {
                "redirect"
            } else {
                "respond"
            };
            let by = if terminal { "route" } else { "filter" };
            (
                answer(kind, by, &response, location.as_deref()),
                Value::Null,
            )
        }
        Err(reject) => {
            let (code, cause) = (reject.code.name, reject.cause.clone());
            let response = passage.refuse(reject);
            let response = passage.back(response).await;
            let mut said = answer("reject", "gateway", &response, None);
            if let Some(map) = said.as_object_mut() {
                map.insert("code".to_owned(), code.into());
                map.insert(
                    "cause".to_owned(),
                    cause.map_or(Value::Null, |cause| cause.into_owned().into()),
                );
            }
            (said, Value::Null)
        }
    }
}

fn answer(
    kind: &str,
    by: &str,
    response: &sluicegate_core::Response,
    location: Option<&str>,
) -> Value {
    let body = match &response.body {
        Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Body::Empty | Body::Upstream => String::new(),
    };
    json!({
        "kind": kind, "by": by, "status": response.head.status(), "location": location,
        "headers": fields(&response.head.fields), "body": body,
    })
}

fn forward(route: &RouteView) -> Value {
    let Terminal::Upstream(shared) = &route.route.terminal else {
        return Value::Null;
    };
    let endpoints: Vec<String> = shared
        .endpoints()
        .addresses()
        .iter()
        .map(ToString::to_string)
        .collect();
    json!({"kind": "forward", "upstream": &*shared.id, "endpoints": endpoints})
}

/// The request as the upstream would see it.
fn sent(route: &RouteView, passage: &mut Passage<'_>) -> Value {
    let chosen = passage.exchange.upstream_host.as_deref();
    let host = match &route.route.host {
        HostRule::Fixed(host) => chosen.or(Some(host)),
        HostRule::Keep | HostRule::Endpoint => chosen,
    };
    let request = &mut passage.exchange.request;
    if let Some(host) = host {
        let _ = request.fields.set("Host", host.as_bytes());
    }
    json!({"method": request.method(), "target": request.target(), "headers": fields(&request.fields)})
}

fn fields(fields: &sluicegate_http1::Fields) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fields
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

fn steps(passage: &mut Passage<'_>) -> Vec<Value> {
    let taken = passage.steps.take().unwrap_or_default();
    taken
        .into_iter()
        .map(|step| {
            let chain = match step.stage {
                Stage::Entry => Some(&*passage.entry.chain),
                Stage::Route => passage.route.as_ref().map(|route| &*route.route.chain),
            };
            let link = chain.and_then(|chain| chain.inbound().get(step.index));
            json!({
                "stage": step.stage.name(),
                "filter": link.map(|link| link.filter.name()),
                "id": link.map(|link| &*link.id),
                "phase": link.map(|link| link.phase.name()),
                "verdict": step.verdict,
                "code": step.code.map(|code| code.name),
                "notes": step.notes,
            })
        })
        .collect()
}

fn params(view: &View, passage: &Passage<'_>) -> serde_json::Map<String, Value> {
    let table = view.snapshot.tables.of(&passage.exchange.listener);
    let index = passage.route.as_ref().and_then(|route| {
        let is_taken = |index: &usize| {
            let served = table.served(*index);
            let known = served.and_then(|served| view.snapshot.routes.get(served));
            // Threads have copies of a route: its id and its path tell it from others.
            known.is_some_and(|known| {
                known.id == route.route.id && known.template == route.route.template
            })
        };
        (0..table.router.len()).find(is_taken)
    });
    let Some(index) = index else {
        return serde_json::Map::new();
    };
    let path = passage.matched_head.as_ref().map_or("", RequestHead::path);
    table
        .router
        .params(index, path)
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// Every route that matched, in the order of the competition, and those that came near.
fn candidates(view: &View, passage: &Passage<'_>) -> Vec<Value> {
    let Some(subject) = &passage.matched_head else {
        return Vec::new();
    };
    let table = view.snapshot.tables.of(&passage.exchange.listener);
    let served = |index: usize| view.snapshot.routes.get(table.served(index)?);
    let found = table.router.explain(&HeadSubject::new(subject));
    found
        .into_iter()
        .filter_map(|candidate| {
            let route = served(candidate.route)?;
            let unmet: Vec<Value> = candidate
                .why_not
                .iter()
                .map(|why| json!({"condition": why.condition(), "text": why.to_string()}))
                .collect();
            let words: Vec<String> = candidate.why_not.iter().map(ToString::to_string).collect();
            let lost = candidate.lost;
            Some(json!({
                "route": &*route.id,
                "version": route.version,
                "template": &*route.template,
                "matched": candidate.matched,
                "why_not": (!words.is_empty()).then(|| words.join("; ")),
                "unmet": unmet,
                "lost_to": lost.and_then(|(winner, _)| Some(&*served(winner)?.id)),
                "lost_by": lost.map(|(_, decided)| decided.name()),
            }))
        })
        .collect()
}

/// A body that is all here.
struct GivenBody<'a> {
    bytes: &'a [u8],
    limit: u64,
}

impl WholeBody for GivenBody<'_> {
    fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    fn record_by(&mut self, _: &Policy, _: &RequestHead, _: Option<&[u8]>) {}

    fn poll_gone(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn read(&mut self, limit: usize) -> Wait<'_, Result<Vec<u8>, Reject>> {
        let fits = self.bytes.len() as u64 <= self.limit.min(limit as u64);
        let body = if fits {
            Ok(self.bytes.to_vec())
        } else {
            Err(Reject::new(&codes::BODY_TOO_LARGE))
        };
        Box::pin(std::future::ready(body))
    }
}
