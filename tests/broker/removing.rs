//! Administrators, who list, describe and shrink groups from outside.

use std::time::Duration;

use kafka_group::admin::{
    Admin, AdminError, Content, GroupState, GroupType, Life, ListOptions, MemberFilter, MemberKey,
    MemberSelection, RemovalPlanOptions, RemoveOptions, RemoveOutcome, SignOfLife,
};
use kafka_group::client::ClientOptions;
use kafka_group::types::Partitions;
use kafka_group::{ApiKey, GroupMemberBuilder, LeavePolicy};

use crate::common::kafka::{Operation, Resource};
use crate::common::{JavaMember, Kafka, eventually, own_cluster, unique};
use crate::foreign;
use crate::harness::{App, SOON, done, member, offsets, settled};

/// Longer than any test waits: what happens sooner happens for another reason.
const NEVER: Duration = Duration::from_secs(300);

/// A group of static members with long sessions, on a topic of six partitions.
struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

impl Group {
    fn new() -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, 6, 1);
        group
    }

    fn member(&self, instance: &str) -> GroupMemberBuilder {
        member(self.kafka.bootstrap(), &self.id, &[&self.topic])
            .group_instance_id(instance)
            .session_timeout(NEVER)
            .max_poll_interval(NEVER)
    }

    fn start<const N: usize>(&self, instances: [&str; N]) -> [App; N] {
        let apps = instances.map(|instance| App::start(self.member(instance)));
        settled(&apps.iter().collect::<Vec<_>>(), 6);
        apps
    }

    fn remove(&self, instances: &[&str]) -> Result<Vec<RemoveOutcome>, AdminError> {
        let entries = instances.iter().map(|id| MemberKey::instance_id(*id));
        let removing = admin(self.kafka);
        let removed = done(removing.remove_members(&*self.id, entries, RemoveOptions::default()))?;
        Ok(removed.iter().map(|removed| removed.outcome).collect())
    }
}

fn admin(kafka: &Kafka) -> Admin {
    done(Admin::connect(ClientOptions::new(kafka.bootstrap()))).unwrap()
}

#[cfg(feature = "cli")]
mod command {
    use std::process::Command;

    use kafka_group::registry;

    use super::*;

    /// What the command printed, and how it ended.
    fn run(kafka: &Kafka, command: &str, group: &str, args: &[&str]) -> (String, i32) {
        let to = ["--bootstrap-server", kafka.bootstrap(), "--group", group];
        let mut command_line = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
        let output = command_line.arg(command).args(to).args(args).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
    }

