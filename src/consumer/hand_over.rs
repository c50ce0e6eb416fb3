//! Where the pump's thread, the consumer's task and the application meet: the only state that they share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::ledger::{Epoch, Ledger, Marks};
use super::pump::Signal;
use super::queue::{Limits, Queue};
use super::record::{Place, Record};
use crate::error::Error;
use crate::types::{Partitions, TopicPartition};

/// How many troubles wait to be told. More are dropped: the first ones tell the story.
const TROUBLES: usize = 16;

/// Records from the pump to the application, and marks from the application to the task.
#[derive(Debug)]
pub(super) struct HandOver {
    state: Mutex<State>,
    /// Something to take.
    arrived: Notify,
    /// The application has finished something.
    finished: Notify,
    /// Room to read on.
    room: Arc<Signal>,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    ledger: Ledger,
    troubles: VecDeque<Error>,
    /// What the application holds in its hands: handed out last, and not yet asked beyond.
    in_hand: Option<Place>,
    /// Nothing is handed out any more.
    stopped: bool,
    /// How it ended: an error is told once, then nothing for ever.
    ended: Option<Option<Error>>,
    /// The pump waits for room.
    full: bool,
}

/// What there is for the application.
#[derive(Debug)]
pub(super) enum Next {
    Record(Record),
    /// The consumer goes on, but this is worth knowing.
    Trouble(Error),
    Ended(Option<Error>),
    Nothing,
    /// There is a record, and nobody knows whether it is still ours.
    Doubtful,
}

impl HandOver {
    pub(super) fn new(limits: Limits, room: Arc<Signal>) -> Self {
        let state = State {
            queue: Queue::new(limits),
            ledger: Ledger::default(),
            troubles: VecDeque::new(),
            in_hand: None,
            stopped: false,
            ended: None,
            full: false,
        };
        Self { state: Mutex::new(state), arrived: Notify::new(), finished: Notify::new(), room }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pump's side.
impl HandOver {
    /// Whether another record may be read. If not, the room signal says when.
    pub(super) fn has_room(&self) -> bool {
        let mut state = self.lock();
        state.full = !state.queue.has_room();
        !state.full
    }

    /// Leaves a record, unless its ownership is over.
    pub(super) fn push(&self, record: Record) {
        let mut state = self.lock();
        if state.stopped || !state.ledger.is_open(&record.place.partition, record.place.epoch) {
            return;
        }
        state.queue.push(record);
        drop(state);
        self.arrived.notify_one();
    }

    /// Leaves word of something that the consumer survives.
    pub(super) fn trouble(&self, trouble: Error) {
        let mut state = self.lock();
        if state.troubles.len() < TROUBLES && state.troubles.back() != Some(&trouble) {
            state.troubles.push_back(trouble);
        }
        drop(state);
        self.arrived.notify_one();
    }
}

/// The application's side.
impl HandOver {
    /// The application asks for more: it has finished what it had. With `mark`, that is marked.
    pub(super) fn ask(&self, mark: bool) {
        let mut state = self.lock();
        let Some(place) = state.in_hand.take() else {
            return;
        };
        if mark {
            state.ledger.mark(&place);
        }
        drop(state);
        self.finished.notify_waiters();
    }

    /// What there is. `ours` says whether what is held is certainly ours at this moment.
    pub(super) fn take(&self, ours: impl FnOnce() -> bool) -> Next {
        let mut state = self.lock();
        if let Some(trouble) = state.troubles.pop_front() {
            return Next::Trouble(trouble);
        }
        if let Some(ended) = &mut state.ended {
            return Next::Ended(ended.take());
        }
        let Some(record) = state.queue.pop() else {
            return Next::Nothing;
        };
        if !ours() {
            state.queue.put_back(record);
            return Next::Doubtful;
        }
        state.ledger.hand_out(&record.place);
        state.in_hand = Some(record.place.clone());
        let wake = state.full && state.queue.is_half_empty();
        state.full &= !wake;
        drop(state);
        if wake {
            self.room.set();
        }
        Next::Record(record)
    }

    /// Becomes ready when something has arrived since it was made.
    pub(super) fn arrived(&self) -> Notified<'_> {
        self.arrived.notified()
    }

    /// Marks everything up to a record as processed; says whether that counts.
    pub(super) fn mark(&self, record: &Record) -> bool {
        let counts = self.lock().ledger.mark(&record.place);
        self.finished.notify_waiters();
        counts
    }
}

/// The task's side.
impl HandOver {
    /// Begins the ownership of partitions.
    pub(super) fn open(&self, partitions: &Partitions) -> Vec<(TopicPartition, Epoch)> {
        let mut state = self.lock();
        let open = |partition: TopicPartition| {
            let epoch = state.ledger.open(partition.clone());
            (partition, epoch)
        };
        partitions.iter().map(open).collect()
    }

    /// Takes over for which partitions another member commits.
    pub(super) fn stand_by(&self, standbys: &Partitions) {
        self.lock().ledger.stand_by(standbys);
    }

    /// Whether this ownership goes on.
    pub(super) fn is_open(&self, partition: &TopicPartition, epoch: Epoch) -> bool {
        self.lock().ledger.is_open(partition, epoch)
    }

    /// Nothing more of these comes out. What was handed out may still be marked.
    pub(super) fn close(&self, partitions: &Partitions) {
        let mut state = self.lock();
        state.ledger.close(partitions);
        state.drop_closed();
        drop(state);
        self.room.set();
    }

    /// These are no longer ours: nothing of them comes out, and no mark counts.
    pub(super) fn forget(&self, partitions: &Partitions) {
        let mut state = self.lock();
        state.ledger.forget(partitions);
        state.drop_closed();
        drop(state);
        self.room.set();
        self.finished.notify_waiters();
    }

