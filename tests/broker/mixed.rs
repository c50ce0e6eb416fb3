//! A Java consumer, a librdkafka consumer and a member of ours in one group: on range, then on roundrobin, whoever leads.

use kafka_group::assign::{RangeAssigner, RoundRobinAssigner};

use crate::common::peers::assignor;
use crate::common::{JavaMember, Kafka, unique};
use crate::harness::{App, plain};
use crate::librdkafka::{RdMember, share};

struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

/// Each lists both assigners, range first.
impl Group {
    fn new() -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, 8, 1);
        group
    }

    fn ours(&self) -> App {
        let builder = plain(self.kafka.bootstrap(), &self.id, &[&self.topic]);
        App::start(
            builder.assigner(RangeAssigner::default()).assigner(RoundRobinAssigner::default()),
        )
    }

    /// Whose coming moves the group: roundrobin is all it knows.
    fn on_roundrobin(&self) -> App {
        let builder = plain(self.kafka.bootstrap(), &self.id, &[&self.topic]);
        App::start(builder.assigner(RoundRobinAssigner::default()))
    }

    fn librdkafka(&self) -> RdMember {
        RdMember::start(self.kafka.bootstrap(), &self.id, &self.topic, "range,roundrobin")
    }

    fn java(&self) -> JavaMember {
        let both = format!("{},{}", assignor::RANGE, assignor::ROUND_ROBIN);
        let properties = [
            ("partition.assignment.strategy", both.as_str()),
            ("session.timeout.ms", "6000"),
            ("heartbeat.interval.ms", "300"),
        ];
        JavaMember::start(self.kafka.bootstrap(), &self.id, &[&self.topic], &properties)
    }

    fn share(&self, peers: &[&dyn crate::librdkafka::Peer], protocol: &str) {
        share(self.kafka, &self.id, peers, 8, protocol);
    }
}

#[test]
fn a_mixed_group_settles_where_we_lead() {
    let group = Group::new();
    let ours = group.ours();
    group.share(&[&ours], "range");
    let rd = group.librdkafka();
    group.share(&[&ours, &rd], "range");
    let java = group.java();
    group.share(&[&ours, &rd, &java], "range");
    let more = group.on_roundrobin();
    group.share(&[&ours, &rd, &java, &more], "roundrobin");
    assert!(ours.status().is_leader);
    more.leave();
    group.share(&[&ours, &rd, &java], "range");
}

#[test]
fn a_mixed_group_settles_where_java_leads() {
    let group = Group::new();
    let java = group.java();
    group.share(&[&java], "range");
    let rd = group.librdkafka();
    group.share(&[&java, &rd], "range");
    let ours = group.ours();
    group.share(&[&java, &rd, &ours], "range");
    let more = group.on_roundrobin();
    group.share(&[&java, &rd, &ours, &more], "roundrobin");
    assert!(!ours.status().is_leader && !more.status().is_leader);
}

#[test]
fn a_mixed_group_settles_where_librdkafka_leads() {
    let group = Group::new();
    let rd = group.librdkafka();
    group.share(&[&rd], "range");
    let ours = group.ours();
    group.share(&[&rd, &ours], "range");
    let java = group.java();
    group.share(&[&rd, &ours, &java], "range");
    let more = group.on_roundrobin();
    group.share(&[&rd, &ours, &java, &more], "roundrobin");
    assert!(!ours.status().is_leader && !more.status().is_leader);
}
