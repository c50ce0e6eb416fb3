//! Commits: whose they are, what a round does to them, and what becomes of those that nobody waits for.

use kafka_group::assign::RedundantAssigner;
use kafka_group::testing::Verdict;
use kafka_group::types::{Offsets, TopicPartition};
use kafka_group::{ApiKey, CommitError, ErrorCode, Event, Role};

use crate::harness::{
    assigned, bare, count, eventually, idle, member, ms, next, offsets, one_broker, pass, seen,
    soon,
};

fn one(topic: &str, partition: i32, offset: i64) -> Offsets {
    Offsets::from([(TopicPartition::new(topic, partition), offset.into())])
}

#[tokio::test(start_paused = true)]
async fn partitions_that_are_not_ours_are_refused_and_nothing_is_sent() {
    let cluster = one_broker();
    cluster.set_partitions("customers", 2);
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let refused = soon(ann.handle().commit(one("customers", 0, 7))).await;
    assert!(
        matches!(&refused, Err(CommitError::NotOwned(which)) if which.contains("customers", 0))
    );
    assert_eq!(count(&cluster, ApiKey::OffsetCommit), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_ours_is_committed_though_something_else_is_not() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut both = one("orders", 0, 7);
    both.extend(one("customers", 0, 7));
    let refused = soon(ann.handle().commit(both)).await;
    assert!(matches!(&refused, Err(CommitError::NotOwned(which)) if which.len() == 1));
    assert_eq!(cluster.committed("indexers"), one("orders", 0, 7));
}

#[tokio::test(start_paused = true)]
async fn whoever_insists_may_commit_for_others() {
    let cluster = one_broker();
    cluster.set_partitions("customers", 2);
    let mut ann = soon(member(&cluster).allow_foreign_commits().join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let foreign = one("customers", 0, 7);
    assert_eq!(soon(ann.handle().commit(foreign.clone())).await, Ok(()));
    assert_eq!(cluster.committed("indexers"), foreign);
}

#[tokio::test(start_paused = true)]
async fn partitions_that_have_moved_are_no_longer_owned() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let (anns, bobs) = tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
    let commit = soon(ann.handle().commit(offsets(&all, 7))).await;
    let Err(CommitError::NoLongerOwned(moved)) = commit else { panic!("{commit:?}") };
    assert_eq!(&moved, bobs.all());
    assert_eq!(cluster.committed("indexers"), offsets(&anns, 7));
}

#[tokio::test(start_paused = true)]
async fn what_is_revoked_can_be_committed_until_it_is_given_up() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(_) = next(&mut ann).await else { panic!("no revocation") };
    assert_eq!(soon(ann.handle().commit(offsets(&all, 7))).await, Ok(()));
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
    assert_eq!(cluster.committed("indexers"), offsets(&all, 7));
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_under_way_is_waited_for_before_joining() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, 1, |_| Verdict::Delay(ms(2000)));
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(_) = next(&mut ann).await else { panic!("no revocation") };
    let handle = ann.handle();
    let (commit, ..) = tokio::join!(
        handle.commit(offsets(&all, 7)),
        // The commit is on its way before the partitions are given up.
        async {
            eventually("a commit", || count(&cluster, ApiKey::OffsetCommit) > 0).await;
            assigned(&mut ann, 2).await
        },
        assigned(&mut bob, 2)
    );
    assert_eq!(commit, Ok(()));
    let committed = seen(&cluster, ApiKey::OffsetCommit)[0].at;
    let id = ann.handle().group_metadata().member_id;
    let joined = seen(&cluster, ApiKey::JoinGroup);
    let anns = joined.iter().rfind(|join| join.member_id.as_ref() == Some(&id)).unwrap();
    assert!(anns.at >= committed + ms(2000), "{:?} after the commit", anns.at - committed);
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_never_answered_holds_no_round_up() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).request_timeout(ms(60_000)).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, 1, |_| Verdict::Hold);
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(_) = next(&mut ann).await else { panic!("no revocation") };
    let handle = ann.handle();
    let commit = tokio::spawn(async move { handle.commit(offsets(&all, 7)).await });
    eventually("a commit", || count(&cluster, ApiKey::OffsetCommit) > 0).await;
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
    assert_eq!(cluster.members("indexers").len(), 2, "nobody missed the round");
    cluster.release();
    soon(commit).await.unwrap().unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_meets_a_round_is_made_after_it() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, 1, |_| Verdict::Error(ErrorCode::RebalanceInProgress));
    let handle = ann.handle();
    let (commit, _) = tokio::join!(handle.commit(offsets(&all, 7)), idle(&mut ann, ms(3000)));
    assert_eq!(commit, Ok(()));
    assert_eq!(cluster.committed("indexers"), offsets(&all, 7));
}

