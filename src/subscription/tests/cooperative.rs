//! Cooperative rounds (KIP-429): what stays is kept, what moves is given up in one round and given in the next.

use super::*;
use crate::assign::{EagerStickyAssigner, StickyAssigner};
use crate::subscription::envelope::Rounds;

const FIRST: Round<'static> = Round { generation: 1, leader: "m1", protocol: "cooperative-sticky" };

fn sticky() -> ErasedAssigner {
    ErasedAssigner::new(StickyAssigner::default()).unwrap()
}

fn listing(id: &'static str, assigners: Vec<ErasedAssigner>) -> Member {
    Member::new(id, ConsumerOptions::new("group", topics(&["a"]), assigners))
}

/// A member that subscribes to `a` and keeps what it can.
fn cooperative(id: &'static str) -> Member {
    listing(id, vec![sticky()])
}

/// One that lists "range", too, and so gives everything up whatever is chosen.
fn eager(id: &'static str) -> Member {
    listing(id, vec![sticky(), range()])
}

/// Says when a member comes back to what it gave up: its jitter is a half.
fn follow_up() -> Option<Rejoin> {
    Some(Rejoin { cause: Cause::FollowUp, after: Duration::from_millis(25) })
}

fn is_quiet(ended: &Ended) -> bool {
    let mut changes = ended.changes.values();
    changes.all(|change| change.revoke.is_empty() && change.rejoin.is_none())
}

#[test]
fn rounds_are_cooperative_if_every_assigner_that_is_listed_allows_it() {
    let custom = || ErasedAssigner::new(Custom::default()).unwrap();
    let eager_sticky = || ErasedAssigner::new(EagerStickyAssigner::default()).unwrap();
    let rounds = |eager, cooperative| Rounds { eager, cooperative };
    for (listed, expected) in [
        (vec![sticky()], rounds(true, true)),
        (vec![custom(), sticky()], rounds(true, true)),
        (vec![sticky(), range()], rounds(true, false)),
        (vec![range(), custom()], rounds(true, false)),
        (vec![eager_sticky()], rounds(true, false)),
    ] {
        let case = format!("{listed:?}");
        let mut member = listing("m1", listed);
        assert_eq!(member.protocol.rounds, expected, "{case}");
        let (_, said) = member.describe().swap_remove(0);
        let user_data = Subscription::decode(said).unwrap().user_data;
        if let Some(Ok(up)) = user_data.map(|data| Up::decode(&data)) {
            assert_eq!(up.rounds, expected, "{case}");
        }
    }
}

