//! The pump's thread.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::message::{BorrowedMessage, Message as _};
use rdkafka::types::RDKafkaConfRes;
use tokio::sync::oneshot;
use tracing::{debug, warn};

use super::context::{Context, Weight, weigh};
use super::plan::{Plan, Todo};
use super::reading::{Reading, Start};
use super::signal::Signal;
use crate::consumer::convert::{list_at, list_of};
use crate::consumer::hand_over::HandOver;
use crate::consumer::raw;
use crate::consumer::record::{Place, Record, Timestamp};
use crate::error::Error;
use crate::group::unknown_property;
use crate::types::TopicPartition;

/// How long it sleeps at the most. librdkafka rings when something can be read; now and then it is looked at anyway,
/// for events that it does not ring for.
const NAP: Duration = Duration::from_millis(100);

/// How long a look at librdkafka's queue takes when it is empty. Not zero: rdkafka then returns after an event that
/// was no record, whatever waits behind it.
const LOOK: Duration = Duration::from_millis(1);

/// The thread's own things.
pub(super) struct PumpThread {
    consumer: BaseConsumer<Context>,
    plan: Arc<Plan>,
    hand_over: Arc<HandOver>,
    signal: Arc<Signal>,
    reading: Reading,
}

impl PumpThread {
    pub(super) fn new(
        config: &ClientConfig,
        context: Context,
        plan: Arc<Plan>,
        hand_over: Arc<HandOver>,
        signal: Arc<Signal>,
    ) -> Result<Self, Error> {
        let mut config = config.clone();
        config.set_log_level(RDKafkaLogLevel::Info);
        let mut consumer: BaseConsumer<Context> =
            config.create_with_context(context).map_err(misconfigured)?;
        let ring = Arc::clone(&signal);
        consumer.set_nonempty_callback(move || ring.set());
        Ok(Self { consumer, plan, hand_over, signal, reading: Reading::default() })
    }

    /// Reads until it is closed, or until librdkafka gives up. Ends with the consumer's own end, which may take its
    /// time: nobody waits for it here.
    pub(super) fn run(mut self, fail: oneshot::Sender<Error>) {
        if let Err(error) = self.read_on() {
            // Nobody listens if the pump was dropped meanwhile.
            drop(fail.send(error));
        }
    }

    fn read_on(&mut self) -> Result<(), Error> {
        loop {
            match self.plan.todo(&self.reading) {
                Todo::Close => return Ok(()),
                Todo::Nothing => {}
                Todo::Change { stop, start } => self.change(&stop, start)?,
            }
            self.drain()?;
            self.signal.wait(NAP);
        }
    }

    /// Carries over what librdkafka has, as long as there is room and nothing else to do.
    fn drain(&mut self) -> Result<(), Error> {
        while self.hand_over.has_room() && !self.signal.is_set() {
            match self.consumer.poll(LOOK) {
                None => break,
                Some(Ok(message)) => {
                    let record = record(&mut self.reading, &message);
                    record.into_iter().for_each(|record| self.hand_over.push(record));
                }
                Some(Err(error)) => self.deal_with(&error)?,
            }
        }
        Ok(())
    }

    fn deal_with(&self, error: &KafkaError) -> Result<(), Error> {
        match weigh(error) {
            Weight::Passing => debug!(%error, "librdkafka tries again"),
            Weight::Trouble => {
                warn!(%error, "librdkafka cannot read something");
                self.hand_over.trouble(Error::DataPlane(error.to_string()));
            }
            Weight::Fatal => {
                let text = self.consumer.client().fatal_error();
                let text = text.map_or_else(|| error.to_string(), |(_, text)| text);
                return Err(Error::DataPlane(text));
            }
        }
        Ok(())
    }

    /// Makes librdkafka read what the plan says. Where it refuses a step, it is told everything anew.
    pub(super) fn change(
        &mut self,
        stop: &[TopicPartition],
        start: Vec<(TopicPartition, Start)>,
    ) -> Result<(), Error> {
        let stopped = self.stop(stop);
        self.reading.stop(stop);
        let started = stopped.and_then(|()| self.start(&start));
        self.reading.start(start);
        if let Err(error) = started {
            warn!(%error, "librdkafka refused a change of its assignment, and is assigned anew");
            self.assign_anew()
                .map_err(|error| Error::DataPlane(format!("refuses its assignment: {error}")))?;
        }
        Ok(())
    }

    fn stop(&self, stop: &[TopicPartition]) -> KafkaResult<()> {
        if stop.is_empty() {
            return Ok(());
        }
        self.consumer.incremental_unassign(&list_of(stop.iter().cloned()))
    }

    fn start(&self, start: &[(TopicPartition, Start)]) -> KafkaResult<()> {
        if start.is_empty() {
            return Ok(());
        }
        let list = list_at(start.iter().map(|(at, start)| (at.clone(), start.offset)))?;
        self.consumer.incremental_assign(&list)?;
        // librdkafka keeps a pause over the end of an assignment; a new ownership starts without one.
        self.consumer.resume(&list)
    }

    fn assign_anew(&self) -> KafkaResult<()> {
        let list = list_at(self.reading.iter().map(|(at, start)| (at, start.offset)))?;
        self.consumer.assign(&list)?;
        self.consumer.resume(&list)
    }
}

/// Copies a message, if it belongs to something that is read.
fn record(reading: &mut Reading, message: &BorrowedMessage<'_>) -> Option<Record> {
    let offset = message.offset();
    let (partition, epoch) = reading.advance(message.topic(), message.partition(), offset)?;
    let leader_epoch = raw::leader_epoch(message);
    Some(Record {
        place: Place { partition, offset, leader_epoch, epoch },
        timestamp: match message.timestamp() {
            rdkafka::Timestamp::NotAvailable => None,
            rdkafka::Timestamp::CreateTime(millis) => Some(Timestamp::CreateTime(millis)),
            rdkafka::Timestamp::LogAppendTime(millis) => Some(Timestamp::LogAppendTime(millis)),
        },
        key: message.key().map(Bytes::copy_from_slice),
        value: message.payload().map(Bytes::copy_from_slice),
        headers: raw::headers(message),
    })
}

fn misconfigured(error: KafkaError) -> Error {
    let problem = match error {
        KafkaError::ClientConfig(RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN, _, property, _) => {
            format!("{} is neither this crate's nor librdkafka's", unknown_property(&property))
        }
        // Its own text repeats the value, which may be a secret.
        KafkaError::ClientConfig(_, problem, property, _) => format!("`{property}`: {problem}"),
        error => error.to_string(),
    };
    Error::option("property", problem)
}