#[tokio::test(start_paused = true)]
async fn a_commit_of_who_was_expelled_fails_at_home_and_the_rest_of_life_goes_on() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.remove_member("indexers", &ann.handle().group_metadata().member_id);
    let commit = soon(ann.handle().commit(offsets(&all, 7))).await;
    assert!(
        matches!(commit, Err(CommitError::RefusedWhole(ErrorCode::UnknownMemberId))),
        "{commit:?}"
    );
    assert!(matches!(next(&mut ann).await, Event::Lost(_)));
    assigned(&mut ann, 4).await;
    assert!(cluster.committed("indexers").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_commit_goes_on_when_nobody_waits_for_it() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, 1, |_| Verdict::Delay(ms(1000)));
    let handle = ann.handle();
    let given_up = tokio::time::timeout(ms(100), handle.commit(offsets(&all, 7))).await;
    assert!(given_up.is_err());
    pass(ms(2000)).await;
    assert_eq!(cluster.committed("indexers"), offsets(&all, 7));
}

#[tokio::test(start_paused = true)]
async fn commits_are_made_in_the_order_they_were_asked_for() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    let handle = ann.handle();
    cluster.control(ApiKey::OffsetCommit, 1, |_| Verdict::Delay(ms(1000)));
    let commit = |offset| handle.commit(offsets(&all, offset));
    let (one, two, three) = tokio::join!(commit(1), commit(2), commit(3));
    assert_eq!((one, two, three), (Ok(()), Ok(()), Ok(())));
    assert_eq!(cluster.committed("indexers"), offsets(&all, 3));
}

#[tokio::test(start_paused = true)]
async fn partitions_that_are_refused_by_themselves_are_told_by_themselves() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    let mut wanted = offsets(&all, 7);
    let too_long = TopicPartition::new("orders", 1);
    wanted.get_mut(&too_long).unwrap().metadata = "x".repeat(5000);
    let commit = soon(ann.handle().commit(wanted)).await;
    let Err(CommitError::Refused(which)) = commit else { panic!("{commit:?}") };
    assert_eq!(which, [(too_long, ErrorCode::OffsetMetadataTooLarge)]);
    assert_eq!(cluster.committed("indexers").len(), 3);
    assert!(idle(&mut ann, ms(20_000)).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_topic_that_is_gone_does_not_hold_its_neighbours_commits_up() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, usize::MAX, |_| {
        Verdict::Error(ErrorCode::UnknownTopicOrPartition)
    });
    let commit = soon(ann.handle().commit(offsets(&all, 7))).await;
    assert!(matches!(&commit, Err(CommitError::Refused(which)) if which.len() == 4), "{commit:?}");
    cluster.clear_control();
    assert_eq!(soon(ann.handle().commit(offsets(&all, 8))).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn whoever_stands_by_may_not_commit_until_the_first_is_gone() {
    let cluster = one_broker();
    let redundant = || bare(&cluster).assigner(RedundantAssigner::new(2)).join();
    let mut ann = soon(redundant()).await.unwrap();
    let few = loop {
        if let Event::FewCopies(few) = next(&mut ann).await {
            break few;
        }
    };
    assert_eq!((few[0].copies, few[0].wanted), (1, 2));
    let mut bob = soon(redundant()).await.unwrap();
    let (_, bobs) = tokio::join!(idle(&mut ann, ms(10_000)), assigned(&mut bob, 4));
    assert_eq!(bobs.standbys(), bobs.all(), "ann stays the first");
    assert_eq!(bobs.role("orders", 0), Some(Role::Standby));
    assert_eq!(bobs.role("customers", 0), None);
    let refused = soon(bob.handle().commit(offsets(&bobs, 9))).await.unwrap_err();
    assert!(matches!(&refused, CommitError::StandsBy(which) if which.len() == 4), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("a store of its own") && said.contains("a group with an id"), "{said}");
    assert_eq!(count(&cluster, ApiKey::OffsetCommit), 0);

    soon(ann.leave()).await.unwrap();
    let bobs = assigned(&mut bob, 4).await;
    assert_eq!(bobs.role("orders", 0), Some(Role::First));
    assert_eq!(soon(bob.handle().commit(offsets(&bobs, 9))).await, Ok(()));
    assert_eq!(cluster.committed("indexers"), offsets(&bobs, 9));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_an_offset_is_refused_and_nothing_is_sent() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let assignment = assigned(&mut ann, 4).await;
    let handle = ann.handle();
    let mut long = offsets(&assignment, 7);
    long.values_mut().for_each(|offset| offset.metadata = "x".repeat(32_768));
    for (wrong, problem) in [(offsets(&assignment, -1), "negative"), (long, "longer")] {
        let refused = soon(handle.commit(wrong)).await.unwrap_err();
        assert!(matches!(&refused, CommitError::Invalid { .. }), "{refused}");
        assert!(refused.to_string().contains(problem), "{refused}");
    }
    assert_eq!(count(&cluster, ApiKey::OffsetCommit), 0);
}
