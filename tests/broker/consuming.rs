//! Records through rdkafka: none lost, none twice without need, whoever restarts or dies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::{AutoOffsetReset, Consumer, ConsumerBuilder, Error, Record};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use tokio::task::JoinHandle;

use crate::common::{Kafka, own_cluster, unique};
use crate::harness::SOON;
use crate::victim::{Read, Victim};

/// A record's place in its topic.
type Place = (i32, i64);

fn consumer(bootstrap: &str, group: &str, topic: &str) -> ConsumerBuilder {
    Consumer::builder()
        .bootstrap_servers(bootstrap)
        .group_id(group)
        .subscribe([topic])
        .assigner(RangeAssigner::default())
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .auto_commit_interval(Duration::from_millis(200))
        .set("fetch.wait.max.ms", "50")
}

/// Writes so many records to a topic, to its partitions by turns; every one is acknowledged by all replicas.
pub(crate) async fn produce(bootstrap: &str, topic: &str, partitions: i32, records: usize) {
    let (bootstrap, topic) = (bootstrap.to_owned(), topic.to_owned());
    let produce = move || {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", bootstrap).set("enable.idempotence", "true");
        let producer: BaseProducer = config.create().expect("a producer");
        for (_, partition) in (0..records).zip((0..partitions).cycle()) {
            let mut record = BaseRecord::<(), str>::to(&topic).partition(partition).payload("book");
            while let Err((_, unsent)) = producer.send(record) {
                record = unsent;
                producer.poll(Duration::from_millis(10));
            }
        }
        producer.flush(SOON).expect("all written");
    };
    tokio::task::spawn_blocking(produce).await.expect("a producer that does not panic");
}

async fn next(consumer: &mut Consumer) -> Record {
    let next = tokio::time::timeout(SOON, consumer.recv()).await;
    next.expect("a record in time").expect("no error").expect("not the end")
}

fn place(record: &Record) -> Place {
    (record.partition(), record.offset())
}

/// How often each record was read, by whoever.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<BTreeMap<Place, usize>>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Place, usize>> {
        self.0.lock().expect("nobody panics with it")
    }

    fn add(&self, record: &Record) {
        *self.lock().entry(place(record)).or_default() += 1;
    }

    /// How many records were read.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// How many of them more than once.
    pub(crate) fn repeated(&self) -> usize {
        self.lock().values().filter(|times| **times > 1).count()
    }

    /// Waits until so many records were read.
    pub(crate) async fn reaches(&self, records: usize) {
        let reached = async {
            while self.lock().len() < records {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let in_time = tokio::time::timeout(2 * SOON, reached).await;
        in_time.unwrap_or_else(|_| panic!("{} of {records}", self.lock().len()));
    }
}

/// A member that reads and marks until the membership is asked to end.
pub(crate) fn read(mut consumer: Consumer, seen: Seen) -> JoinHandle<usize> {
    tokio::spawn(async move {
        while let Some(record) = consumer.recv().await.expect("no error") {
            seen.add(&record);
            consumer.mark_processed(&record);
        }
        consumer.close().await.expect("it was over already").len()
    })
}

#[tokio::test]
async fn what_was_committed_at_the_close_is_not_read_again() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 3, 1);
    produce(kafka.bootstrap(), &topic, 3, 300).await;

    let mut ann = consumer(kafka.bootstrap(), &group, &topic).join().await.unwrap();
    let mut first = BTreeSet::new();
    for _ in 0..200 {
        let record = next(&mut ann).await;
        first.insert(place(&record));
        ann.mark_processed(&record);
    }
    assert!(ann.close().await.unwrap().is_empty());

    let mut bob = consumer(kafka.bootstrap(), &group, &topic).join().await.unwrap();
    for _ in 0..100 {
        assert!(first.insert(place(&next(&mut bob).await)), "a record came twice");
    }
    // Bob marked nothing.
    bob.close().await.unwrap();
    let committed: i64 = kafka.admin().committed(&group).values().sum();
    assert_eq!(committed, 200);
}

#[tokio::test]
async fn with_automatic_marks_asking_for_the_next_record_marks_the_one_before() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 1, 1);
    produce(kafka.bootstrap(), &topic, 1, 10).await;

    let ann = consumer(kafka.bootstrap(), &group, &topic).enable_auto_commit(true);
    let mut ann = ann.join().await.unwrap();
    for _ in 0..5 {
        next(&mut ann).await;
    }
    ann.commit().await.unwrap();
    assert_eq!(kafka.admin().committed(&group)[&(topic.clone(), 0)], 4);
    ann.close().await.unwrap();
    assert_eq!(kafka.admin().committed(&group)[&(topic, 0)], 5);
}

#[tokio::test]
async fn a_partition_that_appears_later_is_read_from_its_start_even_under_latest() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 1, 1);
    produce(kafka.bootstrap(), &topic, 1, 5).await;

    let ann = consumer(kafka.bootstrap(), &group, &topic);
    let mut ann = ann.auto_offset_reset(AutoOffsetReset::Latest).join().await.unwrap();
    ann.handle().ready(SOON).await.unwrap();
    kafka.admin().add_partitions(&topic, 2);
    produce(kafka.bootstrap(), &topic, 2, 2).await;
    ann.handle().refresh_metadata().await.unwrap();
    loop {
        let record = next(&mut ann).await;
        assert_ne!(place(&record), (0, 0), "what was there before the join is not read");
        if place(&record) == (1, 0) {
            break;
        }
    }
    ann.close().await.unwrap();
}

