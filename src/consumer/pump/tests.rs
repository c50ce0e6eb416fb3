//! The pump on librdkafka's mock cluster.

use std::sync::Arc;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, BaseRecord, DefaultProducerContext, Producer as _};
use tokio::time::{Instant, timeout};

use super::*;
use crate::consumer::hand_over::Next;
use crate::consumer::ledger::Epoch;
use crate::consumer::queue::Limits;
use crate::consumer::record::Record;

/// Long enough for anything that works.
const PATIENCE: Duration = Duration::from_secs(20);

struct Fixture {
    cluster: MockCluster<'static, DefaultProducerContext>,
    pump: Pump,
    hand_over: Arc<HandOver>,
}

impl Fixture {
    async fn new(limits: Limits) -> Self {
        let cluster = MockCluster::new(1).unwrap();
        let signal = Arc::new(Signal::default());
        let hand_over = Arc::new(HandOver::new(limits, Arc::clone(&signal)));
        let pump =
            Pump::start(config(&cluster), None, Arc::clone(&hand_over), signal).await.unwrap();
        Self { cluster, pump, hand_over }
    }

    fn config(&self) -> ClientConfig {
        config(&self.cluster)
    }

    /// A topic of so many partitions, each with so many records that say their offset.
    async fn topic(&self, name: &'static str, partitions: i32, records: i64) {
        self.cluster.create_topic(name, partitions, 1).unwrap();
        let servers = self.cluster.bootstrap_servers();
        let produce = move || {
            let mut config = ClientConfig::new();
            let producer: BaseProducer = config.set("bootstrap.servers", servers).create().unwrap();
            for partition in 0..partitions {
                for offset in 0..records {
                    let value = offset.to_string();
                    let record = BaseRecord::<(), _>::to(name).partition(partition).payload(&value);
                    producer.send(record).unwrap();
                }
            }
            producer.flush(PATIENCE).unwrap();
        };
        tokio::task::spawn_blocking(produce).await.unwrap();
    }

    /// Owns a partition from here on, and reads it from this offset.
    fn own(&self, partition: &TopicPartition, offset: i64) -> Epoch {
        let owned = [partition.clone()].into_iter().collect();
        let (at, epoch) = self.hand_over.open(&owned).remove(0);
        self.pump.assign([(at, Start { epoch, offset })]);
        epoch
    }

    /// Gives a partition up.
    fn disown(&self, partition: &TopicPartition) {
        let gone = [partition.clone()].into_iter().collect();
        self.hand_over.forget(&gone);
        self.pump.unassign(&gone);
    }

    async fn next(&self) -> Record {
        let waiting = async {
            loop {
                let arrived = self.hand_over.arrived();
                match self.hand_over.take(|| true) {
                    Next::Record(record) => return record,
                    Next::Nothing => arrived.await,
                    other => panic!("{other:?}"),
                }
            }
        };
        timeout(PATIENCE, waiting).await.unwrap()
    }

    async fn offsets(&self, count: usize) -> Vec<i64> {
        let mut offsets = Vec::new();
        while offsets.len() < count {
            offsets.push(self.next().await.offset());
        }
        offsets
    }
}

/// librdkafka takes a new partition along with its next fetch, so fetches are kept short.
fn config(cluster: &MockCluster<'_, DefaultProducerContext>) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", cluster.bootstrap_servers())
        .set("group.id", "readers")
        .set("fetch.wait.max.ms", "10");
    config
}

fn orders(partition: i32) -> TopicPartition {
    TopicPartition::new("orders", partition)
}

#[tokio::test]
async fn a_partition_is_read_from_the_offset_that_it_is_assigned_at() {
    let fixture = Fixture::new(Limits::default()).await;
    fixture.topic("orders", 1, 10).await;
    let epoch = fixture.own(&orders(0), 7);
    let record = fixture.next().await;
    assert_eq!((record.offset(), record.place.epoch), (7, epoch));
    assert_eq!(record.value().map(|value| &value[..]), Some(&b"7"[..]));
    assert_eq!(fixture.offsets(2).await, [8, 9]);
}

