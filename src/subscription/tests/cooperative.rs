//! Cooperative rounds, which are off as yet (`COOPERATIVE_ROUNDS`): that the one switch is enough.

use super::*;
use crate::subscription::envelope::Rounds;

fn cooperative(id: &'static str) -> Member {
    let mut member = on_range(id);
    member.protocol.rounds = Rounds { eager: true, cooperative: true };
    member
}

#[test]
fn nothing_is_given_up_before_a_round_but_what_is_not_wanted() {
    let mut members = [cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members[0].says("range");
    assert_eq!(members[0].held.len(), 4);
    members[0].protocol.subscribe(topics(&["b"]));
    members[0].says("range");
    assert!(members[0].held.is_empty());
}

#[test]
fn what_is_held_is_claimed_in_the_subscriptions_own_fields() {
    let mut members = [cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    let said = Subscription::decode(members[0].says("range").metadata).unwrap();
    assert_eq!((said.owned.len(), said.generation), (4, Generation(1)));
    assert_eq!(Up::decode(&said.user_data.unwrap()).unwrap().prior, None);
}

#[test]
fn what_moves_is_given_up_in_one_round_and_given_in_the_next() {
    let mut members = vec![cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(cooperative("m2"));

    let first = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(first.changes["m1"].revoke, set(&[("a", 2), ("a", 3)]));
    assert_eq!(first.changes["m1"].rejoin, at_once(Cause::FollowUp));
    assert_eq!(first.changes["m2"].add, Partitions::new());
    assert_eq!(first.changes["m2"].rejoin, None);

    let second = run(Round { generation: 3, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(second.changes["m2"].add, set(&[("a", 2), ("a", 3)]));
    assert!(
        second.changes.values().all(|change| change.revoke.is_empty() && change.rejoin.is_none())
    );
}

#[test]
fn a_member_that_restarts_before_it_gave_up_what_others_wait_for_asks_for_the_round_it_owes() {
    let mut members = vec![cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(cooperative("m2"));
    let round = Round { generation: 2, ..FIRST };
    let plan = run(round, &mut members, &[]).unwrap().plan;

    let mut restarted = cooperative("m1");
    restarted.says("range");
    let change = restarted.joined(&round, assignment_of(&plan, "m1"));
    assert_eq!(change.revoke, Partitions::new());
    assert_eq!(change.add, set(&[("a", 0), ("a", 1)]));
    assert_eq!(change.rejoin, at_once(Cause::FollowUp));
}
