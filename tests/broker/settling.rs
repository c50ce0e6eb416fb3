//! Many members that start together.

use std::time::Duration;

use kafka_group::client::{Client, ClientOptions};

use crate::common::{Kafka, unique};
use crate::harness::{App, member, settled};

const MEMBERS: usize = 40;

#[test]
fn forty_members_that_start_together_cost_a_few_rounds_where_the_leader_waits_for_them() {
    let (kafka, group, topic) = (Kafka::shared(), unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, MEMBERS as i32, 1);
    let clients: Vec<Client> =
        (0..4).map(|_| Client::new(ClientOptions::new(kafka.bootstrap())).unwrap()).collect();
    let start = |client: &Client| {
        let member = member("", &group, &[&topic]).client(client.clone());
        App::start(member.settle_delay(Duration::from_secs(2)))
    };
    let apps: Vec<App> = clients.iter().cycle().take(MEMBERS).map(start).collect();
    let all: Vec<&App> = apps.iter().collect();
    let generation = settled(&all, MEMBERS);
    assert!(generation.0 <= 5, "{generation}");
}
