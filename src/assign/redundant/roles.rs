//! Who of a partition's holders has the first copy.

use super::holders::Had;
use crate::assign::model::Model;
use crate::assign::solver::Holders;

/// The holders of each partition with the first one in front.
///
/// Whoever had the first copy and keeps the partition keeps it. For the others, holders that had the partition go
/// before those that begin with nothing, and among equals the one with the fewest first copies.
pub(super) fn first_copies_first(model: &Model, had: &Had, holders: Holders) -> Holders {
    let partitions = 0..model.partition_count() as u32;
    let mut firsts = vec![0_u32; model.members().len()];
    let stays = |partition: u32| {
        let first = had.first(partition);
        holders.of(partition).contains(&first).then_some(first)
    };
    partitions.clone().filter_map(stays).for_each(|first| firsts[first as usize] += 1);
    let mut ordered = Holders::default();
    for partition in partitions {
        let of_partition = holders.of(partition);
        let first = stays(partition).or_else(|| {
            let rank = |member: &&u32| (!had.had(partition, **member), firsts[**member as usize]);
            let first = *of_partition.iter().min_by_key(rank)?;
            firsts[first as usize] += 1;
            Some(first)
        });
        let others = of_partition.iter().copied().filter(|member| Some(*member) != first);
        ordered.push(first.into_iter().chain(others));
    }
    ordered
}
