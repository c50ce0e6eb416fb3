//! What the leader does not give away yet, and what everybody keeps when there is no plan.
//!
//! An assigner plans the target. A partition that somebody validly holds and has not given up goes to its next
//! owner one round later (KIP-429), whatever way of rebalancing the leader itself is set to. Which claims are valid
//! depends on their generations (KIP-792): a member that missed rounds still claims what others have by now.

use std::sync::Arc;

use super::codec::MetadataCodec;
use super::model::{Model, slice_of};
use super::{Coverage, GroupAssignment};
use crate::types::{Generation, Partitions};

impl GroupAssignment {
    /// Takes out what another member holds and has not given up; returns it.
    ///
    /// Where claims contradict each other, with one generation, the partition goes to nobody in this round. The
    /// leader does this by itself; this is for tests.
    pub fn withhold(&mut self, coverage: Coverage) -> Partitions {
        let mut withheld = Partitions::new();
        let model = Arc::clone(self.model());
        if !model.members().iter().any(|member| member.holds) {
            return withheld;
        }
        let claimants = Claimants::of(&model);
        let mut claims = Vec::new();
        for partition in 0..model.partition_count() as u32 {
            let most = self.coverage_of_partition(partition, coverage).most_holders();
            if most == usize::MAX || claimants.of_partition(partition).is_empty() {
                continue;
            }
            claimants.sorted(&model, partition, &mut claims);
            let refused = refused(self, &model, partition, &Standing::of(&claims, most), most);
            if let (Some(name), false) = (model.partition_name(partition), refused.is_empty()) {
                withheld.insert(&name.shared_topic(), name.partition());
            }
            for member in refused {
                self.take_place(member, partition);
            }
        }
        withheld
    }
}

/// The plan in which every member keeps what it validly claims and still subscribes to.
///
/// `by_topic` says how often partitions of each topic are given, where that is not the same for all.
pub(crate) fn keep_claims(
    model: &Arc<Model>,
    coverage: Coverage,
    by_topic: Option<Arc<[Coverage]>>,
    codec: MetadataCodec,
) -> GroupAssignment {
    let mut plan = GroupAssignment::new(Arc::clone(model), codec);
    plan.set_coverage(by_topic);
    let claimants = Claimants::of(model);
    let mut claims = Vec::new();
    for (topic, place) in model.topics().iter().zip(0..) {
        let most = plan.coverage_of(place, coverage).most_holders();
        for partition in topic.first..topic.first + topic.count {
            claimants.sorted(model, partition, &mut claims);
            for (_, member) in Standing::of(&claims, most).valid {
                if model.subscribes(*member, place) {
                    plan.give_place(*member, partition);
                }
            }
        }
    }
    plan
}

/// Which of a partition's planned holders have to wait.
fn refused(
    plan: &GroupAssignment,
    model: &Model,
    partition: u32,
    standing: &Standing<'_>,
    most: usize,
) -> Vec<u32> {
    let holds =
        |member: u32| model.members().get(member as usize).is_some_and(|member| member.holds);
    let occupants = || {
        standing
            .valid
            .iter()
            .chain(standing.doubtful)
            .map(|(_, member)| *member)
            .filter(|m| holds(*m))
    };
    let mut granted = 0;
    let mut refused = Vec::new();
    for member in plan.holder_places(partition) {
        if standing.valid.iter().any(|(_, valid)| *valid == member) {
            continue;
        }
        let others = occupants().filter(|occupant| *occupant != member).count();
        match others + granted < most {
            true => granted += 1,
            false => refused.push(member),
        }
    }
    refused
}

/// The claims of one partition, sorted out. Beaten ones are in neither part.
struct Standing<'a> {
    valid: &'a [(Generation, u32)],
    /// They claim with one generation, and are too many to be all right.
    doubtful: &'a [(Generation, u32)],
}

impl<'a> Standing<'a> {
    /// Of claims sorted newest first, as many count as there may be holders, unless that would split equals.
    fn of(claims: &'a [(Generation, u32)], most: usize) -> Self {
        let Some((boundary, _)) = claims.get(most) else {
            return Self { valid: claims, doubtful: &[] };
        };
        let newer = claims.partition_point(|(generation, _)| generation > boundary);
        if newer == most {
            let (valid, _beaten) = claims.split_at(newer);
            return Self { valid, doubtful: &[] };
        }
        let equal = claims.partition_point(|(generation, _)| generation >= boundary);
        let (claims, _beaten) = claims.split_at(equal);
        let (valid, doubtful) = claims.split_at(newer);
        Self { valid, doubtful }
    }
}

