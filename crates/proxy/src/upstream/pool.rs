//! The upstream connections of one thread, and how one is had.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, VecDeque},
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use sluicegate_core::{Reject, codes};
use sluicegate_record::ConnectResult;
use tokio::{net::TcpStream, sync::futures::Notified};

use crate::{
    snapshot::document::Protocol,
    socket::Socket,
    thread::Thread,
    upstream::{
        multiplex::{Chance, Multiplex, Place},
        permits::{self, Permit},
        shared::{Endpoints, Shared},
        tally::Tally,
    },
};

/// One connection to an endpoint.
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) endpoint: SocketAddr,
    /// It has served an exchange before: the peer may have closed it meanwhile.
    pub(crate) reused: bool,
    born: Duration,
    idle_since: Duration,
    /// How long the peer keeps it when idle, as far as it has said so.
    kept_for: Duration,
    /// Held by a connection of its own, or by the HTTP/2 connection that this is one stream of.
    holding: Holding,
}

/// What lives as long as a connection does.
enum Holding {
    Own(
        Tally,
        #[expect(dead_code, reason = "held until the end")] Permit,
    ),
    Shared(#[expect(dead_code, reason = "held until the end")] Place),
}

/// The connections of one thread to one upstream. Lives as long as the upstream, across snapshots.
pub(crate) struct Pool {
    pub(crate) shared: Arc<Shared>,
    idle: RefCell<HashMap<SocketAddr, Vec<Connection>, foldhash::fast::RandomState>>,
    idle_count: Cell<usize>,
    /// Tasks of this thread that stand in line: a connection coming back is theirs first.
    local_line: RefCell<VecDeque<(u64, Waker)>>,
    /// Numbers those who stand in line.
    next_number: Cell<u64>,
    /// How often in a row a connection went to somebody here while other threads waited.
    turns_kept: Cell<u32>,
    /// Connections that speak HTTP/2.
    multiplex: Rc<Multiplex>,
    /// The endpoints as of the generation seen last: looking costs one atomic load.
    endpoints: RefCell<(u64, Arc<Endpoints>)>,
}

/// How often in a row a thread may keep a connection for its own while others wait.
const TURNS: u32 = 16;

/// What kind of connection an attempt wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// A new one, whatever is idle.
    pub(crate) fresh: bool,
    /// The route's own patience for a connect; the upstream's when it has none.
    pub(crate) connect: Option<Duration>,
    pub(crate) protocol: Protocol,
}

