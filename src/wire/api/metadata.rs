//! Metadata: the brokers, and the topics with their partitions.
//!
//! | version | adds, of what we use |
//! |---|---|
//! | 1 | racks; internal topics are marked; null topics = all, an empty list = none |
//! | 3 | the answer's throttle time |
//! | 4 | the request may forbid that topics are created by being asked for |
//! | 7 | leader epochs |
//! | 9 | flexible |
//! | 10 | topic ids |
//! | 12 | topics may be asked for by id: we do not |
//! | 13 | an error of the whole |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::metadata_request::{
    MetadataRequest as Message, MetadataRequestTopic,
};

use super::{text, throttle};
use crate::types::{Node, NodeId};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks for the brokers and for topics. Below version 4 the broker may create a topic because it was named.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct MetadataRequest {
    /// None: all topics. An empty list: the brokers alone.
    pub(crate) topics: Option<Vec<Arc<str>>>,
}

/// The cluster, as one broker sees it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct MetadataResponse {
    pub(crate) throttle: Duration,
    /// Of the whole, from version 13 on; topics and partitions have their own.
    pub(crate) error: ErrorCode,
    pub(crate) cluster_id: Option<String>,
    pub(crate) brokers: Vec<Node>,
    pub(crate) topics: Vec<TopicMetadata>,
}

/// A topic.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TopicMetadata {
    pub(crate) error: ErrorCode,
    pub(crate) name: Arc<str>,
    /// Another id under the same name is another topic. None below version 10.
    pub(crate) topic_id: Option<TopicId>,
    pub(crate) internal: bool,
    /// In the broker's order, which is not that of the numbers.
    pub(crate) partitions: Vec<PartitionMetadata>,
}

/// What stays the same while a topic exists, and is never used again (KIP-516).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct TopicId(pub(crate) [u8; 16]);

/// A partition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PartitionMetadata {
    /// `LeaderNotAvailable` among others: the partition exists all the same.
    pub(crate) error: ErrorCode,
    pub(crate) partition: i32,
    /// None while there is no leader.
    pub(crate) leader: Option<NodeId>,
    pub(crate) leader_epoch: Option<i32>,
    pub(crate) replicas: Vec<NodeId>,
}

impl Request for MetadataRequest {
    const API: ApiKey = ApiKey::Metadata;
    type Response = MetadataResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        if version < 1 {
            return Err(EncodeError::new(
                Self::API,
                version,
                "version 0 cannot tell no topics from all topics",
            ));
        }
        let named =
            |name: &Arc<str>| MetadataRequestTopic::default().with_name(Some(text(name).into()));
        let topics = self.topics.as_ref().map(|names| names.iter().map(named).collect());
        let message =
            Message::default().with_topics(topics).with_allow_auto_topic_creation(version < 4);
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<MetadataResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 3)?;
        let brokers = body.array(layout, 11, |body| broker(layout, version, body))?;
        let cluster_id = if version >= 2 { body.nullable_string(layout)? } else { None };
        let _controller = if version >= 1 { body.i32()? } else { -1 };
        let topics = body.array(layout, 9, |body| topic(layout, version, body))?;
        let error = if version >= 13 { body.i16()? } else { 0 };
        let topics = topics.into_iter().flatten().collect();
        Ok(MetadataResponse { throttle, error: error.into(), cluster_id, brokers, topics })
    }
}

fn broker(layout: Layout, version: i16, body: &mut Reader) -> Result<Node, ReadError> {
    let id = NodeId(body.i32()?);
    let host = body.string(layout)?;
    let port = body.i32()?;
    let port = u16::try_from(port).map_err(|_| ReadError::Port(port))?;
    let rack = if version >= 1 { body.nullable_string(layout)? } else { None };
    body.skip_tags(layout)?;
    Ok(Node { id, host, port, rack })
}

/// None for a topic without a name: asked for by id, which we never do.
fn topic(
    layout: Layout,
    version: i16,
    body: &mut Reader,
) -> Result<Option<TopicMetadata>, ReadError> {
    let error = ErrorCode::from(body.i16()?);
    let name: Option<Arc<str>> = body.nullable_string(layout)?;
    let topic_id = if version >= 10 { topic_id(body)? } else { None };
    let internal = if version >= 1 { body.bool()? } else { false };
    let partitions = body.array(layout, 18, |body| partition(layout, version, body))?;
    let _authorized_operations = if version >= 8 { body.i32()? } else { 0 };
    body.skip_tags(layout)?;
    Ok(name.map(|name| TopicMetadata { error, name, topic_id, internal, partitions }))
}

/// None for sixteen zeros, which stand for no id.
fn topic_id(body: &mut Reader) -> Result<Option<TopicId>, ReadError> {
    let id = <[u8; 16]>::try_from(&*body.take(16)?).map_err(|_| ReadError::Short)?;
    Ok((id != [0; 16]).then_some(TopicId(id)))
}

fn partition(
    layout: Layout,
    version: i16,
    body: &mut Reader,
) -> Result<PartitionMetadata, ReadError> {
    let error = ErrorCode::from(body.i16()?);
    let partition = body.i32()?;
    let leader = body.i32()?;
    let leader_epoch = if version >= 7 { body.i32()? } else { -1 };
    let replicas = body.array(layout, 4, |body| body.i32().map(NodeId))?;
    // In sync, and offline.
    body.skip_array(layout, 4)?;
    if version >= 5 {
        body.skip_array(layout, 4)?;
    }
    body.skip_tags(layout)?;
    Ok(PartitionMetadata {
        error,
        partition,
        leader: (leader >= 0).then_some(NodeId(leader)),
        leader_epoch: (leader_epoch >= 0).then_some(leader_epoch),
        replicas,
    })
}
