//! Offsets are reset and forgotten, groups deleted, on a real broker and beside Kafka's own tool.

use kafka_group::ApiKey;
use kafka_group::admin::{
    Adjusted, Admin, AdminError, OffsetResetOptions, OffsetResetPlan, OffsetSelection, ResetTo,
};
use kafka_group::client::{ClientOptions, ErrorCode};
use kafka_group::types::TopicPartition;

use crate::common::kafka::{Operation, Resource};
use crate::common::{JavaMember, Kafka, own_cluster, unique};
use crate::harness::{App, SOON, done, member, offsets};

/// A group that has committed 0 in each of six partitions, and that nobody is in.
struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

impl Group {
    fn new() -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, 6, 1);
        let app = group.member();
        let held = app.holds(6).all;
        done(app.handle().commit(offsets(&held, 0))).unwrap();
        app.leave();
        group
    }

    fn member(&self) -> App {
        App::start(member(self.kafka.bootstrap(), &self.id, &[&self.topic]))
    }

    fn admin(&self) -> Admin {
        done(Admin::connect(ClientOptions::new(self.kafka.bootstrap()))).unwrap()
    }

    fn partition(&self, number: i32) -> TopicPartition {
        TopicPartition::new(self.topic.as_str(), number)
    }

    fn plan(&self, to: ResetTo) -> OffsetResetPlan {
        let admin = self.admin();
        let which = OffsetSelection::all();
        let planned = admin.plan_offset_reset(&*self.id, which, to, OffsetResetOptions::default());
        done(planned).unwrap()
    }

    fn committed(&self) -> Vec<i64> {
        self.kafka.admin().committed(&self.id).into_values().collect()
    }

    fn delete(&self) -> Result<(), AdminError> {
        done(self.admin().delete_groups([&*self.id])).remove(0).1
    }
}

#[test]
fn offsets_of_a_group_that_nobody_is_in_are_reset() {
    let group = Group::new();
    // There are no records, so everything is at 0.
    for to in [
        ResetTo::Earliest,
        ResetTo::Latest,
        ResetTo::Current,
        ResetTo::Ago(std::time::Duration::from_secs(60)),
        ResetTo::Offset(7),
        ResetTo::ShiftBy(-3),
    ] {
        let plan = group.plan(to.clone());
        let adjusted = plan.partitions[0].adjusted;
        let expected = match to {
            ResetTo::Ago(_) => Some(Adjusted::NoLaterRecord),
            ResetTo::Offset(asked) => Some(Adjusted::BehindTheEnd(asked)),
            ResetTo::ShiftBy(asked) => Some(Adjusted::BeforeTheStart(asked)),
            _ => None,
        };
        assert_eq!((plan.partitions.len(), adjusted), (6, expected), "{to:?}");
        let done = done(group.admin().reset_offsets(&plan)).unwrap();
        assert!(done.iter().all(|(_, became)| *became == Ok(0)), "{done:?}");
    }
    assert_eq!(group.committed(), [0; 6]);
}

#[test]
fn a_group_with_members_is_neither_reset_nor_deleted_and_says_who_is_in_it() {
    let group = Group::new();
    let app = group.member();
    app.holds(6);
    let plan = group.plan(ResetTo::Latest);
    let name = app.status().member_id.to_string();
    assert_eq!(plan.members[0].name, name);
    let not_empty = AdminError::NotEmpty { group: group.id.clone(), members: plan.members.clone() };
    assert_eq!(done(group.admin().reset_offsets(&plan)), Err(not_empty.clone()));
    assert_eq!(group.delete(), Err(not_empty));
    let subscribed = Err(ErrorCode::GroupSubscribedToTopic);
    let deleted = done(group.admin().delete_offsets(&*group.id, [group.partition(0)])).unwrap();
    assert_eq!(deleted, [(group.partition(0), subscribed)]);
    assert_eq!(group.committed().len(), 6);
}

