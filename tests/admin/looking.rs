//! Groups are described.

use std::time::Duration;

use bytes::Bytes;
use kafka_group::ApiKey;
use kafka_group::admin::{AdminError, Content, GroupDescription, GroupState, GroupType};
use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
};
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{MemberId, NodeId, Partitions};

use crate::answers::{described, described_consumers, listed_as, wrote};
use crate::harness::{App, GROUP, admin, cluster, member, plain, start, static_members};

/// Gives everything to whoever came first.
struct First;

impl PartitionAssigner<u32> for First {
    fn name(&self) -> &str {
        "first"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> u32 {
        7
    }

    fn assign(&self, group: &GroupSubscription<u32>) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        for (partition, member) in group.partitions().zip(group.members().take(1).cycle()) {
            plan.give(member, partition);
        }
        Ok(plan)
    }
}

fn orders(numbers: impl IntoIterator<Item = i32>) -> Partitions {
    numbers.into_iter().map(|number| ("orders", number)).collect()
}

/// Describes our group as the broker is made to tell it.
async fn described_as(cluster: &FakeCluster, answer: Bytes) -> GroupDescription {
    cluster.control(ApiKey::DescribeGroups, 1, move |_| Verdict::Garbage(answer.clone()));
    admin(cluster).await.describe_group(GROUP).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_group_of_ours_is_described_whole() {
    let cluster = cluster();
    let apps = [
        App::start(member(&cluster).client_rack("r-1")).await,
        App::start(member(&cluster).group_instance_id("pod-2").client_id("search")).await,
        App::start(member(&cluster).group_instance_id("pod-1")).await,
    ];
    for app in &apps {
        app.holds(4).await;
    }
    let group = admin(&cluster).await.describe_group(GROUP).await.unwrap();
    assert_eq!(
        (group.group_id.as_str(), &group.state, group.protocol_type.as_str()),
        (GROUP, &GroupState::Stable, "consumer")
    );
    assert_eq!(group.protocol.as_deref(), Some("range"));
    assert_eq!(group.coordinator.id, NodeId(1));
    let [pod_1, pod_2, dynamic] = group.members.as_slice() else { panic!("{group:?}") };
    assert_eq!([pod_1.name(), pod_2.name()], ["pod-1", "pod-2"]);
    assert_eq!(dynamic.name(), apps[0].id());
    assert_eq!((pod_2.client_id.as_str(), pod_2.client_host.as_str()), ("search", "127.0.0.1"));
    assert_eq!(pod_2.member_id, MemberId::new(apps[1].id()));

    let subscription = dynamic.subscription.read().unwrap();
    assert_eq!(subscription.topics, ["orders".into()]);
    assert_eq!(subscription.rack.as_deref(), Some("r-1"));
    let words = subscription.words.as_ref().unwrap();
    assert_eq!(words.session_timeout, Some(Duration::from_secs(30)));
    assert_eq!(words.rebalance_timeout, Some(Duration::from_secs(300)));

    let all = group.members.iter().map(|member| member.partitions().unwrap().len());
    assert_eq!(all.collect::<Vec<_>>(), [4, 4, 4]);
    let words = pod_1.assignment.read().unwrap().words.as_ref().unwrap();
    let status = apps[0].handle.status().borrow().clone();
    assert_eq!(words.generation, status.generation);
    assert_eq!(*words.leader, *status.leader.as_str());
    assert_eq!(words.group_size, 3);
}

#[tokio::test(start_paused = true)]
async fn typed_metadata_are_shown_by_an_assigner_that_knows_them() {
    let cluster = cluster();
    let app = App::start(plain(&cluster).assigner(First)).await;
    app.holds(12).await;
    let admin = admin(&cluster).await;
    let metadata = |group: &GroupDescription| {
        group.members[0].subscription.read().unwrap().metadata.clone().unwrap()
    };
    let stranger = metadata(&admin.describe_group(GROUP).await.unwrap());
    assert_eq!((&stranger.bytes[..], stranger.shown), (&[7][..], None));
    let knowing = admin.assigner(First).unwrap();
    let shown = metadata(&knowing.describe_group(GROUP).await.unwrap()).shown.unwrap();
    assert_eq!(shown.unwrap(), if cfg!(feature = "json") { "7" } else { "[07]" });
}

#[tokio::test(start_paused = true)]
async fn a_group_of_java_consumers_is_read_in_each_version_that_they_write() {
    let cluster = cluster();
    let topics = b"\0\0\0\x01\0\x06orders";
    let assigned = b"\0\0\0\0\0\x01\0\x06orders\0\0\0\x01\0\0\0\x03\xff\xff\xff\xff";
    let v0 = [&[0, 0][..], topics, &[0xff; 4]].concat();
    let v1 = [&[0, 1][..], topics, &[0xff; 4], &assigned[2..22]].concat();
    let v3 = [&[0, 3][..], topics, &[0xff; 4], &[0; 4], &[0, 0, 0, 9], b"\0\x02r1"].concat();
    let members = [("a", v0), ("b", v1), ("c", v3)];
    let members = members.iter().map(|(id, bytes)| wrote(id, bytes, assigned)).collect();
    let group = described_as(&cluster, described("consumer", "range", members)).await;
    for member in &group.members {
        let subscription = member.subscription.read().unwrap();
        assert_eq!(subscription.topics, ["orders".into()], "{}", member.name());
        assert_eq!((&subscription.words, &subscription.metadata), (&None, &None));
        assert_eq!(member.partitions(), Some(&orders([3])));
    }
    let read = |at: usize| group.members[at].subscription.read().unwrap();
    assert_eq!(read(1).owned, orders([3]));
    assert_eq!((read(2).generation.0, read(2).rack.as_deref()), (9, Some("r1")));
}

#[tokio::test(start_paused = true)]
async fn bytes_of_another_type_and_bytes_that_make_no_sense_are_handed_on() {
    let cluster = cluster();
    let group = described_as(
        &cluster,
        described("connect", "sessioned", vec![wrote("w", b"\0\x01x", b"y")]),
    )
    .await;
    assert_eq!(group.protocol_type, "connect");
    assert_eq!(group.members[0].subscription, Content::Foreign(b"\0\x01x".as_slice().into()));
    assert_eq!(group.members[0].assignment, Content::Foreign(b"y".as_slice().into()));

    let group = described_as(
        &cluster,
        described("consumer", "mine", vec![wrote("w", b"\xff\xfegarbage", b"")]),
    )
    .await;
    let Content::Unreadable { bytes, .. } = &group.members[0].subscription else {
        panic!("{group:?}")
    };
    assert_eq!(&bytes[..], b"\xff\xfegarbage");
    assert_eq!(group.members[0].assignment, Content::Nothing);
}

#[tokio::test(start_paused = true)]
async fn foreign_user_data_under_a_name_of_ones_own_are_handed_on() {
    let cluster = cluster();
    let subscription = b"\0\0\0\0\0\x01\0\x06orders\0\0\0\x03abc";
    let group =
        described_as(&cluster, described("consumer", "mine", vec![wrote("w", subscription, b"")]))
            .await;
    let read = group.members[0].subscription.read().unwrap();
    assert_eq!(read.user_data.as_deref(), Some(&b"abc"[..]));
    assert_eq!((&read.words, &read.metadata), (&None, &None));
}

#[tokio::test(start_paused = true)]
async fn groups_that_cannot_be_described_say_why_and_stop_no_other() {
    let cluster = cluster();
    let _apps = static_members(&cluster, ["a"]).await;
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::DescribeGroups, 3, |seen| match seen.group_id.as_deref() {
        Some("secret") => Verdict::Error(ErrorCode::GroupAuthorizationFailed),
        _ => Verdict::Pass,
    });
    let described = admin.describe_groups(["nobody", GROUP, "secret", ""]).await;
    let said: Vec<_> = described
        .iter()
        .map(|(group, described)| match described {
            Ok(group) => group.to_string(),
            Err(error) => format!("{group}: {error}"),
        })
        .collect();
    assert_eq!(
        said,
        [
            "nobody: there is no group `nobody`",
            "group `indexers`, Stable, 1 members",
            "secret: not authorised for DescribeGroups: DESCRIBE on group `secret` is needed",
            ": the name of a group is empty",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_group_that_the_broker_manages_is_said_to_be_one() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    for (name, group_type) in [("consumer", GroupType::Consumer), ("Share", GroupType::Share)] {
        let listed = listed_as(name);
        cluster.control(ApiKey::ListGroups, 1, move |_| Verdict::Garbage(listed.clone()));
        let error = admin.describe_group(GROUP).await.unwrap_err();
        assert_eq!(error, AdminError::NotClassic { group: GROUP.to_owned(), group_type });
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_of_the_new_protocol_is_described_in_the_same_words() {
    let cluster = cluster();
    cluster.control(ApiKey::ListGroups, 1, |_| Verdict::Garbage(listed_as("Consumer")));
    cluster.control(ApiKey::ConsumerGroupDescribe, 1, |_| Verdict::Garbage(described_consumers()));
    let group = admin(&cluster).await.describe_group(GROUP).await.unwrap();
    assert_eq!((&group.group_type, group.epoch), (&GroupType::Consumer, Some(7)));
    assert_eq!(group.state, GroupState::Other("Reconciling".to_owned()));
    assert_eq!(group.protocol.as_deref(), Some("uniform"));
    let [pod, dynamic] = group.members.as_slice() else { panic!("{group:?}") };
    assert_eq!((pod.name(), pod.client_host.as_str()), ("pod", "10.0.0.7"));
    assert_eq!(pod.partitions(), Some(&orders([3])));
    let subscription = pod.subscription.read().unwrap();
    assert_eq!(subscription.topics, ["orders".into()]);
    assert_eq!((subscription.rack.as_deref(), subscription.generation.0), (Some("r-1"), 6));
    assert_eq!(dynamic.name(), "m-2");
    assert_eq!(dynamic.subscription.read().unwrap().pattern.as_deref(), Some("or.*"));
}

#[tokio::test(start_paused = true)]
async fn an_older_broker_tells_what_it_can() {
    for version in 0..=5 {
        let cluster = start(FakeCluster::builder().max_version(ApiKey::DescribeGroups, version));
        let admin = admin(&cluster).await;
        let no_group = admin.describe_group(GROUP).await;
        assert_eq!(no_group, Err(AdminError::NoSuchGroup(GROUP.to_owned())), "{version}");
        let _apps = static_members(&cluster, ["a"]).await;
        let group = admin.describe_group(GROUP).await.unwrap();
        let told = (version >= 4).then(|| "a".to_owned());
        assert_eq!(group.members[0].group_instance_id, told, "{version}");
        assert_eq!(group.members[0].partitions().unwrap().len(), 12, "{version}");
    }
}
