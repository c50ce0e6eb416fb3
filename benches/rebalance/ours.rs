//! A group of this crate's members, each with a client and a loop of its own, all options at their defaults.

use std::sync::Arc;
use std::time::Duration;

use kafka_group::assign::{RangeAssigner, StickyAssigner};
use kafka_group::{Event, GroupMember, MemberHandle};
use tokio::time::{Instant, sleep};

use super::board::Board;
use crate::common::unique;

/// What is to be measured.
pub(crate) struct Plan {
    pub(crate) repeats: usize,
    pub(crate) members: usize,
    pub(crate) topic: String,
    pub(crate) bootstrap: String,
    pub(crate) assigner: String,
}

/// Measures, and prints a line of JSON for each event.
pub(crate) fn run(plan: &Plan) {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(measure(plan));
}

async fn measure(plan: &Plan) {
    let mut group = Group::start(plan).await;
    let mut dice = fastrand::Rng::new();
    for _ in 0..plan.repeats {
        for event in ["join", "leave"] {
            // Any phase of the heartbeats.
            sleep(Duration::from_millis(4000 + dice.u64(..3000))).await;
            group.board.reset();
            let began = Instant::now();
            match event {
                "join" => group.join().await,
                _ => group.leave(),
            }
            let stopped = group.board.settled(group.members.len(), group.partitions).await;
            println!(
                r#"{{"peer":"kafka-group-{}","members":{},"partitions":{},"event":"{event}","ms":{},"stopped_ms":{},"moved":{}}}"#,
                plan.assigner,
                plan.members,
                group.partitions,
                began.elapsed().as_millis(),
                stopped.time.as_millis(),
                stopped.moved
            );
        }
    }
    for member in group.members {
        member.close().await.expect("members close");
    }
}

struct Group<'a> {
    plan: &'a Plan,
    id: String,
    board: Arc<Board>,
    partitions: usize,
    started: usize,
    members: Vec<MemberHandle>,
}

impl<'a> Group<'a> {
    /// The first member is alone for a moment, and is given everything: so many partitions there are.
    async fn start(plan: &'a Plan) -> Self {
        let (id, board) = (unique("settle"), Arc::default());
        let mut group = Self {
            plan,
            id,
            board,
            partitions: 0,
            started: 0,
            members: Vec::with_capacity(plan.members),
        };
        group.join().await;
        let alone = Duration::from_secs(60);
        group.members[0].ready(alone).await.expect("the first member is alone");
        group.partitions = group.members[0].status().borrow().assignment.len();
        for _ in 1..plan.members {
            group.join().await;
        }
        group.board.settled(plan.members, group.partitions).await;
        group
    }

    async fn join(&mut self) {
        let member = GroupMember::builder()
            .bootstrap_servers(&self.plan.bootstrap)
            .group_id(&self.id)
            .subscribe([&self.plan.topic]);
        let member = match self.plan.assigner.as_str() {
            "range" => member.assigner(RangeAssigner::default()),
            "cooperative" => member.assigner(StickyAssigner::default()),
            other => member.set("partition.assignment.strategy", other),
        };
        let member = member.join().await.expect("the cluster is there");
        self.members.push(member.handle());
        self.started += 1;
        tokio::spawn(work(self.started, member, Arc::clone(&self.board)));
    }

    fn leave(&mut self) {
        let member = self.members.pop().expect("one joined just now");
        tokio::spawn(async move { member.close().await.expect("members close") });
    }
}

/// The application's loop: it has nothing to finish, so asking for the next event gives up at once.
async fn work(id: usize, mut member: GroupMember, board: Arc<Board>) {
    while let Some(event) = member.next().await.expect("members stay") {
        match event {
            Event::Assigned(assigned) => board.take(id, assigned.partitions()),
            Event::Revoked(revoked) => board.give_up(id, revoked.partitions()),
            Event::Lost(lost) => board.give_up(id, lost.partitions()),
            other => eprintln!("{other:?}"),
        }
    }
}
