//! Before a static member joins, and after it was thrown out: who has its id?

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::time::{Instant, sleep};
use tracing::{debug, info};

use super::reach;
use crate::client::{Client, ClientError, Lane};
use crate::error::Error;
use crate::subscription::see_subscription;
use crate::types::{GroupInstanceId, InstanceHolder, Node};
use crate::wire::api::{DescribeGroupsRequest, DescribedGroup};
use crate::wire::{ErrorCode, Request, client_host};

/// Whether a static member that starts may throw out whoever has its `group.instance.id`.
///
/// Kafka lets the newer process have the id, and fences the older one. Mostly there is no older one: a static member that
/// stopped stays in the group until its session ends, and whoever starts with its id is its next life. **A holder that
/// has crashed and one that is alive cannot be told apart sooner than a session**: the coordinator shows the same of
/// both until then.
///
/// Looked at once, before the first JoinGroup. Two processes that start at the same time do not see each other; then the
/// later one has the id, as without this.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum TakeOver {
    /// Takes the id over, as Kafka's clients do. Who had it is told by [`Event::TookOver`](crate::Event::TookOver) where
    /// the coordinator tells it within a second.
    #[default]
    Always,
    /// Takes the id over from this host alone; from any other, `join()` ends with
    /// [`Error::InstanceIdHeld`](crate::Error::InstanceIdHeld).
    ///
    /// For processes that are tied to a host. A holder that is of this crate has told its host's name, which is compared;
    /// hosts of one name (`localhost`, a StatefulSet's pods in two clusters) are then one. Of others, and of all while
    /// the group rebalances, only an address is known, that of the first process with this id, as the broker sees it; it
    /// is compared with the one that this host speaks to the broker from, and behind a NAT or a proxy the two never
    /// match. When the coordinator does not say who is there, `join()` ends with its error.
    SameHost,
    /// Waits until the holder's session has ended, as long as our own `session.timeout.ms` and 5 s more; then joins, or
    /// ends with [`Error::InstanceIdHeld`](crate::Error::InstanceIdHeld) where it is there still.
    ///
    /// For work that must not be thrown out by a mistake. The price: a restart costs a session and two rebalances,
    /// so let these members close with [`LeavePolicy::Leave`](crate::LeavePolicy::Leave). When the coordinator does not
    /// say who is there, `join()` ends with its error.
    AfterSession,
}

/// How long a look may take on which nothing depends.
const GLANCE: Duration = Duration::from_secs(1);

/// How much later than its session the coordinator may be to drop a member.
const MARGIN: Duration = Duration::from_secs(5);

/// The id of a static member, and where to look for who has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) client: &'a Client,
    pub(super) group: &'a str,
    pub(super) id: &'a GroupInstanceId,
}

