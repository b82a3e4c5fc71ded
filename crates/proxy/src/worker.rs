//! The life of an engine thread.

use std::{
    cell::Cell, collections::HashMap, io, rc::Rc, sync::Arc, thread::JoinHandle, time::Duration,
};

use tokio::{
    net::TcpListener,
    runtime::{Builder, LocalOptions},
    sync::mpsc,
    task::spawn_local,
};

use crate::{
    alarm::SWEEP,
    core::{Command, Core},
    explain,
    gate::Gate,
    server,
    thread::Thread,
};

/// How often idle connections are looked through.
const TIDY: Duration = Duration::from_secs(1);

/// How many tasks run before the sockets are looked at in between. All that are found ready at once
/// write together (see `turn.rs`), and each runs about twice for that.
const BATCH: u32 = 256;

/// Starts an engine thread. It never attaches to the Python interpreter.
pub(crate) fn spawn(
    index: usize,
    core: Arc<Core>,
    commands: mpsc::UnboundedReceiver<Command>,
) -> io::Result<JoinHandle<()>> {
    let runtime = || {
        Builder::new_current_thread()
            .enable_all()
            .event_interval(BATCH)
            .build_local(LocalOptions::default())
    };
    // Tried here so that a failure is an error of `start`, not a thread that dies.
    drop(runtime()?);
    std::thread::Builder::new()
        .name(format!("sluice-{index}"))
        .spawn(move || {
            if let Ok(runtime) = runtime() {
                runtime.block_on(run(Rc::new(Thread::new(index, core)), commands));
            }
        })
}

async fn run(thread: Rc<Thread>, mut commands: mpsc::UnboundedReceiver<Command>) {
    spawn_local(sweep(thread.clone()));
    let mut accepting: HashMap<String, (Arc<Gate>, Rc<Cell<bool>>)> = HashMap::new();
    while let Some(command) = commands.recv().await {
        match command {
            Command::Listen { gate, listener } => {
                let Ok(listener) = TcpListener::from_std(listener) else {
                    continue;
                };
                let leave = Rc::new(Cell::new(false));
                gate.opened();
                spawn_local(accept(
                    thread.clone(),
                    listener,
                    gate.clone(),
                    leave.clone(),
                ));
                accepting.insert(gate.key(), (gate, leave));
            }
            Command::Leave(key) => {
                if let Some((gate, leave)) = accepting.remove(&key) {
                    leave.set(true);
                    gate.wake(thread.index);
                }
            }
            Command::GiveUpIdle(upstream) => thread.give_up_idle(&upstream),
            Command::Drain => {
                thread.alarms.ring_all();
                thread.clear_idle();
            }
            Command::Explain { request, reply } => {
                let _ = reply.send(explain::live(&thread, &request).await);
            }
            Command::Stop => return,
        }
    }
}

async fn accept(thread: Rc<Thread>, listener: TcpListener, gate: Arc<Gate>, leave: Rc<Cell<bool>>) {
    server::accept(thread, listener, gate.clone(), leave).await;
    gate.closed();
}

/// Deadlines, records, idle connections: one timer for all of them.
async fn sweep(thread: Rc<Thread>) {
    let mut tidied = thread.now();
    loop {
        let before = thread.now();
        tokio::time::sleep(SWEEP).await;
        let now = thread.now();
        thread.set_tick(now);
        // Measured against the plan: what is above it is how late everything on this thread is (OB-23).
        let delay = now.saturating_sub(before).saturating_sub(SWEEP);
        thread.core.registry.loop_delay(thread.index, delay, now);
        thread.alarms.sweep(now);
        thread.flush_log(Some(now));
        if now.saturating_sub(tidied) >= TIDY {
            tidied = now;
            thread.tidy();
        }
    }
}
