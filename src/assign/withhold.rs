//! What the leader does not give away yet, and what everybody keeps when there is no plan.
//!
//! An assigner plans the target. A partition that somebody validly holds and has not given up goes to its next
//! owner one round later (KIP-429), whatever way of rebalancing the leader itself is set to. Where several may hold a
//! partition they are counted, and a copy is no conflict; the first copy, whose holder commits, is given like a
//! partition that one may hold.

use std::sync::Arc;

use super::claimants::{Claimants, Standing};
use super::codec::MetadataCodec;
use super::model::Model;
use super::{Coverage, GroupAssignment};
use crate::types::Partitions;

impl GroupAssignment {
    /// Takes out what another member holds and has not given up; returns it.
    ///
    /// Where claims contradict each other, with one generation, the partition goes to nobody in this round. Of
    /// partitions with several holders the first copy is withheld, too, see
    /// [`waiting_for_first`](Self::waiting_for_first). The leader does all this by itself; this is for tests.
    pub fn withhold(&mut self, coverage: Coverage) -> Partitions {
        let mut withheld = Partitions::new();
        let model = Arc::clone(self.model());
        if !model.members().iter().any(|member| member.holds) {
            return withheld;
        }
        let mut claimants = None;
        let mut claims = Vec::new();
        for partition in 0..model.partition_count() as u32 {
            let most = self.coverage_of_partition(partition, coverage).most_holders();
            // Mostly whoever validly had it keeps it, alone, and nobody need be asked who else claims it.
            let stays = most == 1 && self.is_given_to(model.owner(partition), partition);
            if most == usize::MAX || stays {
                continue;
            }
            let claimants = claimants.get_or_insert_with(|| Claimants::of(&model));
            if claimants.of_partition(partition).is_empty() {
                continue;
            }
            claimants.sorted(partition, &mut claims);
            let standing = Standing::of(&claims, most);
            let occupants = Occupants::of(&model, standing, most);
            let refused = occupants.refused(self, partition);
            let role_waits = most > 1 && occupants.first_waits(self, &model, partition, &refused);
            if let (Some(name), false) = (model.partition_name(partition), refused.is_empty()) {
                withheld.insert(&name.shared_topic(), name.partition());
            }
            self.take_places(partition, &refused);
            if role_waits {
                self.keep_first_copy_back(partition);
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
            claimants.sorted(partition, &mut claims);
            let valid = Standing::of(&claims, most).valid.iter().map(|(_, member)| *member);
            let mut keeping: Vec<u32> =
                valid.filter(|member| model.subscribes(*member, place)).collect();
            // Nobody becomes the first by a plan that is none.
            let stands_by = |member: &u32| most > 1 && model.stands_by(*member, partition);
            keeping.sort_by_key(stands_by);
            let has_first = keeping.first().is_none_or(|first| !stands_by(first));
            keeping.into_iter().for_each(|member| plan.give_place(member, partition));
            if !has_first {
                plan.keep_first_copy_back(partition);
            }
        }
    }
    plan
}

/// Those whose claims of one partition are not beaten.
struct Occupants {
    most: usize,
    /// Who keeps the partition if the plan gives it to them, ascending.
    may_keep: Vec<u32>,
    /// Who goes on with it while the round runs, ascending.
    holding: Vec<u32>,
}

impl Occupants {
    fn of(model: &Model, standing: Standing<'_>, most: usize) -> Self {
        let holds = |member: &u32| model.members().get(*member as usize).is_some_and(|m| m.holds);
        let mut holding: Vec<u32> = standing.members().filter(holds).collect();
        holding.sort_unstable();
        let mut may_keep: Vec<u32> = standing.valid.iter().map(|(_, member)| *member).collect();
        if most > 1 {
            // There were to be more copies before, and each is a copy: no holder is added.
            may_keep.extend(&holding);
        }
        may_keep.sort_unstable();
        Self { most, may_keep, holding }
    }

    /// Which of a partition's planned holders have to wait.
    fn refused(&self, plan: &GroupAssignment, partition: u32) -> Vec<u32> {
        let is_occupant = |member: &u32| self.holding.binary_search(member).is_ok();
        let may_keep = |member: &u32| self.may_keep.binary_search(member).is_ok();
        // Those that get back what they gave up take a place as well.
        let back = plan.holder_places(partition).filter(|m| may_keep(m) && !is_occupant(m)).count();
        let mut occupied = self.holding.len() + back;
        let mut refused = Vec::new();
        for member in plan.holder_places(partition).filter(|member| !may_keep(member)) {
            match occupied - usize::from(is_occupant(&member)) < self.most {
                true => occupied += 1,
                false => refused.push(member),
            }
        }
        refused
    }