#[test]
fn nothing_is_given_up_before_a_round_but_what_is_not_wanted() {
    let mut members = [cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members[0].describe();
    assert_eq!(members[0].held.len(), 4);
    members[0].protocol.subscribe(topics(&["b"]));
    members[0].describe();
    assert!(members[0].held.is_empty());
}

#[test]
fn what_is_held_is_claimed_in_the_subscriptions_own_fields() {
    let mut members = [cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    let said = Subscription::decode(members[0].says(FIRST.protocol).metadata).unwrap();
    assert_eq!((said.owned.within(|_| Some(9)).len(), said.generation), (4, Generation(1)));
    let envelope = said.user_data.unwrap().slice(4..);
    assert_eq!(Up::decode(&envelope).unwrap().prior, None);
}

#[test]
fn what_moves_is_given_up_in_one_round_and_given_in_the_next_and_a_third_changes_nothing() {
    let mut members = vec![cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(cooperative("m2"));

    let first = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    let moves = first.changes["m1"].revoke.clone();
    assert_eq!(moves.len(), 2);
    assert_eq!(first.changes["m1"].rejoin, follow_up());
    assert_eq!(first.changes["m2"].add, Partitions::new());
    assert_eq!(first.changes["m2"].rejoin, None);

    let second = run(Round { generation: 3, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(second.changes["m2"].add, moves, "exactly the rest");
    assert!(is_quiet(&second));

    let third = run(Round { generation: 4, ..FIRST }, &mut members, &[]).unwrap();
    assert!(is_quiet(&third) && third.changes.values().all(|change| change.add.is_empty()));
}

#[test]
fn an_assigner_of_the_applications_is_none_the_wiser() {
    let turned = Custom {
        plan: |group| {
            let mut plan = group.plan();
            let mut members: Vec<_> = group.members().collect();
            members.reverse();
            for (partition, member) in group.partitions().zip(members.iter().cycle()) {
                plan.give(member, partition);
            }
            Ok(plan)
        },
        ..Custom::default()
    };
    let round = Round { protocol: "custom", ..FIRST };
    let mut members = [on_custom("m1", Custom::default()), on_custom("m2", Custom::default())];
    run(round, &mut members, &[]).unwrap();
    for member in &mut members {
        let mut options = (*member.protocol.options).clone();
        options.assigners = vec![ErasedAssigner::new(turned.clone()).unwrap()];
        member.protocol.options = Arc::new(options);
    }

    // Everything changes hands, so in between nobody has anything.
    let first = run(Round { generation: 2, ..round }, &mut members, &[]).unwrap();
    assert!(members.iter().all(|member| member.held.is_empty()));
    assert_eq!(
        (&first.changes["m1"].rejoin, &first.changes["m2"].rejoin),
        (&follow_up(), &follow_up())
    );
    let second = run(Round { generation: 3, ..round }, &mut members, &[]).unwrap();
    assert_eq!(second.changes["m1"].add, set(&[("a", 1), ("a", 3)]));
    assert_eq!(second.changes["m2"].add, set(&[("a", 0), ("a", 2)]));
    assert!(is_quiet(&second));
}

#[test]
fn who_hears_that_a_second_round_follows_listens_for_it_and_who_hears_of_the_last_one_does_not() {
    let mut members = vec![cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(cooperative("m2"));
    let first = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    let second = run(Round { generation: 3, ..FIRST }, &mut members, &[]).unwrap();
    for id in ["m1", "m2"] {
        let hurried = Some(Duration::from_millis(50));
        assert_eq!(first.changes[id].hurried_interval, hurried, "{id}");
        assert_eq!(second.changes[id].hurried_interval, None, "{id}");
    }
}

#[test]
fn the_larger_the_group_the_less_it_hurries() {
    for (size, expected) in [(1, 50), (100, 50), (600, 300), (2000, 1000), (10_000, 1000)] {
        let mut member = cooperative("m1");
        member.describe();
        let down = Down {
            generation: Generation(1),
            group_size: size,
            second_round: true,
            ..Down::default()
        };
        let assignment = Assignment { user_data: Some(down.encode()), ..Assignment::default() };
        let change = member.joined(&FIRST, assignment.encode());
        assert_eq!(change.hurried_interval, Some(Duration::from_millis(expected)), "{size}");
    }
}

#[test]
fn nothing_is_withheld_for_an_eager_member_under_the_same_name() {
    let mut members = vec![eager("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(cooperative("m2"));
    let ended = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].add.len(), 2, "it is given back what it gave up before");
    assert_eq!(ended.changes["m2"].add.len(), 2);
    assert!(is_quiet(&ended));
    assert!(ended.changes.values().all(|change| change.hurried_interval.is_none()));
}

#[test]
fn an_eager_member_waits_for_what_a_cooperative_one_holds() {
    let mut members = vec![cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(eager("m2"));
    let first = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(first.changes["m2"].add, Partitions::new());
    let second = run(Round { generation: 3, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(second.changes["m2"].add, first.changes["m1"].revoke);
}

#[test]
fn a_leader_that_sends_no_word_of_who_waits_may_have_somebody_who_does() {
    let mut members = [cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members[0].describe();
    let by_java = Assignment { partitions: set(&[("a", 0)]), user_data: None };
    let change =
        members[0].joined(&Round { generation: 2, leader: "java", ..FIRST }, by_java.encode());
    assert_eq!((change.revoke.len(), change.rejoin), (3, follow_up()));
    assert_eq!(change.hurried_interval, None);
}

#[test]
fn a_member_that_restarts_before_it_gave_up_what_others_wait_for_asks_for_the_round_it_owes() {
    let mut members = vec![cooperative("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(cooperative("m2"));
    let round = Round { generation: 2, ..FIRST };
    let plan = run(round, &mut members, &[]).unwrap().plan;

    let mut restarted = cooperative("m1");
    restarted.describe();
    let change = restarted.joined(&round, assignment_of(&plan, "m1"));
    assert_eq!(change.revoke, Partitions::new());
    assert_eq!(change.add.len(), 2);
    assert_eq!(change.rejoin, follow_up());
}
