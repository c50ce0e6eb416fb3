//! Who owns what, as the members' own loops say.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kafka_group::types::{Partitions, TopicPartition};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Kept by all members of the process together.
#[derive(Debug, Default)]
pub(crate) struct Board {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    owners: HashMap<TopicPartition, usize>,
    free_since: HashMap<TopicPartition, Instant>,
    stopped: Stopped,
}

/// Partitions without an owner.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stopped {
    /// How long that was, summed.
    pub(crate) time: Duration,
    /// How many have an owner again.
    pub(crate) moved: usize,
}

impl Board {
    /// A member has begun to work on these.
    pub(crate) fn take(&self, member: usize, partitions: &Partitions) {
        let now = Instant::now();
        let mut state = self.state();
        for partition in partitions.iter() {
            if let Some(since) = state.free_since.remove(&partition) {
                state.stopped.time += now - since;
                state.stopped.moved += 1;
            }
            state.owners.insert(partition, member);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// A member has stopped working on these.
    pub(crate) fn give_up(&self, member: usize, partitions: &Partitions) {
        let now = Instant::now();
        let mut state = self.state();
        for partition in partitions.iter() {
            if state.owners.get(&partition) == Some(&member) {
                state.owners.remove(&partition);
                state.free_since.insert(partition, now);
            }
        }
    }

    /// Begins to sum anew.
    pub(crate) fn reset(&self) {
        let mut state = self.state();
        state.stopped = Stopped::default();
        state.free_since.clear();
    }

    /// Waits until so many members own all partitions in equal shares; says how long nobody owned them.
    pub(crate) async fn settled(&self, members: usize, partitions: usize) -> Stopped {
        let patience = Duration::from_secs(120);
        let settling = async {
            while !self.state().is_settled(members, partitions) {
                self.changed.notified().await;
            }
        };
        if tokio::time::timeout(patience, settling).await.is_err() {
            panic!("not settled within {patience:?}: {:?}", self.state().loads());
        }
        self.state().stopped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn loads(&self) -> HashMap<usize, usize> {
        let mut loads = HashMap::new();
        for owner in self.owners.values() {
            *loads.entry(*owner).or_default() += 1;
        }
        loads
    }

    fn is_settled(&self, members: usize, partitions: usize) -> bool {
        let loads = self.loads();
        let (least, most) = (loads.values().min(), loads.values().max());
        let even = least.zip(most).is_some_and(|(least, most)| most - least <= 1);
        self.owners.len() == partitions && loads.len() == members && even
    }
}
