//! `load`: sends requests over keep-alive connections, checks every answer, prints one line of JSON.
//!
//! `load --target 127.0.0.1:8080 --connections 64 --seconds 3 --expect-bytes 1024
//! [--requests FILE] [--rate R] [--method POST --body-bytes N]`

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use sluicegate_load::arguments::Arguments;
use sluicegate_load::body::pattern;
use sluicegate_load::client::Client;
use sluicegate_load::latencies::Latencies;
use sluicegate_load::messages::Fault;
use sluicegate_load::pace::Pace;

/// How long answers may take after the last request was sent.
const GRACE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "load: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut given = Arguments::read(std::env::args().skip(1))?;
    let target: SocketAddr = given.required("target")?;
    let connections: usize = given.required("connections")?;
    let seconds: f64 = given.required("seconds")?;
    let expected = pattern(given.required("expect-bytes")?);
    let rate = given.optional("rate")?;
    let method = given
        .optional("method")?
        .unwrap_or_else(|| "GET".to_owned());
    let body = given.optional("body-bytes")?.map(pattern);
    let paths = match given.optional::<String>("requests")? {
        Some(file) => std::fs::read_to_string(file)?,
        None => "/".to_owned(),
    };
    given.finish()?;
    let requests: Vec<_> = paths
        .lines()
        .map(|path| request(&method, path, target, body.as_deref()))
        .collect();
    if requests.is_empty() {
        return Err("the file of requests is empty".into());
    }

    let mut run = Run::connect(target, connections, requests, expected)?;
    run.go(rate, Duration::try_from_secs_f64(seconds)?)?;
    run.report(&mut io::stdout().lock())?;
    Ok(())
}

