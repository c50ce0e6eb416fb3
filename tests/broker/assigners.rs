//! Assigners of an application, good and bad ones.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
};
use kafka_group::{BoxError, Gather, GroupReader, Topics};
use serde::{Deserialize, Serialize};

/// Gives each partition to whoever is least busy for its size, and tells each member its share.
pub(crate) struct LeastLoaded {
    pub(crate) threads: usize,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Capacity {
    threads: usize,
}

impl PartitionAssigner<Capacity> for LeastLoaded {
    fn name(&self) -> &str {
        "least-loaded"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> Capacity {
        Capacity { threads: self.threads }
    }

    fn assign(&self, group: &GroupSubscription<Capacity>) -> Result<GroupAssignment, AssignError> {
        let threads = |capacity: &Capacity| capacity.threads;
        let mut plan = by_threads(group, threads);
        let all: usize = group.require_metadata()?.iter().map(|(_, told)| told.threads).sum();
        for member in group.members() {
            let own = member.metadata().map_or(0, threads);
            plan.tell(member, &format!("{own} of {all} threads"));
        }
        Ok(plan)
    }
}

/// Gives each partition to whoever has the fewest for its threads; 1 where they are not known.
fn by_threads<T>(group: &GroupSubscription<T>, threads: impl Fn(&T) -> usize) -> GroupAssignment {
    let mut plan = group.plan();
    for partition in group.partitions() {
        let least = group.subscribers(partition.topic()).min_by_key(|member| {
            plan.load(*member) * 1000 / member.metadata().map_or(1, &threads).max(1)
        });
        if let Some(member) = least {
            plan.give(member, partition);
        }
    }
    plan
}

/// The same assigner at its first release: only the first shape of the metadata is known.
pub(crate) struct FirstRelease {
    pub(crate) threads: usize,
}

/// At its second release, which reads both shapes and writes the second.
pub(crate) struct SecondRelease {
    pub(crate) threads: usize,
}

#[derive(Deserialize, Serialize)]
pub(crate) enum FirstShape {
    V1 { threads: usize },
}

#[derive(Deserialize, Serialize)]
pub(crate) enum SecondShape {
    V1 { threads: usize },
    V2 { threads: usize, zone: String },
}

impl PartitionAssigner<FirstShape> for FirstRelease {
    fn name(&self) -> &str {
        "evolving"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> FirstShape {
        FirstShape::V1 { threads: self.threads }
    }

    fn assign(
        &self,
        group: &GroupSubscription<FirstShape>,
    ) -> Result<GroupAssignment, AssignError> {
        Ok(by_threads(group, |FirstShape::V1 { threads }| *threads))
    }
}

impl PartitionAssigner<SecondShape> for SecondRelease {
    fn name(&self) -> &str {
        "evolving"
    }

    fn version(&self) -> u16 {
        1
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> SecondShape {
        SecondShape::V2 { threads: self.threads, zone: "here".into() }
    }

    fn assign(
        &self,
        group: &GroupSubscription<SecondShape>,
    ) -> Result<GroupAssignment, AssignError> {
        Ok(by_threads(group, |(SecondShape::V1 { threads } | SecondShape::V2 { threads, .. })| {
            *threads
        }))
    }
}

/// What a moody assigner does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Mood {
    /// Divides evenly.
    #[default]
    Fine,
    Refuses,
    Panics,
    /// Gives one partition to all members.
    GivesTwice,
    /// Tells each member more than a group's record holds.
    TellsTooMuch,
    /// Waits until the test lets it go.
    Hangs,
}

/// Divides evenly, unless told to be otherwise: the moods of all copies change together.
#[derive(Clone)]
pub(crate) struct Moody {
    name: &'static str,
    mood: Arc<Mutex<Mood>>,
    began: Sender<()>,
    go_on: Arc<Mutex<Receiver<()>>>,
}

/// The test's side of an assigner that hangs.
pub(crate) struct Strings {
    mood: Arc<Mutex<Mood>>,
    began: Receiver<()>,
    /// Dropped, all that hangs goes on.
    go_on: Option<Sender<()>>,
}

impl Moody {
    pub(crate) fn new(name: &'static str) -> (Self, Strings) {
        let mood = Arc::new(Mutex::default());
        let (began, has_begun) = channel();
        let (go_on, goes_on) = channel();
        let strings = Strings { mood: Arc::clone(&mood), began: has_begun, go_on: Some(go_on) };
        (Self { name, mood, began, go_on: Arc::new(Mutex::new(goes_on)) }, strings)
    }
}

impl Strings {
    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Waits until an assigner hangs.
    pub(crate) fn hangs(&self) {
        self.began.recv_timeout(crate::harness::SOON).expect("it is asked for a plan");
    }

    /// Lets whatever hangs go on, and all that would hang later.
    pub(crate) fn let_go(&mut self) {
        self.set(Mood::Fine);
        self.go_on = None;
    }
}

impl PartitionAssigner for Moody {
    fn name(&self) -> &str {
        self.name
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let mood = *self.mood.lock().unwrap();
        let mut plan = by_threads(group, |()| 1);
        match mood {
            Mood::Fine => {}
            Mood::Refuses => return Err(AssignError::other("not in the mood")),
            Mood::Panics => panic!("in a panic"),
            Mood::GivesTwice => {
                let first = group.partitions().next();
                for (member, partition) in group.members().zip(first.into_iter().cycle()) {
                    plan.give(member, partition);
                }
            }
            Mood::TellsTooMuch => {
                for member in group.members() {
                    plan.tell(member, &"x".repeat(700_000));
                }
            }
            Mood::Hangs => {
                let _ = self.began.send(());
                let _ = self.go_on.lock().unwrap().recv();
            }
        }
        Ok(plan)
    }
}

/// Where partitions end, and where the group stands.
pub(crate) struct Offsets;

/// By topic and partition: committed, end.
pub(crate) struct Found(Vec<(String, Option<i64>, Option<i64>)>);

#[async_trait]
impl Gather for Offsets {
    type Output = Found;

    async fn gather(&self, topics: &Topics, reader: &GroupReader) -> Result<Found, BoxError> {
        let committed = reader.committed(topics.partitions()).await?;
        let ends = reader.end_offsets(topics.partitions()).await?;
        let found = topics.partitions().map(|at| {
            let committed = committed.get(&at).map(|committed| committed.offset);
            (at.to_string(), committed, ends.get(&at).copied())
        });
        Ok(Found(found.collect()))
    }
}

/// Fails.
pub(crate) struct Barren;

#[async_trait]
impl Gather for Barren {
    type Output = Found;

    async fn gather(&self, _topics: &Topics, reader: &GroupReader) -> Result<Found, BoxError> {
        assert!(reader.time_left() > Duration::ZERO);
        Err("nothing to be found".into())
    }
}

/// Divides evenly, and tells everyone what was gathered.
pub(crate) struct Informed;

impl PartitionAssigner for Informed {
    fn name(&self) -> &str {
        "informed"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let mut plan = by_threads(group, |()| 1);
        let words = group.gathered::<Found>().map(|Found(found)| format!("{found:?}"));
        for member in group.members() {
            plan.tell(member, &words.as_deref().unwrap_or("nothing"));
        }
        Ok(plan)
    }
}