    /// Whether the planned holder of the first copy has to wait for it.
    fn first_waits(
        &self,
        plan: &GroupAssignment,
        model: &Model,
        partition: u32,
        refused: &[u32],
    ) -> bool {
        let Some(first) = plan.first_place(partition) else { return false };
        let is_first = |holder: &u32| !model.stands_by(*holder, partition);
        let mut others = self.holding.iter().filter(|holder| **holder != first);
        refused.contains(&first) || others.any(is_first)
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
            .owns([("t", 0)], 7)
            .standing_by([("t", 0)]);
        let group = group.member("c", ["t"], ()).build();
        let third = published(&group, Coverage::Copies(2), &[("a", 0), ("c", 0)]);
        assert_eq!(third, r#"{"a": {"t": [0]}, "b": {}, "c": {}} withheld {"t": [0]}"#);
        let room = published(&group, Coverage::Copies(3), &[("a", 0), ("b", 0), ("c", 0)]);
        assert_eq!(room, r#"{"a": {"t": [0]}, "b": {"t": [0]}, "c": {"t": [0]}} withheld {}"#);
    }

    #[test]
    fn a_copy_more_than_there_are_to_be_is_no_conflict_for_those_that_keep_theirs() {
        let mut group = group();
        for (id, stands_by) in [("a", false), ("b", true), ("c", true)] {
            group = group.member(id, ["t"], ()).owns([("t", 0)], 7);
            group = if stands_by { group.standing_by([("t", 0)]) } else { group };
        }
        let kept = published(&group.build(), Coverage::Copies(2), &[("a", 0), ("b", 0)]);
        assert_eq!(kept, r#"{"a": {"t": [0]}, "b": {"t": [0]}, "c": {}} withheld {}"#);
    }

    /// Who has the first copy of t-0 when the rest is withheld, and whether somebody waits for it.
    fn first(group: &GroupSubscription, gifts: &[&str]) -> (Option<String>, bool) {
        let mut plan = group.plan();
        gifts.iter().for_each(|member| plan.give_by_name(member, "t", 0));
        plan.withhold(Coverage::Copies(2));
        let first = plan.first_holder(group.partitions().next().unwrap());
        let name = first.and_then(|first| group.member(first)).map(|first| first.id().to_owned());
        (name, plan.waiting_for_first().contains("t", 0))
    }

    #[test]
    fn nobody_is_the_first_while_another_still_is() {
        let group = |b_stands_by: bool| {
            let group = group().member("a", ["t"], ()).owns([("t", 0)], 7);
            let group = group.member("b", ["t"], ()).owns([("t", 0)], 7);
            let group = if b_stands_by { group.standing_by([("t", 0)]) } else { group };
            group.member("c", ["t"], ()).build()
        };
        let name = |id: &str| Some(id.to_owned());
        assert_eq!(first(&group(true), &["a", "b"]), (name("a"), false));
        assert_eq!(first(&group(true), &["a", "c"]), (name("a"), false));
        assert_eq!(first(&group(true), &["b", "a"]), (None, true), "a is still the first");
        assert_eq!(first(&group(true), &["b", "c"]), (None, true), "a is still the first");
        assert_eq!(first(&group(true), &["c", "b"]), (None, true), "a is still the first");
        assert_eq!(first(&group(false), &["a", "b"]), (None, true), "both say they are");
    }

    #[test]
    fn a_standby_becomes_the_first_at_once_when_the_first_is_gone() {
        let group = group().member("b", ["t"], ()).owns([("t", 0)], 7).standing_by([("t", 0)]);
        let group = group.member("c", ["t"], ()).build();
        assert_eq!(first(&group, &["b", "c"]), (Some("b".to_owned()), false));
    }

    #[test]
    fn what_was_given_up_leaves_no_first() {
        let group = group().member("a", ["t"], ()).owned_before([("t", 0)], 7);
        let group = group.member("b", ["t"], ()).build();
        assert_eq!(first(&group, &["b", "a"]), (Some("b".to_owned()), false));
    }

    #[test]
    fn without_a_plan_roles_stay() {
        let group = group().member("a", ["t"], ()).owns([("t", 0), ("t", 1)], 7);
        let group = group.standing_by([("t", 0), ("t", 1)]);
        let group = group.member("b", ["t"], ()).owns([("t", 0)], 7).build();
        let kept =
            keep_claims(group.model(), Coverage::Copies(2), None, MetadataCodec::preferred());
        let firsts: Vec<_> = group
            .partitions()
            .map(|at| kept.first_holder(at).and_then(|first| group.member(first)).map(|m| m.id()))
            .collect();
        assert_eq!(firsts, [Some("b"), None]);
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
