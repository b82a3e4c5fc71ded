//! The housekeeping thread: health, metrics and names. A busy interpreter cannot delay it.

use std::{net::SocketAddr, sync::Arc, thread::JoinHandle};

use tokio::{
    net::TcpListener,
    runtime::Builder,
    sync::{mpsc, oneshot},
};

use crate::{
    core::Core,
    error::EngineError,
    operations, sockets,
    upstream::resolve::{self, Work},
};

/// The running housekeeping thread.
pub(crate) struct House {
    address: Option<SocketAddr>,
    work: mpsc::UnboundedSender<Work>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts it; the operations port is taken before anything runs.
pub(crate) fn start(core: &Arc<Core>, operations: Option<&str>) -> Result<House, EngineError> {
    let listener = operations
        .map(|address| {
            let wanted: SocketAddr = address.parse().map_err(|_| EngineError::PortTaken {
                address: address.to_owned(),
                source: std::io::Error::new(
                    std::io::ErrorKind::InvalidInput,
                    "not an IP address and a port",
                ),
            })?;
            sockets::open(wanted, false).map_err(|error| EngineError::port(&wanted, error))
        })
        .transpose()?;
    let address = listener
        .as_ref()
        .and_then(|listener| listener.local_addr().ok());
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(EngineError::thread)?;
    let (work, queue) = mpsc::unbounded_channel();
    let (stop, stopped) = oneshot::channel();
    let core = core.clone();
    let thread = std::thread::Builder::new()
        .name("sluice-house".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                tokio::spawn(resolve::run(queue, core.clone()));
                if let Some(listener) =
                    listener.and_then(|listener| TcpListener::from_std(listener).ok())
                {
                    tokio::spawn(operations::serve(listener, core));
                }
                let _ = stopped.await;
            });
        })
        .map_err(EngineError::thread)?;
    Ok(House {
        address,
        work,
        stop,
        thread,
    })
}

impl House {
    /// Where health and metrics are served.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The upstreams of a new snapshot that have names to resolve; replaces what was followed before.
    pub(crate) fn resolve(&self, work: Work) {
        let _ = self.work.send(work);
    }

    pub(crate) fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}
