//! Which version of each API is spoken.

use std::collections::BTreeMap;
use std::fmt;

use super::api::ApiRange;
use super::{ApiKey, Layout};

/// The versions to speak on one connection: the highest that both ends know, and that no cap forbids.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Versions {
    ours: BTreeMap<ApiKey, VersionRange>,
    theirs: BTreeMap<ApiKey, VersionRange>,
}

/// Versions of one API, both ends included. Empty where `min` is above `max`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct VersionRange {
    /// The lowest.
    pub min: i16,
    /// The highest.
    pub max: i16,
}

/// An API that the two ends have no version of in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no common version of {api:?}: we speak {ours}, the broker {}", Theirs(*theirs))]
#[non_exhaustive]
pub struct Unsupported {
    /// Which API.
    pub api: ApiKey,
    /// What we speak, caps applied.
    pub ours: VersionRange,
    /// What the broker speaks; None where it does not have the API at all.
    pub theirs: Option<VersionRange>,
}

/// An API whose common version carries no instance id (KIP-345): no static membership on this broker.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{api:?} carries an instance id from version {needed} on; the broker speaks {}", Theirs(*theirs))]
#[non_exhaustive]
pub struct NoInstanceId {
    /// Which API.
    pub api: ApiKey,
    /// The first version with instance ids.
    pub needed: i16,
    /// What the broker speaks; None where it does not have the API at all. It may hold `needed`: then a cap forbids it.
    pub theirs: Option<VersionRange>,
}

/// The first versions with instance ids.
const INSTANCE_ID: [(ApiKey, i16); 4] = [
    (ApiKey::JoinGroup, 5),
    (ApiKey::SyncGroup, 3),
    (ApiKey::Heartbeat, 3),
    (ApiKey::OffsetCommit, 7),
];

/// What librdkafka's mock cluster advertises and cannot do: JoinGroup and SyncGroup close the connection, LeaveGroup
/// takes nobody out.
const MOCK_CAPS: [(ApiKey, i16); 3] =
    [(ApiKey::JoinGroup, 5), (ApiKey::SyncGroup, 3), (ApiKey::LeaveGroup, 2)];

impl Versions {
    /// From what the broker says that it speaks, and from caps of the user's, by API: the highest version to speak.
    pub(crate) fn new(theirs: &[ApiRange], caps: &BTreeMap<ApiKey, i16>) -> Self {
        let mut ours: BTreeMap<_, _> =
            ApiKey::ALL.iter().map(|api| (*api, api.supported())).collect();
        let mock: &[_] = if is_librdkafkas_mock(theirs) { &MOCK_CAPS } else { &[] };
        for (api, cap) in caps.iter().chain(mock.iter().map(|(api, cap)| (api, cap))) {
            ours.entry(*api).and_modify(|range| range.max = range.max.min(*cap));
        }
        let theirs = theirs
            .iter()
            .filter_map(|range| {
                Some((
                    ApiKey::from_number(range.api)?,
                    VersionRange { min: range.min, max: range.max },
                ))
            })
            .collect();
        Self { ours, theirs }
    }

    /// The version of `api` to speak; None where there is none in common. Never guess one then: a broker closes the
    /// connection on a version that it does not know.
    pub(crate) fn choose(&self, api: ApiKey) -> Option<i16> {
        let common = self.ours.get(&api)?.intersection(*self.theirs.get(&api)?);
        (!common.is_empty()).then_some(common.max)
    }

    /// As `choose`, for whoever cannot do without.
    pub(crate) fn require(&self, api: ApiKey) -> Result<i16, Unsupported> {
        let ours = self.ours.get(&api).copied().unwrap_or_else(|| api.supported());
        self.choose(api).ok_or_else(|| Unsupported {
            api,
            ours,
            theirs: self.theirs.get(&api).copied(),
        })
    }

    /// Whether every request of a static member can carry its instance id. A broker may still answer
    /// UNSUPPORTED_VERSION, if an old version of its inter-broker protocol is pinned.
    pub(crate) fn supports_static_membership(&self) -> Result<(), NoInstanceId> {
        for (api, needed) in INSTANCE_ID {
            if self.choose(api).is_none_or(|version| version < needed) {
                return Err(NoInstanceId { api, needed, theirs: self.theirs.get(&api).copied() });
            }
        }
        Ok(())
    }
}

/// No Kafka has a Heartbeat version 5, and every Kafka describes groups and authenticates.
fn is_librdkafkas_mock(theirs: &[ApiRange]) -> bool {
    let find = |api: ApiKey| theirs.iter().find(|range| range.api == api.number());
    find(ApiKey::Heartbeat).is_some_and(|range| range.max >= 5)
        && find(ApiKey::DescribeGroups).is_none()
        && find(ApiKey::SaslHandshake).is_none()
}

