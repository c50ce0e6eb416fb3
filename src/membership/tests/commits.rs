//! Commits, and the rounds that they meet.

use super::*;

impl Script {
    fn commit(&mut self, id: u64, pieces: &[u16]) {
        let items = Pieces(pieces.iter().copied().collect());
        self.tell(|member, now| member.commit(now, CommitId(id), items));
    }

    fn ends(&self) -> Vec<(u64, Pieces, CommitEnd)> {
        self.ended.iter().map(|(id, items, end)| (id.0, items.clone(), end.clone())).collect()
    }
}

#[test]
fn a_commit_is_stamped_when_it_is_sent() {
    let mut script = Script::dynamic().settled(&[1]);
    script.commit(1, &[1]);
    let identity = &script.commits[0].3;
    assert_eq!((identity.generation, identity.member_id.as_str()), (Generation(1), "me"));
    script.committed(ErrorCode::None);
    assert_eq!(script.ends(), [(1, [1].into(), CommitEnd::Answered)]);
}

#[test]
fn one_is_out_at_a_time_and_none_overtakes() {
    let mut script = Script::dynamic().settled(&[1]);
    script.commit(1, &[1]);
    script.commit(2, &[1]);
    script.committed(ErrorCode::CoordinatorLoadInProgress);
    assert_eq!(script.commits.len(), 0);
    script.pass(Duration::from_millis(150));
    assert_eq!(script.commits[0].1, CommitId(1));
    script.committed(ErrorCode::None);
    assert_eq!(script.commits[0].1, CommitId(2));
}

#[test]
fn what_is_not_ours_is_refused_here_since_the_broker_would_take_it() {
    let mut script = Script::dynamic().settled(&[1, 2]);
    script.rebalance();
    script.release();
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.synced(&[1]);
    script.commit(1, &[1, 2, 5]);
    assert_eq!(
        script.ends(),
        [(1, [2].into(), CommitEnd::NoLongerOwned), (1, [5].into(), CommitEnd::NotOwned)]
    );
    assert_eq!(script.commits[0].2, [1].into());
}

#[test]
fn what_is_not_ours_is_sent_where_that_is_allowed() {
    let allowed = MembershipConfig { allow_foreign_commits: true, ..config() };
    let mut script = Script::with(allowed).settled(&[1]);
    script.commit(1, &[1, 5]);
    assert_eq!(script.commits[0].2, [1, 5].into());
}

#[test]
fn no_join_group_goes_out_while_a_commit_is_out() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.commit(1, &[1]);
    script.release();
    assert_eq!(script.count("JoinGroup"), 0);
    script.committed(ErrorCode::None);
    assert_eq!(script.count("JoinGroup"), 1);
}

/// A member whose commits are waited for longer than a round would.
fn patient() -> Script {
    let patience = Duration::from_secs(600);
    Script::with(MembershipConfig { request_timeout: patience, api_timeout: patience, ..config() })
}

#[test]
fn a_commit_holds_a_round_up_for_a_quarter_of_the_time_left_at_most() {
    let mut script = patient().settled(&[1]);
    script.rebalance();
    script.commit(1, &[1]);
    script.release();
    script.pass(Duration::from_secs(60));
    assert_eq!(script.count("JoinGroup"), 0);
    script.pass(Duration::from_secs(14));
    assert_eq!(script.count("JoinGroup"), 1);
}

#[test]
fn commits_are_held_from_join_group_to_the_plan_and_sent_for_what_stayed() {
    let mut script = Script::dynamic().cooperative().settled(&[1, 2]);
    script.rebalance();
    script.commit(1, &[1]);
    script.joined(2, "me", "other");
    script.commit(2, &[2]);
    assert_eq!(script.commits.len(), 0);
    script.beats = Some(ErrorCode::None);
    script.synced(&[1]);
    script.release();
    assert_eq!(script.ends(), [(2, [2].into(), CommitEnd::NoLongerOwned)]);
    let (_, commit, _, identity) = &script.commits[0];
    assert_eq!((*commit, identity.generation), (CommitId(1), Generation(2)));
}

#[test]
fn a_commit_that_a_round_overtook_is_sent_again_for_what_stayed() {
    let mut script = patient().cooperative().settled(&[1, 2]);
    script.commit(1, &[1, 2]);
    script.rebalance();
    script.pass(Duration::from_secs(80));
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.synced(&[1]);
    script.release();
    script.committed(ErrorCode::IllegalGeneration);
    script.pass(Duration::from_millis(150));
    assert_eq!(script.lost(), None, "a refusal by the next generation is no loss");
    assert_eq!(script.ends(), [(1, [2].into(), CommitEnd::NoLongerOwned)]);
    let (_, _, items, identity) = &script.commits[0];
    assert_eq!((items, identity.generation), (&[1].into(), Generation(2)));
}

