//! `/livez`, `/readyz` and `/metrics`, read-only, on their own port.

use std::{sync::Arc, time::Duration};

use sluicegate_core::{Body, Response};
use sluicegate_http1::{
    Framing, HeadLimits, Persistence, RequestHead, parse_request, request_framing, write_response,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};

use crate::core::Core;

/// How many connections are served at once; a monitor needs one.
const CONNECTIONS: usize = 64;
/// For one request, from the first byte to the last of its answer.
const WITHIN: Duration = Duration::from_secs(5);
/// After a failed accept: a pause instead of a spinning loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const LIMITS: HeadLimits = HeadLimits {
    bytes: 8 << 10,
    fields: 64,
    target: 1 << 10,
};

/// Serves until the runtime ends.
pub(crate) async fn serve(listener: TcpListener, core: Arc<Core>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let core = core.clone();
                tokio::spawn(async move {
                    // A monitor that is too slow is simply gone.
                    let _ = timeout(WITHIN, connection(stream, &core)).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// One request, one answer, the end.
async fn connection(mut stream: TcpStream, core: &Core) -> std::io::Result<()> {
    let mut input = Vec::with_capacity(LIMITS.bytes);
    let mut head = RequestHead::default();
    let answer = loop {
        match parse_request(&input, &LIMITS, &mut head) {
            Ok(Some(_)) => break answer(&head, core),
            Ok(None) => {}
            Err(malformed) => break text(malformed.status(), malformed.reason()),
        }
        if stream.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
    };
    let bytes = match answer.body {
        Body::Bytes(bytes) => bytes,
        Body::Empty | Body::Upstream => Vec::new(),
    };
    let mut output = Vec::with_capacity(bytes.len() + 256);
    write_response(
        &answer.head,
        Framing::Length(bytes.len() as u64),
        Persistence::Close,
        &mut output,
    );
    if head.method() != "HEAD" {
        output.extend_from_slice(&bytes);
    }
    stream.write_all(&output).await?;
    stream.shutdown().await
}

fn answer(head: &RequestHead, core: &Core) -> Response {
    if !matches!(head.method(), "GET" | "HEAD") || request_framing(head) != Ok(Framing::Empty) {
        let mut refused = text(405, "this port is read-only");
        let _ = refused.head.fields.append("Allow", b"GET, HEAD");
        return refused;
    }
    match head.path() {
        "/livez" => text(200, "alive"),
        "/readyz" if core.is_ready() => text(200, "ready"),
        "/readyz" if core.is_draining() => text(503, "not ready: draining"),
        "/readyz" => text(503, "not ready: no snapshot is applied"),
        "/metrics" => {
            let mut metrics = String::new();
            core.registry.expose(core.clock.now(), &mut metrics);
            let mut response = Response::with_body(200, metrics);
            let _ = response
                .head
                .fields
                .append("Content-Type", b"text/plain; version=0.0.4; charset=utf-8");
            response
        }
        _ => text(404, "there are /livez, /readyz and /metrics"),
    }
}

fn text(status: u16, line: &str) -> Response {
    let mut response = Response::with_body(status, format!("{line}\n"));
    let _ = response
        .head
        .fields
        .append("Content-Type", b"text/plain; charset=utf-8");
    response
}