    /// Waits until the application has finished with these: it asked for more, or marked all that it was given.
    /// Cancel safe.
    pub(super) async fn finished(&self, partitions: &Partitions) {
        loop {
            let finished = self.finished.notified();
            tokio::pin!(finished);
            // Before looking: `notify_waiters` reaches only those who wait.
            finished.as_mut().enable();
            if !self.lock().is_in_work(partitions) {
                return;
            }
            finished.await;
        }
    }

    /// What is marked and not committed: of all, or of these.
    pub(super) fn uncommitted(&self, of: Option<&Partitions>) -> Marks {
        self.lock().ledger.uncommitted(of)
    }

    /// The same of what is not being given up.
    pub(super) fn uncommitted_open(&self) -> Marks {
        self.lock().ledger.uncommitted_open()
    }

    pub(super) fn committed(&self, marks: &Marks) {
        self.lock().ledger.committed(marks);
    }

    /// Hands out nothing any more: the application has let go.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.in_hand = None;
        state.queue.retain(|_| false);
        drop(state);
        self.room.set();
        self.finished.notify_waiters();
    }

    /// Says that nothing more comes.
    pub(super) fn end(&self, error: Option<Error>) {
        let mut state = self.lock();
        state.stopped = true;
        state.queue.retain(|_| false);
        if state.ended.is_none() {
            state.ended = Some(error);
        }
        drop(state);
        self.arrived.notify_one();
        self.finished.notify_waiters();
    }
}

impl State {
    fn drop_closed(&mut self) {
        let ledger = &self.ledger;
        self.queue.retain(|record| ledger.is_open(&record.place.partition, record.place.epoch));
    }

    /// Whether the application still works on records of these partitions.
    fn is_in_work(&self, partitions: &Partitions) -> bool {
        self.in_hand.is_some() && self.ledger.is_in_work(partitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        hand_over: HandOver,
        partitions: Partitions,
        partition: TopicPartition,
        epoch: Epoch,
    }

    /// One open partition with three records that wait.
    fn three_records() -> Fixture {
        let limits = Limits { records: 3, bytes: usize::MAX };
        let hand_over = HandOver::new(limits, Arc::default());
        let partition = TopicPartition::new("orders", 0);
        let partitions: Partitions = [partition.clone()].into_iter().collect();
        let (_, epoch) = hand_over.open(&partitions).remove(0);
        for offset in 0..3 {
            hand_over.push(Record::sample(&partition, offset, epoch));
        }
        Fixture { hand_over, partitions, partition, epoch }
    }

    fn take(hand_over: &HandOver) -> Option<Record> {
        match hand_over.take(|| true) {
            Next::Record(record) => Some(record),
            _ => None,
        }
    }

    fn is_finished(fixture: &Fixture) -> bool {
        !fixture.hand_over.lock().is_in_work(&fixture.partitions)
    }

    #[test]
    fn nothing_of_a_closed_ownership_comes_out_or_gets_in() {
        let Fixture { hand_over, partitions, partition, epoch } = three_records();
        hand_over.close(&partitions);
        hand_over.push(Record::sample(&partition, 3, epoch));
        assert!(take(&hand_over).is_none());
        let (_, next) = hand_over.open(&partitions).remove(0);
        hand_over.push(Record::sample(&partition, 4, epoch));
        hand_over.push(Record::sample(&partition, 1, next));
        assert_eq!(take(&hand_over).map(|record| record.offset()), Some(1));
        assert!(take(&hand_over).is_none());
    }

    #[test]
    fn a_record_that_may_not_be_ours_any_more_is_kept_back_and_not_lost() {
        let Fixture { hand_over, .. } = three_records();
        assert!(matches!(hand_over.take(|| false), Next::Doubtful));
        assert_eq!(take(&hand_over).map(|record| record.offset()), Some(0));
    }

    #[test]
    fn a_full_queue_asks_for_more_when_half_of_it_is_taken() {
        let Fixture { hand_over, .. } = three_records();
        assert!(!hand_over.has_room());
        hand_over.room.take();
        take(&hand_over);
        assert!(!hand_over.room.take());
        take(&hand_over);
        assert!(hand_over.room.take());
    }

    #[test]
    fn asking_for_more_says_that_what_was_handed_out_is_finished() {
        let fixture = three_records();
        take(&fixture.hand_over);
        assert!(!is_finished(&fixture));
        fixture.hand_over.ask(false);
        assert!(is_finished(&fixture));
        assert!(fixture.hand_over.uncommitted(None).offsets.is_empty());
    }

    #[test]
    fn asking_marks_what_was_handed_out_where_that_is_wanted() {
        let fixture = three_records();
        take(&fixture.hand_over);
        take(&fixture.hand_over);
        fixture.hand_over.ask(true);
        let marks = fixture.hand_over.uncommitted(None);
        assert_eq!(marks.offsets[&fixture.partition].offset, 2);
    }

    #[test]
    fn a_mark_of_all_that_was_handed_out_says_that_it_is_finished() {
        let fixture = three_records();
        let (first, second) = (take(&fixture.hand_over), take(&fixture.hand_over));
        fixture.hand_over.mark(&first.unwrap());
        assert!(!is_finished(&fixture));
        fixture.hand_over.mark(&second.unwrap());
        assert!(is_finished(&fixture));
    }

    #[test]
    fn an_error_at_the_end_is_told_once() {
        let Fixture { hand_over, .. } = three_records();
        hand_over.end(Some(Error::Closed));
        assert!(matches!(hand_over.take(|| true), Next::Ended(Some(Error::Closed))));
        assert!(matches!(hand_over.take(|| true), Next::Ended(None)));
    }
}
