//! Which versions a fake broker speaks: those of Kafka 4.4, as far as they can be encoded here.

use std::collections::BTreeMap;

use crate::wire::ApiKey;

/// API, oldest version, newest version.
const VERSIONS: [(ApiKey, i16, i16); 16] = [
    (ApiKey::ListOffsets, 1, 10),
    (ApiKey::Metadata, 0, 13),
    (ApiKey::OffsetCommit, 2, 9),
    (ApiKey::OffsetFetch, 1, 9),
    (ApiKey::FindCoordinator, 0, 6),
    (ApiKey::JoinGroup, 0, 9),
    (ApiKey::Heartbeat, 0, 4),
    (ApiKey::LeaveGroup, 0, 5),
    (ApiKey::SyncGroup, 0, 5),
    (ApiKey::DescribeGroups, 0, 6),
    (ApiKey::ListGroups, 0, 5),
    (ApiKey::ApiVersions, 0, 4),
    (ApiKey::DeleteGroups, 0, 2),
    (ApiKey::OffsetDelete, 0, 0),
    (ApiKey::DescribeCluster, 0, 2),
    (ApiKey::ConsumerGroupDescribe, 0, 1),
];

/// The versions that a broker says it speaks.
#[derive(Clone, Debug)]
pub(super) struct Apis(BTreeMap<ApiKey, (i16, i16)>);

impl Default for Apis {
    fn default() -> Self {
        Self(VERSIONS.iter().map(|&(api, oldest, newest)| (api, (oldest, newest))).collect())
    }
}

impl Apis {
    /// No newer version than this; below the oldest, the API is gone.
    pub(super) fn cap(&mut self, api: ApiKey, newest: i16) {
        let Some((oldest, current)) = self.0.get_mut(&api) else { return };
        *current = newest.min(*current);
        if newest < *oldest {
            self.0.remove(&api);
        }
    }

    pub(super) fn speaks(&self, api: ApiKey, version: i16) -> bool {
        self.0.get(&api).is_some_and(|&(oldest, newest)| (oldest..=newest).contains(&version))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ApiKey, i16, i16)> + '_ {
        self.0.iter().map(|(api, &(oldest, newest))| (*api, oldest, newest))
    }
}

/// The API of a number, if a fake broker knows it.
pub(super) fn api_of(number: i16) -> Option<ApiKey> {
    VERSIONS.iter().map(|(api, ..)| *api).find(|api| *api as i16 == number)
}