impl Pool {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let endpoints = RefCell::new((shared.generation(), shared.endpoints()));
        Self {
            shared,
            endpoints,
            idle: RefCell::default(),
            idle_count: Cell::new(0),
            local_line: RefCell::default(),
            next_number: Cell::new(0),
            turns_kept: Cell::new(0),
            multiplex: Rc::default(),
        }
    }

    /// The endpoint whose turn it is.
    ///
    /// # Errors
    /// 503 when there is none.
    pub(crate) fn pick(&self) -> Result<SocketAddr, Reject> {
        let mut endpoints = self.endpoints.borrow_mut();
        let generation = self.shared.generation();
        if endpoints.0 != generation {
            *endpoints = (generation, self.shared.endpoints());
        }
        endpoints.1.pick().ok_or_else(|| {
            Reject::new(&codes::NO_ENDPOINT)
                .because(format!("upstream {} has no address", self.shared.id))
                .retry_after(Duration::from_secs(1))
        })
    }

    /// How many endpoints there are.
    pub(crate) fn endpoints(&self) -> usize {
        self.endpoints.borrow().1.addresses().len()
    }

    /// The name under which the endpoint was configured.
    pub(crate) fn name_of(&self, endpoint: SocketAddr) -> String {
        self.endpoints.borrow().1.name_of(endpoint)
    }

    /// A connection to `endpoint`: an idle one, or a new one within the caps and the connect timeout.
    ///
    /// # Errors
    /// 503 when the pool is exhausted, 502 or 504 when the endpoint does not accept.
    pub(crate) async fn acquire(
        &self,
        thread: &Thread,
        endpoint: SocketAddr,
        wanted: Wanted,
    ) -> Result<Connection, Reject> {
        let now = thread.tick();
        if !wanted.fresh
            && let Some(connection) = self.take_idle(endpoint, now)
        {
            return Ok(connection);
        }
        let permit = if let Some(permit) = self.shared.permits.take() {
            permit
        } else {
            let begun = thread.now();
            let waiting = Tally::waiting(&self.shared.series, thread.index);
            let turn = self.wait_in_line(thread, endpoint).await;
            drop(waiting);
            self.shared
                .series
                .waited(thread.index, thread.now().saturating_sub(begun));
            match turn? {
                Turn::Permit(permit) => permit,
                Turn::Connection(connection) => return Ok(connection),
            }
        };
        self.connect(thread, endpoint, (permit, wanted.connect))
            .await
    }

    /// A stream to `endpoint` on an HTTP/2 connection that is there or is made.
    ///
    /// # Errors
    /// As for [`Pool::acquire`].
    pub(crate) async fn open_stream(
        &self,
        thread: &Thread,
        endpoint: SocketAddr,
        wanted: Wanted,
    ) -> Result<Connection, Reject> {
        let settings = self.shared.settings();
        let connect = wanted.connect.unwrap_or(settings.connect);
        let begun = thread.now();
        let failures = self.multiplex.failures();
        loop {
            let freed = self.multiplex.freed();
            match self.multiplex.chance(endpoint) {
                Chance::Granted(granted) => {
                    return Ok(Connection {
                        socket: granted.socket,
                        endpoint,
                        reused: granted.reused,
                        born: begun,
                        idle_since: begun,
                        kept_for: Duration::MAX,
                        holding: Holding::Shared(granted.place),
                    });
                }
                Chance::Connect => {
                    let Some(permit) = self.shared.permits.take() else {
                        let place = self.shared.permits.wait();
                        let until = (Some(place), begun + settings.acquire);
                        self.wait_for_room(thread, freed, until).await?;
                        continue;
                    };
                    let connecting = self.multiplex.connect(endpoint);
                    let made = self.dial(thread, endpoint, connect).await;
                    let stream = made.inspect_err(|_| connecting.failed())?;
                    let tally = Tally::working(&self.shared.series, thread.index);
                    let holding = (permit, tally);
                    connecting
                        .begin(thread, Socket::new(stream), holding, connect)
                        .await?;
                }
                Chance::Wait => {
                    self.wait_for_room(thread, freed, (None, begun + connect))
                        .await?;
                    if self.multiplex.failures() != failures {
                        return Err(Reject::new(&codes::UPSTREAM_UNREACHABLE)
                            .because(format!("connect to {endpoint}: it has just failed")));
                    }
                }
            }
        }
    }

    /// Waits for a stream that somebody leaves, for a connection that somebody makes, or for a permit.
    async fn wait_for_room(
        &self,
        thread: &Thread,
        freed: Notified<'_>,
        (permit, until): (Option<permits::Place>, Duration),
    ) -> Result<(), Reject> {
        let within = until.saturating_sub(thread.now());
        let waiting = Tally::waiting(&self.shared.series, thread.index);
        let mut freed = pin!(freed);
        let room = poll_fn(|cx| {
            if freed.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            // Given back at once: whoever is first with the next look takes it.
            permit
                .as_ref()
                .map_or(Poll::Pending, |place| place.poll(cx).map(drop))
        });
        let waited = tokio::time::timeout(within, room).await;
        drop(waiting);
        waited.map_err(|_| Reject::new(&codes::UPSTREAM_BUSY).retry_after(Duration::from_secs(1)))
    }

    /// Takes a connection back after a clean exchange.
    pub(crate) fn release(&self, mut connection: Connection, thread: &Thread) {
        let now = thread.tick();
        connection.socket.rest(&thread.buffers);
        connection.reused = true;
        connection.idle_since = now;
        match &mut connection.holding {
            Holding::Own(tally, _) => tally.rests(),
            // A stream is over; its connection stays where it is.
            Holding::Shared(_) => return,
        }
        let waiting_here = self.local_line.borrow().len();
        let wanted_here = waiting_here > 0 && self.may_stay(waiting_here);
        let surplus = self.shared.permits.is_short() && !wanted_here;
        let aged = now.saturating_sub(connection.born) >= self.shared.settings().life;
        if surplus || aged || connection.socket.is_disturbed() {
            return;
        }
        self.idle
            .borrow_mut()
            .entry(connection.endpoint)
            .or_default()
            .push(connection);
        self.count_idle(1);
        if wanted_here && let Some((_, waker)) = self.local_line.borrow_mut().pop_front() {
            waker.wake();
        }
    }

    /// Whether a connection may stay on this thread although others wait for its permit. Handing
    /// it on costs a new connection, so it serves a few turns here first; but only a few, or a busy
    /// thread would starve the others.
    fn may_stay(&self, waiting_here: usize) -> bool {
        let others_wait = self.shared.permits.waiting() as usize > waiting_here;
        let turns = if others_wait {
            self.turns_kept.get() + 1
        } else {
            0
        };
        let stays = turns <= TURNS;
        self.turns_kept.set(if stays { turns } else { 0 });
        stays
    }

    /// Closes what is idle too long, too old, closed by the peer, or no longer an endpoint (HT-13).
    pub(crate) fn evict(&self, thread: &Thread) {
        let now = thread.now();
        let settings = self.shared.settings();
        let endpoints = self.shared.endpoints();
        let mut idle = self.idle.borrow_mut();
        let before: usize = idle.values().map(Vec::len).sum();
        idle.retain(|endpoint, connections| {
            if endpoints.contains(*endpoint) {
                connections
                    .retain(|connection| !connection.is_stale(now, settings.idle, settings.life));
            } else {
                connections.clear();
            }
            !connections.is_empty()
        });
        let after: usize = idle.values().map(Vec::len).sum();
        drop(idle);
        self.forget_idle(before - after);
        let ages = (settings.idle, settings.life);
        self.multiplex
            .evict(now, ages, |endpoint| endpoints.contains(endpoint));
    }

    /// Closes one idle connection because another thread is short of permits.
    pub(crate) fn give_one_up(&self) {
        let mut idle = self.idle.borrow_mut();
        let given = idle.values_mut().find_map(Vec::pop);
        drop(idle);
        if given.is_some() {
            self.forget_idle(1);
        }
    }

    /// Closes everything idle.
    pub(crate) fn clear(&self) {
        self.multiplex.clear();
        self.idle.borrow_mut().clear();
        self.forget_idle(self.idle_count.get());
    }

    fn take_idle(&self, endpoint: SocketAddr, now: Duration) -> Option<Connection> {
        if self.idle_count.get() == 0 {
            return None;
        }
        let settings = self.shared.settings();
        let mut idle = self.idle.borrow_mut();
        let connections = idle.get_mut(&endpoint)?;
        while let Some(mut connection) = connections.pop() {
            self.forget_idle(1);
            if !connection.is_stale(now, settings.idle, settings.life) {
                if let Holding::Own(tally, _) = &mut connection.holding {
                    tally.works();
                }
                return Some(connection);
            }
        }
        None
    }

    async fn wait_in_line(&self, thread: &Thread, endpoint: SocketAddr) -> Result<Turn, Reject> {
        let within = self.shared.settings().acquire;
        thread.ask_for_idle(&self.shared);
        let place = self.shared.permits.wait();
        let number = Number::draw(self);
        let turn = poll_fn(|cx: &mut Context<'_>| {
            if let Some(connection) = self.take_idle(endpoint, thread.now()) {
                return Poll::Ready(Turn::Connection(connection));
            }
            if let Poll::Ready(permit) = place.poll(cx) {
                return Poll::Ready(Turn::Permit(permit));
            }
            // An idle connection to another endpoint holds the permit we need.
            if self.idle_count.get() > 0 {
                self.give_one_up();
                cx.waker().wake_by_ref();
            }
            number.stand(cx.waker());
            Poll::Pending
        });
        tokio::time::timeout(within, turn)
            .await
            .map_err(|_| Reject::new(&codes::UPSTREAM_BUSY).retry_after(Duration::from_secs(1)))
    }

    async fn connect(
        &self,
        thread: &Thread,
        endpoint: SocketAddr,
        (permit, within): (Permit, Option<Duration>),
    ) -> Result<Connection, Reject> {
        let within = within.unwrap_or_else(|| self.shared.settings().connect);
        let stream = self.dial(thread, endpoint, within).await?;
        let born = thread.now();
        let tally = Tally::working(&self.shared.series, thread.index);
        Ok(Connection {
            socket: Socket::new(stream),
            endpoint,
            reused: false,
            born,
            idle_since: born,
            kept_for: Duration::MAX,
            holding: Holding::Own(tally, permit),
        })
    }

    async fn dial(
        &self,
        thread: &Thread,
        endpoint: SocketAddr,
        within: Duration,
    ) -> Result<TcpStream, Reject> {
        let begun = thread.now();
        let dialled = tokio::time::timeout(within, TcpStream::connect(endpoint)).await;
        let result = match &dialled {
            Ok(Ok(_)) => ConnectResult::Ok,
            Ok(Err(_)) | Err(_) => ConnectResult::Failed,
        };
        let took = thread.now().saturating_sub(begun);
        self.shared.series.connected(thread.index, result, took);
        match dialled {
            Ok(Ok(stream)) => {
                // Without it a small body after its head would wait for the peer's acknowledgement.
                let _ = stream.set_nodelay(true);
                Ok(stream)
            }
            Ok(Err(error)) => Err(Reject::new(&codes::UPSTREAM_UNREACHABLE)
                .because(format!("connect to {endpoint}: {error}"))),
            Err(_) => Err(
                Reject::new(&codes::UPSTREAM_CONNECT_TIMEOUT).because(format!(
                    "connect to {endpoint}: no answer within {within:?}"
                )),
            ),
        }
    }

    fn count_idle(&self, count: usize) {
        self.idle_count.set(self.idle_count.get() + count);
        self.shared.idle_changed(i64::try_from(count).unwrap_or(0));
    }

    fn forget_idle(&self, count: usize) {
        self.idle_count
            .set(self.idle_count.get().saturating_sub(count));
        self.shared.idle_changed(-i64::try_from(count).unwrap_or(0));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Connection {
    /// Takes in how long the peer keeps an idle connection. The gateway gives it up a second
    /// earlier, or half way if there is no second: so the peer's close never meets a request (HT-10).
    pub(crate) fn is_kept_for(&mut self, announced: Duration) {
        let earlier = announced.saturating_sub(Duration::from_secs(1));
        self.kept_for = earlier.max(announced / 2);
    }

    fn is_stale(&self, now: Duration, idle: Duration, life: Duration) -> bool {
        now.saturating_sub(self.idle_since) >= idle.min(self.kept_for)
            || now.saturating_sub(self.born) >= life
            || self.socket.is_disturbed()
    }
}

/// A place in the line of this thread; leaving gives it up, so that no wake is lost on one who has gone.
struct Number<'a> {
    pool: &'a Pool,
    number: u64,
}

impl<'a> Number<'a> {
    fn draw(pool: &'a Pool) -> Self {
        let number = pool.next_number.get();
        pool.next_number.set(number.wrapping_add(1));
        Self { pool, number }
    }

    fn stand(&self, waker: &Waker) {
        let mut line = self.pool.local_line.borrow_mut();
        match line.iter_mut().find(|(number, _)| *number == self.number) {
            Some((_, known)) => known.clone_from(waker),
            None => line.push_back((self.number, waker.clone())),
        }
    }
}

impl Drop for Number<'_> {
    fn drop(&mut self) {
        self.pool
            .local_line
            .borrow_mut()
            .retain(|(number, _)| *number != self.number);
    }
}

/// What standing in line brought.
enum Turn {
    Permit(Permit),
    Connection(Connection),
}
