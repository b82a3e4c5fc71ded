//! The engine: its threads, what they share, and what may be asked of it from outside.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use sluicegate_core::{Event, Problem};
use sluicegate_filters::{Secrets, States};
use sluicegate_record::{LogWriter, Output, QueueLimits, Rotation, WriterThread};
use tokio::sync::{mpsc, oneshot};

use crate::{
    core::{Command, Core, lock},
    error::EngineError,
    explain,
    gate::Gate,
    housekeeping::{self, House},
    snapshot::{Compiled, Ground, Snapshot, compile, document, read, websocket::OpenCounts},
    sockets,
    told::{self, Told},
    upstream::{
        policy::UpstreamPolicy,
        resolve::{self, Work},
        shared::Shared,
    },
    worker,
};

/// How long series and state of what a snapshot no longer has are kept.
const GRACE: Duration = Duration::from_mins(1);
/// How long applying a snapshot waits for names to resolve; it is applied all the same.
const RESOLVE_WITHIN: Duration = Duration::from_secs(3);

/// How an engine is started.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Engine threads; by default as many as the process may use cores (cgroups are asked).
    pub threads: Option<usize>,
    /// Where health and metrics are served.
    pub operations: Option<String>,
    /// `system`, or `manual` for a clock that tests can put forward.
    pub clock: Option<String>,
}

/// A running data plane.
pub struct Engine {
    core: Arc<Core>,
    states: States,
    open_websockets: OpenCounts,
    /// Held while a snapshot is applied: one at a time.
    applied: Mutex<Applied>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    house: Mutex<Option<House>>,
    writer: Mutex<Option<WriterThread>>,
}

/// What applying snapshots has built up.
#[derive(Default)]
struct Applied {
    listeners: HashMap<String, Listening>,
    upstreams: HashMap<String, Arc<Shared>>,
    policy: Arc<UpstreamPolicy>,
    access_log: Option<document::AccessLog>,
    last_refusal: Option<Value>,
}

struct Listening {
    configured: Box<str>,
    bound: SocketAddr,
    gate: Arc<Gate>,
}

impl Engine {
    /// Starts the threads. Nothing is served before the first [`Engine::apply`].
    ///
    /// # Errors
    /// A taken operations port, or no thread to be had.
    pub fn start(settings: &Settings) -> Result<Self, EngineError> {
        let count = settings
            .threads
            .filter(|count| *count > 0)
            .unwrap_or_else(usable_cores);
        let core = Arc::new(Core::new(count));
        let house = housekeeping::start(&core, settings.operations.as_deref())?;
        let mut senders = Vec::with_capacity(count);
        let mut threads = Vec::with_capacity(count);
        for index in 0..count {
            let (sender, commands) = mpsc::unbounded_channel();
            threads
                .push(worker::spawn(index, core.clone(), commands).map_err(EngineError::thread)?);
            senders.push(sender);
        }
        core.set_threads(senders);
        let writer = LogWriter::new(core.log.clone(), Output::Stdout)
            .spawn()
            .map_err(EngineError::thread)?;
        Ok(Self {
            core,
            states: States::default(),
            open_websockets: OpenCounts::default(),
            applied: Mutex::default(),
            threads: Mutex::new(threads),
            house: Mutex::new(Some(house)),
            writer: Mutex::new(Some(writer)),
        })
    }

    /// Makes a snapshot current: compiled off the way of requests, then swapped in by one pointer.
    /// In between its filters are told `facts`, so that no request meets them without.
    ///
    /// # Errors
    /// Refused with all its problems, not newer than the current one (CF-07), or a port is taken.
    /// Then nothing has changed.
    pub fn apply(
        &self,
        snapshot: &str,
        secrets: &Secrets,
        facts: &[String],
    ) -> Result<(), EngineError> {
        let mut applied = lock(&self.applied);
        let result = self.apply_locked(snapshot, secrets, facts, &mut applied);
        if let Err(error) = &result {
            applied.last_refusal = Some(json!({
                "at": self.unix_time().as_secs_f64(),
                "reason": error.to_string(),
            }));
            self.core.registry.config_rejected();
        }
        result
    }

    fn apply_locked(
        &self,
        snapshot: &str,
        secrets: &Secrets,
        facts: &[String],
        applied: &mut Applied,
    ) -> Result<(), EngineError> {
        let document = read(snapshot).map_err(EngineError::Refused)?;
        let current = self.core.current().1.version;
        if document.version <= current {
            return Err(EngineError::Stale {
                offered: document.version,
                current,
            });
        }
        let ground = Ground {
            states: &self.states,
            registry: &self.core.registry,
            upstreams: &applied.upstreams,
            open_websockets: &self.open_websockets,
            secrets: Some(secrets),
        };
        let compiled = compile(document, &ground).map_err(EngineError::Refused)?;
        let opened = self.open(&compiled.snapshot, applied)?;
        told::all(facts, &self.states, self.unix_time())?;
        self.commit(compiled, opened, applied);
        Ok(())
    }

