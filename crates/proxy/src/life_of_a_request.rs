//! The life of a request. Start reading here.

use std::rc::Rc;

use sluicegate_core::{Flow, Reject, Response};

use crate::{
    journey::Journey,
    passage::{Passage, WholeBody},
    upstream::attempts::Attempts,
    view::{RouteView, Terminal},
};

/// Answers one exchange and stays until its last byte has gone or the client has left.
/// Never fails: whatever goes wrong becomes a response with a status, or an abort once one has begun.
pub(crate) async fn serve(journey: &mut Journey<'_>) {
    // The journey owns the exchange, the chains entered and what they carry. Dropped, also when the
    // client leaves and this future with it, it ends every filter and writes the record.
    let answer = match travel(journey).await {
        Ok(answer) => answer,
        Err(reject) => journey.refuse(reject),
    };
    // Answers of filters and rejects go back the same way as an upstream's.
    let answer = journey.back(answer).await;
    journey.relay(answer).await;
}

async fn travel(journey: &mut Journey<'_>) -> Result<Response, Reject> {
    let Journey {
        passage, client, ..
    } = journey;
    match decide(passage, *client).await? {
        Decision::Answer(response) => Ok(response),
        Decision::Forward(route) => forward(journey, route).await,
    }
}

/// What the configuration says about a request: everything before the upstream. Live requests and
/// `explain` come through here, so there is no second opinion.
pub(crate) async fn decide(
    passage: &mut Passage<'_>,
    body: &mut dyn WholeBody,
) -> Result<Decision, Reject> {
    passage.well_formed()?;

    if let Flow::Answer(response) = passage.enter_listener(body).await? {
        return Ok(Decision::Answer(response));
    }

    let route = passage.find_route()?;
    body.set_limit(route.route.body_limit.unwrap_or(passage.body_limit));
    body.record_by(
        &route.route.record,
        &passage.exchange.request,
        passage.body.as_deref(),
    );

    if let Flow::Answer(response) = passage.enter_route(&route, body).await? {
        return Ok(Decision::Answer(response));
    }

    Ok(match &route.route.terminal {
        Terminal::Answer(own) => Decision::Answer(own.render(passage.exchange)?),
        Terminal::Upstream(_) => Decision::Forward(route),
    })
}

/// Where a request goes after the chains.
pub(crate) enum Decision {
    /// Back: a filter, `respond` or `redirect` answers.
    Answer(Response),
    /// On to the route's upstream.
    Forward(Rc<RouteView>),
}

async fn forward(journey: &mut Journey<'_>, route: Rc<RouteView>) -> Result<Response, Reject> {
    let mut attempts = Attempts::new(journey, route)?;
    loop {
        match attempts.send(journey).await {
            Ok(response) => return Ok(response),
            Err(failure) => attempts.again_or_give_up(failure)?,
        }
    }
}
