//! DescribeCluster: what the one who asks may do to the cluster. The brokers, which it tells too, are Metadata's affair.
//!
//! | version | adds |
//! |---|---|
//! | 0 | flexible from the first (KIP-700, Kafka 2.8) |
//! | 1 | whether brokers or controllers are meant (KIP-919); the error of one that does not speak for those |
//! | 2 | whether brokers are fenced (KIP-1073) |

use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::DescribeClusterRequest as Message;

use super::{or_only_the_error, throttle};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks what we may do to the cluster.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DescribeClusterRequest;

/// What we may.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DescribeClusterResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
    /// None where it is not told.
    pub(crate) operations: Option<Operations>,
}

/// Operations that an ACL can allow: a bit for each, at the place of its code (KIP-430).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Operations(i32);

impl Operations {
    /// Kafka: `AclOperation.DESCRIBE`.
    const DESCRIBE: i32 = 1 << 8;
    /// No set of operations: they were not asked for, or are not told.
    const NOT_TOLD: i32 = i32::MIN;

    /// As Kafka writes them.
    pub(crate) fn told(bits: i32) -> Option<Self> {
        (bits != Self::NOT_TOLD).then_some(Self(bits))
    }

    /// Whether DESCRIBE is one of them, by an ACL of its own or because another implies it: the broker has seen to
    /// that.
    pub(crate) fn describe(self) -> bool {
        self.0 & Self::DESCRIBE != 0
    }
}

impl Request for DescribeClusterRequest {
    const API: ApiKey = ApiKey::DescribeCluster;
    type Response = DescribeClusterResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let message = Message::default().with_include_cluster_authorized_operations(true);
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<DescribeClusterResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, true)?;
        let error = ErrorCode::from(body.i16()?);
        let operations = or_only_the_error(error, operations(layout, version, body), None)?;
        Ok(DescribeClusterResponse { throttle, error, operations })
    }
}

/// What follows the error: its message, what was described, the cluster's id, controller and brokers, and then operations.
fn operations(
    layout: Layout,
    version: i16,
    body: &mut Reader,
) -> Result<Option<Operations>, ReadError> {
    body.skip_string(layout)?;
    if version >= 1 {
        let _endpoint_type = body.u8()?;
    }
    body.skip_string(layout)?;
    let _controller = body.i32()?;
    for _ in 0..body.count(layout, 11)?.unwrap_or(0) {
        skip_broker(layout, version, body)?;
    }
    let operations = Operations::told(body.i32()?);
    body.skip_tags(layout)?;
    Ok(operations)
}

/// Id, host, port and rack.
fn skip_broker(layout: Layout, version: i16, body: &mut Reader) -> Result<(), ReadError> {
    let _id = body.i32()?;
    body.skip_string(layout)?;
    let _port = body.i32()?;
    body.skip_string(layout)?;
    if version >= 2 {
        let _is_fenced = body.bool()?;
    }
    body.skip_tags(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describe_is_one_of_the_operations_where_its_bit_is_set() {
        // What Kafka answers whoever may do everything, and whoever may do all but DESCRIBE.
        assert_eq!(Operations::told(0b1_1111_1010_0000).map(Operations::describe), Some(true));
        assert_eq!(Operations::told(0b1_1110_1010_0000).map(Operations::describe), Some(false));
        assert_eq!(Operations::told(0).map(Operations::describe), Some(false));
    }

    #[test]
    fn the_smallest_number_tells_nothing() {
        assert_eq!(Operations::told(i32::MIN), None);
        assert!(Operations::told(-1).is_some());
    }
}
