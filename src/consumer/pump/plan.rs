//! What is to be read: written by the consumer's task, followed by the pump's thread.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::reading::{Reading, Start};
use crate::types::{Partitions, TopicPartition};

/// What is to be read, as a whole and not as a queue of commands: a thread that is late finds only what counts now, and
/// nothing can pile up.
#[derive(Debug, Default)]
pub(super) struct Plan(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    wanted: BTreeMap<TopicPartition, Start>,
    changed: bool,
    closed: bool,
}

/// What the thread has to do.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Todo {
    Nothing,
    /// First stop reading these, then start with those. A partition that was given up and came back is in both.
    Change {
        stop: Vec<TopicPartition>,
        start: Vec<(TopicPartition, Start)>,
    },
    Close,
}

impl Plan {
    pub(super) fn assign(&self, starts: impl IntoIterator<Item = (TopicPartition, Start)>) {
        let mut state = self.lock();
        state.wanted.extend(starts);
        state.changed = true;
    }

    pub(super) fn unassign(&self, partitions: &Partitions) {
        let mut state = self.lock();
        state.wanted.retain(|at, _| !partitions.contains(at.topic(), at.partition()));
        state.changed = true;
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
    }

    /// What is to be done by a thread that reads as this says.
    pub(super) fn todo(&self, reading: &Reading) -> Todo {
        let mut state = self.lock();
        if state.closed {
            return Todo::Close;
        }
        if !std::mem::take(&mut state.changed) {
            return Todo::Nothing;
        }
        let wanted = &state.wanted;
        let is_over = |(at, epoch): &(TopicPartition, _)| {
            wanted.get(at).is_none_or(|start| start.epoch != *epoch)
        };
        let stop = reading.epochs().filter(is_over).map(|(at, _)| at).collect();
        let is_new = |(at, start): &(&TopicPartition, &Start)| {
            reading.epoch(at.topic(), at.partition()) != Some(start.epoch)
        };
        let start = wanted.iter().filter(is_new).map(|(at, start)| (at.clone(), *start)).collect();
        Todo::Change { stop, start }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::ledger::Ledger;

    #[test]
    fn a_partition_that_was_given_up_and_came_back_is_stopped_and_started() {
        let (kept, moved) = (TopicPartition::new("orders", 0), TopicPartition::new("orders", 1));
        let mut ledger = Ledger::default();
        let mut start = |at: &TopicPartition, offset| {
            (at.clone(), Start { epoch: ledger.open(at.clone()), offset })
        };
        let (plan, mut reading) = (Plan::default(), Reading::default());
        plan.assign([start(&kept, 5), start(&moved, 7)]);
        let Todo::Change { stop, start: started } = plan.todo(&reading) else {
            panic!("nothing to do");
        };
        assert!(stop.is_empty());
        reading.start(started);
        assert_eq!(plan.todo(&reading), Todo::Nothing);

        plan.unassign(&[moved.clone()].into_iter().collect());
        let again = start(&moved, 9);
        plan.assign([again.clone()]);
        assert_eq!(plan.todo(&reading), Todo::Change { stop: vec![moved], start: vec![again] });
    }
}