impl VersionRange {
    fn new(min: i16, max: i16) -> Self {
        Self { min, max }
    }

    fn intersection(self, other: Self) -> Self {
        Self { min: self.min.max(other.min), max: self.max.min(other.max) }
    }

    fn is_empty(self) -> bool {
        self.min > self.max
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            range if range.is_empty() => f.write_str("none"),
            Self { min, max } if min == max => write!(f, "version {min}"),
            Self { min, max } => write!(f, "versions {min} to {max}"),
        }
    }
}

/// What a broker speaks, in words.
struct Theirs(Option<VersionRange>);

impl fmt::Display for Theirs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(range) => range.fmt(f),
            None => f.write_str("none"),
        }
    }
}

impl ApiKey {
    /// Every API that is spoken.
    pub(crate) const ALL: [Self; 18] = [
        Self::ListOffsets,
        Self::Metadata,
        Self::OffsetCommit,
        Self::OffsetFetch,
        Self::FindCoordinator,
        Self::JoinGroup,
        Self::Heartbeat,
        Self::LeaveGroup,
        Self::SyncGroup,
        Self::DescribeGroups,
        Self::ListGroups,
        Self::SaslHandshake,
        Self::ApiVersions,
        Self::SaslAuthenticate,
        Self::DeleteGroups,
        Self::OffsetDelete,
        Self::DescribeCluster,
        Self::ConsumerGroupDescribe,
    ];

    /// Kafka's number.
    pub(crate) fn number(self) -> i16 {
        self as i16
    }

