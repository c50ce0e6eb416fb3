//! For tests: an assigner that does whatever it is told.

use super::{AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner};

/// An assigner that is only as good as this function.
pub(super) struct Free(pub(super) fn(&GroupSubscription) -> Result<GroupAssignment, AssignError>);

impl PartitionAssigner for Free {
    fn name(&self) -> &str {
        "free"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        (self.0)(group)
    }
}
