//! What the broker and the loopback need: a connection for each member, frames encoded beforehand, no assigner.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::Plan;
use super::frames::{self, Frame, Joined};
use crate::common::unique;

const PATIENCE: Duration = Duration::from_secs(120);
const MEMBER_ID_REQUIRED: i16 = 79;
const REBALANCE_IN_PROGRESS: i16 = 27;

/// The rounds' times in milliseconds, after one that warms up.
pub(crate) fn run(plan: &Plan<'_>) -> Vec<f64> {
    // One thread, as a client has.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a reactor").block_on(measure(plan))
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
    id: String,
    everyone: Vec<String>,
    rounds: watch::Sender<i32>,
    stable: mpsc::UnboundedReceiver<(usize, i32)>,
    generations: Vec<i32>,
    connection: Connection,
}

impl Group {
    async fn start(plan: &Plan<'_>) -> Self {
        let id = unique("raw");
        let coordinator = coordinator(plan.bootstrap, &id).await;
        let mut members = Vec::new();
        for _ in 0..plan.members {
            members.push(Member::new(&coordinator, &id, plan.topic).await);
        }
        let everyone: Vec<String> = members.iter().map(|member| member.id.clone()).collect();
        let (tell, stable) = mpsc::unbounded_channel();
        let (rounds, begin) = watch::channel(0);
        for (number, mut member) in members.into_iter().enumerate() {
            member.plan = frames::sync(&id, &member.id, &everyone);
            tokio::spawn(member.run(number, begin.clone(), tell.clone()));
        }
        let connection = Connection::open(&coordinator).await;
        let generations = vec![0; plan.members];
        let mut group = Self { id, everyone, rounds, stable, generations, connection };
        // The first to come may have had a generation of their own.
        while !group.is_stable(0) {
            group.round().await;
        }
        group
    }

    async fn rejoin(&mut self) -> Duration {
        let before = self.generations[0];
        let began = Instant::now();
        self.round().await;
        let took = began.elapsed();
        assert!(self.is_stable(before), "one round for all");
        took
    }

    /// Everyone joins and syncs once.
    async fn round(&mut self) {
        self.rounds.send_modify(|number| *number += 1);
        let round = async {
            for _ in 0..self.everyone.len() {
                let (member, generation) = self.stable.recv().await.expect("members stay");
                self.generations[member] = generation;
            }
        };
        timeout(PATIENCE, round).await.expect("a round ends");
    }

    fn is_stable(&self, before: i32) -> bool {
        let first = self.generations[0];
        first > before && self.generations.iter().all(|generation| *generation == first)
    }

    async fn leave(mut self) {
        let leave = frames::leave(&self.id, &self.everyone);
        self.connection.call(&leave).await;
    }
}

/// The address of the group's coordinator, which a cluster that has just started may have to choose first.
async fn coordinator(bootstrap: &str, group: &str) -> String {
    let mut connection = Connection::open(bootstrap.split(',').next().unwrap_or(bootstrap)).await;
    let find = frames::find_coordinator(group);
    let finding = async {
        loop {
            if let Some(address) = frames::coordinator(connection.call(&find).await) {
                return address;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, finding).await.expect("there is a coordinator")
}

struct Member {
    id: String,
    connection: Connection,
    join: Frame,
    follow: Frame,
    plan: Frame,
}

impl Member {
    /// Asks for an id, and encodes everything that will be said with it.
    async fn new(coordinator: &str, group: &str, topic: &str) -> Self {
        let mut connection = Connection::open(coordinator).await;
        let mut unnamed = frames::join(group, topic, "");
        let answer = Joined::read(connection.call(unnamed.with(0)).await);
        assert_eq!(answer.error, MEMBER_ID_REQUIRED);
        let id = answer.member_id;
        let join = frames::join(group, topic, &id);
        let follow = frames::sync(group, &id, &[]);
        Self { connection, join, plan: follow.clone(), follow, id }
    }

    async fn run(
        mut self,
        number: usize,
        mut begin: watch::Receiver<i32>,
        tell: mpsc::UnboundedSender<(usize, i32)>,
    ) {
        while begin.changed().await.is_ok() {
            let round = *begin.borrow_and_update();
            let generation = self.round(round).await;
            tell.send((number, generation)).ok();
        }
    }

    async fn round(&mut self, round: i32) -> i32 {
        loop {
            let joined = Joined::read(self.connection.call(self.join.with(round)).await);
            assert_eq!(joined.error, 0, "{joined:?}");
            let leads = joined.leader == self.id;
            let sync = if leads { &mut self.plan } else { &mut self.follow };
            let answer = self.connection.call(sync.with(joined.generation)).await;
            match frames::sync_error(answer) {
                0 => return joined.generation,
                REBALANCE_IN_PROGRESS => {}
                error => panic!("SyncGroup: {error}"),
            }
        }
    }
}

struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("the coordinator listens");
        stream.set_nodelay(true).expect("a TCP option");
        Self { stream, answer: Vec::new() }
    }

    async fn call(&mut self, frame: &[u8]) -> &[u8] {
        self.stream.write_all(frame).await.expect("the coordinator listens");
        let length = self.stream.read_u32().await.expect("the coordinator answers");
        self.answer.resize(usize::try_from(length).expect("a length"), 0);
        self.stream.read_exact(&mut self.answer).await.expect("a whole answer");
        &self.answer
    }
}