    fn from_number(number: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.number() == number)
    }

    /// The versions that this crate speaks.
    pub(crate) fn supported(self) -> VersionRange {
        match self {
            Self::ListOffsets => VersionRange::new(1, 10),
            Self::Metadata => VersionRange::new(1, 13),
            Self::OffsetCommit => VersionRange::new(2, 9),
            Self::OffsetFetch => VersionRange::new(1, 9),
            Self::FindCoordinator => VersionRange::new(0, 6),
            Self::JoinGroup => VersionRange::new(1, 9),
            Self::Heartbeat => VersionRange::new(0, 4),
            Self::LeaveGroup => VersionRange::new(0, 5),
            Self::SyncGroup => VersionRange::new(0, 5),
            Self::DescribeGroups => VersionRange::new(0, 6),
            Self::ListGroups => VersionRange::new(0, 5),
            Self::SaslHandshake => VersionRange::new(1, 1),
            Self::ApiVersions => VersionRange::new(0, 4),
            Self::SaslAuthenticate => VersionRange::new(0, 2),
            Self::DeleteGroups => VersionRange::new(0, 2),
            Self::OffsetDelete => VersionRange::new(0, 0),
            Self::DescribeCluster => VersionRange::new(0, 2),
            Self::ConsumerGroupDescribe => VersionRange::new(0, 1),
        }
    }

    /// How `version` of this API writes lengths, in its header as in its body.
    pub(crate) fn layout(self, version: i16) -> Layout {
        if version >= self.first_flexible() { Layout::Compact } else { Layout::Classic }
    }

    /// The first version with compact lengths and tagged fields (KIP-482).
    fn first_flexible(self) -> i16 {
        match self {
            Self::ListOffsets | Self::OffsetFetch | Self::JoinGroup => 6,
            Self::Metadata => 9,
            Self::OffsetCommit => 8,
            Self::FindCoordinator | Self::ApiVersions | Self::ListGroups => 3,
            Self::Heartbeat | Self::LeaveGroup | Self::SyncGroup => 4,
            Self::DescribeGroups => 5,
            Self::DeleteGroups | Self::SaslAuthenticate => 2,
            Self::DescribeCluster | Self::ConsumerGroupDescribe => 0,
            // None of them is.
            Self::OffsetDelete | Self::SaslHandshake => i16::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::ApiKey as Theirs;

    use super::*;

    fn range(api: ApiKey, min: i16, max: i16) -> ApiRange {
        ApiRange { api: api.number(), min, max }
    }

    /// What Kafka 4.4.0 answered, of our APIs.
    fn kafka() -> Vec<ApiRange> {
        vec![
            range(ApiKey::ListOffsets, 1, 11),
            range(ApiKey::Metadata, 0, 13),
            range(ApiKey::OffsetCommit, 2, 10),
            range(ApiKey::OffsetFetch, 1, 10),
            range(ApiKey::FindCoordinator, 0, 6),
            range(ApiKey::JoinGroup, 0, 9),
            range(ApiKey::Heartbeat, 0, 4),
            range(ApiKey::LeaveGroup, 0, 5),
            range(ApiKey::SyncGroup, 0, 5),
            range(ApiKey::DescribeGroups, 0, 6),
            range(ApiKey::ListGroups, 0, 5),
            range(ApiKey::SaslHandshake, 0, 1),
            range(ApiKey::ApiVersions, 0, 5),
            ApiRange { api: 77, min: 1, max: 1 },
        ]
    }

    /// What librdkafka's mock answers, of our APIs.
    fn mock() -> Vec<ApiRange> {
        vec![
            range(ApiKey::OffsetCommit, 0, 9),
            range(ApiKey::JoinGroup, 0, 6),
            range(ApiKey::Heartbeat, 0, 5),
            range(ApiKey::LeaveGroup, 0, 4),
            range(ApiKey::SyncGroup, 0, 4),
        ]
    }

    fn without_caps(theirs: &[ApiRange]) -> Versions {
        Versions::new(theirs, &BTreeMap::new())
    }

    #[test]
    fn the_highest_common_version_is_spoken() {
        let versions = without_caps(&kafka());
        for (api, expected) in [
            (ApiKey::ListOffsets, 10),
            (ApiKey::OffsetCommit, 9),
            (ApiKey::OffsetFetch, 9),
            (ApiKey::JoinGroup, 9),
            (ApiKey::ApiVersions, 4),
        ] {
            assert_eq!(versions.choose(api), Some(expected), "{api:?}");
        }
    }

    #[test]
    fn an_api_without_a_common_version_is_named_with_both_ranges() {
        let versions = without_caps(&[range(ApiKey::OffsetCommit, 10, 12)]);
        assert_eq!(versions.choose(ApiKey::OffsetCommit), None);
        let error = versions.require(ApiKey::OffsetCommit).unwrap_err();
        let expected = "no common version of OffsetCommit: we speak versions 2 to 9, the broker versions 10 to 12";
        assert_eq!(error.to_string(), expected);
        let error = versions.require(ApiKey::JoinGroup).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no common version of JoinGroup: we speak versions 1 to 9, the broker none"
        );
    }

    #[test]
    fn a_cap_lowers_the_version_and_never_raises_it() {
        let caps = BTreeMap::from([
            (ApiKey::JoinGroup, 6),
            (ApiKey::Heartbeat, 9),
            (ApiKey::SyncGroup, -1),
        ]);
        let versions = Versions::new(&kafka(), &caps);
        assert_eq!(versions.choose(ApiKey::JoinGroup), Some(6));
        assert_eq!(versions.choose(ApiKey::Heartbeat), Some(4));
        assert_eq!(versions.choose(ApiKey::SyncGroup), None);
    }

    #[test]
    fn librdkafkas_mock_is_spoken_to_as_it_is_not_as_it_says() {
        let versions = without_caps(&mock());
        for (api, expected) in [
            (ApiKey::JoinGroup, 5),
            (ApiKey::SyncGroup, 3),
            (ApiKey::LeaveGroup, 2),
            (ApiKey::Heartbeat, 4),
            (ApiKey::OffsetCommit, 9),
        ] {
            assert_eq!(versions.choose(api), Some(expected), "{api:?}");
        }
    }

    #[test]
    fn a_later_kafka_with_another_heartbeat_is_not_taken_for_the_mock() {
        let mut later = kafka();
        later.retain(|range| range.api != ApiKey::Heartbeat.number());
        later.push(range(ApiKey::Heartbeat, 0, 5));
        assert_eq!(without_caps(&later).choose(ApiKey::JoinGroup), Some(9));
    }

    #[test]
    fn static_membership_needs_all_four_and_the_one_that_is_too_old_is_named() {
        assert_eq!(without_caps(&kafka()).supports_static_membership(), Ok(()));
        for (api, needed) in INSTANCE_ID {
            let caps = BTreeMap::from([(api, needed - 1)]);
            let error = Versions::new(&kafka(), &caps).supports_static_membership().unwrap_err();
            assert_eq!((error.api, error.needed), (api, needed));
        }
        let error = without_caps(&[range(ApiKey::JoinGroup, 0, 4)])
            .supports_static_membership()
            .unwrap_err();
        let expected =
            "JoinGroup carries an instance id from version 5 on; the broker speaks versions 0 to 4";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_encoder_knows_every_version_that_we_speak_and_agrees_on_the_layout() {
        for api in ApiKey::ALL {
            let theirs = Theirs::try_from(api.number()).unwrap();
            let (ours, encoder) = (api.supported(), theirs.valid_versions());
            assert!(encoder.min <= ours.min && ours.max <= encoder.max, "{api:?}");
            for version in ours.min..=ours.max {
                let header = if api.layout(version) == Layout::Compact { 2 } else { 1 };
                assert_eq!(theirs.request_header_version(version), header, "{api:?} v{version}");
            }
        }
    }
}
