//! The groups of a cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::ask::deadline;
use super::{AdminError, GroupState, GroupType};
use crate::client::{ApiKey, Client, ClientError, Lane, Target, Topics, passes};
use crate::types::NodeId;
use crate::wire::api::{DescribeClusterRequest, ListGroupsRequest, ListedGroup, Operations};

/// Which groups are listed. By default all.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    states: Vec<GroupState>,
    types: Vec<GroupType>,
    protocol_types: Vec<String>,
    timeout: Option<Duration>,
}

/// The groups that were found. Look at [`visibility`](Self::visibility) before you conclude that a group is not there.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct GroupList {
    /// In order of their ids.
    pub groups: Vec<GroupListing>,
    /// The brokers that did not tell, and why: the groups that they coordinate are missing.
    pub failed: Vec<(NodeId, AdminError)>,
    /// Whether brokers name all groups to this user.
    pub visibility: Visibility,
}

/// Which groups brokers name to the user who asks. Those that they do not, they pass over without an error.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Visibility {
    /// All: this user has DESCRIBE on the cluster, or there are no access rules.
    All,
    /// Those alone on which this user has DESCRIBE, as it has none on the cluster.
    OnlyDescribable,
    /// One of the two: the broker is older than Kafka 2.8, or did not say.
    #[default]
    Unknown,
}

/// A group in the list.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GroupListing {
    /// Kafka: `group.id`.
    pub group_id: String,
    /// `consumer` for groups of consumers; empty for a group that has only offsets.
    pub protocol_type: String,
    /// None from brokers before Kafka 2.6.
    pub state: Option<GroupState>,
    /// None from brokers before Kafka 3.8, which know none but classic groups.
    pub group_type: Option<GroupType>,
    /// The broker that coordinates it.
    pub coordinator: NodeId,
}

impl ListOptions {
    /// Only groups in one of these states. A broker before Kafka 2.6 tells no states, and counts as failed.
    #[must_use]
    pub fn states(mut self, states: impl IntoIterator<Item = GroupState>) -> Self {
        self.states.extend(states);
        self
    }

    /// Only groups of one of these types.
    #[must_use]
    pub fn types(mut self, types: impl IntoIterator<Item = GroupType>) -> Self {
        self.types.extend(types);
        self
    }

    /// Only groups of one of these protocol types, such as `consumer` or `connect`.
    #[must_use]
    pub fn protocol_types<T: Into<String>>(mut self, types: impl IntoIterator<Item = T>) -> Self {
        self.protocol_types.extend(types.into_iter().map(Into::into));
        self
    }

    /// How long it may take, with all tries. Default: `default.api.timeout.ms` of the client.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn takes(&self, group: &GroupListing) -> bool {
        let state = group.state.as_ref().is_none_or(|state| holds(&self.states, state));
        let group_type = group.group_type.as_ref().unwrap_or(&GroupType::Classic);
        state && holds(&self.types, group_type) && holds(&self.protocol_types, &group.protocol_type)
    }
}

/// An empty list is no wish.
fn holds<T: PartialEq>(wanted: &[T], value: &T) -> bool {
    wanted.is_empty() || wanted.contains(value)
}

/// Asks all brokers at once; and the first that tells, what else this user may see.
pub(super) async fn list(client: &Client, options: &ListOptions) -> Result<GroupList, AdminError> {
    let deadline = deadline(client, options.timeout);
    let cluster = client.refresh_metadata(Topics::none(), deadline).await?;
    let mut asking = JoinSet::new();
    for node in cluster.nodes() {
        let (at, client) = (node.id, client.clone());
        asking.spawn(async move { (at, ask(&client, at, deadline).await) });
    }
    let (mut groups, mut failed, mut looking) = (BTreeMap::new(), Vec::new(), JoinSet::new());
    while let Some(asked) = asking.join_next().await {
        let Ok((coordinator, answer)) = asked else { continue };
        if answer.is_ok() && looking.is_empty() {
            looking.spawn(visibility(client.clone(), coordinator, deadline));
        }
        match answer.and_then(|listed| read(listed, coordinator, options)) {
            // A group that is just moving may be listed twice.
            Ok(listed) => {
                groups.extend(listed.into_iter().map(|group| (group.group_id.clone(), group)));
            }
            Err(error) => failed.push((coordinator, error)),
        }
    }
    failed.sort_by_key(|(node, _)| *node);
    let visibility = looking.join_next().await.and_then(Result::ok).unwrap_or_default();
    Ok(GroupList { groups: groups.into_values().collect(), failed, visibility })
}

/// Asks what this user may do to the cluster. Asked behind the listing, not beside it, so that a broker which closes the
/// connection at this has told its groups.
async fn visibility(client: Client, node: NodeId, deadline: Instant) -> Visibility {
    let until = deadline.min(client.request_deadline());
    let asked = client.send(Target::Node(node), Lane::Metadata, DescribeClusterRequest, until);
    // A broker that does not know the request was not asked: its connection stays.
    let answer = asked.await;
    tracing::debug!(%node, ?answer, "what this user may do to the cluster");
    let operations = answer.ok().filter(|answer| answer.error.is_none());
    let operations = operations.and_then(|answer| answer.operations);
    match operations.map(Operations::describe) {
        Some(true) => Visibility::All,
        Some(false) => Visibility::OnlyDescribable,
        None => Visibility::Unknown,
    }
}

/// Asks one broker, again for as long as it is loading groups. One that is out of reach is not waited for.
async fn ask(
    client: &Client,
    node: NodeId,
    deadline: Instant,
) -> Result<Vec<ListedGroup>, AdminError> {
    let mut backoff = client.retry_backoff();
    loop {
        let until = deadline.min(client.request_deadline());
        let asked =
            client.send(Target::Node(node), Lane::Metadata, ListGroupsRequest, until).await?;
        if asked.error.is_none() {
            return Ok(asked.groups);
        }
        let pause = backoff.pause();
        if !passes(asked.error) || Instant::now() + pause >= deadline {
            return Err(AdminError::Client(ClientError::Refused {
                api: ApiKey::ListGroups,
                code: asked.error,
                subject: format!("broker {node}").into(),
            }));
        }
        sleep(pause).await;
    }
}

fn read(
    listed: Vec<ListedGroup>,
    coordinator: NodeId,
    options: &ListOptions,
) -> Result<Vec<GroupListing>, AdminError> {
    if !options.states.is_empty() && listed.iter().any(|group| group.state.is_none()) {
        return Err(AdminError::TooOld("listing groups by state needs Kafka 2.6"));
    }
    let groups = listed.into_iter().map(|group| GroupListing {
        group_id: group.group_id,
        protocol_type: group.protocol_type,
        state: group.state.as_deref().map(GroupState::from),
        group_type: group.group_type.as_deref().map(GroupType::from),
        coordinator,
    });
    Ok(groups.filter(|group| options.takes(group)).collect())
}
