//! ListOffsets: where partitions start, end, or were at a time. Asked of each partition's leader.
//!
//! | version | adds |
//! |---|---|
//! | 1 | the oldest that is spoken |
//! | 2 | the isolation level; the answer's throttle time |
//! | 4 | leader epochs (KIP-320) |
//! | 6 | flexible |
//! | 7 to 9 | more special times: we ask for none |
//! | 10 | a timeout, for times that are looked up in remote storage |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::list_offsets_request::{
    ListOffsetsPartition, ListOffsetsRequest as Message, ListOffsetsTopic,
};

use super::{by_topic, millis, partitions_by_topic, text, throttle};
use crate::types::TopicPartition;
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

/// Asks where partitions are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ListOffsetsRequest {
    /// `Latest` is then the last stable one. From version 2 on; below, it is an [`EncodeError`].
    pub(crate) read_committed: bool,
    pub(crate) partitions: Vec<(TopicPartition, OffsetAt)>,
    /// For how long the broker may look in remote storage. From version 10 on.
    pub(crate) timeout: Duration,
}

/// Which offset of a partition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OffsetAt {
    /// Where the partition starts.
    Earliest,
    /// Behind its last record.
    Latest,
    /// The first record of this time or a later one, in milliseconds since 1970; none if there is none.
    Time(i64),
}

/// Where they are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ListOffsetsResponse {
    pub(crate) throttle: Duration,
    pub(crate) partitions: Vec<ListedOffset>,
}

/// Where one is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ListedOffset {
    pub(crate) partition: TopicPartition,
    pub(crate) error: ErrorCode,
    /// None on errors, and where no record has the time.
    pub(crate) offset: Option<i64>,
    pub(crate) leader_epoch: Option<i32>,
}

impl OffsetAt {
    /// As it is written: the ends are times that no record has.
    fn timestamp(self) -> i64 {
        match self {
            Self::Earliest => -2,
            Self::Latest => -1,
            Self::Time(millis) => millis.max(0),
        }
    }
}

impl Request for ListOffsetsRequest {
    const API: ApiKey = ApiKey::ListOffsets;
    type Response = ListOffsetsResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let topics = by_topic(self.partitions.iter().map(|(partition, at)| (partition, at)));
        let message = Message::default()
            // -1: a client, not a replica.
            .with_replica_id((-1).into())
            .with_isolation_level(i8::from(self.read_committed))
            .with_topics(
                topics.into_iter().map(|(name, partitions)| topic(name, &partitions)).collect(),
            )
            .with_timeout_ms(millis(self.timeout));
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<ListOffsetsResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 2)?;
        let partitions = partitions_by_topic(layout, 22, body, |topic, body| {
            let partition = TopicPartition::new(Arc::clone(topic), body.i32()?);
            let error = ErrorCode::from(body.i16()?);
            let _timestamp = body.i64()?;
            let offset = body.i64()?;
            let leader_epoch = if version >= 4 { body.i32()? } else { -1 };
            let offset = (error.is_none() && offset >= 0).then_some(offset);
            let leader_epoch = (leader_epoch >= 0).then_some(leader_epoch);
            Ok(ListedOffset { partition, error, offset, leader_epoch })
        })?;
        Ok(ListOffsetsResponse { throttle, partitions })
    }
}

fn topic(name: &str, partitions: &[(i32, &OffsetAt)]) -> ListOffsetsTopic {
    let partition = |(partition, at): &(i32, &OffsetAt)| {
        ListOffsetsPartition::default()
            .with_partition_index(*partition)
            .with_timestamp(at.timestamp())
    };
    ListOffsetsTopic::default()
        .with_name(text(name).into())
        .with_partitions(partitions.iter().map(partition).collect())
}
