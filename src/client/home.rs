//! Where a client's tasks run, and how they learn that it has ended.

use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;

use super::ClientError;

/// Keeps the client's tasks running until it is dropped, which waits for nothing.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) runtime: Handle,
    /// Whether the runtime is the application's.
    pub(crate) is_shared: bool,
    /// Its end is the signal.
    _alive: watch::Sender<()>,
    pub(crate) ended: Ended,
}

/// The end of a client, as its tasks see it.
#[derive(Clone, Debug)]
pub(crate) struct Ended(watch::Receiver<()>);

/// Names are resolved on threads of their own, which block. Rarely more than one or two.
const RESOLVERS: usize = 4;

impl Home {
    /// On a runtime of the application, or on a thread of its own.
    pub(crate) fn new(runtime: Option<Handle>) -> Result<Self, ClientError> {
        let (alive, ended) = watch::channel(());
        let ended = Ended(ended);
        let is_shared = runtime.is_some();
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => spawn(ended.clone())
                .map_err(|error| ClientError::Thread(error.to_string().into()))?,
        };
        Ok(Self { runtime, is_shared, _alive: alive, ended })
    }
}

impl Ended {
    /// Waits for the end. Cancel safe.
    pub(crate) async fn wait(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

fn spawn(ended: Ended) -> std::io::Result<Handle> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(RESOLVERS)
        .thread_keep_alive(Duration::from_secs(1))
        .thread_name("kafka-group-dns")
        .build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new().name("kafka-group".to_owned()).spawn(move || live(runtime, ended))?;
    Ok(handle)
}

/// The thread. It does not wait for a name that is still being resolved.
fn live(runtime: Runtime, mut ended: Ended) {
    runtime.block_on(ended.wait());
    runtime.shutdown_background();
}
