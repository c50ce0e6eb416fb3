//! A Java consumer, a librdkafka consumer and members of ours in one group on cooperative-sticky, coming and going while
//! records come: none is lost, and none is processed by two of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use kafka_group::assign::StickyAssigner;
use kafka_group::{AutoOffsetReset, Consumer, MemberHandle};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use tokio::task::JoinHandle;

use crate::common::peers::{JavaEvent, Partitions, assignor};
use crate::common::wait::eventually;
use crate::common::{JavaMember, Kafka, unique};
use crate::harness::{SOON, done, spawn};
use crate::librdkafka::{Peer, RdMember, share};

const PARTITIONS: i32 = 12;

/// Partition and offset.
type Place = (i32, i64);

struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

impl Group {
    fn new() -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, PARTITIONS, 1);
        group
    }

    fn ours(&self) -> Ours {
        Ours::start(self)
    }

    fn librdkafka(&self) -> RdMember {
        RdMember::start(self.kafka.bootstrap(), &self.id, &self.topic, "cooperative-sticky")
    }

    fn java(&self) -> JavaMember {
        let properties = [
            ("partition.assignment.strategy", assignor::COOPERATIVE_STICKY),
            ("session.timeout.ms", "6000"),
            ("heartbeat.interval.ms", "300"),
            ("enable.auto.commit", "false"),
        ];
        JavaMember::start(self.kafka.bootstrap(), &self.id, &[&self.topic], &properties)
    }

    fn share(&self, peers: &[&dyn Peer]) {
        share(self.kafka, &self.id, peers, PARTITIONS as usize, "cooperative-sticky");
    }
}

/// A member of ours that reads and marks.
struct Ours {
    handle: MemberHandle,
    reads: Arc<Mutex<Vec<Place>>>,
    reading: JoinHandle<()>,
}

impl Ours {
    fn start(group: &Group) -> Self {
        let consumer = Consumer::builder()
            .bootstrap_servers(group.kafka.bootstrap())
            .group_id(&group.id)
            .subscribe([&group.topic])
            .assigner(StickyAssigner::default())
            .auto_offset_reset(AutoOffsetReset::Earliest)
            .set("fetch.wait.max.ms", "50");
        let consumer = done(consumer.join()).unwrap();
        let (handle, reads) = (consumer.handle(), Arc::default());
        let reading = spawn(read(consumer, Arc::clone(&reads)));
        Self { handle, reads, reading }
    }

    fn leads(&self) -> bool {
        self.handle.status().borrow().is_leader
    }

