//! The opening handshake: asked by the client, agreed to by the upstream, proven by a hash.

use std::rc::Rc;

use sluicegate_codec::websocket::{accept_for, is_key};
use sluicegate_core::{Reject, codes};
use sluicegate_http1::{RequestHead, ResponseHead, agrees_to_websocket};

use crate::{snapshot::websocket::Place, view::RouteView};

/// A handshake on its way to the upstream.
pub(crate) struct Handshake {
    /// What the upstream has to answer.
    accept: String,
    route: Rc<RouteView>,
    place: Place,
}

/// A connection on which both sides have left HTTP.
pub(crate) struct Tunnel {
    pub(super) route: Rc<RouteView>,
    /// The sides have agreed on compressed messages (RFC 7692).
    pub(super) compresses: bool,
    /// Held until the end.
    _place: Place,
}

impl Handshake {
    /// Checks what the client asks and puts it into the form of this hop; `None` on a route that
    /// does not speak WebSocket: there an upgrade is ignored, as RFC 9110 section 7.8 allows.
    ///
    /// # Errors
    /// A handshake that cannot succeed, or a route that has as many connections as it may.
    pub(crate) fn begin(
        request: &mut RequestHead,
        route: &Rc<RouteView>,
    ) -> Result<Option<Self>, Reject> {
        let Some(settings) = &route.route.websocket else {
            return Ok(None);
        };
        let fields = &mut request.fields;
        if fields.get("Sec-WebSocket-Version") != Some(b"13") {
            return Err(Reject::new(&codes::WEBSOCKET_VERSION)
                .with_field("Sec-WebSocket-Version", "13")
                .with_field("Upgrade", "websocket"));
        }
        let mut keys = fields.get_all("Sec-WebSocket-Key");
        let accept = match (keys.next(), keys.next()) {
            (Some(key), None) if is_key(key) => accept_for(key),
            _ => {
                return Err(
                    Reject::new(&codes::BAD_HANDSHAKE).because("Sec-WebSocket-Key is not one key")
                );
            }
        };
        drop(keys);
        let Some(place) = settings.enter() else {
            return Err(Reject::new(&codes::TOO_MANY_WEBSOCKETS));
        };
        fields.append("Connection", b"Upgrade")?;
        fields.append("Upgrade", b"websocket")?;
        Ok(Some(Self {
            accept,
            route: route.clone(),
            place,
        }))
    }

    /// Whether the upstream has agreed. Only then does the client learn of it (WS-01).
    pub(crate) fn check(&self, answer: &ResponseHead) -> Result<(), &'static str> {
        if !agrees_to_websocket(answer) {
            return Err("101 without an upgrade to websocket");
        }
        if answer.fields.get("Sec-WebSocket-Accept") != Some(self.accept.as_bytes()) {
            return Err("101 with another Sec-WebSocket-Accept");
        }
        Ok(())
    }

    /// Both sides have agreed.
    pub(crate) fn complete(self, answer: &ResponseHead) -> Tunnel {
        let compresses = answer
            .fields
            .get_all("Sec-WebSocket-Extensions")
            .any(|value| {
                value
                    .windows(b"permessage-deflate".len())
                    .any(|word| word.eq_ignore_ascii_case(b"permessage-deflate"))
            });
        Tunnel {
            route: self.route,
            compresses,
            _place: self.place,
        }
    }
}
