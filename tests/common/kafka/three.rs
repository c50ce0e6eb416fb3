//! The three-node cluster that tests may harm, one at a time.

use std::{
    ops::Deref,
    sync::{Mutex, MutexGuard},
};

use super::{Kafka, START, Settings};

static THREE: Mutex<Option<Kafka>> = Mutex::new(None);

/// Three nodes that are one test's until it drops this.
#[derive(Debug)]
pub(crate) struct ThreeNodes(MutexGuard<'static, Option<Kafka>>);

impl ThreeNodes {
    /// Waits for its turn; starts the cluster, or makes it whole after what the test before did to it.
    pub(super) fn take() -> Self {
        let mut turn = THREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let whole = turn.as_ref().is_some_and(|kafka| {
            kafka.revive();
            kafka.wait_until_whole(START).is_ok()
        });
        if !whole {
            *turn = None; // Its memory first.
            *turn = Some(Kafka::start(&Settings::new(3)).unwrap_or_else(|error| panic!("{error}")));
        }
        Self(turn)
    }
}

impl Deref for ThreeNodes {
    type Target = Kafka;

    fn deref(&self) -> &Kafka {
        self.0.as_ref().expect("started when taken")
    }
}
