//! A name server that changes its mind: what it says later passes the same fence.

use std::{
    net::{Ipv4Addr, UdpSocket},
    sync::Mutex,
};

use hickory_resolver::{
    config::{NameServerConfigGroup, ResolverConfig},
    name_server::TokioConnectionProvider,
};

use super::*;

/// Answers every question for an IPv4 address with the one it was told last, for no time at all.
struct NameServer {
    address: Arc<Mutex<Ipv4Addr>>,
    port: u16,
}

impl NameServer {
    fn start(first: Ipv4Addr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let address = Arc::new(Mutex::new(first));
        let said = address.clone();
        std::thread::spawn(move || {
            let mut packet = [0; 512];
            while let Ok((length, peer)) = socket.recv_from(&mut packet) {
                let answer = answer(&packet[..length], *said.lock().unwrap());
                let _ = socket.send_to(&answer, peer);
            }
        });
        Self { address, port }
    }

    fn say(&self, address: Ipv4Addr) {
        *self.address.lock().unwrap() = address;
    }

    fn resolver(&self) -> TokioResolver {
        let servers =
            NameServerConfigGroup::from_ips_clear(&[Ipv4Addr::LOCALHOST.into()], self.port, true);
        let config = ResolverConfig::from_parts(None, Vec::new(), servers);
        let mut builder =
            TokioResolver::builder_with_config(config, TokioConnectionProvider::default());
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4Only;
        options.cache_size = 0;
        builder.build()
    }
}

/// The answer to a question (RFC 1035, section 4.1): one A record, its time to live zero.
fn answer(question: &[u8], address: Ipv4Addr) -> Vec<u8> {
    // Header, then the name up to its root, then type and class.
    let name = question[12..].iter().position(|byte| *byte == 0).unwrap();
    let asked = &question[12..12 + name + 5];
    let mut packet = question[..2].to_vec();
    packet.extend([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    packet.extend(asked);
    packet.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
    packet.extend(address.octets());
    packet
}

fn followed(policy: UpstreamPolicy, core: &Core) -> (Arc<Shared>, Followed) {
    let config: document::Upstream =
        serde_json::from_str(r#"{"id": "origin", "endpoints": [{"address": "origin.test.:80"}]}"#)
            .unwrap();
    let shared = Arc::new(Shared::new(&config, core.registry.upstream("origin")));
    let followed = Followed {
        shared: Arc::downgrade(&shared),
        endpoints: named(&config),
        refresh: Duration::from_secs(30),
        policy: Arc::new(policy),
        due: Instant::now(),
    };
    (shared, followed)
}

fn endpoints(shared: &Shared) -> Vec<String> {
    let endpoints = shared.endpoints();
    endpoints
        .addresses()
        .iter()
        .map(ToString::to_string)
        .collect()
}

// spec: SE-23
#[test]
fn a_name_that_turns_to_a_metadata_address_is_not_followed() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let server = NameServer::start(Ipv4Addr::new(10, 0, 0, 7));
        let core = Core::new(1);
        let (shared, mut followed) = followed(UpstreamPolicy::default(), &core);
        let mut resolver = Some(server.resolver());

        followed.resolve(&mut resolver, &core).await;
        let before = endpoints(&shared);
        server.say(Ipv4Addr::new(169, 254, 169, 254));
        followed.resolve(&mut resolver, &core).await;
        followed.resolve(&mut resolver, &core).await;
        let rebound = endpoints(&shared);
        server.say(Ipv4Addr::new(10, 0, 0, 8));
        followed.resolve(&mut resolver, &core).await;
        let after = endpoints(&shared);

        assert_eq!(before, ["10.0.0.7:80"]);
        assert!(rebound.is_empty(), "{rebound:?}");
        assert_eq!(after, ["10.0.0.8:80"]);
        let told = core.take_events();
        assert_eq!(told.len(), 1, "the same refusal is told once");
        assert!(told[0].payload.contains("169.254.169.254"));
    });
}