/// Who claims which partition, the claims turned round.
struct Claimants {
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Claimants {
    fn of(model: &Model) -> Self {
        let mut next = vec![0_u32; model.partition_count() + 1];
        let members = 0..model.members().len() as u32;
        for partition in members.clone().flat_map(|member| model.claims(member)) {
            next[*partition as usize + 1] += 1;
        }
        for place in 1..next.len() {
            next[place] += next[place - 1];
        }
        let mut claimants = vec![0; next.last().copied().unwrap_or(0) as usize];
        for member in members {
            for partition in model.claims(member) {
                let place = &mut next[*partition as usize];
                claimants[*place as usize] = member;
                *place += 1;
            }
        }
        // Each start has moved to its end.
        next.pop();
        Self { ends: next, members: claimants }
    }

    fn of_partition(&self, partition: u32) -> &[u32] {
        slice_of(&self.ends, &self.members, partition)
    }

    /// A partition's claims, newest first, into `claims`.
    fn sorted(&self, model: &Model, partition: u32, claims: &mut Vec<(Generation, u32)>) {
        claims.clear();
        let generation = |member: u32| {
            model.members().get(member as usize).map_or(Generation::NONE, |m| m.generation)
        };
        claims.extend(
            self.of_partition(partition).iter().map(|member| (generation(*member), *member)),
        );
        claims.sort_by_key(|(generation, _)| std::cmp::Reverse(*generation));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::{GroupSubscription, GroupSubscriptionBuilder};

    fn group() -> GroupSubscriptionBuilder<()> {
        GroupSubscription::builder().topic("t", 2)
    }

    /// What is left of a plan of (member, number) when the rest is withheld, as text.
    fn published(group: &GroupSubscription, coverage: Coverage, gifts: &[(&str, i32)]) -> String {
        let mut plan = group.plan();
        for (member, number) in gifts {
            plan.give_by_name(member, "t", *number);
        }
        let withheld = plan.withhold(coverage);
        format!("{plan:?} withheld {withheld:?}")
    }

    #[test]
    fn what_somebody_holds_moves_one_round_later() {
        let group =
            group().member("a", ["t"], ()).owns([("t", 0)], 3).member("b", ["t"], ()).build();
        let published = published(&group, Coverage::ExactlyOnce, &[("b", 0), ("b", 1)]);
        assert_eq!(published, r#"{"a": {}, "b": {"t": [1]}} withheld {"t": [0]}"#);
    }

    #[test]
    fn what_was_given_up_moves_at_once() {
        let group = group()
            .member("a", ["t"], ())
            .owned_before([("t", 0)], 3)
            .member("b", ["t"], ())
            .build();
        let published = published(&group, Coverage::ExactlyOnce, &[("b", 0)]);
        assert_eq!(published, r#"{"a": {}, "b": {"t": [0]}} withheld {}"#);
    }

    #[test]
    fn a_swap_between_live_owners_waits_on_both_sides() {
        let group = group()
            .member("a", ["t"], ())
            .owns([("t", 0)], 3)
            .member("b", ["t"], ())
            .owns([("t", 1)], 3);
        let published = published(&group.build(), Coverage::ExactlyOnce, &[("a", 1), ("b", 0)]);
        assert_eq!(published, r#"{"a": {}, "b": {}} withheld {"t": [0, 1]}"#);
    }

    #[test]
    fn a_stale_claim_holds_nothing_back_and_wins_nothing() {
        let group = || {
            group()
                .member("a", ["t"], ())
                .owns([("t", 0)], 12)
                .member("old", ["t"], ())
                .owns([("t", 0)], 11)
        };
        let kept = published(&group().build(), Coverage::ExactlyOnce, &[("a", 0)]);
        assert_eq!(kept, r#"{"a": {"t": [0]}, "old": {}} withheld {}"#);
        let moved_back = published(&group().build(), Coverage::ExactlyOnce, &[("old", 0)]);
        assert_eq!(moved_back, r#"{"a": {}, "old": {}} withheld {"t": [0]}"#);
    }

    #[test]
    fn of_two_claims_with_one_generation_neither_is_trusted() {
        let group = group()
            .member("a", ["t"], ())
            .owns([("t", 0)], 7)
            .member("b", ["t"], ())
            .owns([("t", 0)], 7)
            .build();
        for member in ["a", "b"] {
            let published = published(&group, Coverage::ExactlyOnce, &[(member, 0)]);
            assert_eq!(published, r#"{"a": {}, "b": {}} withheld {"t": [0]}"#);
        }
        assert!(group.partitions().all(|partition| group.owner(partition).is_none()));
    }

    #[test]
    fn copies_count_their_holders() {
        let group = group()
            .member("a", ["t"], ())
            .owns([("t", 0)], 7)
            .member("b", ["t"], ())
            .owns([("t", 0)], 7);
        let group = group.member("c", ["t"], ()).build();
        let third = published(&group, Coverage::Copies(2), &[("a", 0), ("c", 0)]);
        assert_eq!(third, r#"{"a": {"t": [0]}, "b": {}, "c": {}} withheld {"t": [0]}"#);
        let room = published(&group, Coverage::Copies(3), &[("a", 0), ("b", 0), ("c", 0)]);
        assert_eq!(room, r#"{"a": {"t": [0]}, "b": {"t": [0]}, "c": {"t": [0]}} withheld {}"#);
    }

    #[test]
    fn without_a_plan_each_keeps_what_it_validly_claims() {
        let group = group()
            .topic("left", 1)
            .member("a", ["t"], ())
            .owns([("t", 0), ("t", 1), ("left", 0)], 7);
        let group = group.member("b", ["t"], ()).owns([("t", 1)], 6).build();
        let codec = MetadataCodec::preferred();
        let kept = keep_claims(group.model(), Coverage::ExactlyOnce, None, codec);
        assert_eq!(format!("{kept:?}"), r#"{"a": {"t": [0, 1]}, "b": {}}"#);
    }
}
