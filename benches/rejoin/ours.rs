//! Members of this crate: one client, range, each with a loop of its own, all options at their defaults.

use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::client::ClientOptions;
use kafka_group::types::Generation;
use kafka_group::{Client, Event, GroupMember, MemberHandle};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::Plan;
use crate::common::unique;

/// How long a round may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The rounds' times in milliseconds, after one that warms up.
pub(crate) fn run(plan: &Plan<'_>) -> Vec<f64> {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(measure(plan))
}

async fn measure(plan: &Plan<'_>) -> Vec<f64> {
    let mut group = Group::start(plan).await;
    group.rejoin().await;
    let mut took = Vec::new();
    for _ in 0..plan.rounds {
        tokio::time::sleep(Duration::from_millis(500)).await;
        took.push(group.rejoin().await.as_secs_f64() * 1000.0);
    }
    group.leave().await;
    took
}

struct Group {
    members: Vec<MemberHandle>,
    /// Of every assignment that an application's loop was told: who, and in which generation.
    assigned: mpsc::UnboundedReceiver<(usize, Generation)>,
    generations: Vec<Generation>,
}

impl Group {
    async fn start(plan: &Plan<'_>) -> Self {
        let client = Client::new(ClientOptions::new(plan.bootstrap)).expect("good options");
        let group = unique("rejoin");
        let (tell, assigned) = mpsc::unbounded_channel();
        let mut members = Vec::new();
        for id in 0..plan.members {
            let member = GroupMember::builder()
                .client(client.clone())
                .group_id(&group)
                .subscribe([plan.topic])
                .assigner(RangeAssigner::default())
                .join()
                .await
                .expect("the cluster is there");
            members.push(member.handle());
            tokio::spawn(work(id, member, tell.clone()));
        }
        let generations = vec![Generation::NONE; plan.members];
        let mut group = Self { members, assigned, generations };
        group.stable(Generation::NONE).await;
        group
    }

    /// From the trigger until the last loop has its assignment of the new generation.
    async fn rejoin(&mut self) -> Duration {
        let before = self.generations.iter().max().copied().unwrap_or_default();
        let began = Instant::now();
        for member in &self.members {
            member.rejoin("benchmark").await.expect("members stay");
        }
        self.stable(before).await;
        let took = began.elapsed();
        let rounds = self.generations[0].0 - before.0;
        if rounds > 1 {
            eprintln!("{rounds} generations in one measurement");
        }
        took
    }

    /// Until all are in one generation after `before`.
    async fn stable(&mut self, before: Generation) {
        let settling = async {
            let is_stable = |generations: &[Generation]| {
                generations[0] > before && generations.iter().all(|one| *one == generations[0])
            };
            while !is_stable(&self.generations) {
                let (id, generation) = self.assigned.recv().await.expect("members stay");
                self.generations[id] = generation;
            }
        };
        timeout(PATIENCE, settling).await.expect("a round ends");
    }

    async fn leave(self) {
        let leaving: Vec<_> = self
            .members
            .into_iter()
            .map(|member| tokio::spawn(async move { member.close().await }))
            .collect();
        for left in leaving {
            left.await.expect("no panic").expect("members close");
        }
    }
}

async fn work(
    id: usize,
    mut member: GroupMember,
    tell: mpsc::UnboundedSender<(usize, Generation)>,
) {
    while let Some(event) = member.next().await.expect("members stay") {
        if let Event::Assigned(assigned) = event {
            // Nobody listens while the group leaves.
            tell.send((id, assigned.generation())).ok();
        }
    }
}
