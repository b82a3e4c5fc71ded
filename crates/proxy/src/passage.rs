//! The way of an exchange through the chains, without a socket: what live requests and `explain` share.

use std::{
    future::poll_fn,
    pin::pin,
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

use sluicegate_core::{
    Code, Cx, Effects, Exchange, Flow, Intent, Phase, Reject, RequestId, Response, Stage, Step,
    Wait, codes,
};
use sluicegate_filters::{AnyCarry, Chain, Link, Table};
use sluicegate_http1::{Framing, RequestHead};
use sluicegate_record::Policy;
use sluicegate_router::{Found, Normal, has_encoded_slash, normalize};

use crate::{
    grpc::{dress, is_grpc},
    snapshot::{RouteTable, document::EncodedSlash},
    subject::HeadSubject,
    view::{EntryView, RouteView, View},
};

/// The whole request body, for filters that ask for it.
pub(crate) trait WholeBody {
    /// The most the route accepts.
    fn set_limit(&mut self, limit: u64);

    /// Looks at the bodies as far as the route's record wants; `read` is what a filter of the entry
    /// chain has had of the request's.
    fn record_by(&mut self, policy: &Policy, head: &RequestHead, read: Option<&[u8]>);

    /// Ready when the client has left; watched while a filter waits for something.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Reads it to the end.
    fn read(&mut self, limit: usize) -> Wait<'_, Result<Vec<u8>, Reject>>;
}

/// One exchange and the chains it has entered.
pub(crate) struct Passage<'t> {
    pub(crate) exchange: &'t mut Exchange,
    pub(crate) effects: &'t dyn Effects,
    pub(crate) intent: Intent,
    pub(crate) entry: Rc<EntryView>,
    pub(crate) route: Option<Rc<RouteView>>,
    /// How the request's body is framed.
    pub(crate) framing: Framing,
    /// The listener's cap on bodies; a route may have its own.
    pub(crate) body_limit: u64,
    /// The body, once a filter has asked for it.
    pub(crate) body: Option<Vec<u8>>,
    /// Needed until the route is known, then let go: a long stream must not keep an old snapshot alive.
    view: Option<Rc<View>>,
    pub(crate) entered: Vec<Entered>,
    /// It is refused before anything else, for something the server noticed.
    pub(crate) early: Option<&'static Code>,
    /// The head and the path by which the route was sought, kept for `explain` only.
    pub(crate) matched_head: Option<RequestHead>,
    /// What each filter said, for `explain`.
    pub(crate) steps: Option<Vec<StepTaken>>,
}

/// A filter whose `on_request` began.
pub(crate) struct Entered {
    stage: Stage,
    index: usize,
    carry: AnyCarry,
}

/// One line of an explanation.
pub(crate) struct StepTaken {
    pub(crate) stage: Stage,
    pub(crate) index: usize,
    pub(crate) verdict: &'static str,
    pub(crate) code: Option<&'static Code>,
    pub(crate) notes: Vec<String>,
}

