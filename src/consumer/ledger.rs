//! What is owned, how far it was handed out, how far it was processed, how far that is committed. Pure.

use std::collections::HashMap;

use super::record::Place;
use crate::types::{OffsetAndMetadata, Offsets, Partitions, TopicPartition};

/// One ownership of one partition, from its assignment to its end. Never used twice.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Epoch(u64);

/// The partitions of a consumer.
///
/// A partition is *open* from its assignment until it is revoked or lost: only then are its records handed out. From
/// its revocation until it is given up it is *closed*: what was handed out may still be marked. Then it is forgotten.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    last: Epoch,
    accounts: HashMap<TopicPartition, Account>,
}

#[derive(Debug)]
struct Account {
    epoch: Epoch,
    open: bool,
    /// Another member has the first copy of the partition, and commits.
    stands_by: bool,
    /// Behind the last record that was handed out.
    handed_out: Option<i64>,
    /// Behind the last record that was marked.
    mark: Option<OffsetAndMetadata>,
    committed: Option<i64>,
}

/// Marks on their way to the coordinator.
#[derive(Debug)]
pub(super) struct Marks {
    pub(super) offsets: Offsets,
    /// The newest epoch then: what is opened later has nothing to do with them.
    until: Epoch,
}

impl Ledger {
    /// Begins an ownership.
    pub(super) fn open(&mut self, partition: TopicPartition) -> Epoch {
        self.last.0 += 1;
        let epoch = self.last;
        let account = Account {
            epoch,
            open: true,
            stands_by: false,
            handed_out: None,
            mark: None,
            committed: None,
        };
        self.accounts.insert(partition, account);
        epoch
    }

    /// Takes over for which partitions another member commits. What is marked of them is kept for the day when it is
    /// gone.
    pub(super) fn stand_by(&mut self, standbys: &Partitions) {
        for (partition, account) in &mut self.accounts {
            account.stands_by = standbys.contains(partition.topic(), partition.partition());
        }
    }

    /// Ends the handing out.
    pub(super) fn close(&mut self, partitions: &Partitions) {
        self.each(partitions, |account| account.open = false);
    }

    /// Ends the ownership: no mark counts any more.
    pub(super) fn forget(&mut self, partitions: &Partitions) {
        self.accounts
            .retain(|partition, _| !partitions.contains(partition.topic(), partition.partition()));
    }

    /// Whether records of this ownership may be handed out.
    pub(super) fn is_open(&self, partition: &TopicPartition, epoch: Epoch) -> bool {
        let account = self.accounts.get(partition);
        account.is_some_and(|account| account.open && account.epoch == epoch)
    }

    pub(super) fn hand_out(&mut self, place: &Place) {
        if let Some(account) = self.account(place) {
            account.handed_out = Some(place.offset + 1);
        }
    }

    /// Marks everything up to this record as processed. Says whether that counts: the partition may have gone.
    pub(super) fn mark(&mut self, place: &Place) -> bool {
        let Some(account) = self.account(place) else {
            return false;
        };
        let next = place.offset + 1;
        if account.mark.as_ref().is_none_or(|mark| mark.offset < next) {
            let leader_epoch = place.leader_epoch;
            account.mark = Some(OffsetAndMetadata { leader_epoch, ..next.into() });
        }
        true
    }

    /// Whether something of these partitions was handed out and not marked.
    pub(super) fn is_in_work(&self, partitions: &Partitions) -> bool {
        self.accounts
            .iter()
            .filter(|(partition, _)| partitions.contains(partition.topic(), partition.partition()))
            .any(|(_, account)| account.handed_out > account.marked())
    }

    /// What is marked and not known to be committed: of all partitions, or of these.
    pub(super) fn uncommitted(&self, of: Option<&Partitions>) -> Marks {
        self.marks(|partition, _| {
            of.is_none_or(|of| of.contains(partition.topic(), partition.partition()))
        })
    }

    /// The same of all that are open. Whoever closes the others commits them, and is the last to do so.
    pub(super) fn uncommitted_open(&self) -> Marks {
        self.marks(|_, account| account.open)
    }

