//! `forwarded_headers`: tells the upstream who calls, and how, and nothing that a client made up.

use std::{io::Write as _, net::IpAddr, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Cx, Exchange, Filter, InvalidConfig, Phase, Reject, Step, write_address};
use sluicegate_http1::{FieldName, Fields};

/// Writes the headers in which an upstream looks for the client.
///
/// From a hop that `client_address` trusts, lists are continued: its address is appended, once.
/// From anybody else they begin anew, so a forged one never passes. A header that is switched off
/// is not written; a client's own is removed all the same, a trusted hop's passes as it is.
///
/// It belongs behind `header_hygiene` and `client_address`: a client cannot nominate away what is
/// written later (HD-01).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one header, as users write it"
)]
pub struct Config {
    /// `X-Forwarded-For`: the hops, the client's end first.
    x_forwarded_for: bool,
    /// `X-Forwarded-Proto`: `http` or `https`, as the client came.
    x_forwarded_proto: bool,
    /// `X-Forwarded-Host`: the host the client asked for.
    x_forwarded_host: bool,
    /// `X-Forwarded-Port`: the port the client asked for.
    x_forwarded_port: bool,
    /// `X-Real-IP`: the client's address alone.
    x_real_ip: bool,
    /// `Forwarded` (RFC 7239): the same in one header.
    forwarded: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            x_forwarded_for: true,
            x_forwarded_proto: true,
            x_forwarded_host: true,
            x_forwarded_port: false,
            x_real_ip: false,
            forwarded: false,
        }
    }
}

/// The filter.
pub struct ForwardedHeaders {
    headers: [Header; 6],
}

/// One header that may be written.
struct Header {
    name: FieldName,
    is_on: bool,
    write: Write,
}

impl Filter for ForwardedHeaders {
    type Config = Config;
    type State = ();
    type Carry = ();
    const NAME: &'static str = "forwarded_headers";

    fn phase(_: &Config) -> Phase {
        Phase::Sanitize
    }

    fn other_phases(_: &Config) -> &'static [Phase] {
        &[Phase::Rewrite]
    }

    fn new(config: Config, _: Arc<()>) -> Result<Self, InvalidConfig> {
        let header = |name, is_on, write| Header {
            name: FieldName::of_ours(name),
            is_on,
            write,
        };
        Ok(Self {
            headers: [
                header("X-Forwarded-For", config.x_forwarded_for, hops),
                header("X-Forwarded-Proto", config.x_forwarded_proto, proto),
                header("X-Forwarded-Host", config.x_forwarded_host, host),
                header("X-Forwarded-Port", config.x_forwarded_port, port),
                header("X-Real-IP", config.x_real_ip, client),
                header("Forwarded", config.forwarded, forwarded),
            ],
        })
    }

    fn sees_response(&self) -> bool {
        false
    }

    fn sees_end(&self) -> bool {
        false
    }

    fn on_request<'a>(&'a self, cx: Cx<'a>, (): &'a mut ()) -> Step<'a> {
        // What is written is read from the exchange while its fields change.
        let mut fields = std::mem::take(&mut cx.exchange.request.fields);
        let written = self.write(cx.exchange, &mut fields);
        cx.exchange.request.fields = fields;
        written.into()
    }
}

impl ForwardedHeaders {
    fn write(&self, exchange: &Exchange, fields: &mut Fields) -> Result<(), Reject> {
        let mut value = Line::default();
        let peer = exchange.peer.remote.ip().to_canonical();
        for Header { name, is_on, write } in &self.headers {
            if *is_on {
                value.0.clear();
                write(exchange, fields, peer, &mut value);
                if value.0.is_empty() {
                    fields.remove(name.as_str());
                } else {
                    fields.set_named(name, &value.0)?;
                }
            } else if !exchange.peer_trusted {
                fields.remove(name.as_str());
            }
        }
        Ok(())
    }
}

/// Writes one value: what is known, what was sent, the other end of the connection.
type Write = fn(&Exchange, &Fields, IpAddr, &mut Line);

/// A value under construction.
#[derive(Default)]
struct Line(Vec<u8>);

impl Line {
    fn push(&mut self, text: impl std::fmt::Display) {
        let written = write!(self.0, "{text}");
        debug_assert!(written.is_ok(), "a vector takes all that is written");
    }

    /// The list as a trusted hop has sent it, ready for one more member.
    fn continue_list(&mut self, exchange: &Exchange, fields: &Fields, name: &str) {
        if !exchange.peer_trusted {
            return;
        }
        for sent in fields.get_all(name).filter(|sent| !sent.is_empty()) {
            self.0.extend_from_slice(sent);
            self.0.extend_from_slice(b", ");
        }
    }
}

fn hops(exchange: &Exchange, fields: &Fields, peer: IpAddr, out: &mut Line) {
    out.continue_list(exchange, fields, "X-Forwarded-For");
    write_address(peer, &mut out.0);
}

fn proto(exchange: &Exchange, _: &Fields, _: IpAddr, out: &mut Line) {
    out.0.extend_from_slice(exchange.scheme.as_str().as_bytes());
}

fn host(exchange: &Exchange, fields: &Fields, _: IpAddr, out: &mut Line) {
    out.0.extend_from_slice(asked_host(exchange, fields));
}

