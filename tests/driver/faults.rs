//! Each request of a member goes wrong in each way once; it recovers, or ends in an error that says what happened.

use bytes::Bytes;
use kafka_group::testing::{FakeCluster, Verdict};
use kafka_group::{ApiKey, Error, ErrorCode, Event};

use crate::harness::{
    SESSION, assigned, bare, count, error, idle, member, ms, next, offsets, one_broker, pass, seen,
    soon,
};

/// Everything that a member asks of a cluster.
const APIS: [ApiKey; 9] = [
    ApiKey::ApiVersions,
    ApiKey::Metadata,
    ApiKey::FindCoordinator,
    ApiKey::JoinGroup,
    ApiKey::SyncGroup,
    ApiKey::Heartbeat,
    ApiKey::OffsetCommit,
    ApiKey::OffsetFetch,
    ApiKey::LeaveGroup,
];

/// A whole life: joins, beats, commits, reads it back, leaves.
async fn lives(cluster: &FakeCluster, case: &str) {
    let joined = soon(member(cluster).join()).await;
    let mut ann = joined.unwrap_or_else(|error| panic!("{case}: {error}"));
    let assignment = assigned(&mut ann, 4).await;
    let events = idle(&mut ann, SESSION * 2).await;
    assert!(events.is_empty(), "{case}: {events:?}");
    let (handle, wanted) = (ann.handle(), offsets(&assignment, 7));
    let committed = soon(handle.commit(wanted.clone())).await;
    assert_eq!(committed, Ok(()), "{case}");
    let fetched = soon(handle.committed(assignment.all().iter())).await;
    assert_eq!(fetched.as_ref(), Ok(&wanted), "{case}");
    assert_eq!(soon(ann.leave()).await, Ok(Default::default()), "{case}");
    assert!(cluster.members("indexers").is_empty(), "{case}");
    assert_eq!(cluster.committed("indexers"), wanted, "{case}");
}