    #[test]
    fn static_members_that_were_shut_down_are_removed_and_the_group_rebalances_at_once() {
        let group = Group::new();
        let [stays, two, three] = group.start(["stays", "two", "three"]);

        // What the processes' own endpoints would tell, and what the cluster tells.
        let registered: serde_json::Value = serde_json::from_str(&registry::to_json()).unwrap();
        let ours = registered.as_array().unwrap().iter();
        let ours = ours.filter(|member| member["group_id"] == group.id.as_str());
        let ids: Vec<&str> =
            ours.map(|member| member["group_instance_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["stays", "three", "two"]);
        let (listed, code) = run(group.kafka, "members", &group.id, &["--format", "json"]);
        assert_eq!(code, 0);
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let told = listed["members"].as_array().unwrap().iter();
        assert!(told.map(|member| member["instance_id"].as_str().unwrap()).eq(ids.iter().copied()));

        two.close();
        three.close();
        stays.beats(2);
        assert_eq!(stays.now().unwrap().all.len(), 2, "they remain");

        let gone = ids.into_iter().filter(|id| *id != "stays").collect::<Vec<_>>().join(",");
        let args = ["--instance-ids", &gone, "--yes"];
        let (said, code) = run(group.kafka, "remove-members", &group.id, &args);
        assert_eq!(said, "MEMBER  OUTCOME\nthree   removed\ntwo     removed\n");
        assert_eq!(code, 0);
        stays.holds(6);

        let (said, code) = run(group.kafka, "remove-members", &group.id, &args);
        assert_eq!(said, "MEMBER  OUTCOME\nthree   unknown\ntwo     unknown\n");
        assert_eq!(code, 1);
    }
}

#[test]
fn a_member_that_commits_is_seen_to_live_and_of_one_that_is_shut_down_nothing_is_known() {
    let group = Group::new();
    let [ann, bob] = group.start(["ann", "bob"]);
    bob.close();
    let held = ann.now().unwrap().all;
    let planning = admin(group.kafka);
    let options = RemovalPlanOptions::default().watch(Duration::from_secs(3));
    let plan = std::thread::scope(|scope| {
        let plan =
            scope.spawn(|| done(planning.plan_removal(&*group.id, MemberSelection::All, options)));
        let mut offset = 0;
        while !plan.is_finished() {
            done(ann.handle().commit(offsets(&held, offset))).unwrap();
            offset += 1;
        }
        plan.join().unwrap()
    });
    let lives: Vec<_> = plan.unwrap().members.iter().map(|planned| planned.life).collect();
    let heard_within = Some(NEVER);
    assert_eq!(lives, [Life::Seen(SignOfLife::Commits), Life::Unknown { heard_within }]);
}

#[test]
fn those_that_a_filter_takes_are_removed() {
    let group = Group::new();
    let [stays, _one, _two] = group.start(["stays", "pod-1", "pod-2"]);
    let removing = admin(group.kafka);
    let filter = MemberFilter::new().client_host("127.0.0.1");
    let filter = filter.instance_id_pattern("pod-[0-9]").unwrap();
    let options = RemoveOptions::default();
    let removed = done(removing.remove_matching_members(&*group.id, filter, options)).unwrap();
    assert_eq!(removed.len(), 2);
    assert!(removed.iter().all(|one| one.outcome == RemoveOutcome::Removed), "{removed:?}");
    stays.beats(1);
}

#[test]
fn each_of_a_batch_has_its_own_outcome() {
    let group = Group::new();
    let [ann, bob] = group.start(["ann", "bob"]);
    let bobs = bob.status().member_id;
    ann.close();
    let entries = [
        MemberKey::Both { instance_id: "ann".to_owned(), member_id: bobs.clone() },
        MemberKey::instance_id("ann"),
        MemberKey::instance_id("Ann"),
        MemberKey::MemberId(bobs),
    ];
    let removing = admin(group.kafka);
    let removed =
        done(removing.remove_members(&*group.id, entries, RemoveOptions::default())).unwrap();
    let outcomes: Vec<_> = removed.iter().map(|removed| removed.outcome).collect();
    use RemoveOutcome::{Fenced, Removed, Unknown};
    assert_eq!(outcomes, [Fenced, Removed, Unknown, Removed]);
    // It lives, so it comes back.
    bob.holds(6);
}

#[test]
fn a_round_that_waits_for_one_that_is_gone_ends_when_that_is_removed() {
    let group = Group::new();
    let [stays, gone] = group.start(["stays", "gone"]);
    gone.close();
    let newcomer = App::start(group.member("new"));
    eventually(SOON, "a round", || {
        let state = done(admin(group.kafka).describe_group(&*group.id)).unwrap().state;
        (state == GroupState::PreparingRebalance).then_some(())
    });
    assert_eq!(group.remove(&["gone"]), Ok(vec![RemoveOutcome::Removed]));
    settled(&[&stays, &newcomer], 6);
}

#[test]
fn no_group_and_an_empty_one_are_told_apart() {
    let group = Group::new();
    assert_eq!(group.remove(&["a"]), Err(AdminError::NoSuchGroup(group.id.clone())));
    let app = App::start(group.member("a").leave_policy(LeavePolicy::Leave));
    app.holds(6);
    app.close();
    assert_eq!(group.remove(&["a"]), Ok(vec![RemoveOutcome::Unknown]));
}

#[test]
fn a_group_of_the_new_protocol_is_listed_and_described_and_its_members_are_removed() {
    let group = Group::new();
    let kafka = group.kafka;
    if !kafka.admin().serves_new_protocol() {
        return;
    }
    let properties =
        [("group.protocol", "consumer"), ("group.instance.id", "new"), ("client.rack", "r-1")];
    let java = JavaMember::start(kafka.bootstrap(), &group.id, &[&group.topic], &properties);
    java.wait_for_assignment(SOON, |owned| owned.len() == 6);
    let described = done(admin(kafka).describe_group(&*group.id)).unwrap();
    assert_eq!(
        (&described.group_type, &described.state),
        (&GroupType::Consumer, &GroupState::Stable)
    );
    assert_eq!(described.protocol.as_deref(), Some("uniform"));
    assert!(described.epoch.is_some_and(|epoch| epoch > 0), "{described:?}");
    let [member] = described.members.as_slice() else { panic!("{described:?}") };
    assert_eq!((member.name(), member.client_host.as_str()), ("new", "127.0.0.1"));
    let subscription = member.subscription.read().unwrap();
    assert_eq!(subscription.topics, [group.topic.as_str().into()]);
    assert_eq!(subscription.rack.as_deref(), Some("r-1"));
    assert_eq!(member.partitions().unwrap().len(), 6);
    let lag = done(admin(kafka).lag(&*group.id)).unwrap();
    assert!(lag.partitions.iter().all(|told| told.member.as_deref() == Some("new")), "{lag:?}");

    // Kafka 4.4 takes out members of the new protocol as well.
    assert_eq!(
        group.remove(&["nobody", "new"]),
        Ok(vec![RemoveOutcome::Unknown, RemoveOutcome::Removed])
    );
    assert_eq!(group.remove(&["nobody"]), Ok(vec![RemoveOutcome::Unknown]));
    let listed =
        done(admin(kafka).list_groups(ListOptions::default().types([GroupType::Consumer])));
    let listed = listed.unwrap();
    assert_eq!(listed.failed, []);
    assert!(listed.groups.iter().any(|listed| listed.group_id == group.id));
}

#[test]
fn a_group_of_java_consumers_is_described() {
    let group = Group::new();
    let properties = [("group.instance.id", "java"), ("client.rack", "r-1")];
    let bootstrap = group.kafka.bootstrap();
    let java = JavaMember::start(bootstrap, &group.id, &[&group.topic], &properties);
    java.wait_for_assignment(SOON, |owned| owned.len() == 6);
    let described = done(admin(group.kafka).describe_group(&*group.id)).unwrap();
    assert_eq!(
        (&described.state, described.protocol.as_deref()),
        (&GroupState::Stable, Some("range"))
    );
    let [member] = described.members.as_slice() else { panic!("{described:?}") };
    assert_eq!((member.name(), member.client_host.as_str()), ("java", "127.0.0.1"));
    let subscription = member.subscription.read().unwrap();
    assert_eq!(subscription.topics, [group.topic.as_str().into()]);
    assert_eq!(subscription.rack.as_deref(), Some("r-1"));
    assert_eq!((&subscription.words, &subscription.metadata), (&None, &None));
    let all: Partitions = (0..6).map(|number| (group.topic.as_str(), number)).collect();
    assert_eq!(member.partitions(), Some(&all));
}

#[test]
fn what_a_group_has_committed_is_told_with_its_ends_and_its_members() {
    let group = Group::new();
    let [ann, bob] = group.start(["ann", "bob"]);
    let anns = ann.now().unwrap().all;
    done(ann.handle().commit(offsets(&anns, 0))).unwrap();
    let admin = admin(group.kafka);
    assert_eq!(done(admin.committed(&*group.id)).unwrap(), offsets(&anns, 0));
    let lag = done(admin.lag(&*group.id)).unwrap();
    assert_eq!((lag.partitions.len(), lag.total()), (6, 0));
    for told in &lag.partitions {
        let is_anns = anns.iter().any(|partition| partition == told.partition);
        assert_eq!(told.end, Ok(0), "{told:?}");
        assert_eq!(told.lag(), is_anns.then_some(0), "{told:?}");
        assert_eq!(told.member.as_deref(), Some(if is_anns { "ann" } else { "bob" }));
    }
    bob.beats(1);
}

#[test]
fn a_group_of_another_type_is_listed_and_described() {
    let group = Group::new();
    foreign::join_as(&group.kafka.addresses(), &group.id, "worker");
    let admin = admin(group.kafka);
    let workers = ListOptions::default().protocol_types(["worker"]);
    let listed = done(admin.list_groups(workers)).unwrap();
    assert!(listed.groups.iter().any(|listed| listed.group_id == group.id), "{listed:?}");
    let described = done(admin.describe_group(&*group.id)).unwrap();
    assert_eq!(described.protocol_type, "worker");
    let [member] = described.members.as_slice() else { panic!("{described:?}") };
    assert!(member.subscription.read().is_none() && member.assignment == Content::Nothing);
    let entries = [MemberKey::MemberId(member.member_id.clone())];
    let removed = done(admin.remove_members(&*group.id, entries, RemoveOptions::default()));
    assert_eq!(removed.unwrap()[0].outcome, RemoveOutcome::Removed);
}

#[test]
fn whoever_may_not_is_told_what_is_needed() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let group = Group::new();
    for (operation, needed, api) in [
        (Operation::Read, "READ", ApiKey::LeaveGroup),
        (Operation::Describe, "DESCRIBE", ApiKey::FindCoordinator),
    ] {
        kafka.admin().deny(Resource::Group, &group.id, operation);
        let error = AdminError::NotAuthorized { group: group.id.clone(), api, needed };
        assert_eq!(group.remove(&["a"]), Err(error));
        kafka.admin().allow(Resource::Group, &group.id);
    }
}

#[test]
fn a_removal_goes_on_at_the_next_coordinator_when_the_first_is_killed() {
    let kafka = own_cluster!(Kafka::three());
    let (id, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 6, 3);
    let start = |instance: &str| {
        let fixed = member(kafka.bootstrap(), &id, &[&topic]).group_instance_id(instance);
        App::start(fixed.session_timeout(NEVER).max_poll_interval(NEVER))
    };
    let apps = ["stays", "one", "two"].map(start);
    settled(&apps.iter().collect::<Vec<_>>(), 6);
    let [stays, one, two] = apps;
    one.close();
    two.close();
    let admin = admin(&kafka);
    done(admin.describe_group(&*id)).unwrap();
    kafka.kill(kafka.admin().find_coordinator(&id));
    let entries = ["one", "two"].map(MemberKey::instance_id);
    let removed = done(admin.remove_members(&*id, entries, RemoveOptions::default())).unwrap();
    assert!(removed.iter().all(|removed| removed.outcome.is_removed()), "{removed:?}");
    stays.holds(6);
}
