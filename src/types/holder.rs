//! Who has an id that only one process can have.

use std::fmt;

use super::MemberId;

/// Who holds a `group.instance.id`, as the group's coordinator tells it.
///
/// The trap: Kafka hands the id on to each process that joins with it, and goes on showing the client id and the address
/// of the *first*, until the member has left the group or its session has ended. Members of this crate write down
/// themselves where they run, so [`process`](Self::process) is the holder's own.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct InstanceHolder {
    /// What the first process with this id calls itself. Kafka: `client.id`.
    pub client_id: String,
    /// The address that the first process with this id came from, as the broker sees it: behind a NAT or a proxy, that
    /// of the NAT or the proxy.
    pub host: String,
    /// The id that the coordinator gave the holder.
    pub member_id: MemberId,
    /// `HOST/PID` of the holder, if it is of this crate and the group is not rebalancing.
    pub process: Option<String>,
}

impl InstanceHolder {
    /// The name of the holder's host, where it has said it.
    pub(crate) fn host_name(&self) -> Option<&str> {
        self.process.as_deref()?.rsplit_once('/').map(|(host, _)| host)
    }
}

impl fmt::Display for InstanceHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client_id, host, member_id, process } = self;
        match process {
            Some(process) => write!(f, "process {process} (member id {member_id}")?,
            None => write!(f, "another process (member id {member_id}")?,
        }
        write!(f, "; the first with this id was client `{client_id}` on {host})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_named_by_itself_where_it_has_said_who_it_is() {
        let mut holder = InstanceHolder {
            client_id: "search".to_owned(),
            host: "10.0.0.1".to_owned(),
            member_id: MemberId::new("a-1"),
            process: None,
        };
        assert_eq!(holder.host_name(), None);
        let first = "; the first with this id was client `search` on 10.0.0.1)";
        assert_eq!(holder.to_string(), format!("another process (member id a-1{first}"));
        holder.process = Some("host/b/4711".to_owned());
        assert_eq!(holder.host_name(), Some("host/b"));
        assert_eq!(holder.to_string(), format!("process host/b/4711 (member id a-1{first}"));
    }
}
