//! What resetting offsets would do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::positions::{Positions, positions};
use super::{OffsetSelection, ResetTo};
use crate::admin::ask::deadline;
use crate::admin::lag::committed;
use crate::admin::look::look_at_any;
use crate::admin::present::{Present, all_of};
use crate::admin::{AdminError, GroupType};
use crate::client::Client;
use crate::types::{Offsets, Partitions, TopicError, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::OffsetAt;

/// How a reset is planned.
#[derive(Clone, Copy, Debug, Default)]
pub struct OffsetResetOptions {
    create_group: bool,
    timeout: Option<Duration>,
}

/// What resetting a group's offsets would do.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct OffsetResetPlan {
    /// Kafka: `group.id`.
    pub group_id: String,
    /// Whether there is no such group yet, and the reset makes it.
    pub creates_group: bool,
    /// Who is in the group: as long as anybody is, the broker refuses the reset.
    pub members: Vec<Present>,
    /// In order.
    pub partitions: Vec<OffsetReset>,
}

/// What it would do to one partition.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct OffsetReset {
    /// Which one.
    pub partition: TopicPartition,
    /// What is committed now, if anything is.
    pub committed: Option<i64>,
    /// What would be committed, or why nothing can be.
    pub to: Result<i64, Unresettable>,
    /// Why that is not what was asked for.
    pub adjusted: Option<Adjusted>,
}

/// Why a position is not the one that was asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Adjusted {
    /// This lies before the start of the partition, which is taken instead.
    BeforeTheStart(i64),
    /// This lies behind the end of the partition, which is taken instead.
    BehindTheEnd(i64),
    /// No record has the time or a later one: the end of the partition is taken.
    NoLaterRecord,
    /// Nothing is committed that could be kept: the end of the partition is taken.
    NothingCommitted,
}

/// Why a partition's offset cannot be reset.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unresettable {
    /// It should be shifted from what is committed, and nothing is.
    #[error("nothing is committed that could be shifted")]
    NothingCommitted,
    /// This user may not do that to the topic.
    #[error("{needed} on the topic is needed")]
    NotAuthorized {
        /// The operation that an ACL must allow.
        needed: &'static str,
    },
    /// The broker says so.
    #[error("{0}")]
    Refused(ErrorCode),
}

impl Unresettable {
    /// What the broker says of a partition, about a request that needs this operation on its topic.
    pub(super) fn of(code: ErrorCode, needed: &'static str) -> Self {
        match code {
            ErrorCode::TopicAuthorizationFailed => Self::NotAuthorized { needed },
            code => Self::Refused(code),
        }
    }
}

impl OffsetResetOptions {
    /// Whether a group that does not exist is to be made, as a group of consumers without members that begins at these
    /// offsets. Default: `false`, since a group that does not exist is more often a mistyped one.
    #[must_use]
    pub fn create_group(mut self, create_group: bool) -> Self {
        self.create_group = create_group;
        self
    }

    /// How long planning may take, with all tries. Default: `default.api.timeout.ms` of the client.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl OffsetResetPlan {
    /// What would be committed.
    pub fn offsets(&self) -> Offsets {
        let resets = self.partitions.iter();
        resets.filter_map(|reset| Some((reset.partition.clone(), reset.to.ok()?.into()))).collect()
    }
}

impl std::fmt::Display for Adjusted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BeforeTheStart(asked) => write!(f, "{asked} is before the start"),
            Self::BehindTheEnd(asked) => write!(f, "{asked} is behind the end"),
            Self::NoLaterRecord => f.write_str("no record is as late: the end"),
            Self::NothingCommitted => f.write_str("nothing committed: the end"),
        }
    }
}

/// Asks who is in the group, what it has committed, and where the partitions are.
pub(super) async fn plan(
    client: &Client,
    group: &str,
    which: &OffsetSelection,
    to: ResetTo,
    options: &OffsetResetOptions,
) -> Result<OffsetResetPlan, AdminError> {
    let deadline = deadline(client, options.timeout);
    let (members, creates_group) = match look_at_any(client, group, &[], deadline).await {
        Ok(described) => (all_of(&described), false),
        Err(AdminError::NoSuchGroup(_)) if options.create_group => (Vec::new(), true),
        // Its offsets are kept in the same way; who is in it is not told.
        Err(AdminError::NotClassic { group_type, .. }) if group_type != GroupType::Share => {
            (Vec::new(), false)
        }
        Err(error) => return Err(error),
    };
    let committed = committed(client, group, deadline).await?;
    let partitions = match &to {
        ResetTo::Each(offsets) => {
            offsets.keys().filter(|one| which.takes(one)).cloned().collect::<Partitions>()
        }
        _ => selected(client, which, &committed, deadline).await?,
    };
    let bounds = Bounds::ask(client, &partitions, &to, deadline).await?;
    let resets = partitions.iter().map(|partition| {
        let committed = committed.get(&partition).map(|committed| committed.offset);
        let planned = bounds.place(&partition, committed, &to);
        let adjusted = planned.ok().and_then(|(_, adjusted)| adjusted);
        OffsetReset { partition, committed, to: planned.map(|(offset, _)| offset), adjusted }
    });
    let partitions = resets.collect();
    Ok(OffsetResetPlan { group_id: group.to_owned(), creates_group, members, partitions })
}

