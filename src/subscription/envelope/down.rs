//! What a leader tells a member.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::ranges::{read_ranges, write_ranges};
use super::up::{read_millis, read_u64};
use super::{Direction, EnvelopeError, Sealer, Sections};
use crate::subscription::reading::Names;
use crate::subscription::writer::Writer;
use crate::types::{Generation, PartitionRanges};
use crate::wire::{Layout, ReadError, Reader};

/// Tags of the sections. A number is never used again for something else; 13 (the leader's address) is set aside.
mod tag {
    pub(super) const GENERATION: u8 = 1;
    pub(super) const FAILURE: u8 = 2;
    pub(super) const TOLD: u8 = 3;
    pub(super) const PLANNED_ON: u8 = 4;
    pub(super) const GROUP_SIZE: u8 = 5;
    pub(super) const COUNTS: u8 = 6;
    pub(super) const FOLLOW_UP: u8 = 7;
    pub(super) const REBALANCE_AFTER: u8 = 8;
    pub(super) const DIGEST: u8 = 9;
    pub(super) const LEADER: u8 = 10;
    pub(super) const SECOND_ROUND: u8 = 11;
    pub(super) const STANDBYS: u8 = 12;
}

/// What a leader tells a member beside its partitions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Down {
    /// The generation that was planned for; in any other these bytes are an echo and mean nothing.
    pub(crate) generation: Generation,
    /// Why there is no new plan.
    pub(crate) failure: Option<PlanFailure>,
    /// The assigner's own words.
    pub(crate) told: Option<Told>,
    /// The hash of the metadata that the plan was made on.
    pub(crate) planned_on: Option<u64>,
    /// How many members there are: how often to beat follows from it.
    pub(crate) group_size: u32,
    /// Partitions of the topics that this member subscribes to, as the plan had them, in order of the topics' names
    /// and without these: the hash says whether both sides mean the same topics. 0 where a topic was missing.
    pub(crate) counts: Option<Vec<u32>>,
    /// Somebody waits for what this member must give up.
    pub(crate) follow_up: bool,
    /// When the assigner wants another round.
    pub(crate) rebalance_after: Option<Duration>,
    /// The digest of the whole plan, the same for all members.
    pub(crate) digest: u64,
    /// The leader's member id.
    pub(crate) leader: Arc<str>,
    /// Somebody must give something up that somebody waits for: another round follows this one.
    pub(crate) second_round: bool,
    /// Of which of its partitions another has the first copy.
    pub(crate) standbys: PartitionRanges,
}

/// Why there is no new plan.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct PlanFailure {
    /// What kind of failure; 0 where it has no number.
    pub(crate) code: u8,
    /// The leader: its instance id, or else its member id.
    pub(crate) by: Arc<str>,
    pub(crate) message: Arc<str>,
}

/// The assigner's own words to a member, encoded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Told {
    /// Which codec wrote it.
    pub(crate) codec: u8,
    pub(crate) bytes: Bytes,
}

impl Down {
    pub(crate) fn encode(&self) -> Bytes {
        let mut sealer = Sealer::new(Direction::Down);
        sealer.section(tag::GENERATION, |writer| writer.i32(self.generation.0));
        if let Some(failure) = &self.failure {
            sealer.section(tag::FAILURE, |writer| failure.write(writer));
        }
        if let Some(told) = &self.told {
            sealer.section(tag::TOLD, |writer| told.write(writer));
        }
        if let Some(hash) = self.planned_on {
            sealer.section(tag::PLANNED_ON, |writer| writer.u64(hash));
        }
        sealer.section(tag::GROUP_SIZE, |writer| writer.uvarint(self.group_size));
        if let Some(counts) = &self.counts {
            sealer.section(tag::COUNTS, |writer| {
                writer.compact_count(counts.len());
                counts.iter().for_each(|count| writer.uvarint(*count));
            });
        }
        if self.follow_up {
            sealer.section(tag::FOLLOW_UP, |_| {});
        }
        if let Some(after) = self.rebalance_after {
            sealer.section(tag::REBALANCE_AFTER, |writer| writer.millis(after));
        }
        sealer.section(tag::DIGEST, |writer| writer.u64(self.digest));
        sealer.section(tag::LEADER, |writer| writer.compact_string(&self.leader));
        if self.second_round {
            sealer.section(tag::SECOND_ROUND, |_| {});
        }
        if !self.standbys.is_empty() {
            sealer.section(tag::STANDBYS, |writer| write_ranges(writer, &self.standbys));
        }
        sealer.seal()
    }

    pub(crate) fn decode(user_data: &Bytes) -> Result<Self, EnvelopeError> {
        let mut sections = Sections::open(user_data, Direction::Down)?;
        let mut down = Self::default();
        while let Some((tag, mut section)) = sections.next()? {
            down.read(tag, &mut section)?;
        }
        Ok(down)
    }

    fn read(&mut self, tag: u8, section: &mut Reader) -> Result<(), ReadError> {
        match tag {
            tag::GENERATION => self.generation = Generation(section.i32()?),
            tag::FAILURE => self.failure = Some(PlanFailure::read(section)?),
            tag::TOLD => self.told = Some(Told::read(section)?),
            tag::PLANNED_ON => self.planned_on = Some(read_u64(section)?),
            tag::GROUP_SIZE => self.group_size = section.uvarint()?,
            tag::COUNTS => {
                self.counts = Some(section.array(Layout::Compact, 1, Reader::uvarint)?);
            }
            tag::FOLLOW_UP => self.follow_up = true,
            tag::REBALANCE_AFTER => self.rebalance_after = Some(read_millis(section)?),
            tag::DIGEST => self.digest = read_u64(section)?,
            tag::LEADER => self.leader = section.string(Layout::Compact)?,
            tag::SECOND_ROUND => self.second_round = true,
            tag::STANDBYS => self.standbys = read_ranges(section, &mut Names::default())?,
            _ => {}
        }
        Ok(())
    }
}

impl PlanFailure {
    fn write(&self, writer: &mut Writer) {
        writer.u8(self.code);
        writer.compact_string(&self.by);
        writer.compact_string(&self.message);
    }

    fn read(reader: &mut Reader) -> Result<Self, ReadError> {
        let code = reader.u8()?;
        let by = reader.string(Layout::Compact)?;
        Ok(Self { code, by, message: reader.string(Layout::Compact)? })
    }
}

impl Told {
    fn write(&self, writer: &mut Writer) {
        writer.u8(self.codec);
        writer.raw(&self.bytes);
    }

    fn read(reader: &mut Reader) -> Result<Self, ReadError> {
        Ok(Self { codec: reader.u8()?, bytes: reader.rest() })
    }
}
