//! What one look finds of groups.

use std::collections::BTreeMap;

use tokio::task::JoinSet;

use crate::admin::{Admin, AdminError, GroupDescription, GroupLag, MemberDescription};
use crate::types::{Partitions, TopicPartition};

/// A group, as far as an observer sees it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct GroupSeen {
    pub(super) state: String,
    /// The assigner; told of a stable group only.
    pub(super) assigner: Option<String>,
    /// Told where a member of this crate planned; where the broker plans, its epoch.
    pub(super) generation: Option<i32>,
    pub(super) members: Vec<MemberSeen>,
    /// Partitions that have commits, and no member.
    pub(super) unowned: Partitions,
    /// How many records lie between what is committed and the ends; none where nothing is committed.
    pub(super) lag: Option<i64>,
    /// Why the lag is not known.
    pub(super) no_lag: Option<String>,
}

/// A member of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct MemberSeen {
    /// An instance id, or else the member id.
    pub(super) name: String,
    pub(super) member_id: String,
    pub(super) client_id: String,
    pub(super) host: String,
    /// What it has, if that can be read.
    pub(super) partitions: Option<Partitions>,
    pub(super) lag: Option<i64>,
}

/// What a look found of one group, or why nothing.
pub(super) type Look = Result<GroupSeen, AdminError>;

/// Looks at each group. Cancel safe.
pub(super) async fn look(admin: &Admin, groups: &[String]) -> Vec<Look> {
    /// So many groups are asked for at one time.
    const AT_ONCE: usize = 8;
    let mut looks = Vec::with_capacity(groups.len());
    for some in groups.chunks(AT_ONCE) {
        let mut asking = JoinSet::new();
        for (group, place) in some.iter().zip(0_usize..) {
            let (admin, group) = (admin.clone(), group.clone());
            asking.spawn(async move { (place, look_at(&admin, &group).await) });
        }
        let mut came = BTreeMap::new();
        while let Some(joined) = asking.join_next().await {
            came.extend(joined);
        }
        looks.extend(came.into_values());
    }
    looks
}

async fn look_at(admin: &Admin, group: &str) -> Look {
    let described = admin.describe_group(group).await?;
    let lag = admin.lag(group).await;
    Ok(GroupSeen::of(&described, lag))
}

impl GroupSeen {
    fn of(group: &GroupDescription, lag: Result<GroupLag, AdminError>) -> Self {
        let (lags, no_lag) = match lag {
            Ok(lag) => (by_partition(&lag), None),
            Err(error) => (BTreeMap::new(), Some(error.to_string())),
        };
        let had: Partitions = group
            .members
            .iter()
            .filter_map(MemberDescription::partitions)
            .flat_map(Partitions::iter)
            .collect();
        let unowned = lags.keys().filter(|it| !had.contains(it.topic(), it.partition())).cloned();
        Self {
            state: group.state.as_str().to_owned(),
            assigner: group.protocol.clone(),
            generation: group.generation().map(|generation| generation.0).or(group.epoch),
            members: group.members.iter().map(|it| MemberSeen::of(it, &lags)).collect(),
            unowned: unowned.collect(),
            lag: sum(lags.values()),
            no_lag,
        }
    }
}

impl MemberSeen {
    fn of(member: &MemberDescription, lags: &BTreeMap<TopicPartition, i64>) -> Self {
        let partitions = member.partitions();
        let had = partitions.into_iter().flat_map(Partitions::iter);
        let lags: Vec<i64> = had.filter_map(|partition| lags.get(&partition).copied()).collect();
        Self {
            name: member.name().to_owned(),
            member_id: member.member_id.to_string(),
            client_id: member.client_id.clone(),
            host: member.client_host.clone(),
            partitions: partitions.cloned(),
            lag: sum(lags.iter()),
        }
    }
}

/// The lag of the partitions of which it is known.
fn by_partition(lag: &GroupLag) -> BTreeMap<TopicPartition, i64> {
    let partitions = lag.partitions.iter();
    partitions.filter_map(|told| Some((told.partition.clone(), told.lag()?))).collect()
}

fn sum<'a>(lags: impl Iterator<Item = &'a i64>) -> Option<i64> {
    lags.copied().reduce(i64::saturating_add)
}
