//! `docs/moving-a-live-group.md`, step by step: from a librdkafka group on range, or on cooperative-sticky, to a custom
//! assigner, and back.

use std::collections::BTreeMap;

use kafka_group::GroupMemberBuilder;
use kafka_group::assign::{RangeAssigner, StickyAssigner};

use crate::assigners::LeastLoaded;
use crate::common::peers::Partitions;
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

    fn old_cooperative(&self) -> Member {
        let bootstrap = self.kafka.bootstrap();
        Member::Old(RdMember::start(bootstrap, &self.id, &self.topic, "cooperative-sticky"))
    }

    fn both_cooperative(&self) -> Member {
        Member::New(App::start(self.new_only().assigner(StickyAssigner::default())))
    }

    fn new_cooperative(&self) -> Member {
        Member::New(App::start(self.new_only()))
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

/// A member of the old program or of the new one.
enum Member {
    Old(RdMember),
    New(App),
}

impl Member {
    fn commit(&self, offset: i64) {
        match self {
            Self::Old(member) => member.commit(offset),
            Self::New(app) => commit(app, offset),
        }
    }

    /// All that it had to give up so far.
    fn revoked(&self) -> Vec<Partitions> {
        let revoked = |said| match said {
            Said::Revoked(it) => Some(it),
            _ => None,
        };
        match self {
            Self::Old(member) => member.revocations(),
            Self::New(app) => {
                let revoked = app.said().into_iter().filter_map(revoked);
                let set = |it: kafka_group::types::Partitions| {
                    it.iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
                };
                revoked.map(set).collect()
            }
        }
    }
}

impl Peer for Member {
    fn owned(&self) -> Partitions {
        match self {
            Self::Old(member) => member.owned(),
            Self::New(app) => app.owned(),
        }
    }
}

/// A group whose members come and go, one at a time.
struct Crew<'a> {
    group: &'a Group,
    members: BTreeMap<&'static str, Member>,
    /// How often each had to give something up until it last settled.
    revocations: BTreeMap<&'static str, usize>,
}

impl Crew<'_> {
    fn joins(&mut self, name: &'static str, member: Member, protocol: &str) {
        self.members.insert(name, member);
        self.settles(protocol);
    }

    fn leaves(&mut self, name: &str, protocol: &str) {
        if let Some(Member::New(app)) = self.members.remove(name) {
            app.leave();
        }
        self.settles(protocol);
    }

    /// Waits until all is shared out, and checks that nobody gave up what it has afterwards.
    fn settles(&mut self, protocol: &str) {
        let peers: Vec<&dyn Peer> = self.members.values().map(|member| member as _).collect();
        self.group.share(&peers, protocol);
        for (name, member) in &self.members {
            let revoked = member.revoked();
            let before = self.revocations.insert(name, revoked.len()).unwrap_or(0);
            let (owned, given_up) = (member.owned(), revoked.iter().skip(before).flatten());
            let stopped: Vec<_> = given_up.filter(|at| owned.contains(at)).collect();
            assert!(stopped.is_empty(), "{name} gave up for nothing: {stopped:?}");
        }
    }

    fn commit(&self, offset: i64) {
        self.members.values().for_each(|member| member.commit(offset));
        self.group.stands_at(offset);
    }
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
fn a_cooperative_group_moves_there_and_back_and_nothing_stops_that_does_not_move() {
    let group = Group::new();
    let (mut crew, old, new) = (
        Crew { group: &group, members: BTreeMap::new(), revocations: BTreeMap::new() },
        "cooperative-sticky",
        "least-loaded",
    );
    crew.joins("ann", group.old_cooperative(), old);
    crew.joins("bob", group.old_cooperative(), old);
    crew.commit(1);

    crew.joins("cid", group.both_cooperative(), old);
    crew.leaves("ann", old);
    crew.joins("dan", group.both_cooperative(), old);
    crew.leaves("bob", new);
    crew.joins("eve", group.new_cooperative(), new);
    crew.leaves("cid", new);
    crew.leaves("dan", new);
    crew.commit(2);

    crew.joins("gil", group.both_cooperative(), new);
    crew.leaves("eve", new);
    crew.joins("hal", group.old_cooperative(), old);
    crew.leaves("gil", old);
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
