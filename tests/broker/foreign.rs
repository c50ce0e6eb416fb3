//! A member of another type than ours, as far as the broker can tell.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::{
    ApiKey, GroupId, JoinGroupRequest, JoinGroupResponse, RequestHeader, ResponseHeader,
};
use kafka_protocol::protocol::{
    Decodable as _, Encodable as _, StrBytes, encode_request_header_into_buffer,
};

/// Version 3 has neither instance ids nor the detour of KIP-394: one request makes a member, which stays for a minute.
const VERSION: i16 = 3;

/// Joins a group as a member of a type.
pub(crate) fn join_as(brokers: &[String], group: &str, protocol_type: &str) {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(text("range"))
        .with_metadata(Bytes::from_static(b"anything"));
    let request = JoinGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_session_timeout_ms(60_000)
        .with_rebalance_timeout_ms(60_000)
        .with_protocol_type(text(protocol_type))
        .with_protocols(vec![protocol]);
    let joined = brokers.iter().find_map(|broker| {
        let joined = ask(broker, &request);
        (joined.error_code == 0).then_some(joined)
    });
    assert!(joined.is_some(), "no broker takes a member of type {protocol_type}");
}

fn ask(broker: &str, request: &JoinGroupRequest) -> JoinGroupResponse {
    let header = RequestHeader::default()
        .with_request_api_key(ApiKey::JoinGroup as i16)
        .with_request_api_version(VERSION);
    let mut frame = BytesMut::new();
    encode_request_header_into_buffer(&mut frame, &header).unwrap();
    request.encode(&mut frame, VERSION).unwrap();

    let mut stream = TcpStream::connect(broker).unwrap();
    stream.write_all(&(frame.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(&frame).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    let mut answer = Bytes::from(answer);
    ResponseHeader::decode(&mut answer, 0).unwrap();
    JoinGroupResponse::decode(&mut answer, VERSION).unwrap()
}