    fn leave(self) -> Vec<Place> {
        done(self.handle.leave()).unwrap();
        done(self.reading).unwrap();
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

async fn read(mut consumer: Consumer, reads: Arc<Mutex<Vec<Place>>>) {
    while let Some(record) = consumer.recv().await.unwrap() {
        reads.lock().unwrap().push((record.partition(), record.offset()));
        consumer.mark_processed(&record);
    }
    consumer.close().await.unwrap();
}

impl Peer for Ours {
    fn owned(&self) -> Partitions {
        let held = self.handle.status().borrow().assignment.clone();
        held.iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
    }
}

/// What has been read so far by members of whatever client.
trait Reads {
    fn reads(&self) -> Vec<Place>;
}

impl Reads for Ours {
    fn reads(&self) -> Vec<Place> {
        self.reads.lock().unwrap().clone()
    }
}

impl Reads for RdMember {
    fn reads(&self) -> Vec<Place> {
        self.read()
    }
}

impl Reads for JavaMember {
    fn reads(&self) -> Vec<Place> {
        let records = self.events().into_iter().filter_map(|event| match event {
            JavaEvent::Records(_, records) => Some(records),
            _ => None,
        });
        records.flatten().map(|(_, partition, offset, _)| (partition, offset)).collect()
    }
}

/// Writes to all partitions, a thousand records a second, until it is asked how many they were.
struct Writer {
    ends: Arc<AtomicBool>,
    writing: thread::JoinHandle<i64>,
}

impl Writer {
    fn start(group: &Group) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", group.kafka.bootstrap()).set("enable.idempotence", "true");
        let producer: BaseProducer = config.create().unwrap();
        let writing = thread::spawn({
            let (ends, topic) = (Arc::clone(&ends), group.topic.clone());
            move || {
                let mut written = 0;
                while !ends.load(Ordering::Relaxed) {
                    for partition in 0..PARTITIONS {
                        let record = BaseRecord::<(), str>::to(&topic).partition(partition);
                        producer.send(record.payload("book")).map_err(|(error, _)| error).unwrap();
                    }
                    written += 1;
                    producer.poll(Duration::from_millis(12));
                }
                producer.flush(SOON).unwrap();
                written
            }
        });
        Self { ends, writing }
    }

    /// How many records each partition has.
    fn end(self) -> i64 {
        self.ends.store(true, Ordering::Relaxed);
        self.writing.join().unwrap()
    }
}

/// Waits until every record was read, and checks that none was read twice.
fn check(written: i64, gone: &[Vec<Place>], still: &[&dyn Reads]) {
    let mut times = BTreeMap::new();
    eventually(SOON, "every record is read", || {
        let reads = still.iter().map(|member| member.reads());
        times.clear();
        for place in reads.chain(gone.iter().cloned()).flatten() {
            *times.entry(place).or_insert(0) += 1;
        }
        (times.len() as i64 >= written * i64::from(PARTITIONS)).then_some(())
    });
    assert_eq!(times.len() as i64, written * i64::from(PARTITIONS), "some that nobody wrote");
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "read twice: {twice:?}");
}

#[test]
fn no_record_is_lost_or_read_twice_where_we_lead() {
    let group = Group::new();
    let writer = Writer::start(&group);
    let ours = group.ours();
    group.share(&[&ours]);
    let rd = group.librdkafka();
    group.share(&[&ours, &rd]);
    let java = group.java();
    group.share(&[&ours, &rd, &java]);
    let more = group.ours();
    group.share(&[&ours, &rd, &java, &more]);
    let mut gone = vec![more.leave()];
    group.share(&[&ours, &rd, &java]);
    gone.push(rd.leave());
    group.share(&[&ours, &java]);
    let rd = group.librdkafka();
    group.share(&[&ours, &java, &rd]);
    assert!(ours.leads());
    check(writer.end(), &gone, &[&ours, &java, &rd]);
}

#[test]
fn no_record_is_lost_or_read_twice_where_java_leads() {
    let group = Group::new();
    let writer = Writer::start(&group);
    let java = group.java();
    group.share(&[&java]);
    let ours = group.ours();
    group.share(&[&java, &ours]);
    let rd = group.librdkafka();
    group.share(&[&java, &ours, &rd]);
    let more = group.ours();
    group.share(&[&java, &ours, &rd, &more]);
    let mut gone = vec![ours.leave()];
    group.share(&[&java, &rd, &more]);
    gone.push(rd.leave());
    group.share(&[&java, &more]);
    let ours = group.ours();
    group.share(&[&java, &more, &ours]);
    assert!(!ours.leads() && !more.leads());
    check(writer.end(), &gone, &[&java, &more, &ours]);
}

#[test]
fn no_record_is_lost_or_read_twice_where_librdkafka_leads() {
    let group = Group::new();
    let writer = Writer::start(&group);
    let rd = group.librdkafka();
    group.share(&[&rd]);
    let ours = group.ours();
    group.share(&[&rd, &ours]);
    let java = group.java();
    group.share(&[&rd, &ours, &java]);
    let more = group.ours();
    group.share(&[&rd, &ours, &java, &more]);
    let gone = [more.leave(), ours.leave()];
    group.share(&[&rd, &java]);
    let ours = group.ours();
    group.share(&[&rd, &java, &ours]);
    assert!(!ours.leads());
    check(writer.end(), &gone, &[&rd, &java, &ours]);
}