#[test]
fn a_loss_ends_what_waits_and_nothing_of_it_is_sent() {
    let mut script = Script::dynamic().settled(&[1]);
    script.commit(1, &[1]);
    script.commit(2, &[1]);
    script.beats = Some(ErrorCode::UnknownMemberId);
    script.pass(Duration::from_secs(4));
    assert_eq!(script.ends(), [(2, [1].into(), CommitEnd::NoLongerOwned)]);
    script.committed(ErrorCode::UnknownMemberId);
    script.pass(Duration::from_secs(1));
    assert_eq!(script.ends()[1], (1, [1].into(), CommitEnd::NoLongerOwned));
    assert_eq!(script.commits.len(), 0);
}

#[test]
fn a_commit_waits_no_longer_than_the_api_timeout() {
    let mut script = Script::dynamic().settled(&[1]);
    script.commit(1, &[1]);
    script.pass(Duration::from_secs(61));
    assert_eq!(script.ends(), [(1, [1].into(), CommitEnd::TimedOut)]);
}

#[test]
fn a_topic_that_is_gone_does_not_keep_its_commit_for_ever() {
    let mut script = Script::dynamic().settled(&[1]);
    script.commit(1, &[1]);
    for _ in 0..6 {
        script.committed(ErrorCode::UnknownTopicOrPartition);
        script.pass(Duration::from_millis(1250));
    }
    assert_eq!(script.ends(), [(1, [1].into(), CommitEnd::Answered)]);
}

#[test]
fn more_than_a_thousand_do_not_wait() {
    let mut script = Script::dynamic().settled(&[1]);
    for id in 0..1100 {
        script.commit(id, &[1]);
    }
    let refused = script.ends().iter().filter(|(_, _, end)| *end == CommitEnd::TooMany).count();
    assert_eq!(refused, 1100 - 1024);
}

#[test]
fn commits_keep_a_session_alive() {
    let mut script = Script::dynamic().settled(&[1]);
    script.pass(Duration::from_secs(1));
    let before = script.member.owned_until();
    script.commit(1, &[1]);
    script.committed(ErrorCode::None);
    assert!(script.member.owned_until() > before);
}

#[test]
fn a_commit_of_nothing_is_answered_here() {
    let mut script = Script::dynamic().settled(&[1]);
    script.commit(1, &[]);
    assert_eq!(script.ends(), [(1, [].into(), CommitEnd::Answered)]);
}

/// A member of two pieces that stands by for the second one.
fn standing_by() -> Script {
    let mut script = Script::dynamic().cooperative();
    script.standby = [2].into();
    script.settled(&[1, 2])
}

/// The next round gives this member these pieces.
fn next_round(script: &mut Script, pieces: &[u16]) {
    script.rebalance();
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.synced(pieces);
}

#[test]
fn what_another_commits_is_refused_here_and_the_rest_is_sent() {
    let mut script = standing_by();
    script.commit(1, &[1, 2]);
    assert_eq!(script.ends(), [(1, [2].into(), CommitEnd::StandsBy)]);
    assert_eq!(script.commits[0].2, [1].into());
}

#[test]
fn a_standby_that_gives_up_commits_nothing_in_the_end() {
    let mut script = standing_by();
    script.standby = Pieces::default();
    next_round(&mut script, &[1]);
    script.commit(1, &[2]);
    assert_eq!(script.ends(), [(1, [2].into(), CommitEnd::StandsBy)]);
}

#[test]
fn the_first_that_gives_up_commits_to_the_end() {
    let mut script = standing_by();
    next_round(&mut script, &[2]);
    script.commit(1, &[1]);
    assert_eq!(script.commits[0].2, [1].into());
}

#[test]
fn a_standby_commits_when_it_is_the_first() {
    let mut script = standing_by();
    script.standby = Pieces::default();
    next_round(&mut script, &[1, 2]);
    script.commit(1, &[2]);
    assert_eq!(script.commits[0].2, [2].into());
}

#[test]
fn a_commit_that_waits_for_a_round_is_refused_if_another_commits_after_it() {
    let mut script = Script::dynamic().cooperative().settled(&[1, 2]);
    script.rebalance();
    script.joined(2, "me", "other");
    script.commit(1, &[1, 2]);
    script.standby = [2].into();
    script.beats = Some(ErrorCode::None);
    script.synced(&[1, 2]);
    assert_eq!(script.ends(), [(1, [2].into(), CommitEnd::StandsBy)]);
    assert_eq!(script.commits[0].2, [1].into());
}

#[test]
fn whoever_insists_commits_as_a_standby() {
    let allowed = MembershipConfig { allow_foreign_commits: true, ..config() };
    let mut script = Script::with(allowed);
    script.standby = [1].into();
    let mut script = script.settled(&[1]);
    script.commit(1, &[1]);
    assert_eq!(script.commits[0].2, [1].into());
}
