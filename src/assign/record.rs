//! How large a group's record will be at the broker.
//!
//! The coordinator stores metadata and assignments of all members in one record of the offsets topic. If that is too
//! large, SyncGroup fails with nothing but UNKNOWN_SERVER_ERROR and the broker starts the round again, for ever.

use super::validate::InvalidPlan;

/// `max.message.bytes` of the offsets topic by default.
pub(crate) const RECORD_LIMIT: usize = 1_048_588;

/// Lengths and fixed fields of one member in the record.
const MEMBER_FIELDS: usize = 24;

/// A client host as the broker sees it, which we do not know: `/` and an IPv4 address.
const CLIENT_HOST: usize = 16;

/// Batch, key and the group's own fields.
const GROUP_FIELDS: usize = 150;

/// How many members are named as the largest.
const MOST_NAMED: usize = 5;

/// One member's part of the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberBytes<'a> {
    pub(crate) member_id: &'a str,
    /// The lengths of instance id and client id together.
    pub(crate) other_ids: usize,
    /// Its subscription for the chosen protocol.
    pub(crate) metadata: usize,
    /// Its assignment.
    pub(crate) assignment: usize,
}

impl MemberBytes<'_> {
    fn size(&self) -> usize {
        MEMBER_FIELDS
            + CLIENT_HOST
            + self.member_id.len()
            + self.other_ids
            + self.metadata
            + self.assignment
    }
}

/// The size of the record, within a few bytes a member.
pub(crate) fn record_size(group_id: &str, members: &[MemberBytes<'_>]) -> usize {
    GROUP_FIELDS + group_id.len() + members.iter().map(MemberBytes::size).sum::<usize>()
}

/// Refuses a plan whose record the broker would refuse, and says whose parts are the largest.
pub(crate) fn check_record(
    group_id: &str,
    members: &[MemberBytes<'_>],
    limit: usize,
) -> Result<(), InvalidPlan> {
    let size = record_size(group_id, members);
    if size <= limit {
        return Ok(());
    }
    let mut largest: Vec<&MemberBytes<'_>> = members.iter().collect();
    largest.sort_by_key(|member| std::cmp::Reverse(member.size()));
    largest.truncate(MOST_NAMED);
    let largest =
        largest.into_iter().map(|member| (member.member_id.to_owned(), member.size())).collect();
    Err(InvalidPlan::RecordTooLarge { size, limit, largest })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member as in the measurements on a real broker: an id of 40 characters, a client id of 5.
    fn member(metadata: usize, assignment: usize) -> MemberBytes<'static> {
        MemberBytes {
            member_id: "0123456789012345678901234567890123456789",
            other_ids: 5,
            metadata,
            assignment,
        }
    }

    #[test]
    fn the_estimate_is_near_what_a_broker_took_and_refused() {
        let thousand = |assignment| record_size("group", &vec![member(50, assignment); 1000]);
        assert!(thousand(921) > RECORD_LIMIT);
        assert!(
            thousand(918) < RECORD_LIMIT + 6_000,
            "six bytes a member are the host's, which we guess"
        );
    }

    #[test]
    fn a_record_above_the_limit_names_the_largest() {
        let large = MemberBytes { member_id: "hog", ..member(10, 900) };
        assert_eq!(check_record("g", &[large, member(10, 10)], 2000), Ok(()));
        let error = check_record("g", &[member(10, 10), large], 1000).unwrap_err();
        assert!(error.to_string().contains("the largest: `hog` 958, `0123"), "{error}");
    }
}
