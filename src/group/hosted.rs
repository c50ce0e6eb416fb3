//! A group's protocol, as the task that drives a member needs it.

use std::sync::Arc;

use crate::client::Topics;
use crate::protocol::{Facts, GroupProtocol, JobError, Led, Plan, Rejoin};
use crate::types::{Cluster, Offsets};

/// What a driver asks of a protocol beyond the rounds themselves. Everything has a default, for groups without topics.
pub(crate) trait Hosted: GroupProtocol {
    /// Whose changes matter.
    fn interest(&self) -> Topics {
        Topics::none()
    }

    /// The cluster is another now. `jitter`, from 0 to 1, spreads members that see the same change.
    fn cluster_changed(&mut self, cluster: &Arc<Cluster>, jitter: f64) -> Reaction<Self::Notice> {
        let _ = (cluster, jitter);
        Reaction { rejoin: None, notices: Vec::new() }
    }

    /// The plan without the assigner, which hangs or was not reached: everyone keeps what they validly have.
    fn keep_plan(&mut self, led: Led, facts: Facts, error: JobError) -> Result<Plan, JobError> {
        let _ = (led, facts);
        Err(error)
    }

    /// What these offsets are offsets of.
    fn committed_items(offsets: &Offsets) -> Self::Held {
        let _ = offsets;
        Self::Held::default()
    }

    /// Those of the offsets that belong to `items`.
    fn offsets_of(items: &Self::Held, offsets: &Offsets) -> Offsets {
        let _ = (items, offsets);
        Offsets::new()
    }

    /// What a hook of the application did wrong, to be told.
    fn hook_failed(message: String) -> Option<Self::Notice> {
        let _ = message;
        None
    }
}

/// What a change of the cluster asks for.
#[derive(Debug)]
pub(crate) struct Reaction<N> {
    pub(crate) rejoin: Option<Rejoin>,
    pub(crate) notices: Vec<N>,
}
