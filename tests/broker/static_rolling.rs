//! `docs/static-membership.md`, step by step: a group of dynamic members becomes static and dynamic again, one process at
//! a time, and no partition is without an owner for longer than in a normal rebalance.
//!
//! That is counted, not timed. In an eager group every generation owns everything; in a cooperative one what moves is
//! nobody's for one generation. And nothing waits for a session or a rebalance to time out, which takes longer than a
//! test may.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kafka_group::admin::{Admin, MemberKey, RemoveOptions, RemoveOutcome};
use kafka_group::client::ClientOptions;
use kafka_group::registry::RegisteredMember;
use kafka_group::types::{Generation, Partitions};
use kafka_group::{GroupMemberBuilder, LeavePolicy, MemberState, registry};

use crate::harness::{App, SOON, Said, done, settled};
use crate::r#static::{Group, PARTITIONS, Rounds, in_both};

/// Of sessions and rebalances. Longer than a test waits for anything: whoever waits for it is found out.
const TIMEOUT: Duration = SOON.saturating_mul(5);

const NAMES: [&str; 3] = ["ann", "bob", "cid"];

/// Three processes, of which one at a time is replaced.
struct Deployment<'a> {
    group: &'a Group,
    apps: Vec<App>,
    /// What those that are gone were told.
    told: Vec<Said>,
}

impl<'a> Deployment<'a> {
    fn of(group: &'a Group, start: impl Fn(&Group, usize) -> GroupMemberBuilder) -> Self {
        let apps: Vec<App> = (0..NAMES.len()).map(|at| App::start(start(group, at))).collect();
        let deployment = Self { group, apps, told: Vec::new() };
        deployment.settles();
        deployment
    }

    fn settles(&self) -> Generation {
        settled(&self.apps.iter().collect::<Vec<_>>(), PARTITIONS)
    }

    /// Ends one process after the other as `end` does, and starts the next one. What moves meanwhile is without an owner
    /// for no longer than in a normal rebalance.
    fn rolls(
        &mut self,
        end: impl Fn(App, &'static str),
        start: impl Fn(&Group, usize) -> GroupMemberBuilder,
    ) {
        let before = self.settles();
        for (at, name) in NAMES.into_iter().enumerate() {
            let app = self.apps.remove(0);
            self.told.extend(app.said());
            end(app, name);
            self.apps.push(App::start(start(self.group, at)));
            self.settles();
        }
        let normal = match self.group.rounds {
            Rounds::Eager => 0,
            Rounds::Cooperative => 1,
        };
        assert!(self.unowned(before) <= normal, "{:#?}", self.owned(before));
    }

    /// As [`Self::rolls`], where nobody is to notice.
    fn restarts(&mut self, start: impl Fn(&Group, usize) -> GroupMemberBuilder) {
        let before = self.settles();
        self.rolls(closes, start);
        assert_eq!(self.settles(), before, "a restart was a rebalance");
    }

    /// For how many generations in a row, from this one on, a partition was nobody's at the most.
    fn unowned(&self, since: Generation) -> usize {
        let owned = self.owned(since);
        let longest = |partition| {
            let is_owned = |all: &Partitions| all.contains(&self.group.topic, partition);
            let generations: Vec<bool> = owned.values().map(is_owned).collect();
            generations.split(|is_owned| *is_owned).map(<[bool]>::len).max().unwrap_or_default()
        };
        (0..PARTITIONS as i32).map(longest).max().unwrap_or_default()
    }

    /// What all had together, by generation.
    fn owned(&self, since: Generation) -> BTreeMap<Generation, Partitions> {
        let told = self.told.iter().cloned().chain(self.apps.iter().flat_map(App::said));
        let mut owned: BTreeMap<_, Partitions> = BTreeMap::new();
        for said in told {
            if let Said::Assigned(got) = said {
                owned.entry(got.generation).or_default().extend_with(&got.all);
            }
        }
        owned.split_off(&since)
    }
}

fn dynamic(group: &Group, _: usize) -> GroupMemberBuilder {
    group.dynamic().session_timeout(TIMEOUT).max_poll_interval(TIMEOUT)
}

fn fixed(group: &Group, at: usize) -> GroupMemberBuilder {
    dynamic(group, at).group_instance_id(NAMES[at])
}

fn last_fixed(group: &Group, at: usize) -> GroupMemberBuilder {
    fixed(group, at).leave_policy(LeavePolicy::Leave)
}

/// As a process does that is asked to stop.
fn closes(app: App, _: &'static str) {
    app.close();
}

#[test]
fn dynamic_members_become_static_by_a_rolling_restart() {
    in_both(|group| {
        let mut deployment = Deployment::of(&group, dynamic);
        deployment.rolls(closes, dynamic);
        deployment.rolls(closes, fixed);
        deployment.restarts(fixed);
    });
}

#[test]
fn static_members_become_dynamic_when_their_last_static_run_leaves() {
    in_both(|group| {
        let mut deployment = Deployment::of(&group, dynamic);
        deployment.rolls(closes, fixed);
        deployment.restarts(last_fixed);
        deployment.rolls(closes, dynamic);
        assert_eq!(group.members(), [None, None, None]);
    });
}

#[test]
fn static_members_become_dynamic_when_the_entries_they_leave_behind_are_removed() {
    in_both(|group| {
        let mut deployment = Deployment::of(&group, dynamic);
        deployment.rolls(closes, fixed);
        let admin = done(Admin::connect(ClientOptions::new(group.kafka.bootstrap()))).unwrap();
        let closes_and_is_removed = |app: App, name: &'static str| {
            app.close();
            let entries = [MemberKey::instance_id(name)];
            let removing = admin.remove_members(&group.id, entries, RemoveOptions::default());
            assert_eq!(done(removing).unwrap()[0].outcome, RemoveOutcome::Removed);
        };
        deployment.rolls(closes_and_is_removed, dynamic);
        assert_eq!(group.members(), [None, None, None]);
    });
}

