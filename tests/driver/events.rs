//! What an application is told, and how it answers by asking.

use std::future::poll_fn;
use std::pin::{Pin, pin};

use futures_core::Stream;
use kafka_group::{ApiKey, Error, Event, LossCause};
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::harness::{
    REBALANCE, SESSION, assigned, count, error, eventually, idle, member, ms, next, next_assigned,
    one_broker, pass, seen, soon,
};

/// "ann" has everything and is told to give it up, since "bob" joins. Bob's events are nobody's concern here.
macro_rules! ann_is_revoked {
    ($cluster:ident, $ann:ident, $bob:ident, $revoked:ident) => {
        let mut $ann = soon(member(&$cluster).join()).await.unwrap();
        assigned(&mut $ann, 4).await;
        let mut $bob = soon(member(&$cluster).join()).await.unwrap();
        let Event::Revoked($revoked) = next(&mut $ann).await else { panic!("no revocation") };
        assert_eq!($revoked.partitions().len(), 4);
    };
}

#[tokio::test(start_paused = true)]
async fn partitions_are_given_up_by_asking_for_the_next_event() {
    let cluster = one_broker();
    ann_is_revoked!(cluster, ann, bob, _revoked);
    assert!(idle(&mut bob, ms(5000)).await.is_empty());
    assert_eq!(cluster.group_state("indexers").as_deref(), Some("PreparingRebalance"));
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
}

#[tokio::test(start_paused = true)]
async fn partitions_that_are_held_are_given_up_when_the_last_hold_is_dropped() {
    let cluster = one_broker();
    ann_is_revoked!(cluster, ann, bob, revoked);
    let (first, second) = (revoked.hold(), revoked.hold());
    assert!(idle(&mut ann, ms(5000)).await.is_empty());
    drop(first);
    assert!(idle(&mut ann, ms(5000)).await.is_empty());
    assert_eq!(cluster.group_state("indexers").as_deref(), Some("PreparingRebalance"));
    drop(second);
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
}