impl<'t> Passage<'t> {
    pub(crate) fn new(
        exchange: &'t mut Exchange,
        framing: Framing,
        view: Rc<View>,
        body_limit: u64,
        (effects, intent): (&'t dyn Effects, Intent),
        entered: Vec<Entered>,
    ) -> Self {
        Self {
            exchange,
            effects,
            intent,
            entry: view.entry.clone(),
            route: None,
            framing,
            body_limit,
            body: None,
            view: Some(view),
            entered,
            early: None,
            matched_head: None,
            steps: None,
        }
    }

    /// Refuses what is not HTTP, and brings the path into the normal form that every decision and
    /// the upstream see (RT-21, SE-02).
    pub(crate) fn well_formed(&mut self) -> Result<(), Reject> {
        if let Some(code) = self.early {
            return Err(Reject::new(code).closing());
        }
        if let Some(malformed) = self.exchange.malformed {
            let code = match malformed.status() {
                414 => &codes::TARGET_TOO_LONG,
                417 => &codes::EXPECTATION_FAILED,
                431 => &codes::HEADER_TOO_LARGE,
                501 => &codes::NOT_IMPLEMENTED,
                505 => &codes::VERSION_NOT_SUPPORTED,
                _ => &codes::BAD_REQUEST,
            };
            return Err(Reject::new(code).because(malformed.reason()).closing());
        }
        let request = &mut self.exchange.request;
        if request.method() == "CONNECT" {
            return Err(Reject::new(&codes::NOT_IMPLEMENTED)
                .because("CONNECT")
                .closing());
        }
        let Some(view) = &self.view else {
            return Ok(());
        };
        let mut normal = view.scratch_path.borrow_mut();
        match normalize(request.path(), &mut normal) {
            Ok(Normal::Unchanged) => Ok(()),
            Ok(Normal::Changed) => Ok(request.set_path(&normal)?),
            // `OPTIONS *` concerns the server, not a path.
            Err(_) if request.target() == "*" => Ok(()),
            Err(bad) => Err(Reject::new(&codes::BAD_PATH).because(bad.reason())),
        }
    }

    /// How much of the exchange is recorded.
    pub(crate) fn record(&self) -> &Policy {
        match &self.route {
            Some(route) => &route.route.record,
            None => &self.entry.record,
        }
    }

    pub(crate) async fn enter_listener(
        &mut self,
        body: &mut dyn WholeBody,
    ) -> Result<Flow, Reject> {
        let entry = self.entry.clone();
        self.enter(Stage::Entry, &entry.chain, body).await
    }

    /// Finds the route by the request as the entry chain left it.
    pub(crate) fn find_route(&mut self) -> Result<Rc<RouteView>, Reject> {
        let Some(view) = self.view.take() else {
            return Err(Reject::new(&codes::INTERNAL).because("the route was asked for twice"));
        };
        if self.steps.is_some() {
            self.matched_head = Some(self.exchange.request.clone());
        }
        let table = view.snapshot.tables.of(&self.exchange.listener);
        let index = match preflight(&self.exchange.request, &view, table) {
            Some((index, method)) => {
                if let Some(head) = &mut self.matched_head {
                    head.set_method(&method)?;
                }
                index
            }
            None => find(&self.exchange.request, &view, table)?,
        };
        let Some(route) = table.served(index).and_then(|served| view.route(served)) else {
            return Err(
                Reject::new(&codes::INTERNAL).because("the router named a route that is not there")
            );
        };
        self.exchange.route = Some(route.facts.clone());
        self.route = Some(route.clone());
        if route.route.wants_params {
            let path = self.exchange.request.path();
            let rest = table.router.rest(index, path).map(|rest| ("rest", rest));
            self.exchange.params = table.router.params(index, path).chain(rest).collect();
        }
        if route.route.encoded_slash == EncodedSlash::Refuse
            && has_encoded_slash(self.exchange.request.path())
        {
            return Err(Reject::new(&codes::ENCODED_SLASH));
        }
        let limit = route.route.body_limit.unwrap_or(self.body_limit);
        if matches!(self.framing, Framing::Length(length) if length > limit) {
            return Err(Reject::new(&codes::BODY_TOO_LARGE).closing());
        }
        Ok(route)
    }

    pub(crate) async fn enter_route(
        &mut self,
        route: &Rc<RouteView>,
        body: &mut dyn WholeBody,
    ) -> Result<Flow, Reject> {
        let route = route.clone();
        self.enter(Stage::Route, &route.route.chain, body).await
    }

    async fn enter(
        &mut self,
        stage: Stage,
        chain: &Chain,
        body: &mut dyn WholeBody,
    ) -> Result<Flow, Reject> {
        for (index, link) in chain.inbound().iter().enumerate() {
            self.entered.push(Entered {
                stage,
                index,
                carry: link.filter.carry(),
            });
            let Some(Entered { carry, .. }) = self.entered.last_mut() else {
                continue;
            };
            let begun = self.exchange.debug.as_ref().map(|_| self.effects.now());
            let cx = Cx {
                exchange: self.exchange,
                effects: self.effects,
                intent: self.intent,
            };
            let mut result = match link.filter.on_request(cx, carry) {
                Step::Done(result) => result,
                Step::Wait(wait) => unless_gone(wait, |cx| body.poll_gone(cx))
                    .await
                    .unwrap_or_else(|| Err(Reject::new(&codes::CLIENT_GONE))),
            };
            let is_watched = self.steps.is_some() || self.exchange.debug.is_some();
            if matches!(result, Ok(Flow::Next)) && !is_watched {
                // Nearly every filter of nearly every request ends here.
                continue;
            }
            if matches!(result, Ok(Flow::Body)) {
                let limit = link.needs_body.map_or(0, |need| need.limit);
                if self.body.is_none() {
                    self.body = Some(body.read(limit).await?);
                }
                let whole = self.body.as_deref().unwrap_or_default();
                let cx = Cx {
                    exchange: self.exchange,
                    effects: self.effects,
                    intent: self.intent,
                };
                result = if whole.len() > limit {
                    Err(Reject::new(&codes::BODY_TOO_LARGE))
                } else {
                    link.filter.on_body(cx, carry, whole)
                };
            }
            self.take_note(stage, index, &result);
            self.take_time(link.phase, begun);
            match result? {
                Flow::Next | Flow::Body => {}
                answer @ Flow::Answer(_) => return Ok(answer),
            }
        }
        Ok(Flow::Next)
    }

    /// Brings an answer back: in reverse through the filters entered, then through the `respond`
    /// filters in the user's order. A filter may put another answer in its place.
    pub(crate) async fn back(&mut self, mut answer: Response) -> Response {
        self.dress(&mut answer).await;
        let mut at = self.entered.len();
        while at > 0 {
            at -= 1;
            let Some(Entered {
                stage,
                index,
                carry,
            }) = self.entered.get_mut(at)
            else {
                break;
            };
            let chain = match stage {
                Stage::Entry => &*self.entry.chain,
                Stage::Route => match &self.route {
                    Some(route) => &*route.route.chain,
                    None => continue,
                },
            };
            let Some(link) = chain.links().get(*index).filter(|link| link.sees_response) else {
                continue;
            };
            let cx = Cx {
                exchange: self.exchange,
                effects: self.effects,
                intent: self.intent,
            };
            let result = match link.filter.on_response(cx, carry, &mut answer) {
                Step::Done(result) => result,
                Step::Wait(wait) => wait.await,
            };
            self.replace(&mut answer, result);
        }
        if let Some(route) = self.route.clone() {
            self.respond(&route.route.chain, &mut answer).await;
        }
        let entry = self.entry.clone();
        self.respond(&entry.chain, &mut answer).await;
        answer
    }

    /// A filter that answers preflights has a say in every answer of its route, so also in one that
    /// was given before its turn: a page could not read the error otherwise.
    async fn dress(&mut self, answer: &mut Response) {
        let Some(route) = self.route.clone() else {
            return;
        };
        let entered = self.entered.iter();
        let entered = entered.filter(|entered| entered.stage == Stage::Route);
        let links = route.route.chain.inbound().iter().skip(entered.count());
        for link in links.filter(|link| link.answers_preflight) {
            self.show(link, answer).await;
        }
    }

    async fn respond(&mut self, chain: &Chain, answer: &mut Response) {
        for link in chain.respond() {
            self.show(link, answer).await;
        }
    }

    /// Shows an answer to a filter that has not seen the request.
    async fn show(&mut self, link: &Link, answer: &mut Response) {
        let mut carry = link.filter.carry();
        let cx = Cx {
            exchange: self.exchange,
            effects: self.effects,
            intent: self.intent,
        };
        let result = match link.filter.on_response(cx, &mut carry, answer) {
            Step::Done(result) => result,
            Step::Wait(wait) => wait.await,
        };
        self.replace(answer, result);
    }

    fn replace(&mut self, answer: &mut Response, result: Result<Flow, Reject>) {
        match result {
            Ok(Flow::Next | Flow::Body) => {}
            Ok(Flow::Answer(other)) => *answer = other,
            Err(reject) => *answer = self.refuse(reject),
        }
    }

    /// Turns a reject into the answer the client gets, and remembers why for the record.
    pub(crate) fn refuse(&mut self, reject: Reject) -> Response {
        let mut early_id = None;
        if self.entered.is_empty() && self.exchange.request_id.is_none() {
            // Refused before any filter: there is an id to quote all the same (OB-40).
            let id = RequestId::from_random(self.effects.random(), self.effects.random());
            self.exchange.request_id = Some(id);
            early_id = Some(id);
        }
        let request_id = self.exchange.request_id.as_ref();
        let request_id = request_id.map_or("", |id| id.as_str());
        let mut response = self.entry.answers.render(&reject, request_id);
        if let Some(id) = early_id {
            // An id is hexadecimal digits: it cannot be refused.
            let _ = response.head.fields.append("X-Request-Id", id.as_bytes());
        }
        if is_grpc(&self.exchange.request) {
            dress(&mut response, reject.code);
        }
        self.exchange.reject = Some(reject.code);
        self.exchange.cause = reject.cause;
        response
    }

    /// Ends every filter that was entered, last first. Whoever only asks has taken nothing, so nothing
    /// ends: what the carries hold is dropped.
    pub(crate) fn end(&mut self, outcome: sluicegate_core::Outcome) {
        while let Some(Entered {
            stage,
            index,
            carry,
        }) = self.entered.pop()
        {
            if self.intent == Intent::Peek {
                continue;
            }
            let chain = match stage {
                Stage::Entry => Some(&*self.entry.chain),
                Stage::Route => self.route.as_ref().map(|route| &*route.route.chain),
            };
            if let Some(link) = chain
                .and_then(|chain| chain.links().get(index))
                .filter(|link| link.sees_end)
            {
                link.filter.on_done(self.exchange, carry, outcome);
            }
        }
    }

    /// Adds the time of one filter to its phase, on exchanges whose times somebody wants.
    fn take_time(&mut self, phase: Phase, begun: Option<Duration>) {
        let Some(debug) = &mut self.exchange.debug else {
            return;
        };
        debug.snapshot = self.entry.version;
        if let Some(begun) = begun {
            debug.spend(phase.name(), self.effects.now().saturating_sub(begun));
        }
    }

    fn take_note(&mut self, stage: Stage, index: usize, result: &Result<Flow, Reject>) {
        let Some(steps) = &mut self.steps else { return };
        let (verdict, code) = match result {
            Ok(Flow::Next) => ("next", None),
            Ok(Flow::Body) => ("body", None),
            Ok(Flow::Answer(_)) => ("answer", None),
            Err(reject) => ("reject", Some(reject.code)),
        };
        let notes = self
            .exchange
            .notes
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        steps.push(StepTaken {
            stage,
            index,
            verdict,
            code,
            notes,
        });
    }
}

/// The route of a request.
fn find(request: &RequestHead, view: &View, table: &RouteTable) -> Result<usize, Reject> {
    let subject = HeadSubject::new(request);
    let router = &table.router;
    // A statement of its own: the scratch is needed again for `Allow`.
    let found = router.find(&subject, &mut view.scratch.borrow_mut());
    match found {
        Found::Route(index) => Ok(index),
        Found::NotFound => Err(Reject::new(&codes::NO_ROUTE)),
        Found::MethodNotAllowed => {
            let mut allow = String::new();
            router.allow(&subject, &mut view.scratch.borrow_mut(), &mut allow);
            Err(Reject::new(&codes::METHOD_NOT_ALLOWED).with_field("Allow", allow))
        }
    }
}

/// The route that a CORS preflight is about, when it answers preflights, and the method asked for
/// (Fetch standard, “CORS-preflight request”). Any other `OPTIONS` is a request like others.
fn preflight(request: &RequestHead, view: &View, table: &RouteTable) -> Option<(usize, String)> {
    if request.method() != "OPTIONS" || !request.fields.contains("Origin") {
        return None;
    }
    let method = request.fields.get_str("Access-Control-Request-Method")?;
    let subject = HeadSubject::asking(request, method);
    let found = table.router.find(&subject, &mut view.scratch.borrow_mut());
    let Found::Route(index) = found else {
        return None;
    };
    let route = view.snapshot.routes.get(table.served(index)?)?;
    route
        .chain
        .answers_preflight()
        .then(|| (index, method.to_owned()))
}

/// Waits for `work` while the client does; `None` when it leaves first.
pub(crate) async fn unless_gone<T>(
    work: impl Future<Output = T>,
    mut gone: impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => gone(cx).map(|()| None),
    })
    .await
}
