//! Small names for members and partitions that are good in one group only.

/// What a group's indices carry, so that one from another group is noticed.
///
/// It is made from the group's contents: two groups with equal stamps have the same members and partitions in the
/// same places.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct GroupStamp(pub(crate) u64);

/// A member of one group, as a small value to keep in maps and sets of an assigner's own.
///
/// It never leaves its group: a plan of another group refuses it when it is checked.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct MemberIndex {
    pub(crate) stamp: GroupStamp,
    pub(crate) index: u32,
}

/// A partition of one group's topics, as a small value to keep in maps and sets of an assigner's own.
///
/// It never leaves its group: a plan of another group refuses it when it is checked.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PartitionIndex {
    pub(crate) stamp: GroupStamp,
    pub(crate) index: u32,
}