#[tokio::test]
async fn nothing_of_an_earlier_ownership_comes_out_and_the_next_starts_where_it_is_told() {
    let fixture = Fixture::new(Limits::default()).await;
    fixture.topic("orders", 2, 50).await;
    for _ in 0..20 {
        fixture.own(&orders(0), 0);
        assert_eq!(fixture.next().await.offset(), 0);
        fixture.disown(&orders(0));
        let epoch = fixture.own(&orders(0), 40);
        let record = fixture.next().await;
        assert_eq!((record.offset(), record.place.epoch), (40, epoch));
        fixture.disown(&orders(0));
    }
}

#[tokio::test]
async fn a_full_queue_loses_nothing() {
    let fixture = Fixture::new(Limits { records: 3, bytes: usize::MAX }).await;
    fixture.topic("orders", 1, 100).await;
    fixture.own(&orders(0), 0);
    assert_eq!(fixture.offsets(100).await, (0..100).collect::<Vec<_>>());
}

#[tokio::test]
async fn other_partitions_go_on_where_one_is_given_up() {
    let fixture = Fixture::new(Limits::default()).await;
    fixture.topic("orders", 2, 20).await;
    fixture.own(&orders(0), 0);
    assert_eq!(fixture.offsets(20).await.len(), 20);
    fixture.own(&orders(1), 15);
    assert_eq!(fixture.offsets(5).await, [15, 16, 17, 18, 19]);
    fixture.disown(&orders(1));
    let mut producer = ClientConfig::new();
    producer.set("bootstrap.servers", fixture.cluster.bootstrap_servers());
    tokio::task::spawn_blocking(move || {
        let producer: BaseProducer = producer.create().unwrap();
        for partition in [1, 0] {
            producer
                .send(BaseRecord::<(), _>::to("orders").partition(partition).payload("20"))
                .unwrap();
        }
        producer.flush(PATIENCE).unwrap();
    })
    .await
    .unwrap();
    let record = fixture.next().await;
    assert_eq!((record.partition(), record.offset()), (0, 20));
}

#[tokio::test]
async fn a_refused_step_is_put_right_by_assigning_everything_anew() {
    let fixture = Fixture::new(Limits::default()).await;
    fixture.topic("orders", 1, 5).await;
    let owned = [orders(0)].into_iter().collect();
    let (at, epoch) = fixture.hand_over.open(&owned).remove(0);
    let (hand_over, config) = (Arc::clone(&fixture.hand_over), fixture.config());
    let (plan, signal) = (Arc::new(Plan::default()), Arc::new(Signal::default()));
    let (its_plan, its_signal) = (Arc::clone(&plan), Arc::clone(&signal));
    let deny = mpsc::channel(1).0;
    let mut thread = PumpThread::new(&config, None, its_plan, hand_over, its_signal, deny).unwrap();
    // librdkafka refuses to stop what it does not read.
    thread.change(&[orders(7)], vec![(at, Start { epoch, offset: 3 })]).unwrap();
    let reading = tokio::task::spawn_blocking(|| thread.run(oneshot::channel().0));
    assert_eq!(fixture.offsets(2).await, [3, 4]);
    plan.close();
    signal.set();
    reading.await.unwrap();
}

#[tokio::test]
async fn an_assignment_that_librdkafka_refuses_ends_the_pump_and_is_told() {
    let Fixture { mut pump, hand_over, cluster: _cluster } = Fixture::new(Limits::default()).await;
    let (at, epoch) = hand_over.open(&[orders(0)].into_iter().collect()).remove(0);
    pump.assign([(at, Start { epoch, offset: -5 })]);
    let news = timeout(PATIENCE, pump.news()).await.unwrap();
    assert!(matches!(news, News::Failed(Error::DataPlane(_))), "{news:?}");
}

#[tokio::test]
async fn closing_waits_for_librdkafka_and_not_for_the_application() {
    let fixture = Fixture::new(Limits { records: 1, bytes: 1 }).await;
    fixture.topic("orders", 1, 100).await;
    fixture.own(&orders(0), 0);
    fixture.next().await;
    assert!(fixture.pump.close(Instant::now() + PATIENCE).await);
}

#[tokio::test]
async fn a_property_that_librdkafka_does_not_know_is_named() {
    let signal = Arc::new(Signal::default());
    let hand_over = Arc::new(HandOver::new(Limits::default(), Arc::clone(&signal)));
    let mut config = ClientConfig::new();
    config.set("fetch.min.bites", "1");
    let error = Pump::start(config, None, hand_over, signal).await.unwrap_err();
    assert!(error.to_string().contains("fetch.min.bites"), "{error}");
}
