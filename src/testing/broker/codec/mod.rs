//! Requests as a broker decodes them, answers as it encodes them: the other side of `wire`, by another encoder.

mod cluster;
mod groups;
mod membership;
mod offsets;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{ApiKey as Key, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};

use crate::testing::coordinator::{RequestBody, ResponseBody};
use crate::types::{GroupInstanceId, MemberId};
use crate::wire::{ApiKey, ErrorCode};

pub(super) use cluster::{ClusterRequest, unsupported_api_versions};

/// A request that cannot be served, and whose connection is closed.
#[derive(Debug)]
pub(super) struct Malformed;

/// A request, as far as it is decoded.
#[derive(Debug)]
pub(super) enum Decoded {
    /// For the coordinator: one question, or one for each group that is named.
    Coordinator(Vec<RequestBody>),
    /// About the cluster.
    Cluster(ClusterRequest),
    /// Answered before the group is looked at.
    Refused(RequestBody, ErrorCode),
}

/// Decodes a request's body.
pub(super) fn decode(api: ApiKey, version: i16, body: &mut Bytes) -> Result<Decoded, Malformed> {
    Ok(match api {
        ApiKey::JoinGroup => membership::join(version, body)?,
        ApiKey::SyncGroup => membership::sync(version, body)?,
        ApiKey::Heartbeat => membership::heartbeat(version, body)?,
        ApiKey::LeaveGroup => membership::leave(version, body)?,
        ApiKey::OffsetCommit => offsets::commit(version, body)?,
        ApiKey::OffsetFetch => Decoded::Coordinator(offsets::fetch(version, body)?),
        ApiKey::DescribeGroups => Decoded::Coordinator(groups::describe(version, body)?),
        ApiKey::ListGroups => Decoded::Coordinator(vec![groups::list(version, body)?]),
        ApiKey::ConsumerGroupDescribe => {
            Decoded::Coordinator(groups::describe_consumers(version, body)?)
        }
        ApiKey::DeleteGroups => Decoded::Coordinator(groups::delete(version, body)?),
        ApiKey::OffsetDelete => Decoded::Coordinator(vec![offsets::delete(version, body)?]),
        _ => Decoded::Cluster(cluster::decode(api, version, body)?),
    })
}

/// Encodes the coordinator's answers to the questions of one request.
pub(super) fn encode(
    version: i16,
    answers: &[(RequestBody, ResponseBody)],
) -> Result<Bytes, Malformed> {
    match answers.first() {
        Some((_, ResponseBody::JoinGroup(joined))) => membership::joined(version, joined),
        Some((_, ResponseBody::SyncGroup(synced))) => membership::synced(version, synced),
        Some((_, ResponseBody::Heartbeat(beat))) => membership::beat(version, beat),
        Some((_, ResponseBody::LeaveGroup(left))) => membership::left(version, left),
        Some((_, ResponseBody::OffsetCommit(committed))) => offsets::committed(version, committed),
        Some((_, ResponseBody::ListGroups(listed))) => groups::listed(version, listed),
        Some((_, ResponseBody::OffsetFetch(_))) => offsets::fetched(version, answers),
        Some((_, ResponseBody::DescribeGroup(_))) => groups::described(version, answers),
        Some((_, ResponseBody::DescribeConsumerGroup(_))) => {
            groups::described_consumers(version, answers)
        }
        Some((_, ResponseBody::DeleteGroup(..))) => groups::deleted(version, answers),
        Some((_, ResponseBody::OffsetDelete(deleted))) => offsets::deleted(version, deleted),
        None => Err(Malformed),
    }
}

/// The header of a request: correlation id and client id.
pub(super) fn decode_header(
    api: ApiKey,
    version: i16,
    frame: &mut Bytes,
) -> Result<(i32, String), Malformed> {
    let key = Key::try_from(api as i16).map_err(|()| Malformed)?;
    let header =
        RequestHeader::decode(frame, key.request_header_version(version)).map_err(|_| Malformed)?;
    Ok((
        header.correlation_id,
        header.client_id.as_ref().map(ToString::to_string).unwrap_or_default(),
    ))
}

/// An answer as it goes over the wire, length and header in front.
pub(super) fn frame(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    body: &[u8],
) -> Result<Bytes, Malformed> {
    let key = Key::try_from(api as i16).map_err(|()| Malformed)?;
    let mut frame = BytesMut::from(&[0; 4][..]);
    let header = ResponseHeader::default().with_correlation_id(correlation_id);
    header.encode(&mut frame, key.response_header_version(version)).map_err(|_| Malformed)?;
    frame.extend_from_slice(body);
    let length = u32::try_from(frame.len() - 4).map_err(|_| Malformed)?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame.freeze())
}

fn read<M: Decodable>(version: i16, body: &mut Bytes) -> Result<M, Malformed> {
    M::decode(body, version).map_err(|_| Malformed)
}

fn write<M: Encodable>(version: i16, message: &M) -> Result<Bytes, Malformed> {
    let mut body = BytesMut::new();
    message.encode(&mut body, version).map_err(|_| Malformed)?;
    Ok(body.freeze())
}

fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

fn member_id(id: &StrBytes) -> MemberId {
    MemberId::new(id.as_str())
}

/// Kafka takes any instance id. This broker refuses what Kafka's clients refuse: see [`Decoded::Refused`].
fn instance_id(id: Option<&StrBytes>) -> Result<Option<GroupInstanceId>, ErrorCode> {
    id.map(|id| GroupInstanceId::new(id.as_str()).map_err(|_| ErrorCode::InvalidRequest))
        .transpose()
}