fn request(method: &str, path: &str, target: SocketAddr, body: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = format!(
        "{method} {path} HTTP/1.1\r\nHost: {target}\r\nUser-Agent: load\r\nAccept: */*\r\n"
    )
    .into_bytes();
    if let Some(body) = body {
        let fields = format!(
            "Content-Type: application/octet-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        bytes.extend_from_slice(fields.as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body.unwrap_or_default());
    bytes
}

struct Run {
    epoll: OwnedFd,
    /// `None` once a connection has failed; it is not replaced.
    clients: Vec<Option<Client>>,
    idle: Vec<usize>,
    under_way: usize,
    requests: Vec<Vec<u8>>,
    expected: Vec<u8>,
    dice: u64,
    latencies: Latencies,
    took: Duration,
    errors: usize,
    first_error: Option<Fault>,
}

impl Run {
    fn connect(
        target: SocketAddr,
        connections: usize,
        requests: Vec<Vec<u8>>,
        expected: Vec<u8>,
    ) -> Result<Self, Box<dyn Error>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut clients = Vec::with_capacity(connections);
        for place in 0..connections {
            let client = Client::connect(target)?;
            epoll::add(
                &epoll,
                &client,
                epoll::EventData::new_u64(u64::try_from(place)?),
                epoll::EventFlags::IN
                    | epoll::EventFlags::OUT
                    | epoll::EventFlags::RDHUP
                    | epoll::EventFlags::ET,
            )?;
            clients.push(Some(client));
        }
        Ok(Self {
            epoll,
            clients,
            idle: (0..connections).collect(),
            under_way: 0,
            requests,
            expected,
            // The same sequence in every run: all gateways get the same requests.
            dice: 0x9E37_79B9_7F4A_7C15,
            latencies: Latencies::default(),
            took: Duration::ZERO,
            errors: 0,
            first_error: None,
        })
    }

    fn go(&mut self, rate: Option<u32>, lasting: Duration) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let end = start + lasting;
        let mut pace = Pace::begin(rate, start);
        let mut buffer = vec![0; 256 * 1024];
        let mut events = Vec::with_capacity(1024);
        let mut now = start;
        loop {
            if now < end {
                self.send_what_is_due(&mut pace, now);
            } else if self.under_way == 0 || now > end + GRACE {
                break;
            }
            let wake = if now < end {
                pace.wake().map_or(end, |due| due.min(end))
            } else {
                end + GRACE
            };
            let wait = Timespec::try_from(wake.saturating_duration_since(now))?;
            events.clear();
            epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&wait))?;
            now = Instant::now();
            for event in &events {
                let client = usize::try_from(event.data.u64())?;
                self.serve(client, event.flags, &mut buffer, now);
                // Asked again at once, as a busy client would, not after the whole batch of events.
                if now < end && matches!(pace, Pace::Closed) {
                    self.send_what_is_due(&mut pace, now);
                }
            }
            if self.clients.iter().all(Option::is_none) {
                break;
            }
        }
        self.took = start.elapsed();
        for _ in 0..self.under_way {
            self.fail(Fault::Late);
        }
        Ok(())
    }

    fn send_what_is_due(&mut self, pace: &mut Pace, now: Instant) {
        while let Some(place) = self.idle.pop() {
            let Some(since) = pace.take(now) else {
                self.idle.push(place);
                return;
            };
            let number = self.roll();
            let Some(Some(client)) = self.clients.get_mut(place) else {
                continue;
            };
            self.under_way += 1;
            if let Err(fault) = client.send(&self.requests, number, since) {
                self.lose(place, fault);
            }
        }
    }

    fn serve(&mut self, place: usize, flags: epoll::EventFlags, buffer: &mut [u8], now: Instant) {
        let Some(Some(client)) = self.clients.get_mut(place) else {
            return;
        };
        let mut outcome = Ok(None);
        if flags.contains(epoll::EventFlags::OUT) {
            outcome = client.flush(&self.requests).map(|()| None);
        }
        if outcome.is_ok() && flags != epoll::EventFlags::OUT {
            outcome = client.receive(buffer, &self.expected);
        }
        match outcome {
            Ok(Some(since)) => {
                self.latencies.note(now.saturating_duration_since(since));
                self.under_way -= 1;
                self.idle.push(place);
            }
            Ok(None) => {}
            Err(fault) => self.lose(place, fault),
        }
    }

    fn lose(&mut self, place: usize, fault: Fault) {
        if let Some(client) = self.clients.get_mut(place).and_then(Option::take) {
            if client.is_busy() {
                self.under_way -= 1;
            }
            self.idle.retain(|idle| *idle != place);
            self.fail(fault);
        }
    }

    fn fail(&mut self, fault: Fault) {
        self.errors += 1;
        self.first_error.get_or_insert(fault);
    }

    /// The number of a request, at random (xorshift64).
    fn roll(&mut self) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice >> 16).unwrap_or(0) % self.requests.len()
    }

    fn report(&mut self, out: &mut impl Write) -> io::Result<()> {
        let first_error = self
            .first_error
            .as_ref()
            .map_or_else(|| "null".to_owned(), |fault| quoted(&fault.to_string()));
        writeln!(
            out,
            "{{\"requests\": {}, \"errors\": {}, \"first_error\": {first_error}, \"seconds\": {:.6}, \
             \"p50_us\": {}, \"p99_us\": {}, \"max_us\": {}}}",
            self.latencies.count(),
            self.errors,
            self.took.as_secs_f64(),
            self.latencies.percentile(50),
            self.latencies.percentile(99),
            self.latencies.percentile(100),
        )
    }
}

/// A JSON string; what a peer sent may hold anything.
fn quoted(text: &str) -> String {
    let inner: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .flat_map(|c| {
            ['\\']
                .into_iter()
                .filter(move |_| c == '"' || c == '\\')
                .chain([c])
        })
        .collect();
    format!("\"{inner}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_sent_stays_one_json_string() {
        assert_eq!(quoted("a \"b\"\\\r\n"), r#""a \"b\"\\  ""#);
    }

    #[test]
    fn a_body_is_announced() {
        let text = request(
            "POST",
            "/x",
            SocketAddr::from(([127, 0, 0, 1], 80)),
            Some(b"abc"),
        );

        assert!(text.starts_with(b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"));
        assert!(text.ends_with(b"Content-Length: 3\r\n\r\nabc"));
    }
}
