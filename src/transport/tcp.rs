//! TCP.

use std::net::SocketAddr;

use async_trait::async_trait;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};

use super::{Address, Connect, ConnectError, Stream};

/// Opens TCP connections.
#[derive(Debug)]
pub(crate) struct Tcp;

#[async_trait]
impl Connect for Tcp {
    async fn connect(
        &self,
        address: &Address,
        deadline: Instant,
    ) -> Result<Box<dyn Stream>, ConnectError> {
        let addresses = resolve(address, deadline).await?;
        let stream = first_that_answers(&addresses, deadline).await?;
        // Requests are small and somebody waits for each answer: Nagle's algorithm would add 40 ms to some.
        stream.set_nodelay(true).map_err(|error| ConnectError::refused(&error))?;
        Ok(Box::new(stream))
    }
}

/// Asks for the addresses anew each time: a broker that was moved keeps its name and nothing else.
async fn resolve(address: &Address, deadline: Instant) -> Result<Vec<SocketAddr>, ConnectError> {
    let unresolvable = |why: &str| ConnectError::Unresolvable(why.into());
    let found = timeout_at(deadline, lookup_host((&*address.host, address.port)))
        .await
        .map_err(|_| unresolvable("the resolver does not answer"))?
        .map_err(|error| unresolvable(&error.to_string()))?
        .collect::<Vec<_>>();
    match found.is_empty() {
        true => Err(unresolvable("the name has no address")),
        false => Ok(found),
    }
}

/// Tries each address in turn. One that is silent may use only its share of the time.
async fn first_that_answers(
    addresses: &[SocketAddr],
    deadline: Instant,
) -> Result<TcpStream, ConnectError> {
    let mut last = ConnectError::TimedOut;
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let untried = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        match timeout_at(Instant::now() + left / untried, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = ConnectError::refused(&error),
            Err(_) => last = ConnectError::TimedOut,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    /// Nobody listens at its port, and nobody else gets it for as long as this is kept.
    fn closed() -> TcpSocket {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    }

    #[tokio::test]
    async fn every_address_of_a_name_is_tried() {
        let refusing = closed();
        let closed = refusing.local_addr().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        let stream = first_that_answers(&[closed, open], soon()).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), open);
    }

    #[tokio::test]
    async fn a_name_without_an_address_is_said_to_be_unresolvable() {
        let address = Address::new("no-such-host.invalid", 9092);
        let failed = Tcp.connect(&address, soon()).await.err();
        assert!(matches!(failed, Some(ConnectError::Unresolvable(_))), "{failed:?}");
    }

    #[tokio::test]
    async fn a_port_where_nobody_listens_is_refused() {
        let refusing = closed();
        let port = refusing.local_addr().unwrap().port();
        let failed = Tcp.connect(&Address::new("127.0.0.1", port), soon()).await.err();
        assert!(
            matches!(
                failed,
                Some(ConnectError::Refused { kind: std::io::ErrorKind::ConnectionRefused, .. })
            ),
            "{failed:?}"
        );
    }
}
