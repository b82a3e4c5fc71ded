//! What a balancer says of a connection before its first request: the PROXY protocol.

use std::{future::poll_fn, task::Poll};

use sluicegate_codec::proxy_protocol::{Header, parse};
use sluicegate_core::Peer;
use sluicegate_record::ConnectionText;

use crate::conversation::Conversation;

impl Conversation<'_> {
    /// Takes in the PROXY header where the listener expects one; false when the connection is to
    /// end: a stranger, a missing or bad header, or one that takes too long. Nothing is guessed
    /// and nothing is answered, because it is not known whom one would be talking to.
    pub(crate) async fn is_announced(&mut self) -> bool {
        let (thread, listener) = (self.thread, self.exchange.listener.clone());
        let Some(settings) = thread.view().snapshot.listener(&listener) else {
            // It has just gone; the first request is still answered.
            return true;
        };
        let Some(rule) = &settings.proxy_protocol else {
            return true;
        };
        let peer = self.exchange.peer;
        let header = if rule.trusts(peer.remote.ip()) {
            self.alarm.set(thread.deadline(rule.timeout.0));
            self.read_header().await
        } else {
            None
        };
        self.alarm.clear();
        let Some(header) = header else {
            let refused = thread.core.registry.counter(
                "proxy_headers_refused_total",
                "Connections closed because their PROXY header was missing, bad, late or a stranger's.",
                &[("listener", &listener)],
            );
            refused.add(thread.index, 1);
            return false;
        };
        self.client.socket.consume(header.size);
        if let Some((remote, local)) = header.ends {
            let peer = Peer { remote, local };
            self.exchange.peer = peer;
            self.client.text = ConnectionText::new(&peer, &listener);
        }
        true
    }

    async fn read_header(&mut self) -> Option<Header> {
        let Self {
            thread,
            client,
            alarm,
            ..
        } = self;
        poll_fn(|cx| {
            loop {
                match parse(client.socket.unread()) {
                    Ok(Some(header)) => return Poll::Ready(Some(header)),
                    Ok(None) => {}
                    Err(_) => return Poll::Ready(None),
                }
                match client.socket.poll_fill(cx, &thread.buffers, false) {
                    Poll::Ready(Ok(count)) if count > 0 => {}
                    Poll::Ready(_) => return Poll::Ready(None),
                    Poll::Pending => return alarm.poll(|| thread.now(), cx).map(|()| None),
                }
            }
        })
        .await
    }
}