#[tokio::test]
async fn without_a_reset_policy_a_partition_without_a_commit_is_told() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);

    let ann = consumer(kafka.bootstrap(), &group, &topic);
    let mut ann = ann.auto_offset_reset(AutoOffsetReset::None).join().await.unwrap();
    let told = tokio::time::timeout(SOON, ann.recv()).await.expect("told in time");
    let Err(Error::NoCommittedOffset(partitions)) = told else {
        panic!("{told:?}");
    };
    assert_eq!(partitions.len(), 2);
    ann.close().await.unwrap();
}

#[tokio::test]
async fn a_consumer_that_is_dropped_commits_and_leaves_in_the_background() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 1, 1);
    produce(kafka.bootstrap(), &topic, 1, 10).await;

    let ann = consumer(kafka.bootstrap(), &group, &topic);
    let mut ann = ann.auto_commit_interval(SOON).join().await.unwrap();
    for _ in 0..3 {
        let record = next(&mut ann).await;
        ann.mark_processed(&record);
    }
    drop(ann);
    let mut bob = consumer(kafka.bootstrap(), &group, &topic).join().await.unwrap();
    assert_eq!(next(&mut bob).await.offset(), 3);
    bob.close().await.unwrap();
}

#[tokio::test]
async fn three_static_members_lose_nothing_to_a_restart_and_a_dead_coordinator() {
    let kafka = own_cluster!(Kafka::three());
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 12, 3);
    let seen = Seen::default();
    let join = async |id: &str| {
        let member = consumer(kafka.bootstrap(), &group, &topic).group_instance_id(id);
        member.join().await.unwrap()
    };
    let mut members = Vec::new();
    for id in ["ann", "bob", "cleo"] {
        let member = join(id).await;
        members.push((member.handle(), read(member, seen.clone())));
    }
    produce(kafka.bootstrap(), &topic, 12, 40_000).await;
    seen.reaches(40_000).await;
    assert_eq!(seen.repeated(), 0);

    // One restarts while records come.
    let writing = {
        let (bootstrap, topic) = (kafka.bootstrap().to_owned(), topic.clone());
        tokio::spawn(async move { produce(&bootstrap, &topic, 12, 30_000).await })
    };
    let generation = members[0].0.group_metadata().generation;
    let (bob, reading) = members.remove(1);
    assert!(bob.close().await.unwrap().is_empty());
    assert_eq!(reading.await.unwrap(), 0, "the last commit was acknowledged");
    let bob = join("bob").await;
    members.push((bob.handle(), read(bob, seen.clone())));
    writing.await.unwrap();
    seen.reaches(70_000).await;
    assert_eq!(seen.repeated(), 0);
    for (member, _) in &members {
        assert_eq!(member.group_metadata().generation, generation);
    }

    // The coordinator dies while records come, and comes back.
    let coordinator = kafka.admin().find_coordinator(&group);
    let writing = {
        let (bootstrap, topic) = (kafka.bootstrap().to_owned(), topic.clone());
        tokio::spawn(async move { produce(&bootstrap, &topic, 12, 30_000).await })
    };
    kafka.kill(coordinator);
    writing.await.unwrap();
    seen.reaches(100_000).await;
    kafka.restart(coordinator);
    for (member, reading) in members {
        member.close().await.unwrap();
        assert_eq!(reading.await.unwrap(), 0);
    }
    assert_eq!(seen.lock().len(), 100_000);
    let committed: i64 = kafka.admin().committed(&group).values().sum();
    assert_eq!(committed, 100_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_records_come_again_only_from_the_last_commit_on() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 4, 1);
    produce(kafka.bootstrap(), &topic, 4, 4000).await;

    let properties = [
        ("bootstrap.servers", kafka.bootstrap()),
        ("group.id", &group),
        ("group.instance.id", "ann"),
    ];
    let victim = Victim::start(&topic, &properties);
    let mut before: Vec<Read> = (0..1500).map(|_| victim.next()).collect();
    before.extend(victim.kill());
    let committed = kafka.admin().committed(&group);

    let ann = consumer(kafka.bootstrap(), &group, &topic).group_instance_id("ann");
    let mut ann = ann.join().await.unwrap();
    let generation = before[0].generation;
    let before: BTreeSet<Place> = before.iter().map(|read| (read.partition, read.offset)).collect();
    let mut expected = BTreeSet::new();
    for partition in 0..4 {
        let next = committed.get(&(topic.clone(), partition)).copied().unwrap_or_default();
        assert!((0..next).all(|offset| before.contains(&(partition, offset))));
        expected.extend((next..1000).map(|offset| (partition, offset)));
    }
    let mut after = BTreeSet::new();
    for _ in 0..expected.len() {
        after.insert(place(&next(&mut ann).await));
    }
    assert_eq!(after, expected);
    assert_eq!(ann.handle().group_metadata().generation.0, generation);
    ann.leave().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_was_paused_for_longer_than_its_session_hands_out_nothing_that_it_lost() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 4, 1);
    produce(kafka.bootstrap(), &topic, 4, 8000).await;

    let properties = [
        ("bootstrap.servers", kafka.bootstrap()),
        ("group.id", &group),
        ("session.timeout.ms", "6000"),
    ];
    let victim = Victim::start(&topic, &properties);
    let first = victim.next();
    for _ in 0..300 {
        victim.next();
    }
    victim.pause();

    // Its session ends, and somebody else has everything, and reads nothing of it.
    let ann = consumer(kafka.bootstrap(), &group, &topic).join().await.unwrap();
    let mut status = ann.handle().status();
    let all = status.wait_for(|status| status.assignment.len() == 4);
    tokio::time::timeout(SOON, all).await.expect("in time").unwrap();
    victim.reads();
    victim.resume();

    // It may have had one record in its hands.
    let again = std::iter::repeat_with(|| victim.next());
    let late = again.take_while(|read| read.generation == first.generation).count();
    assert!(late <= 1, "{late} records were handed out after their partitions were lost");
    drop(ann);
}
