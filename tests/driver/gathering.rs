//! What the leader's `Gather` does wrong, and what becomes of the round.

use std::future::pending;

use async_trait::async_trait;
use kafka_group::{BoxError, Event, Gather, GroupReader, Topics};

use crate::harness::{REBALANCE, member, next, one_broker, soon};

/// How a gatherer fails.
enum Fails {
    ByPanicking,
    ByNeverEnding,
}

#[async_trait]
impl Gather for Fails {
    type Output = ();

    async fn gather(&self, _topics: &Topics, _reader: &GroupReader) -> Result<(), BoxError> {
        match self {
            Self::ByPanicking => panic!("no idea"),
            Self::ByNeverEnding => pending().await,
        }
    }
}

/// What is said of it, once the plan was made all the same.
async fn said_of(fails: Fails) -> String {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).gather(fails).join()).await.unwrap();
    let mut said = None;
    for _ in 0..2 {
        match next(&mut ann).await {
            Event::HookFailed(problem) => said = Some(problem),
            Event::Assigned(assigned) => assert_eq!(assigned.all().len(), 4),
            other => panic!("{other:?}"),
        }
    }
    said.expect("what failed")
}

#[tokio::test(start_paused = true)]
async fn a_gather_that_panics_is_told_and_the_plan_is_made_without_it() {
    let began = tokio::time::Instant::now();
    assert_eq!(said_of(Fails::ByPanicking).await, "gather panicked: no idea");
    assert!(began.elapsed() < REBALANCE / 10, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_gather_that_never_ends_is_told_and_leaves_the_assigner_its_time() {
    assert_eq!(said_of(Fails::ByNeverEnding).await, "gather did not end by its deadline");
}