    /// Binds what is new, before anything changes: a taken port refuses the snapshot.
    fn open(
        &self,
        snapshot: &Snapshot,
        applied: &Applied,
    ) -> Result<Vec<sockets::Bound>, EngineError> {
        let fresh = snapshot.listeners.iter().filter(|settings| {
            applied
                .listeners
                .get(&*settings.id)
                .is_none_or(|listening| listening.configured != settings.address)
        });
        let count = self.core.threads().len();
        fresh
            .map(|settings| sockets::bind(&settings.id, &settings.address, count))
            .collect()
    }

    fn commit(&self, compiled: Compiled, opened: Vec<sockets::Bound>, applied: &mut Applied) {
        let Compiled {
            snapshot,
            upstreams,
            policy,
            access_log,
            metrics_prefix,
            metric_names,
        } = compiled;
        let snapshot = Arc::new(snapshot);
        let version = snapshot.version;

        let mut work = Vec::new();
        for (config, shared) in upstreams.iter().zip(&snapshot.upstreams) {
            shared.configure(config);
            shared.obey(&policy);
            let named = resolve::named(config);
            match resolve::literal(&named) {
                Some(endpoints) => shared.set_endpoints_if_changed(endpoints),
                None => work.push((shared.clone(), named, config.dns.refresh.0)),
            }
        }
        self.resolve(work, policy.clone());
        applied.policy = policy;
        applied.upstreams = snapshot
            .upstreams
            .iter()
            .map(|shared| (shared.id.to_string(), shared.clone()))
            .collect();

        if applied.access_log.as_ref() != Some(&access_log) {
            self.core.log.set_limits(QueueLimits {
                bytes: usize::try_from(access_log.queue.0).unwrap_or(usize::MAX),
                records: usize::MAX,
            });
            match access_log.output.as_str() {
                "off" => {}
                "stdout" => self.core.log.redirect(Output::Stdout),
                path => self.core.log.redirect(Output::File {
                    path: path.into(),
                    rotation: Some(Rotation {
                        size: access_log.rotate.size.0,
                        keep: access_log.rotate.keep,
                    }),
                }),
            }
            applied.access_log = Some(access_log);
        }
        self.core.registry.set_names(&metrics_prefix, &metric_names);
        snapshot.name_series();
        self.core.publish(snapshot.clone());

        self.switch_listeners(&snapshot, opened, applied);
        let now = self.core.clock.now();
        let routes: Vec<&str> = (snapshot.routes.iter())
            .filter(|route| route.is_served)
            .map(|route| &*route.id)
            .collect();
        let ids: Vec<&str> = snapshot
            .upstreams
            .iter()
            .map(|shared| &*shared.id)
            .collect();
        self.core.registry.retain(&routes, &ids, now, GRACE);
        self.core.registry.snapshot_applied(version, now);
        self.states.retire(now);
    }

    fn resolve(
        &self,
        upstreams: Vec<(Arc<Shared>, Vec<resolve::Named>, Duration)>,
        policy: Arc<UpstreamPolicy>,
    ) {
        let waits = !upstreams.is_empty();
        let (done, finished) = std::sync::mpsc::channel();
        if let Some(house) = &*lock(&self.house) {
            house.resolve(Work {
                upstreams,
                policy,
                done,
            });
        }
        if waits {
            let _ = finished.recv_timeout(RESOLVE_WITHIN);
        }
    }

    fn switch_listeners(
        &self,
        snapshot: &Snapshot,
        opened: Vec<sockets::Bound>,
        applied: &mut Applied,
    ) {
        for bound in opened {
            let Some(settings) = snapshot.listener(&bound.id) else {
                continue;
            };
            let gate = Arc::new(Gate::new(
                &bound.id,
                settings.connections,
                &self.core.registry,
            ));
            if let Some(old) = applied.listeners.remove(&bound.id) {
                self.core.tell_all(|| Command::Leave(old.gate.key()));
            }
            for (sender, listener) in self.core.threads().iter().zip(bound.sockets) {
                let _ = sender.send(Command::Listen {
                    gate: gate.clone(),
                    listener,
                });
            }
            let listening = Listening {
                configured: settings.address.clone(),
                bound: bound.address,
                gate,
            };
            applied.listeners.insert(bound.id, listening);
        }
        applied.listeners.retain(|id, listening| {
            if let Some(settings) = snapshot.listener(id) {
                listening.gate.set_max(settings.connections);
                true
            } else {
                self.core.tell_all(|| Command::Leave(listening.gate.key()));
                false
            }
        });
    }

    /// All that is wrong with a snapshot; nothing is started or kept.
    pub fn check(snapshot: &str) -> Vec<Problem> {
        match explain::dry_snapshot(snapshot) {
            Ok(_) => Vec::new(),
            Err(problems) => problems,
        }
    }

    /// What would happen to a request by the state of this engine; nothing is taken or counted.
    ///
    /// # Errors
    /// The request cannot be read, or no thread answers.
    pub fn explain_live(&self, request: &str, facts: &str) -> Result<Value, EngineError> {
        let request = Box::new(explain::Request::read(request, facts)?);
        let (reply, answer) = oneshot::channel();
        let sent = self
            .core
            .threads()
            .first()
            .map(|thread| thread.send(Command::Explain { request, reply }));
        if !matches!(sent, Some(Ok(()))) {
            return Err(EngineError::Stopped);
        }
        answer.blocking_recv().map_err(|_| EngineError::Stopped)
    }

