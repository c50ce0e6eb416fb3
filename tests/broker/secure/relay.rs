//! Something in between that counts connections, and may lead some astray.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::harness::spawn;

/// Carries bytes between whoever connects and an address.
pub(super) struct Relay {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    astray: Arc<AtomicBool>,
    accepting: JoinHandle<()>,
}

/// Where connections lead.
#[derive(Clone)]
struct Ways {
    target: String,
    /// Where those of OpenSSL lead while they are led astray.
    openssl: Option<String>,
}

impl Relay {
    pub(super) fn to(target: String) -> Self {
        Self::new(Ways { target, openssl: None })
    }

    /// Where OpenSSL speaks, which is rdkafka's, the connection leads somewhere else, until [`Self::heals`].
    #[cfg(feature = "rdkafka-ssl")]
    pub(super) fn but_for_openssl(target: String, openssl: String) -> Self {
        Self::new(Ways { target, openssl: Some(openssl) })
    }

    fn new(ways: Ways) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, astray) = (Arc::<AtomicUsize>::default(), Arc::new(AtomicBool::new(true)));
        let (counted, leads_astray) = (Arc::clone(&accepted), Arc::clone(&astray));
        let accepting = spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((near, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let astray = leads_astray.load(Ordering::SeqCst);
                tokio::spawn(ways.clone().carry(near, astray));
            }
        });
        Self { address, accepted, astray, accepting }
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    /// How many connections there have been.
    pub(super) fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// From now on nobody is led astray.
    #[cfg(feature = "rdkafka-ssl")]
    pub(super) fn heals(&self) {
        self.astray.store(false, Ordering::SeqCst);
    }
}

impl Ways {
    async fn carry(self, mut near: TcpStream, astray: bool) {
        let target = match self.openssl {
            Some(other) if astray && is_openssl(&near).await => other,
            _ => self.target,
        };
        let Ok(mut far) = TcpStream::connect(target).await else { return };
        copy_bidirectional(&mut near, &mut far).await.ok();
    }
}

/// OpenSSL's first words say that it could encrypt before it authenticates (RFC 7366: extension 22, empty). rustls cannot.
async fn is_openssl(near: &TcpStream) -> bool {
    let mut hello = [0; 2048];
    let length = near.peek(&mut hello).await.unwrap_or_default();
    hello[..length].windows(4).any(|bytes| bytes == [0, 22, 0, 0])
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
