//! An application that does not ask for its events.

use super::*;

fn stalled(script: Script) -> Script {
    let mut script = script.settled(&[1]);
    script.takes = false;
    script.tell(|member, now| member.rejoin(now, Cause::MetadataChanged));
    assert!(matches!(&script.events[..], [Event::Revoked { .. }]));
    script.pass(REBALANCE + Duration::from_secs(30));
    script
}

#[test]
fn having_nothing_to_ask_for_is_no_stall() {
    let mut script = Script::dynamic().settled(&[1]);
    script.pass(4 * REBALANCE);
    assert_eq!(script.events, []);
    assert_eq!(script.member.held(), &[1].into());
}

#[test]
fn a_dynamic_member_leaves_and_comes_back_when_it_is_asked() {
    let mut script = stalled(Script::dynamic());
    assert_eq!(script.count("LeaveGroup"), 1);
    script.pass(4 * REBALANCE);
    assert_eq!(script.count("LeaveGroup"), 1, "once");
    let joins = script.count("JoinGroup");
    script.sent.clear();
    script.takes = true;
    script.tell(Membership::delivered);
    assert_eq!(script.count("JoinGroup"), joins + 1);
    assert!(script.last_join().member_id.is_empty());
    let reason = script.last_join().reason.as_deref();
    assert_eq!(reason, Some("the application asks for events again"));
    assert!(script.events.contains(&Event::Stalled));
}

#[test]
fn a_static_member_stops_beating_and_keeps_its_id() {
    let mut script = stalled(Script::of_instance("a"));
    assert_eq!(script.count("LeaveGroup"), 0);
    script.log.clear();
    script.sent.clear();
    script.pass(REBALANCE);
    assert_eq!(script.requests(), [""; 0]);
    script.takes = true;
    script.tell(Membership::waiting);
    assert_eq!(script.last_join().member_id.as_str(), "me");
}

#[test]
fn events_that_nobody_takes_do_not_pile_up() {
    let mut script = Script::dynamic().cooperative().settled(&[]);
    script.takes = false;
    for generation in 2..500 {
        script.tell(|member, now| member.rejoin(now, Cause::MetadataChanged));
        script.joined(generation, "me", "other");
        script.synced(&[]);
        script.pass(Duration::from_millis(10));
    }
    script.takes = true;
    let given = script.events.len();
    script.tell(Membership::delivered);
    assert!(script.events.len() - given <= 2, "{:?}", script.events);
}
