//! Two processes with one `group.instance.id`, one process with several, and what is said of whom.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use gethostname::gethostname;
use kafka_group::testing::{CoordinatorSettings, ErrorCode, FakeCluster, Verdict};
use kafka_group::{
    ApiKey, Error, Event, GroupMember, GroupMemberBuilder, LossCause, MemberState, OnFenced,
    TakeOver, registry,
};
use kafka_protocol::messages::DescribeGroupsResponse;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::protocol::{Encodable, StrBytes};
use tokio::time::Instant;

use crate::harness::{
    SESSION, assigned, count, error, eventually, idle, member, ms, next, offsets, one_broker, pass,
    seen, soon,
};

const WAIT: Duration = Duration::from_secs(60);

fn ann(cluster: &FakeCluster) -> GroupMemberBuilder {
    member(cluster).group_instance_id("ann")
}

async fn joined(builder: GroupMemberBuilder) -> GroupMember {
    let mut member = soon(builder.join()).await.unwrap();
    assigned(&mut member, 4).await;
    member
}

/// Of whom a member has its id, as far as it was told within a session.
async fn took_over(member: &mut GroupMember) -> Vec<(String, String, String, Option<String>)> {
    let events = idle(member, SESSION).await;
    let told = events.into_iter().filter_map(|event| match event {
        Event::TookOver { client_id, host, member_id, process } => {
            Some((client_id, host, member_id.to_string(), process))
        }
        _ => None,
    });
    told.collect()
}

/// What members of this process call it.
fn this_process() -> String {
    format!("{}/{}", gethostname().to_string_lossy(), std::process::id())
}

fn id_of(member: &GroupMember) -> String {
    member.handle().group_metadata().member_id.to_string()
}