async fn each_api_once(name: &str, verdict: impl Fn() -> Verdict) {
    for api in APIS {
        let cluster = one_broker();
        let once = verdict();
        cluster.control(api, 1, move |_| once.clone());
        lives(&cluster, &format!("{api:?} {name}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_lives_through_a_silent_broker() {
    each_api_once("unanswered", || Verdict::Hold).await;
}

#[tokio::test(start_paused = true)]
async fn a_member_lives_through_a_closed_connection() {
    each_api_once("closed", || Verdict::Close).await;
}

#[tokio::test(start_paused = true)]
async fn a_member_lives_through_a_slow_broker() {
    each_api_once("slow", || Verdict::Delay(ms(3000))).await;
}

#[tokio::test(start_paused = true)]
async fn a_member_lives_through_an_answer_that_is_cut_short_or_makes_no_sense() {
    for (name, bytes) in [
        ("cut short", Bytes::new()),
        ("all ones", Bytes::from_static(&[0xff; 64])),
        ("a huge count", Bytes::from_static(&[0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff])),
    ] {
        // Whoever asked for offsets is told, and may ask again.
        let retried = |api: &ApiKey| *api != ApiKey::OffsetFetch && !BEFORE_JOINING.contains(api);
        for api in APIS.into_iter().filter(retried) {
            if api == ApiKey::LeaveGroup && bytes.first() == Some(&0xff) {
                continue; // Reads as a refusal, which is not disputed.
            }
            let cluster = one_broker();
            let garbage = Verdict::Garbage(bytes.clone());
            cluster.control(api, 1, move |_| garbage.clone());
            lives(&cluster, &format!("{api:?} {name}")).await;
        }
    }
}

/// Who cannot be understood before anything is joined is no broker of Kafka's, or a newer one than we know.
const BEFORE_JOINING: [ApiKey; 3] =
    [ApiKey::ApiVersions, ApiKey::Metadata, ApiKey::FindCoordinator];

#[tokio::test(start_paused = true)]
async fn a_broker_that_cannot_be_understood_is_not_joined() {
    for api in BEFORE_JOINING {
        let cluster = one_broker();
        cluster.control(api, usize::MAX, |_| Verdict::Garbage(Bytes::from_static(&[0x7f; 5])));
        let refused = soon(member(&cluster).join()).await;
        assert!(
            matches!(refused, Err(Error::Inconsistent(_) | Error::Unreachable(_))),
            "{api:?}: {refused:?}"
        );
        assert_eq!(count(&cluster, ApiKey::JoinGroup), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn offsets_that_cannot_be_read_are_an_error_and_not_no_offsets() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await.all().clone();
    cluster.control(ApiKey::OffsetFetch, 1, |_| Verdict::Garbage(Bytes::new()));
    let (handle, committed) = (ann.handle(), |it: &Error| matches!(it, Error::Inconsistent(_)));
    assert!(soon(handle.committed(all.iter())).await.is_err_and(|error| committed(&error)));
    assert_eq!(soon(handle.committed(all.iter())).await, Ok(Default::default()));
    for code in [ErrorCode::CoordinatorLoadInProgress, ErrorCode::NotCoordinator] {
        cluster.control(ApiKey::OffsetFetch, 3, move |_| Verdict::Error(code));
        assert_eq!(soon(handle.committed(all.iter())).await, Ok(Default::default()), "{code}");
    }
    cluster
        .control(ApiKey::OffsetFetch, 1, |_| Verdict::Error(ErrorCode::GroupAuthorizationFailed));
    let refused = soon(handle.committed(all.iter())).await;
    assert!(matches!(refused, Err(Error::GroupAuthorization { .. })), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn joining_a_group_is_tried_again_where_that_may_help() {
    for code in [
        ErrorCode::RebalanceInProgress,
        ErrorCode::IllegalGeneration,
        ErrorCode::CoordinatorLoadInProgress,
        ErrorCode::CoordinatorNotAvailable,
        ErrorCode::NotCoordinator,
        ErrorCode::UnknownMemberId,
        ErrorCode::InvalidRequest,
        ErrorCode::UnknownServerError,
        ErrorCode::GroupIdNotFound,
        ErrorCode::FencedMemberEpoch,
        ErrorCode::Other(999),
    ] {
        for api in [ApiKey::JoinGroup, ApiKey::SyncGroup] {
            let cluster = one_broker();
            cluster.control(api, 1, move |_| Verdict::Error(code));
            lives(&cluster, &format!("{api:?}: {code}")).await;
        }
    }
}

/// The error that a member ends with whose `api` is refused with `code` for as long as it lives.
async fn refused(cluster: &FakeCluster, api: ApiKey, code: ErrorCode) -> Error {
    cluster.control(api, usize::MAX, move |_| Verdict::Error(code));
    let mut ann = soon(member(cluster).join()).await.unwrap();
    let error = error(&mut ann).await;
    assert!(matches!(soon(ann.next()).await, Ok(None)));
    error
}

#[tokio::test(start_paused = true)]
async fn what_no_retry_will_change_ends_the_member_and_says_why() {
    use Error as E;
    use ErrorCode as C;
    type Check = fn(&Error) -> bool;
    let cases: [(ApiKey, C, Check); 11] = [
        (
            ApiKey::JoinGroup,
            C::InvalidSessionTimeout,
            |it| matches!(it, E::SessionTimeoutRefused(session) if *session == SESSION),
        ),
        (ApiKey::JoinGroup, C::InvalidGroupId, |it| {
            matches!(it, E::InvalidOption { property: "group.id", .. })
        }),
        (
            ApiKey::JoinGroup,
            C::GroupAuthorizationFailed,
            |it| matches!(it, E::GroupAuthorization { group, api: ApiKey::JoinGroup } if group == "indexers"),
        ),
        (ApiKey::JoinGroup, C::UnsupportedVersion, |it| {
            matches!(it, E::Refused { api: ApiKey::JoinGroup, code: C::UnsupportedVersion })
        }),
        (
            ApiKey::JoinGroup,
            C::InconsistentGroupProtocol,
            |it| matches!(it, E::NoCommonProtocol { ours, .. } if ours.iter().any(|name| name == "range")),
        ),
        (ApiKey::JoinGroup, C::GroupMaxSizeReached, |it| {
            matches!(it, E::GroupFull { group_instance_id: None, .. })
        }),
        (ApiKey::SyncGroup, C::InconsistentGroupProtocol, |it| {
            matches!(it, E::Refused { api: ApiKey::SyncGroup, .. } | E::Inconsistent(_))
        }),
        (ApiKey::SyncGroup, C::GroupAuthorizationFailed, |it| {
            matches!(it, E::GroupAuthorization { api: ApiKey::SyncGroup, .. })
        }),
        (ApiKey::SyncGroup, C::UnsupportedVersion, |it| {
            matches!(it, E::Refused { api: ApiKey::SyncGroup, .. })
        }),
        (ApiKey::SyncGroup, C::InvalidGroupId, |it| {
            matches!(it, E::InvalidOption { property: "group.id", .. })
        }),
        (ApiKey::JoinGroup, C::UnreleasedInstanceId, |it| {
            matches!(it, E::Refused { .. } | E::FencedInstanceId { .. })
        }),
    ];
    for (api, code, is_right) in cases {
        let error = refused(&one_broker(), api, code).await;
        assert!(is_right(&error), "{api:?} {code}: {error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn joining_is_an_error_at_once_where_the_coordinator_is_refused() {
    let cluster = one_broker();
    cluster.control(ApiKey::FindCoordinator, 1, |_| {
        Verdict::Error(ErrorCode::GroupAuthorizationFailed)
    });
    let refused = soon(member(&cluster).join()).await;
    assert!(matches!(refused, Err(Error::GroupAuthorization { api: ApiKey::FindCoordinator, .. })));
    assert_eq!(count(&cluster, ApiKey::JoinGroup), 0);
}

#[tokio::test(start_paused = true)]
async fn a_fresh_cluster_that_creates_its_offsets_topic_is_waited_for() {
    let cluster = one_broker();
    cluster.control(ApiKey::FindCoordinator, 5, |_| {
        Verdict::Error(ErrorCode::CoordinatorNotAvailable)
    });
    lives(&cluster, "no coordinator at first").await;
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_is_never_found_is_an_error_in_time() {
    let cluster = one_broker();
    cluster.control(ApiKey::FindCoordinator, usize::MAX, |_| {
        Verdict::Error(ErrorCode::CoordinatorNotAvailable)
    });
    let never = soon(member(&cluster).default_api_timeout(ms(3000)).join()).await;
    assert!(matches!(never, Err(Error::Refused { .. } | Error::NoCoordinator { .. })), "{never:?}");
}

/// What a member does whose next heartbeat is refused with `code`: its next JoinGroup's member id, whether its own,
/// and what it is told before it has its partitions again.
async fn refused_heartbeat(code: ErrorCode) -> (Option<bool>, Vec<Event>) {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let own = ann.handle().group_metadata().member_id;
    cluster.forget_requests();
    cluster.control(ApiKey::Heartbeat, 1, move |_| Verdict::Error(code));
    // The coordinator that only pretends not to know the old id waits for its session to end.
    let events = idle(&mut ann, SESSION * 2).await;
    let kept = seen(&cluster, ApiKey::JoinGroup);
    (kept.first().map(|join| join.member_id.as_ref() == Some(&own)), events)
}

#[tokio::test(start_paused = true)]
async fn only_who_is_unknown_forgets_its_id() {
    let (keeps_id, events) = refused_heartbeat(ErrorCode::UnknownMemberId).await;
    assert_eq!(keeps_id, Some(false));
    assert!(matches!(events.as_slice(), [Event::Lost(_), Event::Assigned(_)]), "{events:?}");

    let (keeps_id, events) = refused_heartbeat(ErrorCode::IllegalGeneration).await;
    assert_eq!(keeps_id, Some(true));
    assert!(matches!(events.as_slice(), [Event::Lost(_), Event::Assigned(_)]), "{events:?}");

    let (keeps_id, events) = refused_heartbeat(ErrorCode::RebalanceInProgress).await;
    assert_eq!(keeps_id, Some(true));
    assert!(matches!(events.as_slice(), [Event::Revoked(_), Event::Assigned(_)]), "{events:?}");

    for code in [
        ErrorCode::NotCoordinator,
        ErrorCode::CoordinatorNotAvailable,
        ErrorCode::CoordinatorLoadInProgress,
        ErrorCode::UnknownServerError,
        ErrorCode::Other(999),
    ] {
        let (keeps_id, events) = refused_heartbeat(code).await;
        assert_eq!(keeps_id, None, "{code}");
        assert!(events.is_empty(), "{code}: {events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_is_taken_away_is_said_once_and_costs_everything_after_a_session() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    for api in [ApiKey::Heartbeat, ApiKey::JoinGroup] {
        let refused = Verdict::Error(ErrorCode::GroupAuthorizationFailed);
        cluster.control(api, usize::MAX, move |_| refused.clone());
    }
    assert!(matches!(next(&mut ann).await, Event::Unauthorized));
    assert!(matches!(next(&mut ann).await, Event::Lost(_)));
    assert!(matches!(error(&mut ann).await, Error::GroupAuthorization { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_that_no_one_answers_costs_everything_after_a_session_and_no_id() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let until = ann.handle().status().borrow().owned_until.unwrap();
    for api in [ApiKey::Heartbeat, ApiKey::FindCoordinator, ApiKey::JoinGroup] {
        cluster.control(api, usize::MAX, |_| Verdict::Hold);
    }
    let Event::Lost(_) = next(&mut ann).await else { panic!("nothing lost") };
    let late = tokio::time::Instant::now().into_std() - until;
    assert!(late < ms(1200), "{late:?} after the session");
    cluster.clear_control();
    cluster.release();
    assigned(&mut ann, 4).await;
}

#[tokio::test(start_paused = true)]
async fn a_member_id_that_is_required_is_used_at_once() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let joins = seen(&cluster, ApiKey::JoinGroup);
    assert!(joins[1].at - joins[0].at < ms(50));
}

#[tokio::test(start_paused = true)]
async fn a_join_that_is_parked_for_almost_the_rebalance_timeout_is_sent_once() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    let hold = revoked.hold();
    let let_go = async {
        pass(ms(24_000)).await;
        drop(hold);
    };
    tokio::join!(let_go, assigned(&mut ann, 2), assigned(&mut bob, 2));
    let bobs = seen(&cluster, ApiKey::JoinGroup);
    let id = bob.handle().group_metadata().member_id;
    assert_eq!(bobs.iter().filter(|join| join.member_id.as_ref() == Some(&id)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_follower_does_not_wait_for_a_plan_that_never_comes() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let leader = ann.handle().group_metadata().member_id;
    cluster.control(ApiKey::SyncGroup, 2, move |sync| match sync.member_id.as_ref() {
        Some(id) if *id == leader => Verdict::Hold,
        _ => Verdict::Pass,
    });
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
}

#[tokio::test(start_paused = true)]
async fn a_group_without_a_common_assigner_is_said_so_at_once_and_given_up_in_time() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let roundrobin = bare(&cluster)
        .assigner(kafka_group::assign::RoundRobinAssigner::default())
        .default_api_timeout(ms(20_000));
    let mut bob = soon(roundrobin.join()).await.unwrap();
    let bobs = async {
        assert!(matches!(next(&mut bob).await, Event::NoCommonProtocol));
        error(&mut bob).await
    };
    let (error, events) = tokio::join!(bobs, idle(&mut ann, ms(30_000)));
    assert!(matches!(error, Error::NoCommonProtocol { .. }), "{error:?}");
    assert!(events.is_empty(), "the group is not disturbed: {events:?}");
}
