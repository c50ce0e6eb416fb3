//! Several copies of each partition in a real group: who has the first, who may commit, who takes over.

use kafka_group::CommitError;
use kafka_group::assign::RedundantAssigner;
use kafka_group::types::Partitions;

use crate::common::wait::eventually;
use crate::common::{Kafka, unique};
use crate::harness::{App, SOON, done, offsets, plain};

const PARTITIONS: usize = 6;

struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

impl Group {
    fn new() -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, PARTITIONS as i32, 1);
        group
    }

    /// A member that wants two copies.
    fn join(&self) -> App {
        let member = plain(self.kafka.bootstrap(), &self.id, &[&self.topic]);
        App::start(member.assigner(RedundantAssigner::new(2)))
    }
}

/// Waits until each partition has two holders, and one of them the first copy; per member its first copies.
fn settled(apps: &[&App]) -> Vec<Partitions> {
    eventually(SOON, "two copies of each partition, one of them the first", || {
        let got: Vec<_> = apps.iter().map(|app| app.now()).collect::<Option<_>>()?;
        let is_one_round = got.iter().all(|of| of.generation == got[0].generation);
        let held: usize = got.iter().map(|of| of.all.len()).sum();
        let firsts: Vec<Partitions> =
            got.iter().map(|of| of.all.difference(&of.standbys)).collect();
        let all: Partitions = firsts.iter().flat_map(Partitions::iter).collect();
        let is_settled = is_one_round && held == 2 * PARTITIONS && all.len() == PARTITIONS;
        let once = firsts.iter().map(Partitions::len).sum::<usize>() == PARTITIONS;
        (is_settled && once).then_some(firsts)
    })
}

#[test]
fn the_first_commits_standbys_are_refused_and_one_takes_over() {
    let group = Group::new();
    let (ann, bob, cid) = (group.join(), group.join(), group.join());
    let firsts = settled(&[&ann, &bob, &cid]);
    for (app, firsts) in [&ann, &bob, &cid].into_iter().zip(&firsts) {
        assert_eq!(done(app.handle().commit(offsets(firsts, 7))), Ok(()));
        assert_refused(app, app.now().unwrap().standbys);
    }
    let all: Partitions = firsts.iter().flat_map(Partitions::iter).collect();
    let committed = done(ann.handle().committed(all.iter())).unwrap();
    assert!(committed.values().all(|position| position.offset == 7), "{committed:?}");

    bob.close();
    let after = settled(&[&ann, &cid]);
    for (before, after) in [(&firsts[0], &after[0]), (&firsts[2], &after[1])] {
        assert_eq!(before.difference(after), Partitions::new(), "a first copy has moved");
    }
    assert_eq!(done(ann.handle().commit(offsets(&after[0], 8))), Ok(()));
    assert_refused(&cid, after[0].clone());
}

/// Whoever was there before the others may have nothing but first copies, or none: a commit of nothing is no trouble.
fn assert_refused(app: &App, standbys: Partitions) {
    let expected = match standbys.is_empty() {
        true => Ok(()),
        false => Err(CommitError::StandsBy(standbys.clone())),
    };
    assert_eq!(done(app.handle().commit(offsets(&standbys, 9))), expected);
}
