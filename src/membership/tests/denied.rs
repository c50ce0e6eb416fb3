//! A broker that lets us in no more.

use super::*;

fn denied() -> Failure {
    Failure::Denied("a:1: refuses our credentials".into())
}

/// Whatever is asked from now on is denied, until so much time has passed.
fn is_denied_for(script: &mut Script, span: Duration) {
    script.beats = None;
    script.finds = false;
    let until = script.now + span;
    while script.now < until && script.member.ended().is_none() {
        while !script.sent.is_empty() {
            script.answer(Err(denied()));
        }
        while let Some(id) = script.lookups.pop_front() {
            script.tell(|member, now| member.handle_coordinator(now, id, Err(denied())));
        }
        script.pass(Duration::from_millis(100));
    }
}

fn count_told(script: &Script) -> usize {
    script.events.iter().filter(|event| matches!(event, Event::Denied(_))).count()
}

#[test]
fn it_is_said_once_and_tried_again_without_haste_until_the_session_is_over() {
    let mut script = Script::dynamic().settled(&[1]);
    is_denied_for(&mut script, SESSION - Duration::from_secs(5));
    assert_eq!((count_told(&script), script.member.ended()), (1, None));
    let tries = script.count("FindCoordinator");
    assert!((30..=80).contains(&tries), "{tries} in 40 s");
    is_denied_for(&mut script, Duration::from_secs(15));
    let message = "a:1: refuses our credentials".to_owned();
    assert_eq!(script.member.ended(), Some(&Ended::Denied { message }));
    assert_eq!(count_told(&script), 1);
    assert!(script.lost().is_some());
}

#[test]
fn a_member_that_is_let_in_again_goes_on_as_if_nothing_had_been() {
    let mut script = Script::dynamic().settled(&[1]);
    is_denied_for(&mut script, Duration::from_secs(20));
    script.finds = true;
    script.beats = Some(ErrorCode::None);
    while let Some(id) = script.lookups.pop_front() {
        script.tell(|member, now| member.handle_coordinator(now, id, Ok(())));
    }
    script.pass(Duration::from_secs(5));
    is_denied_for(&mut script, Duration::from_secs(30));
    assert_eq!(script.member.ended(), None);
}
