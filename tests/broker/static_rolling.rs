//! `docs/static-membership.md`, step by step: a group of dynamic members becomes static and dynamic again, one process at
//! a time, and no partition is without an owner for longer than in a normal rebalance.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kafka_group::admin::{Admin, MemberKey, RemoveOptions, RemoveOutcome};
use kafka_group::client::ClientOptions;
use kafka_group::registry::RegisteredMember;
use kafka_group::types::Generation;
use kafka_group::{GroupMemberBuilder, LeavePolicy, MemberHandle, MemberState, registry};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::harness::{App, done, settled, spawn};
use crate::r#static::{Group, PARTITIONS, in_both};

/// Longer than a whole test: whoever waits for it is found out.
const SESSION: Duration = Duration::from_secs(45);

const NAMES: [&str; 3] = ["ann", "bob", "cid"];

/// Three processes, of which one at a time is replaced.
struct Deployment<'a> {
    group: &'a Group,
    apps: Vec<App>,
    watch: Watch,
}

impl<'a> Deployment<'a> {
    fn of(group: &'a Group, start: impl Fn(&Group, usize) -> GroupMemberBuilder) -> Self {
        let apps: Vec<App> = (0..NAMES.len()).map(|at| App::start(start(group, at))).collect();
        let deployment = Self { group, watch: Watch::of(group, &apps), apps };
        deployment.settles();
        deployment.watch.longest();
        deployment
    }

    fn settles(&self) -> Generation {
        settled(&self.apps.iter().collect::<Vec<_>>(), PARTITIONS)
    }

    /// Ends one process after the other as `end` does, and starts the next one; says for how long a partition was without
    /// an owner at the most.
    fn rolls(
        &mut self,
        end: impl Fn(App, &'static str),
        start: impl Fn(&Group, usize) -> GroupMemberBuilder,
    ) -> Duration {
        for (at, name) in NAMES.into_iter().enumerate() {
            end(self.apps.remove(0), name);
            self.apps.push(App::start(start(self.group, at)));
            self.watch.follow(&self.apps);
            self.settles();
        }
        self.watch.longest()
    }

    /// As [`Self::rolls`], where nobody is to notice.
    fn restarts(&mut self, start: impl Fn(&Group, usize) -> GroupMemberBuilder) {
        let before = self.settles();
        self.rolls(closes, start);
        assert_eq!(self.settles(), before, "a restart was a rebalance");
    }
}

fn dynamic(group: &Group, _: usize) -> GroupMemberBuilder {
    group.dynamic().session_timeout(SESSION)
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

fn is_no_longer_than(took: Duration, normal: Duration) {
    assert!(
        took <= 3 * normal + Duration::from_secs(1),
        "{took:?}; in a normal rebalance {normal:?}"
    );
}

#[test]
fn dynamic_members_become_static_by_a_rolling_restart() {
    in_both(|group| {
        let mut deployment = Deployment::of(&group, dynamic);
        let normal = deployment.rolls(closes, dynamic);
        is_no_longer_than(deployment.rolls(closes, fixed), normal);
        deployment.restarts(fixed);
    });
}

#[test]
fn static_members_become_dynamic_when_their_last_static_run_leaves() {
    in_both(|group| {
        let mut deployment = Deployment::of(&group, dynamic);
        let normal = deployment.rolls(closes, dynamic);
        deployment.rolls(closes, fixed);
        deployment.restarts(last_fixed);
        is_no_longer_than(deployment.rolls(closes, dynamic), normal);
        assert_eq!(group.members(), [None, None, None]);
    });
}

#[test]
fn static_members_become_dynamic_when_the_entries_they_leave_behind_are_removed() {
    in_both(|group| {
        let mut deployment = Deployment::of(&group, dynamic);
        let normal = deployment.rolls(closes, dynamic);
        deployment.rolls(closes, fixed);
        let admin = done(Admin::connect(ClientOptions::new(group.kafka.bootstrap()))).unwrap();
        let closes_and_is_removed = |app: App, name: &'static str| {
            app.close();
            let entries = [MemberKey::instance_id(name)];
            let removing = admin.remove_members(&group.id, entries, RemoveOptions::default());
            assert_eq!(done(removing).unwrap()[0].outcome, RemoveOutcome::Removed);
        };
        is_no_longer_than(deployment.rolls(closes_and_is_removed, dynamic), normal);
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
    let indexed = |index| {
        let builder = group.dynamic().session_timeout(SESSION).client_id("goes");
        App::start(builder.instance_index(index))
    };
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

/// Looks again and again which partitions nobody has.
struct Watch {
    watched: Arc<Mutex<Watched>>,
    task: JoinHandle<()>,
}

struct Watched {
    topic: String,
    members: Vec<MemberHandle>,
    /// Since when nobody has it, by partition.
    orphaned: Vec<Option<Instant>>,
    longest: Duration,
}

impl Watch {
    fn of(group: &Group, apps: &[App]) -> Self {
        let watched = Arc::new(Mutex::new(Watched {
            topic: group.topic.clone(),
            members: handles(apps),
            orphaned: vec![None; PARTITIONS],
            longest: Duration::ZERO,
        }));
        let looked_at = Arc::clone(&watched);
        let task = spawn(async move {
            loop {
                lock(&looked_at).look(Instant::now());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        Self { watched, task }
    }

    fn follow(&self, apps: &[App]) {
        lock(&self.watched).members = handles(apps);
    }

    /// The longest time that a partition was without an owner since this was last asked.
    fn longest(&self) -> Duration {
        let mut watched = lock(&self.watched);
        watched.look(Instant::now());
        std::mem::take(&mut watched.longest)
    }
}

impl Watched {
    fn look(&mut self, now: Instant) {
        let held: Vec<_> =
            self.members.iter().map(|member| member.status().borrow().assignment.clone()).collect();
        for (partition, orphaned) in self.orphaned.iter_mut().enumerate() {
            let partition = i32::try_from(partition).unwrap();
            if held.iter().any(|held| held.contains(&self.topic, partition)) {
                *orphaned = None;
            } else {
                let since = *orphaned.get_or_insert(now);
                self.longest = self.longest.max(now - since);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn handles(apps: &[App]) -> Vec<MemberHandle> {
    apps.iter().map(|app| app.handle().clone()).collect()
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}