    fn marks(&self, wanted: impl Fn(&TopicPartition, &Account) -> bool) -> Marks {
        let marked = self.accounts.iter().filter(|(_, account)| !account.stands_by);
        let marked = marked.filter_map(|(partition, account)| {
            let mark = account.mark.as_ref().filter(|_| account.marked() > account.committed)?;
            wanted(partition, account).then(|| (partition.clone(), mark.clone()))
        });
        Marks { offsets: marked.collect(), until: self.last }
    }

    /// Keeps that these were committed.
    pub(super) fn committed(&mut self, marks: &Marks) {
        for (partition, committed) in &marks.offsets {
            if let Some(account) = self.accounts.get_mut(partition) {
                if account.epoch <= marks.until {
                    account.committed = account.committed.max(Some(committed.offset));
                }
            }
        }
    }

    fn account(&mut self, place: &Place) -> Option<&mut Account> {
        self.accounts.get_mut(&place.partition).filter(|account| account.epoch == place.epoch)
    }

    fn each(&mut self, partitions: &Partitions, change: impl Fn(&mut Account)) {
        for partition in partitions.iter() {
            if let Some(account) = self.accounts.get_mut(&partition) {
                change(account);
            }
        }
    }
}

impl Account {
    fn marked(&self) -> Option<i64> {
        self.mark.as_ref().map(|mark| mark.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> TopicPartition {
        TopicPartition::new("orders", 0)
    }

    fn set() -> Partitions {
        [orders()].into_iter().collect()
    }

    fn offsets(ledger: &Ledger) -> Vec<i64> {
        ledger.uncommitted(None).offsets.values().map(|mark| mark.offset).collect()
    }

    #[test]
    fn a_mark_is_committed_once() {
        let mut ledger = Ledger::default();
        let epoch = ledger.open(orders());
        assert!(ledger.mark(&Place::sample(&orders(), 4, epoch)));
        let marks = ledger.uncommitted(None);
        assert_eq!(offsets(&ledger), [5]);
        ledger.committed(&marks);
        assert!(offsets(&ledger).is_empty());
    }

    #[test]
    fn marks_do_not_go_back() {
        let mut ledger = Ledger::default();
        let epoch = ledger.open(orders());
        ledger.mark(&Place::sample(&orders(), 9, epoch));
        ledger.mark(&Place::sample(&orders(), 4, epoch));
        assert_eq!(offsets(&ledger), [10]);
    }

    #[test]
    fn a_mark_of_an_earlier_ownership_counts_for_nothing() {
        let mut ledger = Ledger::default();
        let earlier = ledger.open(orders());
        ledger.forget(&set());
        let now = ledger.open(orders());
        assert!(!ledger.mark(&Place::sample(&orders(), 4, earlier)));
        assert!(!ledger.is_open(&orders(), earlier));
        assert!(ledger.is_open(&orders(), now));
    }

    #[test]
    fn what_a_standby_marks_waits_until_it_is_the_first() {
        let mut ledger = Ledger::default();
        let epoch = ledger.open(orders());
        ledger.stand_by(&set());
        assert!(ledger.mark(&Place::sample(&orders(), 4, epoch)));
        assert!(offsets(&ledger).is_empty());
        ledger.stand_by(&Partitions::new());
        assert_eq!(offsets(&ledger), [5]);
    }

    #[test]
    fn a_commit_of_an_earlier_ownership_hides_no_mark_of_the_next() {
        let mut ledger = Ledger::default();
        let earlier = ledger.open(orders());
        ledger.mark(&Place::sample(&orders(), 99, earlier));
        let marks = ledger.uncommitted(None);
        let now = ledger.open(orders());
        ledger.mark(&Place::sample(&orders(), 49, now));
        ledger.committed(&marks);
        assert_eq!(offsets(&ledger), [50]);
    }

    #[test]
    fn a_closed_partition_takes_marks_until_it_is_forgotten() {
        let mut ledger = Ledger::default();
        let epoch = ledger.open(orders());
        let place = Place::sample(&orders(), 4, epoch);
        ledger.hand_out(&place);
        ledger.close(&set());
        assert!(!ledger.is_open(&orders(), epoch));
        assert!(ledger.is_in_work(&set()));
        assert!(ledger.mark(&place));
        assert!(ledger.uncommitted_open().offsets.is_empty());
        assert!(!ledger.is_in_work(&set()));
        ledger.forget(&set());
        assert!(!ledger.mark(&place));
    }
}
