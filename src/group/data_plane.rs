//! What whoever reads for a member needs of it, beyond what applications see.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::builder::GroupMemberBuilder;
use super::handle::MemberHandle;
use super::reach;
use super::settings::Settings;
use crate::client::Client;
use crate::error::Error;
use crate::security::SecurityProperties;
use crate::subscription::Selection;
use crate::types::{Cluster, Partitions, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::OffsetAt;

/// The options of a member that concern reading.
#[derive(Clone, Debug)]
pub(crate) struct DataPlane {
    pub(crate) group_id: String,
    pub(crate) client_id: String,
    /// `bootstrap.servers`, or where the given client began.
    pub(crate) servers: String,
    /// For rdkafka, by its names.
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) enable_auto_commit: bool,
    pub(crate) auto_commit_interval: Duration,
    pub(crate) auto_offset_reset: String,
    pub(crate) close_timeout: Duration,
    pub(crate) session_timeout: Duration,
    pub(crate) selection: Selection,
}

impl GroupMemberBuilder {
    /// Takes out what concerns reading; the rest makes a member. Checks everything that can be checked without a broker.
    pub(crate) fn take_data_plane(&mut self) -> Result<DataPlane, Error> {
        let properties = mem::take(&mut self.options.rdkafka);
        let Settings { group_id, client_id, options, .. } = Settings::check(self.options.clone())?;
        let servers = match (&options.bootstrap_servers, &self.client) {
            (_, Some(client)) => client.options().servers(),
            (Some(servers), None) => servers.clone(),
            (None, None) => String::new(),
        };
        Ok(DataPlane {
            group_id,
            client_id,
            servers,
            properties,
            enable_auto_commit: options.enable_auto_commit,
            auto_commit_interval: options.auto_commit_interval,
            auto_offset_reset: options.auto_offset_reset,
            close_timeout: options.close_timeout,
            session_timeout: options.session_timeout,
            selection: self.selection()?,
        })
    }
}

impl GroupMemberBuilder {
    /// The client that the member will use: the one that was given, or one of its own, made now.
    pub(crate) fn take_client(&mut self) -> Result<Client, Error> {
        let client = match self.client.take() {
            Some(client) => reach::shared(client, &self.options)?,
            None => reach::client(&self.options, self.runtime.take())?,
        };
        // It is in the client now.
        self.options.security = None;
        self.options.security_properties = SecurityProperties::default();
        self.client = Some(client.clone());
        Ok(client)
    }
}

/// An edge of a partition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Edge {
    /// Its first record.
    Start,
    /// Behind its last record.
    End,
}

impl MemberHandle {
    /// Where partitions start or end, or why it is not known. Cancel safe.
    pub(crate) async fn edges(
        &self,
        partitions: &Partitions,
        edge: Edge,
        deadline: Instant,
    ) -> Result<BTreeMap<TopicPartition, Result<i64, ErrorCode>>, Error> {
        let at = match edge {
            Edge::Start => OffsetAt::Earliest,
            Edge::End => OffsetAt::Latest,
        };
        let listed = self.client.list_offsets(partitions, at, deadline).await;
        let listed = listed.map_err(|error| reach::refused(&self.group_id, error))?;
        // Both edges exist for every partition; an answer without an offset is none.
        let known = |offset: Option<i64>| offset.ok_or(ErrorCode::LeaderNotAvailable);
        Ok(listed.into_iter().map(|(at, offset)| (at, offset.and_then(known))).collect())
    }

    /// The way to the cluster.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The cluster as it is known now.
    pub(crate) fn cluster(&self) -> Arc<Cluster> {
        Arc::clone(&self.client.cluster().borrow())
    }
}
