//! Members are taken out of a group.

mod filter;
mod life;
mod plan;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use filter::MemberFilter;
pub use life::{Life, SignOfLife};
pub(super) use plan::plan;
pub use plan::{MemberSelection, PlannedRemoval, RemovalPlan, RemovalPlanOptions};

use super::ask::{Answered, Coordinator, deadline};
use super::look::look_at_any;
use super::{AdminError, GroupType, MemberDescription};
use crate::client::{Client, ClientError, Lane};
use crate::types::{GroupInstanceId, InvalidInstanceId, MemberId};
use crate::wire::api::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember};
use crate::wire::{ApiKey, ErrorCode};

/// The first version that takes several members, and instance ids (KIP-345).
const BATCH: i16 = 3;

/// What the broker's log says unless the operator gives a reason.
const REASON: &str = "removed by an administrator";

/// Which member is meant.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum MemberKey {
    /// The static member of this id, whichever process has it now. Kafka: `group.instance.id`.
    ///
    /// Not checked before it is used: one that Kafka's clients refuse makes the operation fail with
    /// [`AdminError::Invalid`] before anything is sent. Such a member can be removed by its member id.
    InstanceId(String),
    /// The member of this id. A static member has another one after each restart.
    MemberId(MemberId),
    /// The static member of this instance id, if it still has this member id:
    /// [`Fenced`](RemoveOutcome::Fenced) if another process took the instance id over since it was looked at.
    Both {
        /// Kafka: `group.instance.id`.
        instance_id: String,
        /// Kafka: `member.id`.
        member_id: MemberId,
    },
}

/// How members are removed.
#[derive(Clone, Debug, Default)]
pub struct RemoveOptions {
    reason: Option<String>,
    require_all: bool,
    one_by_one: bool,
    timeout: Option<Duration>,
}

/// What became of one entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RemovedMember {
    /// Who was meant.
    pub key: MemberKey,
    /// What became of it.
    pub outcome: RemoveOutcome,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RemoveOutcome {
    /// It was a member, and is none any more.
    Removed,
    /// The group knows no such member.
    Unknown,
    /// The instance id belongs to another process than the entry says. That one was left alone.
    Fenced,
    /// It is not a member any more, and may have been one when this began: it left meanwhile, or was removed by an
    /// earlier try of this call, whose answer was lost.
    Gone,
    /// The broker says something else.
    Refused(ErrorCode),
}

impl MemberKey {
    /// The static member of this id. Kafka: `group.instance.id`.
    pub fn instance_id(id: impl Into<String>) -> Self {
        Self::InstanceId(id.into())
    }

    /// The member of this id. Kafka: `member.id`.
    pub fn member_id(id: impl Into<Arc<str>>) -> Self {
        Self::MemberId(MemberId::new(id))
    }

    /// Whether this is the member that is meant.
    fn means(&self, member: &MemberDescription) -> bool {
        match self {
            Self::InstanceId(id) => member.group_instance_id.as_ref() == Some(id),
            Self::MemberId(id) => member.member_id == *id,
            Self::Both { instance_id, member_id } => {
                member.group_instance_id.as_ref() == Some(instance_id)
                    && member.member_id == *member_id
            }
        }
    }

    fn leaving(&self, reason: &str) -> Result<LeavingMember, AdminError> {
        let (instance_id, member_id) = match self {
            Self::InstanceId(instance_id) => (Some(instance_id), MemberId::default()),
            Self::MemberId(member_id) => (None, member_id.clone()),
            Self::Both { instance_id, member_id } => (Some(instance_id), member_id.clone()),
        };
        if member_id.is_empty() && !matches!(self, Self::InstanceId(_)) {
            return Err(AdminError::Invalid("a member id is empty".to_owned()));
        }
        let checked = |id: &String| GroupInstanceId::new(id.as_str()).map_err(|why| wrong(id, why));
        Ok(LeavingMember {
            member_id,
            group_instance_id: instance_id.map(checked).transpose()?,
            reason: Some(reason.to_owned()),
        })
    }
}

fn wrong(id: &str, why: InvalidInstanceId) -> AdminError {
    AdminError::Invalid(format!("instance id `{}` {why}", id.escape_debug()))
}

impl fmt::Display for MemberKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InstanceId(id) => f.write_str(id),
            Self::MemberId(id) => id.fmt(f),
            Self::Both { instance_id, member_id } => write!(f, "{instance_id} ({member_id})"),
        }
    }
}

