//! `docs/moving-a-live-group.md`, step by step: from a librdkafka group on range to a custom assigner, and back.

use kafka_group::GroupMemberBuilder;
use kafka_group::assign::RangeAssigner;

use crate::assigners::LeastLoaded;
use crate::common::{Kafka, unique};
use crate::harness::{App, Said, done, offsets, plain, undisturbed};
use crate::librdkafka::{Peer, RdMember, share};

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

    fn old(&self) -> RdMember {
        RdMember::start(self.kafka.bootstrap(), &self.id, &self.topic, "range")
    }

    fn new_only(&self) -> GroupMemberBuilder {
        let builder = plain(self.kafka.bootstrap(), &self.id, &[&self.topic]);
        builder.assigner(LeastLoaded { threads: 1 })
    }

    fn both(&self) -> App {
        App::start(self.new_only().assigner(RangeAssigner::default()))
    }

    fn share(&self, peers: &[&dyn Peer], protocol: &str) {
        share(self.kafka, &self.id, peers, PARTITIONS, protocol);
    }

    /// Everything that is committed: the same for all partitions.
    fn stands_at(&self, offset: i64) {
        let committed = self.kafka.admin().committed(&self.id);
        assert_eq!(committed.into_values().collect::<Vec<_>>(), [offset; PARTITIONS]);
    }
}

fn commit(app: &App, offset: i64) {
    let held = app.now().unwrap().all;
    done(app.handle().commit(offsets(&held, offset))).unwrap();
}

#[test]
fn a_live_group_moves_to_a_custom_assigner_and_back_and_keeps_its_offsets() {
    let group = Group::new();
    let (ann, bob) = (group.old(), group.old());
    group.share(&[&ann, &bob], "range");
    ann.commit(1);
    bob.commit(1);
    group.stands_at(1);

    // There: members that list both come beside the old ones, which go.
    let cid = group.both();
    group.share(&[&ann, &bob, &cid], "range");
    drop(ann);
    group.share(&[&bob, &cid], "range");
    let dan = group.both();
    group.share(&[&bob, &cid, &dan], "range");
    drop(bob);
    group.share(&[&cid, &dan], "least-loaded");
    group.stands_at(1);

    // And once more, without range.
    let (eve, fay) = (App::start(group.new_only()), App::start(group.new_only()));
    group.share(&[&cid, &dan, &eve, &fay], "least-loaded");
    cid.leave();
    dan.leave();
    group.share(&[&eve, &fay], "least-loaded");
    commit(&eve, 2);
    commit(&fay, 2);
    group.stands_at(2);

    // Back: both, then the old program.
    let gil = group.both();
    group.share(&[&eve, &fay, &gil], "least-loaded");
    eve.leave();
    fay.leave();
    group.share(&[&gil], "least-loaded");
    let hal = group.old();
    group.share(&[&gil, &hal], "range");
    gil.leave();
    group.share(&[&hal], "range");
    group.stands_at(2);
}

#[test]
fn a_member_with_the_new_name_alone_is_refused_while_an_old_one_is_there_and_let_in_afterwards() {
    let group = Group::new();
    let old = group.old();
    group.share(&[&old], "range");
    let both = group.both();
    group.share(&[&old, &both], "range");
    let early = undisturbed(&[&both], || {
        let early = App::start(group.new_only());
        early.hears("no common protocol", |said| (*said == Said::NoCommonProtocol).then_some(()));
        early
    });
    drop(old);
    group.share(&[&both, &early], "least-loaded");
}
