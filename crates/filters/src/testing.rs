//! What the tests of filters are written with: exchanges, and hooks that are run to their end.

use std::{
    net::SocketAddr,
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use serde_json::Value;
use sluicegate_core::{
    Cx, DryEffects, Exchange, Filter, Flow, Intent, Peer, Reject, Response, RouteFacts, Step,
};
use sluicegate_http1::{InvalidField, RequestHead, Version};

use crate::{ConfigSchema, Table};

/// A request from `192.0.2.1` that met the route `orders`.
///
/// # Errors
/// A field or the target is not valid HTTP.
pub fn exchange(
    method: &str,
    target: &str,
    fields: &[(&str, &str)],
) -> Result<Exchange, InvalidField> {
    let mut head = RequestHead::build(method, target, Version::Http11)?;
    for (name, value) in fields {
        head.fields.append(name, value.as_bytes())?;
    }
    let peer = Peer {
        remote: SocketAddr::from(([192, 0, 2, 1], 40_000)),
        local: SocketAddr::from(([127, 0, 0, 1], 8080)),
    };
    let mut exchange = Exchange::new(head, peer, Rc::from("http"), Duration::ZERO);
    exchange.route = Some(Rc::new(RouteFacts {
        id: "orders".into(),
        template: "/orders/{id}".into(),
        upstream: "shop".into(),
        snapshot: 1,
        version: None,
    }));
    Ok(exchange)
}

/// A filter with fresh state, through schema, parser and its own checks.
///
/// # Errors
/// The mistakes, one a line: pointer, message, what is expected.
pub fn filter<F: Filter>(config: &Value) -> Result<F, String> {
    let lines = |mistakes: Vec<sluicegate_core::InvalidConfig>| {
        let lines: Vec<_> = mistakes
            .into_iter()
            .map(|mistake| {
                let expected = mistake.expected.as_ref().map(|text| format!(" ({text})"));
                format!("{mistake}{}", expected.unwrap_or_default())
            })
            .collect();
        lines.join("\n")
    };
    let config = ConfigSchema::of::<F::Config>()
        .read(config)
        .map_err(lines)?;
    F::new(config, Arc::default()).map_err(|mistake| lines(vec![mistake]))
}

/// The end of a step whose effects are ready at once; `None` when it still waits.
pub fn finish(step: Step<'_>) -> Option<Result<Flow, Reject>> {
    match step {
        Step::Done(result) => Some(result),
        Step::Wait(future) => match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Some(result),
            Poll::Pending => None,
        },
    }
}

/// One exchange on its way through filters, in a world given by facts.
pub struct Trial {
    /// The exchange.
    pub exchange: Exchange,
    /// The facts.
    pub effects: DryEffects,
    /// Whether state may change.
    pub intent: Intent,
}

impl Trial {
    /// A live request.
    pub fn new(exchange: Exchange) -> Self {
        Self {
            exchange,
            effects: DryEffects::new(),
            intent: Intent::Commit,
        }
    }

    /// What a hook gets.
    pub fn cx(&mut self) -> Cx<'_> {
        Cx {
            exchange: &mut self.exchange,
            effects: &self.effects,
            intent: self.intent,
        }
    }

    /// Lets the request pass one filter.
    pub fn request<F: Filter>(&mut self, filter: &F) -> Option<Result<Flow, Reject>> {
        let mut carry = F::Carry::default();
        finish(filter.on_request(self.cx(), &mut carry))
    }

    /// Lets an answer pass one filter that its request has not met.
    pub fn response<F: Filter>(
        &mut self,
        filter: &F,
        answer: &mut Response,
    ) -> Option<Result<Flow, Reject>> {
        let mut carry = F::Carry::default();
        finish(filter.on_response(self.cx(), &mut carry, answer))
    }

    /// Lets the request pass one filter of a table.
    pub fn through<T: Table>(
        &mut self,
        filter: &T,
        carry: &mut T::Carry,
    ) -> Option<Result<Flow, Reject>> {
        finish(filter.on_request(self.cx(), carry))
    }

    /// Lets an answer pass one filter of a table on its way back.
    pub fn back<T: Table>(
        &mut self,
        filter: &T,
        carry: &mut T::Carry,
        answer: &mut Response,
    ) -> Option<Result<Flow, Reject>> {
        finish(filter.on_response(self.cx(), carry, answer))
    }
}
