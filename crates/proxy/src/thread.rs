//! One engine thread: what its connections share, counted without atomics.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sluicegate_core::{Effects, Event, Outcome, Unavailable, Wait};
use sluicegate_http1::ResponseHead;
use sluicegate_record::{Entry, LogBuffer};

use crate::{
    alarm::{Alarms, SWEEP},
    buffers::Buffers,
    client::Client,
    core::{Command, Core},
    passage::{Entered, Passage},
    upstream::{pool::Pool, shared::Shared},
    view::View,
};

/// The state of one engine thread.
pub(crate) struct Thread {
    pub(crate) index: usize,
    pub(crate) core: Arc<Core>,
    pub(crate) alarms: Rc<Alarms>,
    pub(crate) buffers: Rc<Buffers>,
    pub(crate) heads: Heads,
    /// Connections served by this thread.
    pub(crate) connections: Cell<usize>,
    view: RefCell<Rc<View>>,
    generation: Cell<u64>,
    /// The time of the last sweep: near enough for deadlines and ages, and costs nothing.
    tick: Cell<Duration>,
    pools: RefCell<HashMap<Box<str>, Rc<Pool>>>,
    log: RefCell<LogBuffer>,
}

/// Heads and lists that are used again for the next request.
#[derive(Default)]
pub(crate) struct Heads {
    responses: RefCell<Vec<ResponseHead>>,
    entered: RefCell<Vec<Vec<Entered>>>,
}

/// How many of each are kept.
const KEPT: usize = 256;

impl Heads {
    pub(crate) fn response(&self) -> ResponseHead {
        self.responses.borrow_mut().pop().unwrap_or_default()
    }

    pub(crate) fn entered(&self) -> Vec<Entered> {
        self.entered.borrow_mut().pop().unwrap_or_default()
    }

    pub(crate) fn give_entered(&self, mut entered: Vec<Entered>) {
        let mut lists = self.entered.borrow_mut();
        if lists.len() < KEPT {
            entered.clear();
            lists.push(entered);
        }
    }

    pub(crate) fn give_response(&self, head: ResponseHead) {
        let mut responses = self.responses.borrow_mut();
        if responses.len() < KEPT {
            responses.push(head);
        }
    }
}

