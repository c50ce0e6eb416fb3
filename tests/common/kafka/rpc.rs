//! One request to one broker on a connection of its own.

use std::{
    io::{self, Read as _, Write as _},
    net::{TcpStream, ToSocketAddrs as _},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    messages::{RequestHeader, ResponseHeader},
    protocol::{
        Decodable as _, Encodable as _, HeaderVersion, Request, StrBytes,
        encode_request_header_into_buffer,
    },
};

const CONNECT: Duration = Duration::from_secs(2);

/// A paused broker answers nothing.
const ANSWER: Duration = Duration::from_secs(10);

/// Asks the broker at `address` and reads its answer.
pub(super) fn call<R: Request>(
    address: &str,
    version: i16,
    request: &R,
) -> io::Result<R::Response> {
    let mut stream = connect(address)?;
    let frame = encode(version, request).map_err(io::Error::other)?;
    stream.write_all(&u32::try_from(frame.len()).map_err(io::Error::other)?.to_be_bytes())?;
    stream.write_all(&frame)?;

    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut answer =
        vec![0; usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?];
    stream.read_exact(&mut answer)?;
    decode::<R>(version, answer.into()).map_err(io::Error::other)
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("{address} has no address"));
    for socket in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(ANSWER))?;
                stream.set_write_timeout(Some(ANSWER))?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn encode<R: Request>(
    version: i16,
    request: &R,
) -> Result<BytesMut, Box<dyn std::error::Error + Send + Sync>> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(1)
        .with_client_id(Some(StrBytes::from_static_str("test-admin")));
    let mut frame = BytesMut::new();
    encode_request_header_into_buffer(&mut frame, &header)?;
    request.encode(&mut frame, version)?;
    Ok(frame)
}

fn decode<R: Request>(
    version: i16,
    mut answer: Bytes,
) -> Result<R::Response, Box<dyn std::error::Error + Send + Sync>> {
    ResponseHeader::decode(&mut answer, R::Response::header_version(version))?;
    Ok(R::Response::decode(&mut answer, version)?)
}
