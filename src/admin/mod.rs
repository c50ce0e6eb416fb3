//! I/O. What an operator does with groups from outside: look at them, take members out, set and delete what they have
//! committed, delete them.
//!
//! ```no_run
//! # async fn remove() -> Result<(), kafka_group::admin::AdminError> {
//! use kafka_group::admin::{Admin, MemberKey, RemoveOptions};
//! use kafka_group::client::ClientOptions;
//!
//! let admin = Admin::connect(ClientOptions::new("kafka-1:9092,kafka-2:9092")).await?;
//! let gone = ["indexer-7", "indexer-8"].map(MemberKey::instance_id);
//! let options = RemoveOptions::default().reason("scaled down");
//! for removed in admin.remove_members("search-indexers", gone, options).await? {
//!     println!("{}: {}", removed.key, removed.outcome);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Everything here works for groups of the classic protocol, of any client and protocol type, and for groups of consumers of
//! the new one (KIP-848) on brokers that do it for those: Kafka 4.4 does. Share and streams groups are listed, and deleted.

mod ask;
mod consumers;
mod delete;
mod describe;
mod error;
mod kind;
mod lag;
mod list;
#[cfg(feature = "cli")]
mod live;
mod look;
mod offsets;
mod present;
mod remove;

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::{JoinHandle, JoinSet};

#[cfg(all(test, feature = "cli"))]
pub(crate) use describe::read;
pub use describe::{
    AssignmentDescription, Content, GroupDescription, MemberDescription, MemberMetadata,
    MemberWords, PlanWords, SubscriptionDescription,
};
pub use error::AdminError;
pub use kind::{GroupState, GroupType};
pub use lag::{GroupLag, PartitionLag};
pub use list::{GroupList, GroupListing, ListOptions, Visibility};
pub use offsets::{
    Adjusted, OffsetReset, OffsetResetOptions, OffsetResetPlan, OffsetSelection, ResetTo,
    Unresettable,
};
pub use present::Present;
pub use remove::{
    Life, MemberFilter, MemberSelection, PlannedRemoval, RemovalPlan, RemovalPlanOptions,
    SignOfLife,
};
pub use remove::{MemberKey, RemoveOptions, RemoveOutcome, RemovedMember};

use self::ask::Coordinator;
use self::look::look_at_any;
use crate::assign::{ErasedAssigner, PartitionAssigner, UnfitAssigner};
use crate::client::{Client, ClientError, ClientOptions, Topics};
use crate::types::Offsets;

/// An operator's view of the groups of a cluster. Cheap to clone.
///
/// Needs no group of its own and disturbs none by looking. Operations retry what passes (a group that is being loaded,
/// a coordinator that has moved, a connection that was lost), and are bounded by `default.api.timeout.ms` unless they
/// have a timeout of their own. They may be awaited on any executor.
///
/// Dropping the future of an operation ends it, but not what a broker has already been asked.
#[derive(Clone, Debug)]
pub struct Admin {
    client: Client,
    /// Of two with one name the later counts.
    assigners: Arc<[ErasedAssigner]>,
}

impl Admin {
    /// Connects to a cluster, and learns who its brokers are.
    ///
    /// # Errors
    ///
    /// An option is wrong, or no broker was reached within `default.api.timeout.ms`.
    pub async fn connect(options: ClientOptions) -> Result<Self, AdminError> {
        Self::over(Client::new(options)?).await
    }

    /// As [`connect`](Self::connect), over a client that members of this process may share.
    ///
    /// # Errors
    ///
    /// No broker was reached within `default.api.timeout.ms`.
    pub async fn over(client: Client) -> Result<Self, AdminError> {
        let admin = Self { client, assigners: Arc::new([]) };
        let client = admin.client.clone();
        // The client gives up by itself when the time is over, and knows better than we why.
        let deadline = client.api_deadline() + Duration::from_secs(1);
        let reach = async move { client.refresh_metadata(Topics::none(), deadline).await };
        admin.run(async move { Ok(reach.await?) }).await?;
        Ok(admin)
    }

