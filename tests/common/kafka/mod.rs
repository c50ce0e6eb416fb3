//! A real Kafka for tests: found outside, started from its jars, or started in containers.
//!
//! Whatever way the test process ends, what it started ends with it.

mod admin;
mod cluster;
mod docker;
mod groups;
mod jars;
mod node;
mod rpc;
mod run;
mod secure;
mod settings;
mod source;
mod three;

use std::{sync::OnceLock, time::Duration};

pub(crate) use admin::{Admin, Operation, Resource};
use cluster::Cluster;
use docker::Containers;
pub(crate) use jars::{libs, tools};
pub(crate) use run::log_file;
pub(crate) use secure::{Listener, Secure};
pub(crate) use settings::Settings;
use source::Source;
pub(crate) use three::ThreeNodes;

use super::wait;

/// How long a node may take to come up while the machine compiles something else.
const START: Duration = Duration::from_secs(120);

/// Groups that are asked for before a cluster is handed out: so many that each partition of the offsets topic, of which
/// there are six, has one.
const WARM_UP: usize = 32;

/// A Kafka cluster. Its nodes are numbered from 1.
#[derive(Debug)]
pub(crate) struct Kafka {
    bootstrap: String,
    nodes: Nodes,
}

/// Who runs the nodes.
#[derive(Debug)]
enum Nodes {
    External,
    Processes(Cluster),
    Containers(Containers),
}

impl Kafka {
    /// The one-node cluster that all tests of this process share. Use unique names on it, and do not harm it.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Result<Kafka, String>> = OnceLock::new();
        SHARED
            .get_or_init(|| Self::start(&Settings::new(1)))
            .as_ref()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The three-node cluster whose nodes a test may kill and pause: whole when handed out, to one test at a time.
    ///
    /// `None` on an external cluster: use [`own_cluster!`].
    pub(crate) fn three() -> Option<ThreeNodes> {
        (!source::is_external()).then(ThreeNodes::take)
    }

    /// A cluster for one test, with other settings. It ends when dropped.
    ///
    /// `None` on an external cluster: use [`own_cluster!`].
    pub(crate) fn private(settings: &Settings) -> Option<Self> {
        (!source::is_external())
            .then(|| Self::start(settings).unwrap_or_else(|error| panic!("{error}")))
    }

    /// This cluster, if it is the tests' own, so that access may be denied on it.
    pub(crate) fn owned(&self) -> Option<&Self> {
        (!matches!(self.nodes, Nodes::External)).then_some(self)
    }

    fn start(settings: &Settings) -> Result<Self, String> {
        let (addresses, nodes) = match source::source()? {
            Source::External(bootstrap) => {
                return Ok(Self { bootstrap: bootstrap.clone(), nodes: Nodes::External });
            }
            Source::Jars(libs) => {
                let cluster = Cluster::start(libs, settings)?;
                (cluster.addresses(), Nodes::Processes(cluster))
            }
            Source::Docker(compose) => {
                let containers = Containers::start(compose, settings)?;
                (containers.addresses(), Nodes::Containers(containers))
            }
        };
        let kafka = Self { bootstrap: addresses.join(","), nodes };
        kafka.wait_until_whole(START)?;
        Ok(kafka)
    }

