//! A cluster of broker processes on this machine.

use std::{
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

use super::{
    index,
    node::Node,
    run::RunFolder,
    settings::{Ports, Settings},
};
use crate::common::wait;

/// Broker processes and their files.
#[derive(Debug)]
pub(super) struct Cluster {
    libs: PathBuf,
    ports: Vec<Ports>,
    nodes: Mutex<Vec<Node>>,
    _folder: RunFolder, // Last: removed after the nodes have ended.
}

impl Cluster {
    /// Starts the nodes; they answer some seconds later.
    pub(super) fn start(libs: &Path, settings: &Settings) -> Result<Self, String> {
        // Ports are probed, then used, and another process may be quicker; and on a loaded machine a node has been seen to
        // end while it started, without a word.
        let mut result = Self::spawn(libs, settings);
        for _ in 0..2 {
            let Some(problem) = result.as_ref().ok().and_then(Self::ended_at_once) else { break };
            eprintln!("starting Kafka again: {problem}");
            result = Self::spawn(libs, settings);
        }
        result.map_err(|error| format!("Kafka could not be started: {error}"))
    }

    fn spawn(libs: &Path, settings: &Settings) -> io::Result<Self> {
        let folder = RunFolder::create()?;
        let ports = free_ports(settings.nodes())?;
        let mut nodes = Vec::new();
        for id in 1..=settings.nodes() {
            let file = |name: &str| folder.path().join(format!("{name}-{id}"));
            let (properties, data) = (file("properties"), file("data"));
            fs::write(&properties, settings.server_properties(id, &ports, &data))?;
            let mut node = Node::new(properties, data, file("log"), settings);
            node.start(libs)?;
            nodes.push(node);
        }
        Ok(Self { libs: libs.to_owned(), ports, nodes: Mutex::new(nodes), _folder: folder })
    }

    /// Waits until every node listens or has ended, and says why one ended.
    fn ended_at_once(&self) -> Option<String> {
        let listens = |port: u16| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        wait::poll(super::START, || {
            let ended = self.failure().is_some();
            (ended || self.ports.iter().all(|ports| listens(ports.client))).then_some(())
        });
        self.failure()
    }

    pub(super) fn addresses(&self) -> Vec<String> {
        self.ports.iter().map(|ports| format!("127.0.0.1:{}", ports.client)).collect()
    }

    pub(super) fn kill(&self, node: i32) {
        self.nodes()[index(node)].kill();
    }

    pub(super) fn stop(&self, node: i32) {
        self.nodes()[index(node)].stop();
    }

    pub(super) fn pause(&self, node: i32) {
        self.nodes()[index(node)].pause();
    }

    pub(super) fn resume(&self, node: i32) {
        self.nodes()[index(node)].resume();
    }

    pub(super) fn restart(&self, node: i32) {
        let node = &mut self.nodes()[index(node)];
        node.kill();
        node.start(&self.libs).expect("what could be started once");
    }

    /// Resumes what is paused and starts what is down.
    pub(super) fn revive(&self) {
        for node in self.nodes().iter_mut() {
            if node.is_paused() {
                node.resume();
            }
            if !node.is_up() {
                node.start(&self.libs).expect("what could be started once");
            }
        }
    }

    /// What the first node that is down said last.
    pub(super) fn failure(&self) -> Option<String> {
        let mut nodes = self.nodes();
        let down = nodes.iter_mut().find_map(|node| (!node.is_up()).then_some(node))?;
        Some(format!("a Kafka node has ended. {}", down.log_tail()))
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Free ports for each node, below the range from which systems take ports for outgoing connections: a node
/// that is down for a while finds its port still free.
pub(super) fn free_ports(nodes: i32) -> io::Result<Vec<Ports>> {
    let numbers = free_numbers(3 * usize::try_from(nodes).expect("a count of nodes"))?;
    let ports = |of: &[u16]| Ports { client: of[0], internal: of[1], controller: of[2] };
    Ok(numbers.chunks_exact(3).map(ports).collect())
}

/// As [`free_ports`], so many.
pub(super) fn free_numbers(count: usize) -> io::Result<Vec<u16>> {
    let mut held = Vec::new();
    let mut free = || loop {
        let port = fastrand::u16(12_000..32_000);
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => {
                held.push(listener); // So that it is not chosen twice.
                break Ok(port);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => break Err(error),
        }
    };
    (0..count).map(|_| free()).collect()
}
