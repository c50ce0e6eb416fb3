//! Something in between that counts connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::harness::{done, spawn};

/// Carries bytes between whoever connects and one address.
pub(super) struct Relay {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Relay {
    pub(super) fn to(target: String) -> Self {
        let listener = done(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&accepted);
        let accepting = spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let target = target.clone();
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(target).await else { return };
                    copy_bidirectional(&mut near, &mut far).await.ok();
                });
            }
        });
        Self { address, accepted, accepting }
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    /// How many there have been.
    pub(super) fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