fn asked_host<'a>(exchange: &'a Exchange, fields: &'a Fields) -> &'a [u8] {
    match exchange.host.as_deref() {
        Some(host) => host.as_bytes(),
        None => fields.get("Host").unwrap_or_default(),
    }
}

fn port(exchange: &Exchange, fields: &Fields, _: IpAddr, out: &mut Line) {
    let sent = fields
        .get_str("X-Forwarded-Port")
        .filter(|_| exchange.peer_trusted)
        .and_then(|port| port.parse::<u16>().ok());
    out.push(sent.unwrap_or(exchange.peer.local.port()));
}

fn client(exchange: &Exchange, _: &Fields, _: IpAddr, out: &mut Line) {
    write_address(exchange.client, &mut out.0);
}

/// RFC 7239 section 6: an IPv6 address stands in brackets, and so in quotes.
fn forwarded(exchange: &Exchange, fields: &Fields, peer: IpAddr, out: &mut Line) {
    out.continue_list(exchange, fields, "Forwarded");
    match peer {
        IpAddr::V4(v4) => out.push(format_args!("for={v4}")),
        IpAddr::V6(v6) => out.push(format_args!("for=\"[{v6}]\"")),
    }
    let host = asked_host(exchange, fields);
    if !host.is_empty() && !host.contains(&b'"') && !host.contains(&b'\\') {
        out.0.extend_from_slice(b";host=\"");
        out.0.extend_from_slice(host);
        out.0.push(b'"');
    }
    out.push(format_args!(";proto={}", exchange.scheme.as_str()));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sluicegate_core::Scheme;

    use super::*;
    use crate::testing::{Trial, exchange, filter};

    fn written(
        config: &Value,
        (peer, trusted): (&str, bool),
        fields: &[(&str, &str)],
    ) -> Vec<(String, String)> {
        let filter: ForwardedHeaders = filter(config).unwrap();
        let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
        trial.exchange.peer.remote = std::net::SocketAddr::new(peer.parse().unwrap(), 40_000);
        trial.exchange.peer_trusted = trusted;
        trial.exchange.client = trial.exchange.peer.remote.ip();
        if trusted {
            trial.exchange.scheme = Scheme::Https;
            trial.exchange.host = Some("shop.test".into());
        }
        trial.request(&filter).unwrap().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let fields = trial.exchange.request.fields.iter();
        let fields = fields.map(|(name, value)| (text(name), text(value)));
        fields.filter(|(name, _)| name != "Host").collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        expected.iter().map(own).collect()
    }

    // case: HD-01
    // case: HD-04
    #[test]
    fn what_a_client_made_up_is_replaced() {
        let sent = [
            ("Host", "a.test"),
            ("X-Forwarded-For", "9.9.9.9"),
            ("X-Forwarded-Proto", "https"),
            ("x-forwarded-for", "8.8.8.8"),
            ("X-Real-IP", "9.9.9.9"),
            ("Forwarded", "for=9.9.9.9"),
            ("X-Forwarded-Port", "1"),
        ];

        let written = written(&json!({}), ("192.0.2.1", false), &sent);

        let mut written = written;
        written.sort();
        assert_eq!(
            written,
            pairs(&[
                ("X-Forwarded-For", "192.0.2.1"),
                ("X-Forwarded-Host", "a.test"),
                ("X-Forwarded-Proto", "http"),
            ])
        );
    }

    // case: HD-04
    #[test]
    fn a_trusted_hop_is_appended_once() {
        let sent = [
            ("X-Forwarded-For", "203.0.113.7"),
            ("X-Forwarded-For", "10.0.0.4"),
        ];

        let written = written(&json!({}), ("10.0.0.1", true), &sent);

        let list = written.iter().find(|(name, _)| name == "X-Forwarded-For");
        assert_eq!(list.unwrap().1, "203.0.113.7, 10.0.0.4, 10.0.0.1");
        assert!(written.contains(&("X-Forwarded-Proto".into(), "https".into())));
        assert!(written.contains(&("X-Forwarded-Host".into(), "shop.test".into())));
    }

    // case: HD-06
    #[test]
    fn an_ipv6_address_stands_in_brackets_and_quotes() {
        let config = json!({"forwarded": true, "x_real_ip": true, "x_forwarded_port": true});

        let written = written(&config, ("::1", false), &[("Host", "a.test:8080")]);

        let expected = "for=\"[::1]\";host=\"a.test:8080\";proto=http";
        assert!(written.contains(&("Forwarded".into(), expected.into())));
        assert!(written.contains(&("X-Real-IP".into(), "::1".into())));
        assert!(written.contains(&("X-Forwarded-Port".into(), "8080".into())));
        assert!(written.contains(&("X-Forwarded-For".into(), "::1".into())));
    }

    // case: HD-06
    #[test]
    fn what_is_off_is_not_written_and_a_clients_own_does_not_pass() {
        let config = json!({
            "x_forwarded_for": false, "x_forwarded_proto": false, "x_forwarded_host": false,
        });
        let sent = [
            ("X-Forwarded-For", "198.51.100.9"),
            ("Forwarded", "for=198.51.100.9"),
        ];

        assert_eq!(written(&config, ("192.0.2.1", false), &sent), []);
        assert_eq!(written(&config, ("10.0.0.1", true), &sent), pairs(&sent));
    }
}