impl RemoveOptions {
    /// Why, for the broker's log (KIP-800): at most 255 characters are sent, and none to brokers before Kafka 3.2.
    /// Default: that an administrator removed it.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// How long it may take, with all tries. Default: `default.api.timeout.ms` of the client.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Looks first whether all entries are members, and removes nobody if one is not. Default: `false`.
    ///
    /// The trap: between the look and the removal members may leave, which is told as [`RemoveOutcome::Gone`].
    #[must_use]
    pub fn require_all(mut self, require_all: bool) -> Self {
        self.require_all = require_all;
        self
    }

    /// On a broker before Kafka 2.4, which removes one member a request and only by member id, asks for each entry by
    /// itself. Default: `false`. The group may rebalance for each.
    #[must_use]
    pub fn one_by_one(mut self, one_by_one: bool) -> Self {
        self.one_by_one = one_by_one;
        self
    }
}

impl RemoveOutcome {
    /// Whether the entry is no member now, as was asked for.
    pub fn is_removed(self) -> bool {
        matches!(self, Self::Removed | Self::Gone)
    }

    fn of(code: ErrorCode, may_be_gone: bool) -> Self {
        match code {
            ErrorCode::None => Self::Removed,
            ErrorCode::UnknownMemberId if may_be_gone => Self::Gone,
            ErrorCode::UnknownMemberId => Self::Unknown,
            ErrorCode::FencedInstanceId => Self::Fenced,
            code => Self::Refused(code),
        }
    }
}

impl fmt::Display for RemoveOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("removed"),
            Self::Unknown => f.write_str("unknown"),
            Self::Fenced => f.write_str("fenced"),
            Self::Gone => f.write_str("not a member any more"),
            Self::Refused(code) => write!(f, "refused: {code}"),
        }
    }
}

/// Removes what can be removed.
pub(super) async fn remove(
    client: &Client,
    group: &str,
    mut entries: Vec<MemberKey>,
    options: &RemoveOptions,
) -> Result<Vec<RemovedMember>, AdminError> {
    let mut seen = HashSet::new();
    entries.retain(|entry| seen.insert(entry.clone()));
    let leaving = leaving(&entries, options)?;
    if leaving.is_empty() {
        return Err(AdminError::Invalid("no member to remove was named".to_owned()));
    }
    let deadline = deadline(client, options.timeout);
    let coordinator = Coordinator { client, group, deadline };
    let removal = Removal { coordinator, looked: options.require_all };
    if options.require_all {
        removal.require(&entries).await?;
    }
    let outcomes = removal.remove(leaving, options.one_by_one).await?;
    if outcomes.iter().all(|outcome| *outcome == RemoveOutcome::Unknown) {
        removal.is_there(&entries).await?;
    }
    Ok(each(entries, outcomes))
}

/// Removes those that are members now and that are meant.
pub(super) async fn remove_selected(
    client: &Client,
    group: &str,
    which: MemberSelection,
    options: &RemoveOptions,
) -> Result<Vec<RemovedMember>, AdminError> {
    if matches!(&which, MemberSelection::Matching(filter) if filter.is_empty()) {
        return Err(plan::nothing_asked_for());
    }
    let deadline = deadline(client, options.timeout);
    let described = look_at_any(client, group, &[], deadline).await?;
    let (meant, _) = plan::select(&described, which);
    let entries: Vec<_> = meant.into_iter().map(|(key, _)| key).collect();
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let leaving = leaving(&entries, options)?;
    let removal = Removal { coordinator: Coordinator { client, group, deadline }, looked: true };
    let outcomes = removal.remove(leaving, options.one_by_one).await?;
    let nobody = outcomes.iter().all(|outcome| *outcome == RemoveOutcome::Gone);
    if nobody && described.group_type != GroupType::Classic {
        removal.is_there(&entries).await?;
    }
    Ok(each(entries, outcomes))
}

fn leaving(
    entries: &[MemberKey],
    options: &RemoveOptions,
) -> Result<Vec<LeavingMember>, AdminError> {
    let reason = options.reason.as_deref().unwrap_or(REASON);
    entries.iter().map(|key| key.leaving(reason)).collect()
}

fn each(entries: Vec<MemberKey>, outcomes: Vec<RemoveOutcome>) -> Vec<RemovedMember> {
    let removed = entries.into_iter().zip(outcomes);
    removed.map(|(key, outcome)| RemovedMember { key, outcome }).collect()
}

/// A removal under way.
struct Removal<'a> {
    coordinator: Coordinator<'a>,
    /// Whether all were members when it was looked.
    looked: bool,
}

