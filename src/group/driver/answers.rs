//! What a driver waits for besides its inputs.

use std::future::{Future, poll_fn};
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{AbortHandle, JoinSet};

use super::round_trip::Answer;

/// Requests and jobs that are under way.
#[derive(Default)]
pub(super) struct Answers {
    /// Polled by the driver itself: there are few at a time, and a task for each would cost more than they do.
    here: Vec<Pin<Box<dyn Future<Output = Answer> + Send>>>,
    tasks: JoinSet<Answer>,
}

impl Answers {
    /// Waits for what only sends, receives and decodes.
    pub(super) fn await_here(&mut self, answer: impl Future<Output = Answer> + Send + 'static) {
        self.here.push(Box::pin(answer));
    }

    /// Waits for what may run the application's code, or is to be waited for at the end.
    pub(super) fn spawn(
        &mut self,
        answer: impl Future<Output = Answer> + Send + 'static,
    ) -> AbortHandle {
        self.tasks.spawn(answer)
    }

    /// The next answer; `None` when none is awaited. What panics gives no answer: the machine has its deadlines. Cancel
    /// safe.
    pub(super) async fn next(&mut self) -> Option<Answer> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        let mut at = 0;
        while let Some(awaited) = self.here.get_mut(at) {
            // A future that has panicked is dropped, and seen by nobody.
            let polled = panic::catch_unwind(AssertUnwindSafe(|| awaited.as_mut().poll(context)));
            match polled {
                Ok(Poll::Pending) => at += 1,
                Ok(Poll::Ready(answer)) => {
                    drop(self.here.swap_remove(at));
                    return Poll::Ready(Some(answer));
                }
                Err(_panic) => drop(self.here.swap_remove(at)),
            }
        }
        loop {
            match self.tasks.poll_join_next(context) {
                Poll::Ready(Some(Ok(answer))) => return Poll::Ready(Some(answer)),
                Poll::Ready(Some(Err(_panicked_or_aborted))) => {}
                Poll::Ready(None) if self.here.is_empty() => return Poll::Ready(None),
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Gives up everything.
    pub(super) async fn shutdown(&mut self) {
        self.here.clear();
        self.tasks.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::RequestId;
    use crate::types::NodeId;

    fn found(id: u64) -> Answer {
        Answer::Coordinator { id: RequestId(id), found: Ok(NodeId(1)) }
    }

    fn id_of(answer: Option<Answer>) -> Option<u64> {
        match answer {
            Some(Answer::Coordinator { id, .. }) => Some(id.0),
            _ => None,
        }
    }

    #[tokio::test]
    async fn what_panics_gives_no_answer_and_takes_none_from_others() {
        let mut answers = Answers::default();
        answers.await_here(async { panic!("a fault of ours") });
        answers.await_here(async { found(1) });
        answers.spawn(async { panic!("a fault of the application") });
        answers.spawn(async { found(2) });
        let both = [id_of(answers.next().await), id_of(answers.next().await)];
        assert_eq!(both, [Some(1), Some(2)]);
        assert_eq!(id_of(answers.next().await), None);
    }

    #[tokio::test]
    async fn a_slow_answer_does_not_hold_up_a_quick_one() {
        let mut answers = Answers::default();
        answers.await_here(std::future::pending());
        answers.await_here(async { found(1) });
        assert_eq!(id_of(answers.next().await), Some(1));
        answers.shutdown().await;
        assert!(answers.next().await.is_none());
    }
}
