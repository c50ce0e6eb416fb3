//! I/O. What an operator does with groups from outside: look at them, and take members out.
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
//! Everything here works for groups of any client and any protocol type, as long as they are groups of the classic
//! protocol. Of those in which the broker assigns (KIP-848) only the list tells.

mod ask;
mod error;
mod kind;
mod look;
mod remove;

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;

pub use error::AdminError;
pub use kind::{GroupState, GroupType};
pub use remove::{MemberKey, RemoveOptions, RemoveOutcome, RemovedMember};

use crate::client::{Client, ClientError, ClientOptions, Topics};

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
        let admin = Self { client };
        let client = admin.client.clone();
        // The client gives up by itself when the time is over, and knows better than we why.
        let deadline = client.api_deadline() + Duration::from_secs(1);
        let reach = async move { client.refresh_metadata(Topics::none(), deadline).await };
        admin.run(async move { Ok(reach.await?) }).await?;
        Ok(admin)
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
    /// Nothing, or nobody, was removed: no entry is given, the group does not exist, its members are managed by the
    /// broker, this user may not, the broker is too old for it. After [`AdminError::Client`] with a request that may
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
    match group.is_empty() {
        true => Err(AdminError::Invalid("the name of a group is empty".to_owned())),
        false => Ok(group),
    }
}