/// The partitions that are meant. A whole topic is those that it has, and those that are committed.
async fn selected(
    client: &Client,
    which: &OffsetSelection,
    committed: &Offsets,
    deadline: Instant,
) -> Result<Partitions, AdminError> {
    let mut selected: Partitions =
        committed.keys().filter(|partition| which.takes(partition)).cloned().collect();
    let whole = which.named().filter(|(_, numbers)| numbers.is_none());
    let whole: Vec<Arc<str>> = whole.map(|(topic, _)| Arc::clone(topic)).collect();
    for (topic, numbers) in which.named() {
        selected.insert_all(topic, numbers.into_iter().flatten().copied());
    }
    if whole.is_empty() {
        return Ok(selected);
    }
    let cluster = client.refresh_metadata(whole.iter().cloned().collect(), deadline).await?;
    for name in &whole {
        let is_committed = committed.keys().any(|partition| *partition.topic() == **name);
        let topic = cluster.topic(name);
        let why = topic.map_or(Some(TopicError::Missing), |topic| topic.error());
        match why {
            Some(why) if !is_committed => {
                return Err(AdminError::Topic { topic: name.to_string(), why });
            }
            _ => {}
        }
        let numbers = topic.into_iter().flat_map(|topic| topic.partitions());
        selected.insert_all(name, numbers.map(|partition| partition.number()));
    }
    Ok(selected)
}

/// Where partitions start and end, and where the time that is asked for is.
struct Bounds {
    starts: Positions,
    ends: Positions,
    times: Positions,
}

impl Bounds {
    async fn ask(
        client: &Client,
        partitions: &Partitions,
        to: &ResetTo,
        deadline: Instant,
    ) -> Result<Self, AdminError> {
        let time = async {
            match time_of(to) {
                Some(millis) => {
                    positions(client, partitions, OffsetAt::Time(millis), deadline).await
                }
                None => Ok(BTreeMap::new()),
            }
        };
        let (starts, ends, times) = tokio::try_join!(
            positions(client, partitions, OffsetAt::Earliest, deadline),
            positions(client, partitions, OffsetAt::Latest, deadline),
            time,
        )?;
        Ok(Self { starts, ends, times })
    }

    /// Where one partition goes, and why that is not what was asked for.
    fn place(
        &self,
        partition: &TopicPartition,
        committed: Option<i64>,
        to: &ResetTo,
    ) -> Result<(i64, Option<Adjusted>), Unresettable> {
        if let (ResetTo::Current, Some(committed)) = (to, committed) {
            return Ok((committed, None));
        }
        let start = known(&self.starts, partition)?;
        let end = known(&self.ends, partition)?;
        let asked = match to {
            ResetTo::Earliest => start,
            ResetTo::Latest => end,
            ResetTo::Current => return Ok((end, Some(Adjusted::NothingCommitted))),
            ResetTo::Offset(offset) => *offset,
            ResetTo::ShiftBy(by) => {
                committed.ok_or(Unresettable::NothingCommitted)?.saturating_add(*by)
            }
            ResetTo::Time(_) | ResetTo::Ago(_) => match self.times.get(partition) {
                Some(Ok(None)) => return Ok((end, Some(Adjusted::NoLaterRecord))),
                _ => known(&self.times, partition)?,
            },
            ResetTo::Each(offsets) => {
                *offsets.get(partition).ok_or(Unresettable::NothingCommitted)?
            }
        };
        Ok(match asked {
            asked if asked < start => (start, Some(Adjusted::BeforeTheStart(asked))),
            asked if asked > end => (end, Some(Adjusted::BehindTheEnd(asked))),
            asked => (asked, None),
        })
    }
}

fn known(positions: &Positions, partition: &TopicPartition) -> Result<i64, Unresettable> {
    match positions.get(partition) {
        Some(Ok(Some(offset))) => Ok(*offset),
        Some(Err(code)) => Err(Unresettable::of(*code, "DESCRIBE")),
        _ => Err(Unresettable::Refused(ErrorCode::LeaderNotAvailable)),
    }
}

/// The time that is asked for, in milliseconds since 1970; nothing is older.
fn time_of(to: &ResetTo) -> Option<i64> {
    let time = match to {
        ResetTo::Time(time) => *time,
        ResetTo::Ago(ago) => now().checked_sub(*ago).unwrap_or(SystemTime::UNIX_EPOCH),
        _ => return None,
    };
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "records have times of the calendar")]
fn now() -> SystemTime {
    SystemTime::now()
}
