//! What a member tells its leader.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::ranges::{read_ranges, write_ranges};
use super::{Direction, EnvelopeError, Sealer, Sections, TopicCounts};
use crate::assign::MetadataPayload;
use crate::subscription::reading::{Names, Reading};
use crate::subscription::writer::Writer;
use crate::types::{Generation, PartitionRanges};
use crate::wire::{Layout, ReadError, Reader};

/// Tags of the sections. A number is never used again for something else.
mod tag {
    pub(super) const PAYLOAD: u8 = 1;
    pub(super) const COUNTS: u8 = 2;
    pub(super) const NONCE: u8 = 3;
    pub(super) const PRIOR: u8 = 4;
    pub(super) const PROCESS: u8 = 5;
    pub(super) const TIMEOUTS: u8 = 6;
    pub(super) const ROUNDS: u8 = 7;
    pub(super) const STANDBYS: u8 = 8;
}

/// What a member tells its leader.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Up {
    /// The application's own words.
    pub(crate) payload: Option<MetadataPayload>,
    /// Partitions of the topics subscribed to, as this member knows them.
    pub(crate) counts: TopicCounts,
    /// Means nothing; changes when other bytes are wanted.
    pub(crate) nonce: u64,
    /// What an eager member had before the round.
    pub(crate) prior: Option<Prior>,
    /// Host and process, so that an assigner can keep copies apart.
    pub(crate) process: Option<Arc<str>>,
    /// Kafka: `session.timeout.ms`.
    pub(crate) session_timeout: Option<Duration>,
    /// Kafka: `max.poll.interval.ms`.
    pub(crate) rebalance_timeout: Option<Duration>,
    /// How this member can take part.
    pub(crate) rounds: Rounds,
    /// Of which of the claimed partitions another has the first copy.
    pub(crate) standbys: PartitionRanges,
}

/// What a member had, given up by the time it says so.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Prior {
    pub(crate) generation: Generation,
    pub(crate) partitions: PartitionRanges,
}

/// The ways to rebalance that a member supports.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Rounds {
    pub(crate) eager: bool,
    pub(crate) cooperative: bool,
}

impl Up {
    pub(crate) fn encode(&self) -> Bytes {
        let mut sealer = Sealer::new(Direction::Up);
        if let Some(payload) = &self.payload {
            sealer.section(tag::PAYLOAD, |writer| write_payload(writer, payload));
        }
        if !self.counts.0.is_empty() {
            sealer.section(tag::COUNTS, |writer| self.counts.write(writer));
        }
        sealer.section(tag::NONCE, |writer| writer.u64(self.nonce));
        if let Some(prior) = &self.prior {
            sealer.section(tag::PRIOR, |writer| prior.write(writer));
        }
        if let Some(process) = &self.process {
            sealer.section(tag::PROCESS, |writer| writer.compact_string(process));
        }
        if let (Some(session), Some(rebalance)) = (self.session_timeout, self.rebalance_timeout) {
            sealer.section(tag::TIMEOUTS, |writer| {
                writer.millis(session);
                writer.millis(rebalance);
            });
        }
        sealer.section(tag::ROUNDS, |writer| self.rounds.write(writer));
        if !self.standbys.is_empty() {
            sealer.section(tag::STANDBYS, |writer| write_ranges(writer, &self.standbys));
        }
        sealer.seal()
    }

    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn decode(user_data: &Bytes) -> Result<Self, EnvelopeError> {
        Self::read(user_data, &mut Reading::default())
    }

    /// Reads an envelope, beside those of other members.
    pub(crate) fn read(user_data: &Bytes, reading: &mut Reading) -> Result<Self, EnvelopeError> {
        let mut sections = Sections::open(user_data, Direction::Up)?;
        let mut up = Self::default();
        while let Some((tag, mut section)) = sections.next()? {
            up.read_section(tag, &mut section, reading)?;
        }
        Ok(up)
    }

    fn read_section(
        &mut self,
        tag: u8,
        section: &mut Reader,
        Reading { names, counts, .. }: &mut Reading,
    ) -> Result<(), ReadError> {
        match tag {
            tag::PAYLOAD => self.payload = Some(read_payload(section)?),
            tag::COUNTS => {
                self.counts = counts.read(section, |reader| TopicCounts::read(reader, names))?;
            }
            tag::NONCE => self.nonce = read_u64(section)?,
            tag::PRIOR => self.prior = Some(Prior::read(section, names)?),
            tag::PROCESS => self.process = Some(section.string(Layout::Compact)?),
            tag::TIMEOUTS => {
                self.session_timeout = Some(read_millis(section)?);
                self.rebalance_timeout = Some(read_millis(section)?);
            }
            tag::ROUNDS => self.rounds = Rounds::read(section)?,
            tag::STANDBYS => self.standbys = read_ranges(section, names)?,
            _ => {}
        }
        Ok(())
    }
}

impl Prior {
    fn write(&self, writer: &mut Writer) {
        writer.i32(self.generation.0);
        write_ranges(writer, &self.partitions);
    }

    fn read(reader: &mut Reader, names: &mut Names) -> Result<Self, ReadError> {
        let generation = Generation(reader.i32()?.max(Generation::NONE.0));
        Ok(Self { generation, partitions: read_ranges(reader, names)? })
    }
}

impl Rounds {
    const EAGER: u8 = 1;
    const COOPERATIVE: u8 = 2;

    fn write(self, writer: &mut Writer) {
        let eager = if self.eager { Self::EAGER } else { 0 };
        let cooperative = if self.cooperative { Self::COOPERATIVE } else { 0 };
        writer.u8(eager | cooperative);
    }

    fn read(reader: &mut Reader) -> Result<Self, ReadError> {
        let bits = reader.u8()?;
        Ok(Self { eager: bits & Self::EAGER != 0, cooperative: bits & Self::COOPERATIVE != 0 })
    }
}

fn write_payload(writer: &mut Writer, payload: &MetadataPayload) {
    writer.u8(payload.codec);
    writer.uvarint(u32::from(payload.version));
    writer.raw(&payload.bytes);
}

fn read_payload(reader: &mut Reader) -> Result<MetadataPayload, ReadError> {
    let codec = reader.u8()?;
    let version = reader.uvarint()?;
    let version = u16::try_from(version).map_err(|_| ReadError::Count(i64::from(version)))?;
    Ok(MetadataPayload { codec, version, bytes: reader.rest() })
}

pub(super) fn read_u64(reader: &mut Reader) -> Result<u64, ReadError> {
    Ok(u64::from_be_bytes(reader.i64()?.to_be_bytes()))
}

pub(super) fn read_millis(reader: &mut Reader) -> Result<Duration, ReadError> {
    Ok(Duration::from_millis(u64::from(reader.uvarint()?)))
}
