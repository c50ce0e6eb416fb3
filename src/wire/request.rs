//! What every request has in common.

use bytes::BytesMut;
use kafka_protocol::protocol::Encodable;

use super::{ReadError, Reader};

/// The requests that this crate sends, by Kafka's numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
#[repr(i16)]
pub enum ApiKey {
    /// Start and end offsets of partitions.
    ListOffsets = 2,
    /// Brokers, topics, partitions.
    Metadata = 3,
    /// Offsets of a group, stored.
    OffsetCommit = 8,
    /// Offsets of a group, read.
    OffsetFetch = 9,
    /// Which broker coordinates a group.
    FindCoordinator = 10,
    /// Be part of the next generation.
    JoinGroup = 11,
    /// Still here.
    Heartbeat = 12,
    /// Not here any more.
    LeaveGroup = 13,
    /// The generation's plan, up from the leader and down to everyone.
    SyncGroup = 14,
    /// Groups with their members.
    DescribeGroups = 15,
    /// The groups that a broker coordinates.
    ListGroups = 16,
    /// By which mechanism we will say who we are.
    SaslHandshake = 17,
    /// What the broker can do.
    ApiVersions = 18,
    /// Who we are.
    SaslAuthenticate = 36,
    /// Groups, deleted with their offsets.
    DeleteGroups = 42,
    /// Offsets of a group, deleted.
    OffsetDelete = 47,
    /// The cluster, and what we may do to it.
    DescribeCluster = 60,
    /// Groups of the new protocol with their members.
    ConsumerGroupDescribe = 69,
}

/// A request, its API, and what answers it.
pub(crate) trait Request: Send + 'static {
    /// Which API this belongs to.
    const API: ApiKey;
    /// What answers it.
    type Response: Send + 'static;

    /// Writes the body (what follows the request header) as `version` lays it out.
    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError>;

    /// Reads the body of the answer (what follows the response header), as far as we use it.
    fn read(version: i16, body: &mut Reader) -> Result<Self::Response, ReadError>;
}

/// A request that the chosen version cannot carry.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{api:?} v{version} cannot carry this request: {why}")]
pub(crate) struct EncodeError {
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) why: String,
}

impl EncodeError {
    /// Says why.
    pub(crate) fn new(api: ApiKey, version: i16, why: impl Into<String>) -> Self {
        Self { api, version, why: why.into() }
    }
}

/// Appends `message`; after an error nothing has been appended.
pub(super) fn append(
    api: ApiKey,
    version: i16,
    message: &impl Encodable,
    body: &mut BytesMut,
) -> Result<(), EncodeError> {
    let before = body.len();
    message.encode(body, version).map_err(|error| {
        body.truncate(before);
        EncodeError::new(api, version, error.to_string())
    })
}