    /// Makes an assigner known, so that what its members tell their leader is shown as it reads it.
    ///
    /// Its [`decode_metadata`](PartitionAssigner::decode_metadata) is called; its plan is not.
    ///
    /// # Errors
    ///
    /// No member could use it either.
    pub fn assigner<T, A>(self, assigner: A) -> Result<Self, UnfitAssigner>
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        Ok(self.knowing([ErasedAssigner::new(assigner)?]))
    }

    pub(crate) fn knowing(self, assigners: impl IntoIterator<Item = ErasedAssigner>) -> Self {
        Self { assigners: self.assigners.iter().cloned().chain(assigners).collect(), ..self }
    }

    /// The groups of the cluster, of all types. Every broker is asked for those that it coordinates.
    ///
    /// A broker that does not tell is named beside the groups of the others. The trap: to a user without DESCRIBE on the
    /// cluster, brokers name those groups alone on which it has DESCRIBE, and there is no error.
    /// [`GroupList::visibility`] says whether that is so.
    ///
    /// # Errors
    ///
    /// It could not be found out who the brokers are.
    pub async fn list_groups(&self, options: ListOptions) -> Result<GroupList, AdminError> {
        let client = self.client.clone();
        self.run(async move { list::list(&client, &options).await }).await
    }

    /// A group and its members. Needs DESCRIBE on the group.
    ///
    /// Groups of all clients and protocol types can be described; what their members wrote is read where it can be.
    ///
    /// # Errors
    ///
    /// The group does not exist, is of a type that cannot be described ([`AdminError::NotClassic`]), or it cannot be asked
    /// for.
    pub async fn describe_group(
        &self,
        group: impl Into<String>,
    ) -> Result<GroupDescription, AdminError> {
        let (client, group) = (self.client.clone(), checked(group.into())?);
        let assigners = Arc::clone(&self.assigners);
        self.run(
            async move { look_at_any(&client, &group, &assigners, client.api_deadline()).await },
        )
        .await
    }

    /// Groups and their members, side by side; an entry for each that was asked for, in that order.
    ///
    /// One that cannot be described stops no other; see [`describe_group`](Self::describe_group).
    pub async fn describe_groups<G: Into<String>>(
        &self,
        groups: impl IntoIterator<Item = G>,
    ) -> Vec<(String, Result<GroupDescription, AdminError>)> {
        let groups = groups.into_iter().map(Into::into).collect();
        let describe = async |admin: Self, group| admin.describe_group(group).await;
        self.each(groups, describe).await
    }

    /// Deletes groups with all that they have committed, side by side; an entry for each, in that order, those that are
    /// named twice once.
    ///
    /// Nobody may be in them ([`AdminError::NotEmpty`] names who is), whatever type they are of. Needs DELETE on the
    /// group. There is no way back: a member that joins later begins where `auto.offset.reset` says.
    ///
    /// Dropping the future after a request was sent takes nothing back.
    pub async fn delete_groups<G: Into<String>>(
        &self,
        groups: impl IntoIterator<Item = G>,
    ) -> Vec<(String, Result<(), AdminError>)> {
        let mut seen = HashSet::new();
        let groups = groups.into_iter().map(Into::into);
        let groups = groups.filter(|group: &String| seen.insert(group.clone())).collect();
        let delete = async |admin: Self, group| admin.delete_group(group).await;
        self.each(groups, delete).await
    }

    async fn delete_group(&self, group: String) -> Result<(), AdminError> {
        let (client, group) = (self.client.clone(), checked(group)?);
        self.run(async move {
            let deadline = client.api_deadline();
            delete::delete(Coordinator { client: &client, group: &group, deadline }).await
        })
        .await
    }

    /// Does something to each group, to some at one time; what came of it, in their order.
    async fn each<T: Send + 'static, F: Future<Output = Result<T, AdminError>> + Send + 'static>(
        &self,
        groups: Vec<String>,
        ask: impl Fn(Self, String) -> F,
    ) -> Vec<(String, Result<T, AdminError>)> {
        /// So many brokers' connections are kept busy, and no more.
        const AT_ONCE: usize = 8;
        let closed = || Err(AdminError::Client(ClientError::Closed));
        let mut done: Vec<_> = groups.iter().map(|group| (group.clone(), closed())).collect();
        let mut waiting = groups.into_iter().enumerate();
        let mut asking = JoinSet::new();
        loop {
            while let (true, Some((at, group))) = (asking.len() < AT_ONCE, waiting.next()) {
                let asked = ask(self.clone(), group);
                asking.spawn_on(async move { (at, asked.await) }, self.client.runtime());
            }
            match asking.join_next().await {
                Some(Ok((at, answer))) => {
                    if let Some((_, entry)) = done.get_mut(at) {
                        *entry = answer;
                    }
                }
                Some(Err(_ended_with_its_runtime)) => {}
                None => return done,
            }
        }
    }

    /// Everything that a group has committed, of whatever protocol it is. A group that does not exist has nothing.
    ///
    /// Needs DESCRIBE on the group; partitions of topics that this user may not DESCRIBE are missing without a word.
    /// What transactions have not committed yet is passed over.
    ///
    /// # Errors
    ///
    /// The coordinator cannot be asked.
    pub async fn committed(&self, group: impl Into<String>) -> Result<Offsets, AdminError> {
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move { lag::committed(&client, &group, client.api_deadline()).await }).await
    }

    /// How far a group is: what it has committed, where the partitions end, and who has them.
    ///
    /// Asked one after the other, so a group that is busy is a little further than is told. Needs DESCRIBE on the
    /// group and on its topics. A partition whose end is not known says why, and stops no other.
    ///
    /// # Errors
    ///
    /// The group does not exist, is one of shares (KIP-932), whose records are acknowledged one by one
    /// ([`AdminError::NotClassic`]), or the coordinator cannot be asked.
    pub async fn lag(&self, group: impl Into<String>) -> Result<GroupLag, AdminError> {
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move { lag::lag(&client, &group, client.api_deadline()).await }).await
    }

    /// Takes members out of a group: one LeaveGroup, and a result for each.
    ///
    /// The group rebalances at once to those that are left, also if it is rebalancing now. This is how the partitions of
    /// static members that are gone for good are freed before their session ends. The trap: a member that is alive
    /// learns that it was removed from its next request, loses what it holds and joins again. A broker cannot tell a
    /// member that has crashed from one that lives sooner than its session.
    ///
    /// An entry that is named twice is asked for once and has one result. A member that is named both by its instance id
    /// and by its member id is removed by the first and [`Unknown`](RemoveOutcome::Unknown) to the second. Needs READ and
    /// DESCRIBE on the group.
    ///
    /// Dropping the future after the request was sent takes nothing back.
    ///
    /// # Errors
    ///
    /// Nothing, or nobody, was removed: no entry is given, the group does not exist, its broker takes nobody out of a
    /// group of its type, this user may not, the broker is too old for it. After [`AdminError::Client`] with a request that may
    /// have been sent, some may have been removed: the same call again tells, as [`Gone`](RemoveOutcome::Gone) or
    /// [`Unknown`](RemoveOutcome::Unknown).
    pub async fn remove_members(
        &self,
        group: impl Into<String>,
        entries: impl IntoIterator<Item = MemberKey>,
        options: RemoveOptions,
    ) -> Result<Vec<RemovedMember>, AdminError> {
        let entries = entries.into_iter().collect();
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move { remove::remove(&client, &group, entries, &options).await }).await
    }

    /// Takes out all members that a group has when it is looked at; an entry for each, none for an empty group.
    ///
    /// Static members are removed by instance id, dynamic ones by member id. Those that live join again, and so may
    /// others while this runs: shut them down first. See [`remove_members`](Self::remove_members).
    ///
    /// # Errors
    ///
    /// As [`remove_members`](Self::remove_members).
    pub async fn remove_all_members(
        &self,
        group: impl Into<String>,
        options: RemoveOptions,
    ) -> Result<Vec<RemovedMember>, AdminError> {
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move {
            remove::remove_selected(&client, &group, MemberSelection::All, &options).await
        })
        .await
    }

    /// Takes out the members that a filter takes when the group is looked at; an entry for each.
    ///
    /// A static member that was found is left alone, and [`Fenced`](RemoveOutcome::Fenced), if another process has taken
    /// its instance id over since. See [`remove_members`](Self::remove_members), and [`plan_removal`](Self::plan_removal)
    /// for a dry run.
    ///
    /// # Errors
    ///
    /// The filter is empty; or as [`remove_members`](Self::remove_members).
    pub async fn remove_matching_members(
        &self,
        group: impl Into<String>,
        filter: MemberFilter,
        options: RemoveOptions,
    ) -> Result<Vec<RemovedMember>, AdminError> {
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(
            async move { remove::remove_selected(&client, &group, filter.into(), &options).await },
        )
        .await
    }

    /// Says who would be removed, and who of them is alive as far as that can be known, and removes nobody: a dry run,
    /// whose [`keys`](RemovalPlan::keys) [`remove_members`](Self::remove_members) takes.
    ///
    /// ```no_run
    /// # async fn shrink(admin: &kafka_group::admin::Admin) -> Result<(), kafka_group::admin::AdminError> {
    /// use std::time::Duration;
    ///
    /// use kafka_group::admin::{MemberFilter, RemovalPlanOptions, RemoveOptions};
    ///
    /// let pods = MemberFilter::new().instance_id_pattern("indexer-[0-9]+")?.client_host("10.0.0.7");
    /// let options = RemovalPlanOptions::default().watch(Duration::from_secs(6));
    /// let plan = admin.plan_removal("search-indexers", pods, options).await?;
    /// if plan.members.iter().all(|planned| !planned.life.is_seen()) {
    ///     admin.remove_members("search-indexers", plan.keys(), RemoveOptions::default()).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// No broker tells when it last heard from a member. A member that is watched for some time may show that it lives
    /// ([`SignOfLife`]); one that shows nothing may live all the same. Needs DESCRIBE on the group, and on its topics for
    /// commits to be seen.
    ///
    /// # Errors
    ///
    /// The group does not exist, is of a type that cannot be described, or the coordinator cannot be asked.
    pub async fn plan_removal(
        &self,
        group: impl Into<String>,
        which: impl Into<MemberSelection>,
        options: RemovalPlanOptions,
    ) -> Result<RemovalPlan, AdminError> {
        let which = which.into();
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move { remove::plan(&client, &group, which, &options).await }).await
    }

    /// Runs an operation where the client's connections run, for as long as somebody waits for it.
    async fn run<T: Send + 'static>(
        &self,
        operation: impl Future<Output = Result<T, AdminError>> + Send + 'static,
    ) -> Result<T, AdminError> {
        let mut running = Running(self.client.spawn(operation));
        (&mut running.0).await.unwrap_or(Err(AdminError::Client(ClientError::Closed)))
    }
}

/// An operation, which ends when nobody waits for it any more.
struct Running<T>(JoinHandle<T>);

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The name of a group, if it can be one.
fn checked(group: String) -> Result<String, AdminError> {
    match group.len() {
        0 => Err(AdminError::Invalid("the name of a group is empty".to_owned())),
        // Brokers hang up on a longer one without a word.
        32_768.. => {
            Err(AdminError::Invalid("the name of a group is longer than 32767 bytes".to_owned()))
        }
        _ => Ok(group),
    }
}
