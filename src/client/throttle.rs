//! `throttle_time_ms`: how long a broker asks us to hold back.

use std::time::Duration;

use crate::wire::{ApiKey, Layout, Reader};

/// No broker asks for more: quota windows are seconds. A larger number would only be a way to stop us.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// How long to hold back after an answer, if its version leaves that to the client (KIP-219); in older ones the broker
/// held back the answer itself. `answer` is what follows the correlation id.
pub(super) fn throttle(api: ApiKey, version: i16, mut answer: Reader) -> Option<Duration> {
    if version < left_to_the_client(api)? {
        return None;
    }
    if api.layout(version) == Layout::Compact {
        answer.skip_tags(Layout::Compact).ok()?;
    }
    let milliseconds = u64::try_from(answer.i32().ok()?).ok().filter(|time| *time > 0)?;
    Some(Duration::from_millis(milliseconds).min(LONGEST))
}

/// The version from which on the client holds back; then the time is the first thing in the answer's body. Not so in
/// ApiVersions, where it is the last, and which nobody throttles, nor in OffsetDelete, which is rare.
fn left_to_the_client(api: ApiKey) -> Option<i16> {
    match api {
        ApiKey::ApiVersions | ApiKey::OffsetDelete => None,
        ApiKey::DescribeCluster | ApiKey::ConsumerGroupDescribe => Some(0),
        ApiKey::DeleteGroups => Some(1),
        ApiKey::ListOffsets | ApiKey::JoinGroup => Some(3),
        ApiKey::Metadata => Some(6),
        ApiKey::OffsetCommit | ApiKey::OffsetFetch => Some(4),
        _ => Some(2),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn after(api: ApiKey, version: i16, answer: &'static [u8]) -> Option<Duration> {
        throttle(api, version, Reader::new(Bytes::from_static(answer)))
    }

    #[test]
    fn the_time_counts_from_the_version_on_that_leaves_it_to_the_client() {
        const ANSWER: &[u8] = &[0, 0, 1, 0, 9];
        assert_eq!(after(ApiKey::JoinGroup, 2, ANSWER), None);
        assert_eq!(after(ApiKey::JoinGroup, 3, ANSWER), Some(Duration::from_millis(256)));
        assert_eq!(after(ApiKey::ApiVersions, 3, ANSWER), None);
    }

    #[test]
    fn a_flexible_answer_has_tagged_fields_before_it() {
        const ANSWER: &[u8] = &[1, 7, 2, 0, 0, 0, 0, 0, 5];
        assert_eq!(after(ApiKey::Heartbeat, 4, ANSWER), Some(Duration::from_millis(5)));
    }

    #[test]
    fn nonsense_is_no_time() {
        assert_eq!(after(ApiKey::Heartbeat, 3, &[0, 0]), None);
        assert_eq!(after(ApiKey::Heartbeat, 3, &[0xff; 4]), None);
        assert_eq!(after(ApiKey::Heartbeat, 3, &[0x7f, 0xff, 0xff, 0xff]), Some(LONGEST));
    }
}
