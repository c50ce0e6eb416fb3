//! The command on a real cluster: plans for groups that live, and groups that are watched.

use std::process::Command;
use std::time::Duration;

use kafka_group::GroupMemberBuilder;
use kafka_group::assign::StickyAssigner;

use crate::common::{JavaMember, Kafka, own_cluster, unique};
use crate::harness::{App, SOON, plain, settled};
use crate::watching::Watching;

/// A group on a topic of six partitions.
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
        plain(self.kafka.bootstrap(), &self.id, &[&self.topic])
            .assigner(StickyAssigner::default())
            .group_instance_id(instance)
    }

    /// What the command prints, how it ends, and what it complains of.
    fn run(&self, args: &[&str]) -> (String, Option<i32>, String) {
        let output = command(self.kafka.bootstrap(), &self.id, args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), output.status.code(), text(output.stderr))
    }
}

fn command(bootstrap: &str, group: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
    let (name, rest) = args.split_first().unwrap();
    command.args([name, "--bootstrap-server", bootstrap, "--group", group]).args(rest);
    command
}

/// The words of a line that begins with this name.
fn row<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.into_iter().find(|row| row.first() == Some(&name)).unwrap_or_default()
}

#[test]
fn a_plan_says_what_the_group_then_does() {
    let group = Group::new();
    let apps = ["a", "b"].map(|instance| App::start(group.member(instance)));
    settled(&apps.iter().collect::<Vec<_>>(), 6);

    let (said, code, err) = group.run(&["plan", "--with", "c"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(said.contains("3 members, 6 partitions of 1 topic, planned by cooperative-sticky"));
    assert_eq!(row(&said, "c")[..5], ["c", "-", "0", "2", "2"], "{said}");
    assert!(said.contains("rounds     2: 2 are given up"), "{said}");

    let third = App::start(group.member("c"));
    settled(&[&apps[0], &apps[1], &third], 6);
    let (now, code, _) = group.run(&["plan", "--format", "json"]);
    let now: serde_json::Value = serde_json::from_str(&now).unwrap();
    assert_eq!((code, &now["moves"], &now["unassigned"]), (Some(0), &0.into(), &0.into()));

    // The partitions that were planned for it are those that it has.
    let planned = row(&said, "c").pop().unwrap().to_owned();
    let (described, _, _) = group.run(&["describe"]);
    assert!(described.lines().any(|line| line.starts_with("c ") && line.ends_with(&planned)));

    let (without, code, _) = group.run(&["plan", "--without", "a"]);
    assert_eq!(code, Some(0));
    assert!(without.contains("a leaves"), "{without}");
    assert!(without.contains("2 were of members that leave"), "{without}");
}

#[test]
fn a_group_of_java_consumers_is_planned_for() {
    let group = Group::new();
    let properties = [("group.instance.id", "java"), ("client.rack", "r-1")];
    let bootstrap = group.kafka.bootstrap();
    let java = JavaMember::start(bootstrap, &group.id, &[&group.topic], &properties);
    java.wait_for_assignment(SOON, |owned| owned.len() == 6);
    let (said, code, err) = group.run(&["plan", "--with", "other"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{said}");
    assert!(said.contains("planned by range in "), "{said}");
    assert_eq!(row(&said, "java")[..4], ["java", "r-1", "6", "3"], "{said}");
    let (said, code, _) = group.run(&["plan", "--assigner", "sticky", "--with", "other"]);
    assert_eq!(code, Some(0));
    assert!(said.contains("the group itself plans by range\n"), "{said}");
}

#[test]
fn whoever_may_not_plan_for_a_group_is_told_what_is_needed() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let group = Group::new();
    let app = App::start(group.member("a"));
    app.holds(6);
    for name in ["plan", "watch"] {
        use crate::common::kafka::{Operation, Resource};

        kafka.admin().deny(Resource::Group, &group.id, Operation::Describe);
        let count: &[&str] = if name == "watch" { &["watch", "--count", "1"] } else { &["plan"] };
        let (said, code, err) = group.run(count);
        assert_eq!(code, Some(3), "{said}{err}");
        assert!(format!("{said}{err}").contains("DESCRIBE on group"), "{said}{err}");
        kafka.admin().allow(Resource::Group, &group.id);
    }
}

fn watching(bootstrap: &str, group: &str) -> Watching {
    let command = command(bootstrap, group, &["watch", "--interval", "0.2"]);
    Watching::start(command, SOON.max(Duration::from_secs(90)))
}

#[test]
fn a_group_is_watched_while_members_come_and_go() {
    let group = Group::new();
    let first = App::start(group.member("a"));
    first.holds(6);
    let watching = watching(group.kafka.bootstrap(), &group.id);
    watching.until("Stable, assigner cooperative-sticky, generation ");
    watching.until(&format!("a has {} 0-5", group.topic));
    let second = App::start(group.member("b"));
    watching.until("b came, at 127.0.0.1");
    watching.until(&format!("b got {} ", group.topic));
    settled(&[&first, &second], 6);
    let removal = ["remove-members", "--instance-ids", "b", "--yes"];
    second.close();
    assert_eq!(group.run(&removal).1, Some(0));
    watching.until("b is gone");
    watching.until(&format!("a got {} ", group.topic));
}

#[test]
fn a_cluster_whose_nodes_go_and_come_back_is_watched_on() {
    let three = own_cluster!(Kafka::three());
    let (id, topic) = (unique("group"), unique("topic"));
    three.admin().create_topic(&topic, 3, 3);
    let member = plain(three.bootstrap(), &id, &[&topic]).assigner(StickyAssigner::default());
    let app = App::start(member.group_instance_id("a"));
    app.holds(3);
    let watching = watching(three.bootstrap(), &id);
    watching.until("a has ");
    let nodes = [1, 2, 3];
    nodes.iter().for_each(|node| three.pause(*node));
    watching.until("not seen: ");
    nodes.iter().for_each(|node| three.resume(*node));
    watching.until("seen again after ");
}