#[test]
fn every_test_that_the_operators_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let tests: String = fs::read_dir(root.join("tests/broker"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
        .map(read)
        .collect();
    let page = read(root.join("docs/static-membership.md"));
    let rows = page.split("## What is tested").nth(1).unwrap().lines();
    let rows = rows.filter(|line| line.starts_with("| ") && !line.contains("tests/broker"));
    let names: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(tests.contains(&format!("fn {name}()")), "{name}");
    }
}

/// A process with three members is taken out of the group for good.
#[test]
fn the_ids_that_a_process_lists_are_what_takes_its_members_out() {
    let group = Group::new();
    let stays = App::start(fixed(&group, 0));
    let indexed = |index| App::start(dynamic(&group, 0).client_id("goes").instance_index(index));
    let go: Vec<App> = (0..3).map(indexed).collect();
    settled(&[&stays, &go[0], &go[1], &go[2]], PARTITIONS);

    let all = registry::snapshot().into_iter().filter(|member| *member.group_id == *group.id);
    let all: Vec<RegisteredMember> = all.collect();
    assert!(all.iter().all(|member| member.state == MemberState::Stable), "{all:?}");
    let ids: Vec<String> =
        all.into_iter().filter_map(|member| member.group_instance_id).map(String::from).collect();
    assert_eq!(ids, ["ann", "goes-0", "goes-1", "goes-2"]);

    go.into_iter().for_each(App::close);
    let admin = done(Admin::connect(ClientOptions::new(group.kafka.bootstrap()))).unwrap();
    let entries = ids.into_iter().skip(1).map(MemberKey::instance_id);
    let removed = done(admin.remove_members(&group.id, entries, RemoveOptions::default()));
    assert!(removed.unwrap().iter().all(|entry| entry.outcome == RemoveOutcome::Removed));
    stays.holds(PARTITIONS);
}