#[tokio::test(start_paused = true)]
async fn partitions_that_are_held_too_long_are_lost_at_the_deadline() {
    let cluster = one_broker();
    ann_is_revoked!(cluster, ann, _bob, revoked);
    let (hold, deadline) = (revoked.hold(), revoked.deadline());
    let Event::Lost(lost) = next(&mut ann).await else { panic!("nothing lost") };
    assert_eq!(lost.cause(), &LossCause::NotReleased);
    assert_eq!(lost.partitions().len(), 4);
    let late = Instant::now().into_std() - deadline;
    assert!(late < ms(100), "{late:?} after the deadline");
    drop(hold);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_revocation_leaves_time_to_join_before_the_broker_gives_up() {
    let cluster = one_broker();
    ann_is_revoked!(cluster, ann, bob, revoked);
    let _hold = revoked.hold();
    let joined = async {
        let Event::Lost(_) = next(&mut ann).await else { panic!("nothing lost") };
        assigned(&mut ann, 2).await;
    };
    tokio::join!(joined, assigned(&mut bob, 2));
    assert_eq!(cluster.members("indexers").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_not_lost_when_asking_for_it_is_broken_off() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let mut asked = 0;
    let event = loop {
        asked += 1;
        tokio::select! {
            biased;
            event = ann.next() => break event,
            () = yield_now() => pass(ms(1)).await,
        }
    };
    assert!(asked > 1);
    let Ok(Some(Event::Assigned(assigned))) = event else { panic!("{event:?}") };
    assert_eq!(assigned.all().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_loss_takes_the_place_of_an_assignment_that_nobody_looked_at() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    soon(ann.handle().ready(SESSION)).await.unwrap();
    let id = ann.handle().group_metadata().member_id;
    cluster.remove_member("indexers", &id);
    eventually("a second life", || cluster.members("indexers").iter().any(|new| *new != id)).await;
    let Event::Lost(lost) = next(&mut ann).await else { panic!("nothing lost") };
    assert_eq!(lost.cause(), &LossCause::Expelled);
    assert_eq!(lost.partitions().len(), 4);
    let again = next_assigned(&mut ann).await;
    assert_eq!((again.partitions().len(), again.all().len()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn a_revocation_that_nobody_looked_at_gives_way_to_the_loss() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let _bob = soon(member(&cluster).join()).await.unwrap();
    eventually("a rebalance", || {
        cluster.group_state("indexers").as_deref() == Some("PreparingRebalance")
    })
    .await;
    pass(REBALANCE - ms(1000)).await;
    let Event::Lost(lost) = next(&mut ann).await else { panic!("nothing lost") };
    assert_eq!(lost.cause(), &LossCause::NotReleased);
}

#[tokio::test(start_paused = true)]
async fn a_dynamic_member_whose_application_stalls_leaves_and_comes_back_when_asked() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    soon(ann.handle().ready(SESSION)).await.unwrap();
    pass(REBALANCE + ms(2000)).await;
    let left = seen(&cluster, ApiKey::LeaveGroup);
    assert_eq!(left.len(), 1);
    assert!(left[0].reason.as_deref().unwrap().contains("stopped asking"), "{left:?}");
    pass(REBALANCE * 3).await;
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1, "said once");
    assert!(cluster.members("indexers").is_empty());

    let Event::Lost(lost) = next(&mut ann).await else { panic!("nothing lost") };
    assert_eq!(lost.cause(), &LossCause::Stalled);
    assert!(matches!(next(&mut ann).await, Event::Stalled));
    assert!(matches!(next(&mut ann).await, Event::Assigned(assigned) if assigned.all().len() == 4));
}

#[tokio::test(start_paused = true)]
async fn a_static_member_whose_application_stalls_stops_beating_and_stays() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    soon(ann.handle().ready(SESSION)).await.unwrap();
    pass(REBALANCE + ms(2000)).await;
    cluster.forget_requests();
    pass(SESSION / 2).await;
    assert_eq!(count(&cluster, ApiKey::Heartbeat), 0);
    assert_eq!(cluster.members("indexers").len(), 1, "its session still runs");
    pass(SESSION * 3).await;
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 0);
    assert_eq!(count(&cluster, ApiKey::JoinGroup), 0, "it waits to be asked");
    assert!(cluster.members("indexers").is_empty());
    let events = [next(&mut ann).await, next(&mut ann).await, next(&mut ann).await];
    let [Event::Lost(lost), Event::Stalled, Event::Assigned(again)] = &events else {
        panic!("{events:?}")
    };
    assert_eq!(lost.cause(), &LossCause::SessionExpired);
    assert_eq!(again.all().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_static_member_that_is_asked_again_within_its_session_loses_nothing() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    soon(ann.handle().ready(SESSION)).await.unwrap();
    pass(REBALANCE + SESSION / 2).await;
    let first = next_assigned(&mut ann).await;
    assert_eq!(first.all().len(), 4);
    let events = idle(&mut ann, SESSION * 2).await;
    assert!(events.iter().all(|event| !matches!(event, Event::Lost(_))), "{events:?}");
    assert_eq!(cluster.members("indexers").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn having_no_event_to_ask_for_is_no_stall() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    pass(REBALANCE * 5).await;
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 0);
    assert!(idle(&mut ann, REBALANCE).await.is_empty());
    assert_eq!(count(&cluster, ApiKey::JoinGroup), 2);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_said_once_and_then_the_end_for_ever() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut twin = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    let Event::Lost(lost) = next(&mut ann).await else { panic!("nothing lost") };
    assert_eq!(lost.cause(), &LossCause::Fenced);
    let fenced = error(&mut ann).await;
    let Error::FencedInstanceId { group, group_instance_id, .. } = &fenced else {
        panic!("{fenced:?}")
    };
    assert_eq!((group.as_str(), group_instance_id.as_str()), ("indexers", "ann"));
    for _ in 0..3 {
        assert!(matches!(soon(ann.next()).await, Ok(None)));
    }
    assert_eq!(assigned(&mut twin, 4).await.all().len(), 4);
    let events = idle(&mut twin, SESSION).await;
    assert!(matches!(events[..], [Event::TookOver { .. }]), "nobody takes it back: {events:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_is_seen_by_the_handle_as_well() {
    let cluster = one_broker();
    let ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    let handle = ann.handle();
    soon(handle.ready(SESSION)).await.unwrap();
    let _twin = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    eventually("the end", || handle.status().borrow().ended.is_some()).await;
    assert!(matches!(soon(handle.ready(SESSION)).await, Err(Error::FencedInstanceId { .. })));
    assert!(matches!(soon(handle.rejoin("why not")).await, Err(Error::Closed)));
}

async fn item<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    soon(poll_fn(|context| Pin::new(&mut *stream).poll_next(context))).await
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_a_revocation_is_given_up_by_dropping_the_event() {
    let cluster = one_broker();
    let ann = soon(member(&cluster).join()).await.unwrap();
    let mut events = ann.into_stream();
    assert!(matches!(item(&mut events).await, Some(Ok(Event::Assigned(_)))));
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Some(Ok(Event::Revoked(revoked))) = item(&mut events).await else {
        panic!("no revocation")
    };

    // A combinator asks ahead: the event is still in somebody's hands, so nothing is given up.
    let mut ahead = pin!(item(&mut events));
    assert!(tokio::time::timeout(ms(5000), &mut ahead).await.is_err());
    assert_eq!(cluster.group_state("indexers").as_deref(), Some("PreparingRebalance"));
    drop(revoked);
    let (event, _) = tokio::join!(ahead, assigned(&mut bob, 2));
    assert!(matches!(event, Some(Ok(Event::Assigned(assigned))) if assigned.all().len() == 2));
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_after_its_error() {
    let cluster = one_broker();
    let ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    let mut events = ann.into_stream();
    assert!(matches!(item(&mut events).await, Some(Ok(Event::Assigned(_)))));
    let _twin = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    assert!(matches!(item(&mut events).await, Some(Ok(Event::Lost(_)))));
    assert!(matches!(item(&mut events).await, Some(Err(Error::FencedInstanceId { .. }))));
    assert!(item(&mut events).await.is_none());
    assert!(item(&mut events).await.is_none());
}