impl Removal<'_> {
    /// Looks whether all are members.
    async fn require(&self, entries: &[MemberKey]) -> Result<(), AdminError> {
        let Coordinator { client, group, deadline } = self.coordinator;
        let described = look_at_any(client, group, &[], deadline).await?;
        let members = described.members.iter();
        let ids: HashSet<&str> = members.clone().map(|member| member.member_id.as_str()).collect();
        let instances: HashMap<&str, &str> = members
            .filter_map(|member| {
                Some((member.group_instance_id.as_deref()?, member.member_id.as_str()))
            })
            .collect();
        let is_there = |key: &&MemberKey| match key {
            MemberKey::InstanceId(id) => instances.contains_key(id.as_str()),
            MemberKey::MemberId(id) => ids.contains(id.as_str()),
            MemberKey::Both { instance_id, member_id } => {
                instances.get(instance_id.as_str()) == Some(&member_id.as_str())
            }
        };
        let missing: Vec<_> = entries.iter().filter(|key| !is_there(key)).cloned().collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(AdminError::NotMembers { group: group.to_owned(), missing }),
        }
    }

    /// All in one request; or, on a broker that is too old for it and where that is allowed, one after the other.
    async fn remove(
        &self,
        leaving: Vec<LeavingMember>,
        one_by_one: bool,
    ) -> Result<Vec<RemoveOutcome>, AdminError> {
        let by_member_id = leaving.iter().all(|member| member.group_instance_id.is_none());
        match self.ask(leaving.clone()).await {
            Err(AdminError::BatchUnsupported { .. }) if one_by_one && by_member_id => {}
            outcomes => return outcomes,
        }
        let mut outcomes = Vec::with_capacity(leaving.len());
        for member in leaving {
            outcomes.extend(self.ask(vec![member]).await?);
        }
        Ok(outcomes)
    }

    /// One LeaveGroup; what became of each, in their order.
    async fn ask(&self, members: Vec<LeavingMember>) -> Result<Vec<RemoveOutcome>, AdminError> {
        let request = LeaveGroupRequest { group_id: self.coordinator.group.to_owned(), members };
        let asked = self.coordinator.ask(Lane::Heartbeat, &request, |answer| answer.error);
        let Answered { answer, again, .. } = asked.await.map_err(|error| self.failed(error))?;
        let may_be_gone = again || self.looked;
        match (answer.error, request.members.as_slice()) {
            // Below version 3 the answer is about the one member that was asked for.
            (ErrorCode::None | ErrorCode::UnknownMemberId, [one])
                if answer.members.is_empty() && one.group_instance_id.is_none() =>
            {
                Ok(vec![RemoveOutcome::of(answer.error, may_be_gone)])
            }
            (ErrorCode::None, members) => Ok(outcomes(members, &answer, may_be_gone)),
            (code, _) => Err(self.failed(self.coordinator.refused::<LeaveGroupRequest>(code))),
        }
    }

    fn failed(&self, error: ClientError) -> AdminError {
        match error {
            ClientError::Unencodable { api: ApiKey::LeaveGroup, version, .. }
                if version < BATCH =>
            {
                AdminError::BatchUnsupported { offered: version }
            }
            error => AdminError::of(self.coordinator.group, "READ", error),
        }
    }

    /// LeaveGroup knows nobody in a group that is empty or does not exist, nor, on older brokers, in one of the new
    /// protocol: that is told apart. If it cannot be, what it said stands.
    async fn is_there(&self, entries: &[MemberKey]) -> Result<(), AdminError> {
        let Coordinator { client, group, deadline } = self.coordinator;
        match look_at_any(client, group, &[], deadline).await {
            Ok(described) if described.group_type != GroupType::Classic => {
                let is_member = |key: &MemberKey| described.members.iter().any(|it| key.means(it));
                match entries.iter().any(is_member) {
                    true => Err(AdminError::NotClassic {
                        group: group.to_owned(),
                        group_type: described.group_type.clone(),
                    }),
                    false => Ok(()),
                }
            }
            Err(error @ (AdminError::NoSuchGroup(_) | AdminError::NotClassic { .. })) => Err(error),
            _ => Ok(()),
        }
    }
}

/// What the answer says of each: brokers repeat the ids that they were asked with.
fn outcomes(
    asked: &[LeavingMember],
    answer: &LeaveGroupResponse,
    may_be_gone: bool,
) -> Vec<RemoveOutcome> {
    let told = answer.members.iter();
    let told: HashMap<_, _> = told
        .map(|left| ((left.group_instance_id.as_deref(), left.member_id.as_str()), left.error))
        .collect();
    let asked = asked.iter().map(|member| {
        let instance_id = member.group_instance_id.as_ref().map(GroupInstanceId::as_str);
        told.get(&(instance_id, member.member_id.as_str()))
    });
    let nothing = ErrorCode::UnknownServerError;
    asked.map(|told| RemoveOutcome::of(*told.unwrap_or(&nothing), may_be_gone)).collect()
}
