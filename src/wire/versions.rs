//! Which version of each API is spoken.

use super::{ApiKey, Layout};

impl ApiKey {
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
        }
    }
}
