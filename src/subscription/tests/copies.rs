//! Several copies of each partition: who is told to be what, and who tells it on.

use super::*;
use crate::assign::RedundantAssigner;
use crate::subscription::envelope::Rounds;

const ROUND: Round<'static> = Round { generation: 1, leader: "m1", protocol: "redundant" };

/// A member that wants two copies of each partition of `a`.
fn redundant(id: &'static str, cooperative: bool) -> Member {
    let assigner = ErasedAssigner::new(RedundantAssigner::new(2)).unwrap();
    let mut options = options(topics(&["a"]), assigner);
    options.process = format!("host-{id}/1").into();
    let mut member = Member::new(id, options);
    member.protocol.rounds = Rounds { eager: true, cooperative };
    member
}

fn firsts(member: &Member, changed: &Changed) -> Partitions {
    member.held.difference(&changed.standby)
}

#[test]
fn each_partition_has_one_first_copy_and_one_standby() {
    for cooperative in [false, true] {
        let mut members = ["m1", "m2", "m3"].map(|id| redundant(id, cooperative));
        let ended = run(ROUND, &mut members, &[]).unwrap();
        let [one, two, three] = &members;
        let all = [one, two, three].map(|member| firsts(member, &ended.changes[member.id]));
        assert_eq!(all.iter().map(Partitions::len).sum::<usize>(), 4);
        let union = all.iter().fold(Partitions::new(), |mut union, set| {
            union.extend_with(set);
            union
        });
        assert_eq!(union.len(), 4, "each of the four has one");
        assert_eq!(members.iter().map(|member| member.held.len()).sum::<usize>(), 8);
    }
}

#[test]
fn a_role_stays_when_another_leads() {
    let mut members = ["m1", "m2", "m3"].map(|id| redundant(id, true));
    let before = run(ROUND, &mut members, &[]).unwrap();
    let next = Round { generation: 2, leader: "m3", ..ROUND };
    let after = run(next, &mut members, &[]).unwrap();
    for id in ["m1", "m2", "m3"] {
        assert_eq!(before.changes[id].standby, after.changes[id].standby, "{id}");
        assert_eq!(after.changes[id].rejoin, None, "{id}");
    }
}

#[test]
fn eager_members_remember_their_roles_in_user_data() {
    let mut members = ["m1", "m2", "m3"].map(|id| redundant(id, false));
    let before = run(ROUND, &mut members, &[]).unwrap();
    let said = Subscription::decode(members[1].says("redundant").metadata).unwrap();
    let up = Up::decode(&said.user_data.unwrap()).unwrap();
    let prior = up.prior.unwrap().partitions.within(|_| Some(4));
    assert_eq!(up.standbys.among(&prior), before.changes["m2"].standby);
    let after = run(Round { generation: 2, leader: "m2", ..ROUND }, &mut members, &[]).unwrap();
    assert_eq!(before.changes["m3"].standby, after.changes["m3"].standby);
}

#[test]
fn a_standby_takes_over_when_the_first_is_gone() {
    let mut members = vec![redundant("m1", true), redundant("m2", true)];
    let before = run(ROUND, &mut members, &[]).unwrap();
    assert_eq!(firsts(&members[0], &before.changes["m1"]).len(), 2);
    members.pop();
    let after = run(Round { generation: 2, ..ROUND }, &mut members, &[]).unwrap();
    assert_eq!(after.changes["m1"].standby, Partitions::new());
    assert_eq!(after.changes["m1"].rejoin, None);
}

#[test]
fn whoever_is_the_first_gives_that_up_before_another_is() {
    let mut members = vec![redundant("m1", true), redundant("m2", true)];
    run(ROUND, &mut members, &[]).unwrap();
    let newcomers = ["m3", "m4"].map(|id| redundant(id, true));
    members.extend(newcomers);
    let mut rounds = Vec::new();
    for generation in 2..5 {
        let ended = run(Round { generation, ..ROUND }, &mut members, &[]).unwrap();
        let mut firsts_of = BTreeMap::new();
        for member in &members {
            for at in firsts(member, &ended.changes[member.id]).iter() {
                assert_eq!(firsts_of.insert(at, member.id), None, "two are the first");
            }
        }
        let again = ended.changes.values().any(|change| change.rejoin.is_some());
        rounds.push((firsts_of.len(), again));
    }
    assert_eq!(rounds[1..], [(4, false), (4, false)], "{rounds:?}");
    assert!(rounds[0].1, "{rounds:?}");
}

#[test]
fn whoever_was_thrown_out_claims_no_role() {
    let mut members = ["m1", "m2"].map(|id| redundant(id, true));
    run(ROUND, &mut members, &[]).unwrap();
    members[1].held = Partitions::new();
    members[1].generation = Generation::NONE;
    let said = Subscription::decode(members[1].says("redundant").metadata).unwrap();
    assert!(Up::decode(&said.user_data.unwrap()).unwrap().standbys.is_empty());
}

#[test]
fn the_leader_says_where_members_are_too_few() {
    let mut members = [redundant("m1", true)];
    let ended = run(ROUND, &mut members, &[]).unwrap();
    let few = ended.changes["m1"].notices.iter().find_map(|notice| match notice {
        ConsumerNotice::FewCopies(few) => Some(few),
        _ => None,
    });
    let few: Vec<_> = few.unwrap().iter().map(|few| (&*few.topic, few.copies)).collect();
    assert_eq!(few, [("a", 1)]);
}

#[test]
fn an_assigner_that_demotes_the_first_costs_a_follow_up_and_never_has_two() {
    /// Gives every partition to all, the last one first.
    struct Backwards;
    impl PartitionAssigner for Backwards {
        fn name(&self) -> &str {
            "backwards"
        }
        fn metadata(&self, _local: &LocalMember<'_>) {}
        fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
            let mut plan = group.plan();
            let members: Vec<_> = group.members().collect();
            for partition in group.partitions() {
                members.iter().rev().for_each(|member| plan.give(member, partition));
            }
            Ok(plan)
        }
        fn coverage(&self) -> crate::assign::Coverage {
            crate::assign::Coverage::Copies(9)
        }
    }
    let member = |id| {
        let assigner = ErasedAssigner::new(Backwards).unwrap();
        let mut member = Member::new(id, options(topics(&["a"]), assigner));
        member.protocol.rounds = Rounds { eager: true, cooperative: true };
        member
    };
    let round = Round { protocol: "backwards", ..ROUND };
    let mut members = vec![member("m1")];
    run(round, &mut members, &[]).unwrap();
    members.push(member("m2"));
    let first = run(Round { generation: 2, ..round }, &mut members, &[]).unwrap();
    assert_eq!(first.changes["m1"].standby.len(), 4);
    let rejoin = first.changes["m1"].rejoin.as_ref().map(|rejoin| rejoin.cause.clone());
    assert_eq!(rejoin, Some(Cause::FollowUp));
    assert_eq!(first.changes["m2"].standby.len(), 4);
    let second = run(Round { generation: 3, ..round }, &mut members, &[]).unwrap();
    assert_eq!(second.changes["m2"].standby, Partitions::new());
    assert!(second.changes.values().all(|change| change.rejoin.is_none()));
}
