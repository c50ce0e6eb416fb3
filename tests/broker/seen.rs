//! Groups as others see them: ours by Kafka's own tool, those of other clients by ours.

use kafka_group::GroupMemberBuilder;
use kafka_group::assign::StickyAssigner;

#[cfg(feature = "cli")]
use crate::common::JavaMember;
use crate::common::peers::consumer_groups;
use crate::common::{Kafka, unique};
#[cfg(feature = "cli")]
use crate::foreign;
use crate::harness::{App, plain, settled};
#[cfg(feature = "cli")]
use crate::harness::{SOON, member};

/// A topic of six partitions, and the name of a group.
fn names(kafka: &Kafka) -> (String, String) {
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 6, 1);
    (group, topic)
}

/// The tool's table without its head: the words of each row.
fn rows(table: &str) -> Vec<Vec<&str>> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    let rows = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.first() != Some(&"GROUP")).collect()
}

#[test]
fn kafkas_own_tool_reads_our_groups() {
    let kafka = Kafka::shared();
    let (group, topic) = names(kafka);
    let sticky = |instance: &str| -> GroupMemberBuilder {
        plain(kafka.bootstrap(), &group, &[&topic])
            .assigner(StickyAssigner::default())
            .group_instance_id(instance)
            .client_rack("r-1")
    };
    let apps = [App::start(sticky("ann")), App::start(sticky("bob"))];
    settled(&[&apps[0], &apps[1]], 6);

    let members = ["--describe", "--group", &group, "--members", "--verbose"];
    // Before Kafka 4, `topic(0,1)`.
    let table = consumer_groups(kafka.bootstrap(), &members).replace('(', ":").replace(')', "");
    let rows = rows(&table);
    for (app, name) in apps.iter().zip(["ann", "bob"]) {
        let id = app.status().member_id;
        let row = rows.iter().find(|row| row.contains(&name));
        let row = row.unwrap_or_else(|| panic!("no {name} in\n{table}"));
        assert!(row.contains(&id.as_str()) && row.contains(&"3"), "{table}");
        let held = app.now().unwrap().all;
        let numbers: Vec<String> = held.iter().map(|one| one.partition().to_string()).collect();
        // Kafka 3.9's tool leaves the topic out.
        let held = format!(":{}", numbers.join(","));
        assert!(row.iter().any(|cell| cell.ends_with(&held)), "{held} in\n{table}");
    }
    let state = ["--describe", "--group", &group, "--state"];
    let table = consumer_groups(kafka.bootstrap(), &state);
    assert!(table.contains("Stable") && table.contains("cooperative-sticky"), "{table}");
}

#[cfg(feature = "cli")]
#[test]
fn the_command_describes_groups_of_all_kinds_without_failing() {
    let kafka = Kafka::shared();
    let (ours, topic) = names(kafka);
    let app = App::start(member(kafka.bootstrap(), &ours, &[&topic]));
    app.holds(6);
    let (classic, new) = (unique("classic"), unique("new"));
    let java = |group: &str, protocol| {
        let properties = [("group.protocol", protocol)];
        let java = JavaMember::start(kafka.bootstrap(), group, &[&topic], &properties);
        java.wait_for_assignment(SOON, |owned| owned.len() == 6);
        java
    };
    let mut groups = vec![ours.as_str(), classic.as_str()];
    let _classic = java(&classic, "classic");
    let _new = kafka.admin().serves_new_protocol().then(|| {
        groups.push(&new);
        java(&new, "consumer")
    });
    let workers = unique("workers");
    foreign::join_as(&kafka.addresses(), &workers, "connect");
    groups.push(&workers);

    for format in ["table", "json"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kafka-group"));
        command.args(["describe", "--bootstrap-server", kafka.bootstrap(), "--format", format]);
        command.args(groups.iter().flat_map(|group| ["--group", group]));
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((err.as_str(), output.status.code()), ("", Some(0)), "{text}");
        for group in &groups {
            assert!(text.contains(group), "{text}");
        }
        assert!(text.contains("127.0.0.1"), "{text}");
    }
}
