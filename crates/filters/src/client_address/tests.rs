//! Who calls, by what hops say.

use serde_json::{Value, json};

use super::*;
use crate::testing::{Trial, exchange, filter};

fn seen(config: &Value, peer: &str, fields: &[(&str, &str)]) -> Exchange {
    let filter: ClientAddress = filter(config).unwrap();
    let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
    trial.exchange.peer.remote = std::net::SocketAddr::new(peer.parse().unwrap(), 40_000);
    trial.request(&filter).unwrap().unwrap();
    trial.exchange
}

fn client(config: &Value, peer: &str, fields: &[(&str, &str)]) -> String {
    seen(config, peer, fields).client.to_string()
}

fn behind_proxies() -> Value {
    json!({"source": "x_forwarded_for", "trusted": ["127.0.0.1/32", "10.0.0.0/8"]})
}

// spec: SE-14
// spec: SE-15
// case: HD-04
#[test]
fn the_walk_goes_from_the_right_over_trusted_hops() {
    for (sent, expected) in [
        ("9.9.9.9", "9.9.9.9"),
        ("9.9.9.9, 203.0.113.7, 10.0.0.4", "203.0.113.7"),
        ("9.9.9.9, 10.0.0.4, 203.0.113.7", "203.0.113.7"),
        ("10.1.1.1, 10.0.0.4", "10.1.1.1"),
        ("junk, 203.0.113.7", "203.0.113.7"),
        ("9.9.9.9, junk, 10.0.0.4", "10.0.0.4"),
        ("", "127.0.0.1"),
        ("junk", "127.0.0.1"),
    ] {
        let found = client(&behind_proxies(), "127.0.0.1", &[("X-Forwarded-For", sent)]);
        assert_eq!(found, expected, "{sent}");
    }
    let lines = [
        ("X-Forwarded-For", "9.9.9.9, 203.0.113.7"),
        ("x-forwarded-for", "10.0.0.4"),
    ];
    assert_eq!(
        client(&behind_proxies(), "127.0.0.1", &lines),
        "203.0.113.7"
    );
}

// spec: SE-16
// case: HD-04
#[test]
fn who_is_not_trusted_is_the_client_whatever_it_sends() {
    let sent = [
        ("X-Forwarded-For", "9.9.9.9"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "bank.test"),
    ];

    let exchange = seen(&behind_proxies(), "203.0.113.9", &sent);
    let nobody = seen(&json!({}), "127.0.0.1", &sent);

    assert_eq!(exchange.client.to_string(), "203.0.113.9");
    assert!(!exchange.peer_trusted && !nobody.peer_trusted);
    assert_eq!((exchange.scheme, exchange.host), (Scheme::Http, None));
    assert_eq!(nobody.client.to_string(), "127.0.0.1");
}

// spec: SE-14
#[test]
fn hops_are_counted_when_their_addresses_are_not_known() {
    let config = |hops: usize| json!({"source": "x_forwarded_for", "hops": hops});
    let sent = [("X-Forwarded-For", "0.0.0.1, 0.0.0.2, 0.0.0.3")];

    // The examples of `maxTrustedIndex`.
    assert_eq!(client(&config(1), "192.0.2.1", &sent), "0.0.0.3");
    assert_eq!(client(&config(2), "192.0.2.1", &sent), "0.0.0.2");
    assert_eq!(client(&config(3), "192.0.2.1", &sent), "0.0.0.1");
    assert_eq!(client(&config(9), "192.0.2.1", &sent), "0.0.0.1");
}

// spec: SE-17
// spec: SE-21
#[test]
fn a_header_with_one_address_counts_from_trusted_hops_only() {
    let real = json!({"source": "x_real_ip", "trusted": ["10.0.0.0/8"]});
    let cdn = json!({"source": {"header": "CF-Connecting-IP"}, "trusted": ["10.0.0.0/8"]});
    let sent = [
        ("X-Real-IP", "203.0.113.7"),
        ("CF-Connecting-IP", "2001:db8::7"),
    ];

    assert_eq!(client(&real, "10.0.0.1", &sent), "203.0.113.7");
    assert_eq!(client(&cdn, "10.0.0.1", &sent), "2001:db8::7");
    assert_eq!(client(&cdn, "192.0.2.1", &sent), "192.0.2.1");
    let twice = [("X-Real-IP", "203.0.113.7"), ("X-Real-IP", "9.9.9.9")];
    assert_eq!(client(&real, "10.0.0.1", &twice), "10.0.0.1");
}

// spec: SE-18
#[test]
fn forwarded_says_address_scheme_and_host() {
    let config = json!({"source": "forwarded", "trusted": ["10.0.0.0/8"]});
    let sent = [(
        "Forwarded",
        "for=9.9.9.9;proto=http, for=203.0.113.7;proto=https;host=shop.test;by=10.0.0.1, for=10.0.0.2",
    )];

    let exchange = seen(&config, "10.0.0.1", &sent);

    assert_eq!(exchange.client.to_string(), "203.0.113.7");
    assert_eq!(exchange.scheme, Scheme::Https);
    assert_eq!(exchange.host.as_deref(), Some("shop.test"));
    let hidden = [("Forwarded", "for=9.9.9.9, for=_gazonk")];
    assert_eq!(client(&config, "10.0.0.1", &hidden), "10.0.0.1");
}

#[test]
fn the_scheme_is_that_of_the_hop_which_the_client_met() {
    let sent = [
        ("X-Forwarded-For", "9.9.9.9, 203.0.113.7, 10.0.0.4"),
        ("X-Forwarded-Proto", "http, https, http"),
        ("X-Forwarded-Host", "shop.test"),
    ];

    let exchange = seen(&behind_proxies(), "127.0.0.1", &sent);

    assert_eq!(exchange.scheme, Scheme::Https);
    assert_eq!(exchange.host.as_deref(), Some("shop.test"));
    let bad = [("X-Forwarded-Host", "a b/c")];
    assert_eq!(seen(&behind_proxies(), "127.0.0.1", &bad).host, None);
}

#[test]
fn mistakes_say_what_would_be_right() {
    let mistake = |config: Value| filter::<ClientAddress>(&config).err().unwrap();

    assert!(mistake(json!({"source": "x_forwarded_for"})).contains("nobody is trusted"));
    assert!(mistake(json!({"hops": 1})).starts_with("/hops: "));
    let both = json!({"source": "forwarded", "hops": 1, "trusted": ["10.0.0.0/8"]});
    assert!(mistake(both).contains("exclude"));
    let bits = json!({"source": "forwarded", "trusted": ["10.0.0.1/8"]});
    assert!(mistake(bits).contains("10.0.0.0/8"));
    assert!(mistake(json!({"source": "forwarded", "hops": 0})).starts_with("/hops"));
}
