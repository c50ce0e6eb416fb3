//! One request, in a version of the test's choice, on a connection of its own.

use std::io;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use kafka_protocol::messages::{RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{
    Decodable, HeaderVersion, Request, StrBytes, encode_request_header_into_buffer,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Nothing in a scenario takes longer.
const DEADLINE: Duration = Duration::from_secs(30);

/// What is parked is still parked after this time, in which a broker does all that it is ever going to do.
const MOMENT: Duration = Duration::from_millis(250);

/// A request that was sent, and whose answer has not been looked at.
#[derive(Debug)]
pub(crate) struct Sent<T> {
    answer: JoinHandle<io::Result<T>>,
}

/// Sends a request.
pub(crate) fn send<R>(address: &str, client_id: &str, version: i16, request: R) -> Sent<R::Response>
where
    R: Request + Send + 'static,
    R::Response: Send + 'static,
{
    let (address, client_id) = (address.to_owned(), client_id.to_owned());
    let answer = tokio::spawn(async move { call(&address, client_id, version, request).await });
    Sent { answer }
}

impl<T> Sent<T> {
    /// The answer, which must come.
    pub(crate) async fn answer(self) -> T {
        self.try_answer().await.expect("the connection is not closed")
    }

    /// The answer, or how the connection failed.
    pub(crate) async fn try_answer(self) -> io::Result<T> {
        timeout(DEADLINE, self.answer).await.expect("it is answered").expect("no panic")
    }

    /// It is not answered, now or soon.
    pub(crate) async fn assert_parked(&mut self) {
        assert!(
            timeout(MOMENT, &mut self.answer).await.is_err(),
            "it is answered, and should be parked"
        );
    }

    /// Closes its connection.
    pub(crate) fn close(self) {
        self.answer.abort();
    }
}

async fn call<R: Request>(
    address: &str,
    client_id: String,
    version: i16,
    request: R,
) -> io::Result<R::Response> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&encode(client_id, version, &request)?).await?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let mut body =
        BytesMut::zeroed(usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?);
    stream.read_exact(&mut body).await?;
    let mut body = body.freeze();
    ResponseHeader::decode(&mut body, R::Response::header_version(version))
        .map_err(io::Error::other)?;
    let answer = R::Response::decode(&mut body, version).map_err(io::Error::other)?;
    match body == Bytes::new() {
        true => Ok(answer),
        false => Err(io::Error::other("there is more in the frame")),
    }
}

fn encode<R: Request>(client_id: String, version: i16, request: &R) -> io::Result<Bytes> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(1)
        .with_client_id(Some(StrBytes::from_string(client_id)));
    let mut frame = BytesMut::from(&[0; 4][..]);
    encode_request_header_into_buffer(&mut frame, &header).map_err(io::Error::other)?;
    request.encode(&mut frame, version).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame.freeze())
}

/// A connection that takes several requests.
#[derive(Debug)]
pub(crate) struct Connection(TcpStream);

impl Connection {
    pub(crate) async fn open(address: &str) -> Self {
        Self(TcpStream::connect(address).await.expect("the broker listens"))
    }

    pub(crate) async fn send<R: Request>(&mut self, version: i16, request: &R) {
        let frame = encode("raw".to_owned(), version, request).expect("it can be encoded");
        self.0.write_all(&frame).await.expect("the connection is open");
    }

    /// A request of any API and version, with an empty body: correlation id, no client id, no tags.
    pub(crate) async fn send_bare(&mut self, api: i16, version: i16) {
        let mut frame = BytesMut::new();
        frame.put_i32(11);
        frame.put_i16(api);
        frame.put_i16(version);
        frame.put_i32(1);
        frame.put_i16(-1);
        frame.put_u8(0);
        self.0.write_all(&frame).await.expect("the connection is open");
    }

    /// The next answer, header and all; none if the connection is closed.
    pub(crate) async fn frame(&mut self) -> Option<Bytes> {
        let frame = timeout(DEADLINE, async {
            let mut length = [0; 4];
            self.0.read_exact(&mut length).await.ok()?;
            let mut frame = BytesMut::zeroed(usize::try_from(u32::from_be_bytes(length)).ok()?);
            self.0.read_exact(&mut frame).await.ok()?;
            Some(frame.freeze())
        });
        frame.await.expect("it is answered or closed")
    }

    pub(crate) async fn receive<R: Request>(&mut self, version: i16) -> R::Response {
        let mut frame = self.frame().await.expect("it is answered");
        ResponseHeader::decode(&mut frame, R::Response::header_version(version)).expect("a header");
        R::Response::decode(&mut frame, version).expect("an answer")
    }

    pub(crate) async fn assert_silent(&self) {
        assert!(timeout(MOMENT, self.0.readable()).await.is_err(), "there is an answer");
    }
}
