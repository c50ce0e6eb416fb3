//! What whoever reads for a member needs of it, beyond what applications see.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use super::builder::GroupMemberBuilder;
use super::handle::MemberHandle;
use super::join;
use super::settings::Settings;
use crate::client::{Client, ClientError};
use crate::error::Error;
use crate::subscription::Selection;
use crate::types::Cluster;

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
            selection: self.selection()?,
        })
    }
}

impl MemberHandle {
    /// The way to the cluster.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The cluster as it is known now.
    pub(crate) fn cluster(&self) -> Arc<Cluster> {
        Arc::clone(&self.client.cluster().borrow())
    }

    /// What a client's error says to the application.
    pub(crate) fn explain(&self, error: ClientError) -> Error {
        join::refused(&self.group_id, error)
    }
}