    /// Wall-clock time since the Unix epoch.
    fn unix_time(&self) -> Duration {
        self.core.clock.unix_at(self.core.clock.now())
    }

    /// Takes in a fact from the Python side.
    ///
    /// # Errors
    /// An event of an unknown kind, or one that cannot be read.
    pub fn tell(&self, event: &str) -> Result<(), EngineError> {
        match Told::read(event)? {
            Told::ConfigRejected { reason } => {
                self.core.registry.config_rejected();
                lock(&self.applied).last_refusal = Some(json!({
                    "at": self.unix_time().as_secs_f64(),
                    "reason": reason,
                }));
            }
            Told::ReopenLogs {} => self.core.log.reopen(),
            Told::Filter(fact) => fact.tell(&self.states, self.unix_time())?,
            Told::Endpoints {
                upstream,
                endpoints,
            } => {
                let applied = lock(&self.applied);
                let Some(shared) = applied.upstreams.get(&upstream) else {
                    return Err(EngineError::Event(format!(
                        "there is no upstream `{upstream}`"
                    )));
                };
                told::follow_registry(&self.core, &applied.policy, shared, endpoints);
            }
        }
        Ok(())
    }

    /// What an operator wants to know.
    pub fn status(&self) -> Value {
        let applied = lock(&self.applied);
        let snapshot = self.core.current().1;
        let mut listeners: Vec<_> = applied.listeners.iter().collect();
        listeners.sort_by_key(|(id, _)| id.as_str());
        let counts = self.core.log.counts();
        json!({
            "version": snapshot.version,
            "ready": self.core.is_ready(),
            "draining": self.core.is_draining(),
            "threads": self.core.threads().len(),
            "operations": lock(&self.house).as_ref().and_then(House::address).map(|address| address.to_string()),
            "listeners": listeners.iter().map(|(id, listening)| json!({
                "id": id, "address": listening.bound.to_string(), "connections": listening.gate.inside(),
            })).collect::<Vec<_>>(),
            "connections": listeners.iter().map(|(_, listening)| listening.gate.inside()).sum::<u32>(),
            "routes": snapshot.served(),
            "routes_not_served": snapshot.not_served(),
            "upstreams": snapshot.upstreams.iter().map(|shared| json!({
                "id": &*shared.id,
                "endpoints": shared.endpoints().addresses().iter().map(ToString::to_string).collect::<Vec<_>>(),
                "refused": shared.refused().iter().map(ToString::to_string).collect::<Vec<_>>(),
                "connections": shared.permits.used(), "idle": shared.idle(), "waiting": shared.permits.waiting(),
            })).collect::<Vec<_>>(),
            "access_log": {"written": counts.written, "dropped": counts.dropped},
            "events_dropped": self.core.dropped_events(),
            "uptime_seconds": self.core.clock.now().as_secs_f64(),
            "last_refusal": applied.last_refusal,
        })
    }

    /// Readiness as the operator wants it. Not ready also means: answers close their connections
    /// and idle ones end, so that clients come back elsewhere (AV-03, DR-01).
    pub fn set_ready(&self, ready: bool) {
        self.core.set_ready(ready);
    }

    /// Stops accepting and waits for what is under way. True when everything ended in time.
    pub fn drain(&self, within: Duration) -> bool {
        self.set_ready(false);
        let gates: Vec<Arc<Gate>> = {
            let mut applied = lock(&self.applied);
            applied
                .listeners
                .drain()
                .map(|(_, listening)| listening.gate)
                .collect()
        };
        for gate in &gates {
            self.core.tell_all(|| Command::Leave(gate.key()));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "an operator's patience is real time, whatever the engine's clock says"
        )]
        let begun = Instant::now();
        loop {
            // What the kernel had queued is accepted first, so the gates may fill once more.
            let inside: u32 = gates.iter().map(|gate| gate.inside()).sum();
            let closed = gates.iter().all(|gate| gate.is_closed());
            if inside == 0 && closed {
                return true;
            }
            if begun.elapsed() >= within {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Puts the clock forward; only sensible in tests.
    pub fn advance(&self, span: Duration) {
        self.core.clock.advance(span);
    }

    /// Takes the one-way events that filters have sent.
    pub fn take_events(&self) -> Vec<Event> {
        self.core.take_events()
    }

    /// The metrics as `/metrics` would show them.
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        self.core.registry.expose(self.core.clock.now(), &mut text);
        text
    }

    /// Ends all threads; what is under way is cut. Records are written for up to two seconds.
    pub fn stop(&self) {
        self.core.tell_all(|| Command::Stop);
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
        if let Some(house) = lock(&self.house).take() {
            house.stop();
        }
        if let Some(writer) = lock(&self.writer).take() {
            writer.stop(Duration::from_secs(2));
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Cores this process may use: affinity and cgroup quota count.
fn usable_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