impl Place<'_> {
    /// Finds out who is about to be thrown out, and whether that may be. Cancel safe.
    pub(super) async fn check(
        &self,
        policy: TakeOver,
        session: Duration,
    ) -> Result<Option<InstanceHolder>, Error> {
        match policy {
            TakeOver::Always => Ok(self.glance().await),
            TakeOver::SameHost => self.on_this_host().await,
            TakeOver::AfterSession => self.vacant(session).await.map(|()| None),
        }
    }

    /// Who has the id, if the coordinator says so quickly. Nothing depends on it. Cancel safe.
    pub(super) async fn glance(&self) -> Option<InstanceHolder> {
        match self.look(Instant::now() + GLANCE).await {
            Ok(holder) => holder,
            Err(error) => {
                debug!(group = self.group, id = %self.id, %error, "who has the instance id is not known");
                None
            }
        }
    }

    async fn on_this_host(&self) -> Result<Option<InstanceHolder>, Error> {
        let deadline = self.client.request_deadline();
        let Some(holder) = self.look(deadline).await.map_err(|error| self.failed(error))? else {
            return Ok(None);
        };
        let is_here = match holder.host_name() {
            Some(theirs) => *theirs == *gethostname::gethostname().to_string_lossy(),
            None => {
                let coordinator = self.client.coordinator(self.group, deadline).await;
                let coordinator = coordinator.map_err(|error| self.failed(error))?;
                let theirs: Option<IpAddr> = holder.host.parse().ok();
                let ours = address_towards(&coordinator).await;
                theirs.is_some_and(|theirs| ours == Some(theirs.to_canonical()))
            }
        };
        match is_here {
            true => Ok(Some(holder)),
            false => Err(self.held_by(holder)),
        }
    }

    /// Waits until nobody has the id.
    async fn vacant(&self, session: Duration) -> Result<(), Error> {
        let pause = (session / 20).clamp(Duration::from_millis(50), Duration::from_secs(1));
        let mut until = None;
        loop {
            let looked = self.look(self.client.request_deadline()).await;
            let until = *until.get_or_insert_with(|| Instant::now() + session + MARGIN);
            match looked {
                Ok(None) => return Ok(()),
                Ok(Some(holder)) if Instant::now() >= until => return Err(self.held_by(holder)),
                Ok(Some(holder)) => {
                    info!(group = self.group, id = %self.id, %holder, "waiting for the instance id");
                }
                Err(error) if !error.is_retriable() || Instant::now() >= until => {
                    return Err(self.failed(error));
                }
                Err(error) => debug!(group = self.group, %error, "looked in vain"),
            }
            sleep(pause).await;
        }
    }

    /// Who has the id. Needs DESCRIBE on the group, as finding its coordinator does.
    async fn look(&self, deadline: Instant) -> Result<Option<InstanceHolder>, ClientError> {
        let request = DescribeGroupsRequest { group_ids: vec![self.group.to_owned()] };
        let asked = self.client.ask_coordinator(self.group, Lane::Metadata, request, deadline);
        let (_, answer) = asked.await?;
        match answer.groups.into_iter().find(|described| described.group_id == self.group) {
            Some(group) if group.error.is_none() => Ok(self.holder_in(group)),
            None | Some(DescribedGroup { error: ErrorCode::GroupIdNotFound, .. }) => Ok(None),
            Some(DescribedGroup { error, .. }) => {
                Err(ClientError::of_group(DescribeGroupsRequest::API, error, self.group))
            }
        }
    }

    fn holder_in(&self, group: DescribedGroup) -> Option<InstanceHolder> {
        let is_it = |id: &Option<String>| id.as_deref() == Some(self.id.as_str());
        let found = group.members.into_iter().find(|member| is_it(&member.group_instance_id))?;
        let process = (group.protocol_type == "consumer")
            .then(|| see_subscription(&group.protocol, false, found.metadata))
            .and_then(|seen| seen.ok()?.envelope?.process);
        Some(InstanceHolder {
            client_id: found.client_id,
            host: client_host::address(&found.client_host).to_owned(),
            member_id: found.member_id,
            process: process.map(|process| process.to_string()),
        })
    }

    fn held_by(&self, holder: InstanceHolder) -> Error {
        Error::InstanceIdHeld {
            group: self.group.to_owned(),
            group_instance_id: self.id.clone(),
            holder: Box::new(holder),
        }
    }

    fn failed(&self, error: ClientError) -> Error {
        reach::refused(self.group, error)
    }
}

/// The address that this host speaks to a broker from. Nothing is sent for it: the system only chooses a route.
async fn address_towards(broker: &Node) -> Option<IpAddr> {
    let mut addresses = lookup_host((&*broker.host, broker.port)).await.ok()?;
    addresses.find_map(|address| source_for(address).ok())
}

fn source_for(address: SocketAddr) -> std::io::Result<IpAddr> {
    let any: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(address)?;
    Ok(socket.local_addr()?.ip().to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_speaks_to_itself_from_the_loopback() {
        let loopback: IpAddr = Ipv4Addr::LOCALHOST.into();
        assert_eq!(source_for((loopback, 9092).into()).ok(), Some(loopback));
    }
}