    /// `bootstrap.servers`: all nodes, also those that are down.
    pub(crate) fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// The addresses of [`Self::bootstrap`], node 1 first.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.bootstrap.split(',').map(|address| address.trim().to_owned()).collect()
    }

    /// The address of one node.
    pub(crate) fn address(&self, node: i32) -> String {
        self.addresses().swap_remove(index(node))
    }

    /// Requests that a test needs besides the client under test.
    pub(crate) fn admin(&self) -> Admin {
        Admin::new(self.addresses())
    }

    /// Kills a node (SIGKILL); it is dead when this returns.
    pub(crate) fn kill(&self, node: i32) {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.kill(node),
            Nodes::Containers(containers) => containers.kill(node),
            Nodes::External => not_ours(),
        }
    }

    /// Stops a node in good order (SIGTERM), which hands its groups to the others; it is down when this returns.
    pub(crate) fn stop(&self, node: i32) {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.stop(node),
            Nodes::Containers(containers) => containers.stop(node),
            Nodes::External => not_ours(),
        }
    }

    /// Freezes a node (SIGSTOP): its connections stay open and nothing is answered.
    pub(crate) fn pause(&self, node: i32) {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.pause(node),
            Nodes::Containers(containers) => containers.pause(node),
            Nodes::External => not_ours(),
        }
    }

    /// Lets a paused node go on.
    pub(crate) fn resume(&self, node: i32) {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.resume(node),
            Nodes::Containers(containers) => containers.resume(node),
            Nodes::External => not_ours(),
        }
    }

    /// Starts a node that was killed or stopped (one that is up is killed first) and waits until it answers.
    pub(crate) fn restart(&self, node: i32) {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.restart(node),
            Nodes::Containers(containers) => containers.restart(node),
            Nodes::External => not_ours(),
        }
        let (admin, count) = (Admin::new(vec![self.address(node)]), self.addresses().len());
        wait::eventually(START, &format!("node {node} answers again"), || {
            (admin.metadata(&[]).ok()?.brokers.len() == count).then_some(())
        });
    }

    /// Brings every node up again, resumed.
    fn revive(&self) {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.revive(),
            Nodes::Containers(containers) => containers.revive(),
            Nodes::External => not_ours(),
        }
    }

    /// Waits until all nodes know all nodes, every replica is in sync and groups are served, whichever partition of the
    /// offsets topic they belong to: a coordinator that still loads one forgets what it was told meanwhile.
    fn wait_until_whole(&self, within: Duration) -> Result<(), String> {
        let nodes: Vec<Admin> =
            self.addresses().into_iter().map(|address| Admin::new(vec![address])).collect();
        let mut failure = None;
        let whole = wait::poll(within, || {
            failure = self.failure();
            let whole = || {
                nodes.iter().all(|node| node.sees_all(nodes.len()))
                    && (0..WARM_UP).all(|n| self.admin().serves(&format!("warm-up-{n}")))
            };
            (failure.is_some() || whole()).then_some(())
        });
        match (failure, whole) {
            (Some(failure), _) => Err(failure),
            (None, None) => {
                Err(format!("the cluster at {} is not whole after {within:?}", self.bootstrap))
            }
            (None, Some(())) => Ok(()),
        }
    }

    /// Why a node that should be up is not.
    fn failure(&self) -> Option<String> {
        match &self.nodes {
            Nodes::Processes(cluster) => cluster.failure(),
            _ => None,
        }
    }
}

fn index(node: i32) -> usize {
    usize::try_from(node - 1).expect("nodes are numbered from 1")
}

fn not_ours() -> ! {
    panic!("the nodes of an external cluster are not ours to stop: use own_cluster!")
}

/// The cluster that only the tests' own brokers can give; on an external one the test is told as not run, and returns.
#[allow(unused_macros, reason = "each test binary uses a part of this")]
macro_rules! own_cluster {
    ($cluster:expr) => {{
        fn here() {}
        match $cluster {
            Some(cluster) => cluster,
            None => return $crate::common::kafka::not_run(std::any::type_name_of_val(&here)),
        }
    }};
}
pub(crate) use own_cluster;

/// Tells, whether or not the harness captures output, that a test needs brokers of its own.
pub(crate) fn not_run(test: &str) {
    use std::{
        io::Write as _,
        sync::atomic::{AtomicU32, Ordering},
    };
    static NOT_RUN: AtomicU32 = AtomicU32::new(0);
    let count = NOT_RUN.fetch_add(1, Ordering::Relaxed) + 1;
    let test = test.trim_end_matches("::here").trim_end_matches("::{{closure}}");
    let _ = writeln!(std::io::stderr(), "not run on an external cluster: {test} ({count} so far)");
}