impl Thread {
    pub(crate) fn new(index: usize, core: Arc<Core>) -> Self {
        let (generation, snapshot) = core.current();
        let log = LogBuffer::new(snapshot.log_format.clone());
        Self {
            index,
            alarms: Rc::default(),
            buffers: Rc::new(Buffers::new()),
            heads: Heads::default(),
            connections: Cell::new(0),
            view: RefCell::new(Rc::new(View::new(snapshot))),
            generation: Cell::new(generation),
            tick: Cell::new(core.clock.now()),
            pools: RefCell::default(),
            log: RefCell::new(log),
            core,
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.core.clock.now()
    }

    /// The time of the last sweep, at most a sweep old.
    pub(crate) fn tick(&self) -> Duration {
        self.tick.get()
    }

    pub(crate) fn set_tick(&self, now: Duration) {
        self.tick.set(now);
    }

    /// When something that begins now and may take `span` has taken too long; never early.
    pub(crate) fn deadline(&self, span: Duration) -> Duration {
        self.tick.get().saturating_add(SWEEP).saturating_add(span)
    }

    /// The gateway is leaving: answers end their connections.
    pub(crate) fn draining(&self) -> bool {
        self.core.is_draining()
    }

    /// The current snapshot as this thread sees it: one atomic load unless something has changed.
    pub(crate) fn view(&self) -> Rc<View> {
        if self.core.generation() != self.generation.get() {
            let (generation, snapshot) = self.core.current();
            self.log
                .borrow_mut()
                .set_format(snapshot.log_format.clone());
            self.generation.set(generation);
            self.view.replace(Rc::new(View::new(snapshot)));
        }
        self.view.borrow().clone()
    }

    /// This thread's connections to an upstream.
    pub(crate) fn pool(&self, shared: &Arc<Shared>) -> Rc<Pool> {
        let mut pools = self.pools.borrow_mut();
        match pools.get(&shared.id) {
            Some(pool) if Arc::ptr_eq(&pool.shared, shared) => pool.clone(),
            _ => {
                let pool = Rc::new(Pool::new(shared.clone()));
                pools.insert(shared.id.clone(), pool.clone());
                pool
            }
        }
    }

    /// Asks the other threads to close an idle connection to this upstream.
    pub(crate) fn ask_for_idle(&self, shared: &Shared) {
        if shared.idle() > 0 {
            self.core
                .tell_others(self.index, || Command::GiveUpIdle(shared.id.clone()));
        }
    }

    pub(crate) fn give_up_idle(&self, upstream: &str) {
        if let Some(pool) = self.pools.borrow().get(upstream) {
            pool.give_one_up();
        }
    }

    /// What is due from time to time: idle connections, unused pools.
    pub(crate) fn tidy(&self) {
        let view = self.view();
        let mut pools = self.pools.borrow_mut();
        pools.retain(|_, pool| {
            pool.evict(self);
            let published = view
                .snapshot
                .upstreams
                .iter()
                .any(|shared| Arc::ptr_eq(shared, &pool.shared));
            if !published {
                pool.clear();
            }
            published || Rc::strong_count(pool) > 1
        });
    }

    /// Closes every idle upstream connection.
    pub(crate) fn clear_idle(&self) {
        for pool in self.pools.borrow().values() {
            pool.clear();
        }
    }

    /// Counts and logs an exchange that has ended.
    pub(crate) fn record(
        &self,
        passage: &Passage<'_>,
        client: &Client,
        status: u16,
        outcome: Outcome,
        finished: Duration,
    ) {
        let exchange = &passage.exchange;
        let entry = Entry {
            exchange,
            outcome,
            status,
            request_bytes: client.received,
            response_bytes: client.sent,
            finished,
            unix: self.core.clock.unix_at(finished),
            snapshot: passage.entry.version,
            connection: Some(&client.text),
            route: passage.route.as_ref().map(|route| &route.text),
            policy: passage.record(),
            bodies: client.bodies.as_deref(),
            request_whole: client.body_is_done(),
        };
        if self.core.logs() {
            let mut log = self.log.borrow_mut();
            log.push(&entry);
            if log.due(finished) {
                log.hand_over(&self.core.log);
            }
        }
        let series = passage
            .route
            .as_ref()
            .map_or(&self.core.unmatched, |route| &route.route.series);
        let took = finished.saturating_sub(exchange.times.begun);
        series.record(
            self.index,
            exchange.request.method(),
            status,
            took,
            exchange.reject,
            outcome,
        );
    }

    /// Hands over what has waited long enough, or everything.
    pub(crate) fn flush_log(&self, now: Option<Duration>) {
        let mut log = self.log.borrow_mut();
        if now.is_none_or(|now| log.due(now)) {
            log.hand_over(&self.core.log);
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.flush_log(None);
    }
}

impl Effects for Thread {
    fn now(&self) -> Duration {
        self.core.clock.now()
    }

    fn unix_time(&self) -> Duration {
        self.core.clock.unix_at(self.core.clock.now())
    }

    fn random(&self) -> u64 {
        fastrand::u64(..)
    }

    fn sleep(&self, span: Duration) -> Wait<'_, ()> {
        Box::pin(tokio::time::sleep(span))
    }

    fn ask<'a>(
        &'a self,
        kind: &'static str,
        _: Vec<u8>,
        _: Duration,
    ) -> Wait<'a, Result<Vec<u8>, Unavailable>> {
        // No process answers questions yet; a filter that asks one sees its designed absence.
        Box::pin(std::future::ready(Err(Unavailable {
            what: kind,
            after: Duration::ZERO,
        })))
    }

    fn emit(&self, event: Event) {
        self.core.emit(event);
    }
}

/// Bytes held in memory for filters that need whole bodies, counted for the whole process.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u32,
    used: AtomicU32,
}

/// The unit in which the budget counts: coarse, so that four bytes are enough for any machine.
const PAGE: u64 = 1 << 10;

impl Budget {
    pub(crate) const fn new(limit_kib: u32) -> Self {
        Self {
            limit: limit_kib,
            used: AtomicU32::new(0),
        }
    }

    /// Takes room for `bytes` more, or says that there is none.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let pages = Self::pages(bytes);
        let taken = self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |used| {
                used.checked_add(pages).filter(|sum| *sum <= self.limit)
            });
        taken.is_ok()
    }

    pub(crate) fn give(&self, pages: u32) {
        self.used.fetch_sub(pages, Ordering::AcqRel);
    }

    pub(crate) fn pages(bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(PAGE)).unwrap_or(u32::MAX)
    }
}