#[tokio::test(start_paused = true)]
async fn who_is_fenced_is_told_by_whom() {
    let cluster = one_broker();
    let mut older = joined(ann(&cluster).client_id("the first")).await;
    let old_id = id_of(&older);
    let newer = joined(ann(&cluster)).await;
    let fenced = error(&mut older).await;
    let Error::FencedInstanceId { member_id, holder: Some(holder), .. } = &fenced else {
        panic!("{fenced:?}")
    };
    assert_eq!(member_id.as_str(), old_id);
    assert_eq!((&*holder.client_id, &*holder.host), ("the first", "127.0.0.1"));
    assert_eq!(holder.member_id.as_str(), id_of(&newer));
    assert_eq!(holder.process, Some(this_process()));
    let said = fenced.to_string();
    for word in ["`indexers`", "`ann`", &this_process(), "127.0.0.1"] {
        assert!(said.contains(word), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_fenced_ends_in_time_though_nobody_says_by_whom() {
    let cluster = one_broker();
    let mut older = joined(ann(&cluster)).await;
    let _newer = joined(ann(&cluster)).await;
    cluster.control(ApiKey::DescribeGroups, usize::MAX, |_| Verdict::Hold);
    assert!(matches!(next(&mut older).await, Event::Lost(_)));
    let began = Instant::now();
    let fenced = error(&mut older).await;
    assert!(matches!(&fenced, Error::FencedInstanceId { holder: None, .. }), "{fenced:?}");
    assert!(began.elapsed() <= ms(1100), "{:?}", began.elapsed());
    assert!(fenced.to_string().contains("another process"), "{fenced}");
}

#[tokio::test(start_paused = true)]
async fn who_may_come_back_loses_everything_and_joins_anew_when_its_time_has_come() {
    let cluster = one_broker();
    let mut older = joined(ann(&cluster).on_fenced(OnFenced::RetryAfter(WAIT))).await;
    let handle = older.handle();
    let mut newer = joined(ann(&cluster)).await;
    let Event::Lost(lost) = next(&mut older).await else { panic!("nothing lost") };
    let (began, joins) = (Instant::now(), count(&cluster, ApiKey::JoinGroup));
    assert_eq!((lost.partitions().len(), lost.cause()), (4, &LossCause::Fenced));
    assert_eq!(handle.status().borrow().state, MemberState::Unjoined);
    assert!(handle.commit([].into()).await.is_ok());

    let (again, fenced) = tokio::join!(assigned(&mut older, 4), error(&mut newer));
    assert!((WAIT..WAIT + ms(2000)).contains(&began.elapsed()), "{:?}", began.elapsed());
    assert!(matches!(fenced, Error::FencedInstanceId { .. }), "{fenced:?}");
    assert_eq!(count(&cluster, ApiKey::JoinGroup), joins + 1);
    assert!(seen(&cluster, ApiKey::JoinGroup)[joins].member_id.clone().unwrap().is_empty());
    assert!(handle.commit(offsets(&again, 3)).await.is_ok(), "it has its place");
}

#[tokio::test(start_paused = true)]
async fn who_waits_to_come_back_closes_at_once() {
    let cluster = one_broker();
    let mut older = joined(ann(&cluster).on_fenced(OnFenced::RetryAfter(WAIT))).await;
    let _newer = joined(ann(&cluster)).await;
    assert!(matches!(next(&mut older).await, Event::Lost(_)));
    let began = Instant::now();
    soon(older.close()).await.unwrap();
    assert!(began.elapsed() < ms(100), "{:?}", began.elapsed());
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 0);
}

#[tokio::test(start_paused = true)]
async fn who_follows_another_says_so_once_at_the_start() {
    let cluster = one_broker();
    let first = joined(ann(&cluster).client_id("first")).await;
    let old_id = id_of(&first);
    soon(first.close()).await.unwrap();
    let mut second = soon(ann(&cluster).join()).await.unwrap();
    let handle = second.handle();
    let told = took_over(&mut second).await;
    let (client_id, host) = ("first".to_owned(), "127.0.0.1".to_owned());
    assert_eq!(told, [(client_id, host, old_id, Some(this_process()))]);
    soon(handle.rejoin("another round")).await.unwrap();
    assert_eq!(took_over(&mut second).await, []);
}

#[tokio::test(start_paused = true)]
async fn who_follows_nobody_says_nothing() {
    let cluster = one_broker();
    let mut first = soon(ann(&cluster).join()).await.unwrap();
    assert_eq!(took_over(&mut first).await, []);
    let mut dynamic = soon(member(&cluster).join()).await.unwrap();
    assert_eq!(took_over(&mut dynamic).await, []);
    assert_eq!(count(&cluster, ApiKey::DescribeGroups), 1, "a dynamic member does not look");
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_stands_in_nobodys_way() {
    let refused = Verdict::Error(ErrorCode::GroupAuthorizationFailed);
    for verdict in [refused, Verdict::Hold, Verdict::Garbage(Bytes::from_static(b"?"))] {
        let cluster = one_broker();
        soon(joined(ann(&cluster)).await.close()).await.unwrap();
        cluster.control(ApiKey::DescribeGroups, 1, move |_| verdict.clone());
        let began = Instant::now();
        let mut again = soon(ann(&cluster).join()).await.unwrap();
        assert_eq!(assigned(&mut again, 4).await.generation().0, 1);
        assert!(began.elapsed() <= ms(1200), "{:?}", began.elapsed());
    }
}

/// A group in which "ann" is a process of another client, at this address.
fn foreign(host: &'static str) -> Bytes {
    let text = StrBytes::from_static_str;
    let holder = DescribedGroupMember::default()
        .with_member_id(text("ann-1"))
        .with_group_instance_id(Some(text("ann")))
        .with_client_id(text("foreign"))
        .with_client_host(text(host));
    let group = DescribedGroup::default()
        .with_group_id(text("indexers").into())
        .with_group_state(text("Stable"))
        .with_members(vec![holder]);
    let mut body = BytesMut::new();
    DescribeGroupsResponse::default().with_groups(vec![group]).encode(&mut body, 6).unwrap();
    body.freeze()
}

#[tokio::test(start_paused = true)]
async fn on_the_same_host_an_id_is_taken_over_and_on_another_it_is_left_alone() {
    let cluster = one_broker();
    let builder = || ann(&cluster).take_over(TakeOver::SameHost);
    let mut first = joined(builder()).await;
    cluster.control(ApiKey::DescribeGroups, 1, |_| Verdict::Garbage(foreign("/10.9.8.7")));
    let joins = count(&cluster, ApiKey::JoinGroup);
    let held = soon(builder().join()).await.unwrap_err();
    let Error::InstanceIdHeld { group, group_instance_id, holder } = &held else {
        panic!("{held:?}")
    };
    assert_eq!((&**group, group_instance_id.as_str()), ("indexers", "ann"));
    assert_eq!((&*holder.client_id, &*holder.host), ("foreign", "10.9.8.7"));
    assert!(held.to_string().contains("remove-members"), "{held}");
    assert_eq!(count(&cluster, ApiKey::JoinGroup), joins);
    assert!(idle(&mut first, SESSION).await.is_empty(), "it noticed nothing");

    let mut second = soon(builder().join()).await.unwrap();
    assert_eq!(took_over(&mut second).await.len(), 1, "by its name");
    assert!(matches!(error(&mut first).await, Error::FencedInstanceId { .. }));
    cluster.control(ApiKey::DescribeGroups, 1, |_| Verdict::Garbage(foreign("/127.0.0.1")));
    let mut third = soon(builder().join()).await.unwrap();
    assert_eq!(took_over(&mut third).await.len(), 1, "by its address");
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_is_gone_is_waited_for_until_its_session_ends() {
    let cluster = one_broker();
    soon(joined(ann(&cluster)).await.close()).await.unwrap();
    let began = Instant::now();
    let mut second = soon(ann(&cluster).take_over(TakeOver::AfterSession).join()).await.unwrap();
    let took = began.elapsed();
    assert!(took > SESSION - ms(2000) && took < SESSION + ms(2000), "{took:?}");
    assert_eq!(took_over(&mut second).await, [], "nobody was there any more");
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_lives_is_left_alone_and_named() {
    let cluster = one_broker();
    let mut first = joined(ann(&cluster).client_id("alive")).await;
    let began = Instant::now();
    let waiting = ann(&cluster).take_over(TakeOver::AfterSession).join();
    let (held, events) = tokio::join!(soon(waiting), idle(&mut first, SESSION * 2));
    let held = held.unwrap_err();
    let Error::InstanceIdHeld { holder, .. } = &held else { panic!("{held:?}") };
    assert_eq!(holder.client_id, "alive");
    assert!(began.elapsed() >= SESSION, "{:?}", began.elapsed());
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(count(&cluster, ApiKey::JoinGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_sees_nothing_is_an_error() {
    for policy in [TakeOver::SameHost, TakeOver::AfterSession] {
        let cluster = one_broker();
        cluster.control(ApiKey::DescribeGroups, usize::MAX, |_| {
            Verdict::Error(ErrorCode::GroupAuthorizationFailed)
        });
        let refused = soon(ann(&cluster).take_over(policy).join()).await.unwrap_err();
        let api = ApiKey::DescribeGroups;
        assert_eq!(refused, Error::GroupAuthorization { group: "indexers".into(), api });
        assert_eq!(count(&cluster, ApiKey::JoinGroup), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_join_that_waits_for_a_session_can_be_dropped() {
    let cluster = one_broker();
    let _first = joined(ann(&cluster)).await;
    let waiting = ann(&cluster).take_over(TakeOver::AfterSession).join();
    assert!(tokio::time::timeout(ms(3000), waiting).await.is_err());
    let looks = count(&cluster, ApiKey::DescribeGroups);
    pass(ms(3000)).await;
    assert_eq!(count(&cluster, ApiKey::DescribeGroups), looks, "nobody looks any more");
}

#[tokio::test(start_paused = true)]
async fn policies_are_properties_too() {
    let cluster = one_broker();
    let first = joined(ann(&cluster)).await;
    let guarded = ann(&cluster).set("take.over", "after-session");
    assert!(matches!(soon(guarded.join()).await, Err(Error::InstanceIdHeld { .. })));
    soon(first.leave()).await.unwrap();
    let comes_back = member(&cluster).client_id("bob").set("group.instance.index", "2");
    let mut older = soon(comes_back.set("fenced.retry.delay.ms", "60000").join()).await.unwrap();
    assigned(&mut older, 4).await;
    let mut newer = soon(member(&cluster).group_instance_id("bob-2").join()).await.unwrap();
    assigned(&mut newer, 4).await;
    assert!(matches!(next(&mut older).await, Event::Lost(_)));
    assigned(&mut older, 4).await;
}

#[tokio::test(start_paused = true)]
async fn a_static_member_that_a_full_group_refuses_is_told_what_makes_room() {
    let mut settings = CoordinatorSettings::default();
    settings.max_size = 1;
    let cluster = FakeCluster::builder().topic("orders", 4).settings(settings);
    let cluster = cluster.start_on_this_runtime().unwrap();
    let mut first = joined(ann(&cluster)).await;
    let mut second = soon(ann(&cluster).join()).await.unwrap();
    let (full, events) = tokio::join!(error(&mut second), idle(&mut first, SESSION * 3));
    assert!(events.is_empty(), "{events:?}");
    let Error::GroupFull { group_instance_id: Some(id), .. } = &full else { panic!("{full:?}") };
    assert_eq!(id.as_str(), "ann");
    let said = full.to_string();
    for word in ["`indexers`", "`ann`", "group.max.size", "remove-members", "session"] {
        assert!(said.contains(word), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_into_a_full_group_gets_in_when_its_old_entry_is_gone() {
    let mut settings = CoordinatorSettings::default();
    settings.max_size = 1;
    let cluster = FakeCluster::builder().topic("orders", 4).settings(settings);
    let cluster = cluster.start_on_this_runtime().unwrap();
    soon(joined(ann(&cluster)).await.close()).await.unwrap();
    joined(ann(&cluster)).await;
}

#[tokio::test(start_paused = true)]
async fn the_registry_knows_the_members_of_this_process_while_they_last() {
    let cluster = one_broker();
    let group = "a group of the registry's \"test\"";
    let here = || -> Vec<_> {
        let all = registry::snapshot().into_iter();
        all.filter(|member| &*member.group_id == group).collect()
    };
    let builder = |index| {
        let member = member(&cluster).group_id(group).client_id("search");
        member.instance_index(index)
    };
    assert!(here().is_empty());
    let mut one = soon(builder(1).join()).await.unwrap();
    assert_eq!(here().len(), 1, "as soon as it has joined");
    let mut zero = soon(builder(0).join()).await.unwrap();
    tokio::join!(assigned(&mut zero, 2), assigned(&mut one, 2));
    let ids: Vec<_> =
        here().into_iter().map(|it| String::from(it.group_instance_id.unwrap())).collect();
    assert_eq!(ids, ["search-0", "search-1"]);
    assert!(here().iter().all(|it| it.state == MemberState::Stable && it.generation.0 > 0));

    let json: serde_json::Value = serde_json::from_str(&registry::to_json()).unwrap();
    let ours = |it: &&serde_json::Value| it["group_id"] == group;
    let leaders = json.as_array().unwrap().iter().filter(ours).filter(|it| it["is_leader"] == true);
    assert_eq!(leaders.count(), 1, "{json}");

    soon(one.close()).await.unwrap();
    assert_eq!(here().len(), 1);
    drop(zero);
    eventually("it is gone", || here().is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn an_id_in_another_case_is_another_member() {
    let cluster = one_broker();
    let mut ann = joined(ann(&cluster)).await;
    let mut other = soon(member(&cluster).group_instance_id("Ann").join()).await.unwrap();
    tokio::join!(assigned(&mut ann, 2), assigned(&mut other, 2));
    assert_eq!(cluster.members("indexers").len(), 2);
}