#[test]
fn offsets_are_forgotten_and_then_the_group_is() {
    let group = Group::new();
    let named = [group.partition(1), group.partition(2), group.partition(99)];
    let deleted = done(group.admin().delete_offsets(&*group.id, named.clone())).unwrap();
    let [one, two, unknown] = named;
    let nowhere = Err(ErrorCode::UnknownTopicOrPartition);
    assert_eq!(deleted, [(one, Ok(())), (two, Ok(())), (unknown, nowhere)]);
    assert_eq!(group.committed().len(), 4);
    assert_eq!(group.delete(), Ok(()));
    assert_eq!(group.committed().len(), 0);
    assert_eq!(group.delete(), Err(AdminError::NoSuchGroup(group.id.clone())));
    let gone = done(group.admin().delete_offsets(&*group.id, [group.partition(0)]));
    assert_eq!(gone, Err(AdminError::NoSuchGroup(group.id.clone())));
}

#[test]
fn a_group_of_the_new_protocol_is_reset_and_deleted_when_nobody_is_in_it() {
    let group = Group::new();
    let kafka = group.kafka;
    if !kafka.admin().serves_new_protocol() {
        return;
    }
    let id = unique("new");
    let properties = [("group.protocol", "consumer"), ("group.instance.id", "java")];
    let java = JavaMember::start(kafka.bootstrap(), &id, &[&group.topic], &properties);
    java.wait_for_assignment(SOON, |owned| owned.len() == 6);
    let which = || OffsetSelection::all().topic(group.topic.as_str());
    let how = OffsetResetOptions::default;
    let admin = group.admin();
    let plan = done(admin.plan_offset_reset(&*id, which(), ResetTo::Earliest, how())).unwrap();
    let error = done(admin.reset_offsets(&plan)).unwrap_err();
    let AdminError::NotEmpty { members, .. } = &error else { panic!("{error}") };
    assert_eq!(members[0].name, "java");
    let error = done(admin.delete_groups([&*id])).remove(0).1.unwrap_err();
    assert!(matches!(error, AdminError::NotEmpty { .. }), "{error}");
}

#[test]
fn whoever_may_not_is_told_what_is_needed() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let group = Group::new();
    let plan = group.plan(ResetTo::Latest);
    let refused = |operation, api, needed| {
        kafka.admin().deny(Resource::Group, &group.id, operation);
        let error = AdminError::NotAuthorized { group: group.id.clone(), api, needed };
        let outcome = match api {
            ApiKey::OffsetCommit => done(group.admin().reset_offsets(&plan)).map(drop),
            ApiKey::OffsetDelete => {
                done(group.admin().delete_offsets(&*group.id, [group.partition(0)])).map(drop)
            }
            _ => group.delete(),
        };
        assert_eq!(outcome, Err(error), "{api:?}");
        kafka.admin().allow(Resource::Group, &group.id);
    };
    refused(Operation::Read, ApiKey::OffsetCommit, "READ");
    refused(Operation::Delete, ApiKey::OffsetDelete, "DELETE");
    refused(Operation::Delete, ApiKey::DeleteGroups, "DELETE");
    assert_eq!(group.committed(), [0; 6]);
}

#[cfg(feature = "cli")]
mod with_kafkas_own_tool {
    use std::process::Command;

    use super::*;
    use crate::common::peers::consumer_groups;

    fn run(group: &Group, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
        command.args(["reset-offsets", "--bootstrap-server", group.kafka.bootstrap()]);
        let output = command.args(["--group", &group.id]).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn what_one_exports_the_other_reads() {
        let group = Group::new();
        let file = std::env::temp_dir().join(unique("offsets"));
        let path = file.to_str().unwrap();
        let scope = ["--all-topics", "--to-current", "--export"];
        let ours = run(&group, &scope);
        let tool = ["--reset-offsets", "--group", &group.id, "--dry-run"];
        let theirs = consumer_groups(group.kafka.bootstrap(), &[&tool[..], &scope].concat());
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text
                .lines()
                .filter(|line| !line.is_empty())
                .map(|line| line.replace('"', ""))
                .collect();
            lines.sort();
            lines
        };
        assert_eq!((sorted(&ours), ours.lines().count()), (sorted(&theirs), 6), "{theirs}");

        std::fs::write(&file, &theirs).unwrap();
        assert_eq!(run(&group, &["--from-file", path, "--export"]), ours);
        std::fs::write(&file, &ours).unwrap();
        let read = [&tool[..], &["--from-file", path]].concat();
        let told = consumer_groups(group.kafka.bootstrap(), &read);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(told.matches(group.topic.as_str()).count(), 6, "{told}");
    }
}
