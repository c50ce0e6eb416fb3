//! Who would be removed.

use std::time::Duration;

use super::MemberKey;
use super::filter::MemberFilter;
use super::life::{Life, watch};
use crate::admin::ask::deadline;
use crate::admin::look::look_at_any;
use crate::admin::{AdminError, GroupDescription, GroupState, MemberDescription};
use crate::client::Client;
use crate::types::GroupInstanceId;

/// Which members of a group are meant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MemberSelection {
    /// All of them.
    All,
    /// These.
    Named(Vec<MemberKey>),
    /// Those that the filter takes.
    Matching(MemberFilter),
}

/// How a removal is planned.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemovalPlanOptions {
    watch: Duration,
    timeout: Option<Duration>,
}

/// Who would be removed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RemovalPlan {
    /// Kafka: `group.id`.
    pub group_id: String,
    /// What the group is doing.
    pub state: GroupState,
    /// Those that are meant and are members; each once, in the order in which they were named or the group has them.
    pub members: Vec<PlannedRemoval>,
    /// Those that were named and are not members.
    pub missing: Vec<MemberKey>,
}

/// A member that would be removed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedRemoval {
    /// What it would be removed by.
    pub key: MemberKey,
    /// What is known of it.
    pub member: MemberDescription,
    /// Whether it lives, as far as that can be known.
    pub life: Life,
}

impl From<MemberFilter> for MemberSelection {
    fn from(filter: MemberFilter) -> Self {
        Self::Matching(filter)
    }
}

impl From<Vec<MemberKey>> for MemberSelection {
    fn from(keys: Vec<MemberKey>) -> Self {
        Self::Named(keys)
    }
}

impl RemovalPlanOptions {
    /// For how long the members are watched for signs of life; it ends sooner if something was seen of all. Default:
    /// they are not.
    ///
    /// Members that commit by themselves do so every five seconds (Kafka: `auto.commit.interval.ms`): a little longer
    /// finds them. Longer than the session of members of this crate finds all of those that live.
    #[must_use]
    pub fn watch(mut self, time: Duration) -> Self {
        self.watch = time;
        self
    }

    /// How long everything else may take, with all tries. Default: `default.api.timeout.ms` of the client.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl RemovalPlan {
    /// What [`remove_members`](crate::admin::Admin::remove_members) needs to remove those that are in the plan.
    pub fn keys(&self) -> Vec<MemberKey> {
        self.members.iter().map(|planned| planned.key.clone()).collect()
    }
}

/// Looks who is meant, and watches them.
pub(in crate::admin) async fn plan(
    client: &Client,
    group: &str,
    which: MemberSelection,
    options: &RemovalPlanOptions,
) -> Result<RemovalPlan, AdminError> {
    if matches!(&which, MemberSelection::Matching(filter) if filter.is_empty()) {
        return Err(nothing_asked_for());
    }
    let deadline = deadline(client, options.timeout);
    let described = look_at_any(client, group, &[], deadline).await?;
    let (meant, missing) = select(&described, which);
    let (keys, members): (Vec<_>, Vec<_>) = meant.into_iter().unzip();
    let lives = watch(client, &described, &members, options.watch).await;
    let planned = keys.into_iter().zip(members).zip(lives);
    let members = planned.map(|((key, member), life)| PlannedRemoval { key, member, life });
    let GroupDescription { group_id, state, .. } = described;
    Ok(RemovalPlan { group_id, state, members: members.collect(), missing })
}

/// The error of a filter that takes nobody.
pub(super) fn nothing_asked_for() -> AdminError {
    AdminError::Invalid("no member to remove was named: the filter is empty".to_owned())
}

/// Members with what they are removed by, and those who were named in vain.
type Selected = (Vec<(MemberKey, MemberDescription)>, Vec<MemberKey>);

/// Who is meant. Whoever was found by something else than an instance id is removed only if no other process has taken
/// that over.
pub(super) fn select(group: &GroupDescription, which: MemberSelection) -> Selected {
    let all = group.members.iter();
    match which {
        MemberSelection::All => (all.map(|member| (key(member), member.clone())).collect(), vec![]),
        MemberSelection::Matching(filter) => {
            let taken = all.filter(|member| filter.takes(member));
            (taken.map(|member| (exact_key(member), member.clone())).collect(), vec![])
        }
        MemberSelection::Named(keys) => named(group, keys),
    }
}

fn named(group: &GroupDescription, keys: Vec<MemberKey>) -> Selected {
    let (mut found, mut missing): Selected = (Vec::new(), Vec::new());
    for key in keys {
        match group.members.iter().find(|member| key.means(member)) {
            Some(member) if found.iter().any(|(_, one)| one.member_id == member.member_id) => {}
            Some(member) => found.push((key, member.clone())),
            None if missing.contains(&key) => {}
            None => missing.push(key),
        }
    }
    (found, missing)
}

/// What a member is removed by, whichever process it is by then.
fn key(member: &MemberDescription) -> MemberKey {
    match instance_id(member) {
        Some(instance_id) => MemberKey::InstanceId(instance_id),
        None => MemberKey::MemberId(member.member_id.clone()),
    }
}

/// What a member is removed by, if no other process has taken its instance id over.
fn exact_key(member: &MemberDescription) -> MemberKey {
    let member_id = member.member_id.clone();
    match instance_id(member) {
        Some(instance_id) => MemberKey::Both { instance_id, member_id },
        None => MemberKey::MemberId(member_id),
    }
}

/// Brokers take instance ids that Kafka's clients refuse.
fn instance_id(member: &MemberDescription) -> Option<String> {
    member.group_instance_id.clone().filter(|id| GroupInstanceId::new(&**id).is_ok())
}
