//! Who is in a group that should be empty.

use std::fmt;

use tokio::time::Instant;

use super::look::look_at_any;
use super::{AdminError, GroupDescription, MemberDescription};
use crate::client::Client;

/// A member that is in a group, in the few words that an error has for it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Present {
    /// Its instance id, or else its member id.
    pub name: String,
    /// Kafka: `client.id`.
    pub client_id: String,
    /// Where its connection came from.
    pub client_host: String,
}

impl From<&MemberDescription> for Present {
    fn from(member: &MemberDescription) -> Self {
        Self {
            name: member.name().to_owned(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
        }
    }
}

impl fmt::Display for Present {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} at {})", self.name, self.client_id, self.client_host)
    }
}

/// Members in one line, of very many the first ones.
pub(super) struct InOneLine<'a>(pub(super) &'a [Present]);

impl fmt::Display for InOneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 10;
        if self.0.is_empty() {
            return f.write_str("who they are is not told");
        }
        for (at, member) in self.0.iter().take(MOST).enumerate() {
            write!(f, "{}{member}", if at == 0 { "" } else { ", " })?;
        }
        match self.0.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// All members of a group.
pub(super) fn all_of(group: &GroupDescription) -> Vec<Present> {
    group.members.iter().map(Present::from).collect()
}

/// The error of an operation that the broker refuses because of who is in the group. Where that is not told, or they
/// have left by now, nobody is named.
pub(super) async fn not_empty(client: &Client, group: &str, deadline: Instant) -> AdminError {
    let described = look_at_any(client, group, &[], deadline).await;
    let members = described.map(|described| all_of(&described)).unwrap_or_default();
    AdminError::NotEmpty { group: group.to_owned(), members }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_the_first_ones_are_named() {
        let member = |number: usize| Present {
            name: format!("pod-{number}"),
            client_id: "c".to_owned(),
            client_host: "h".to_owned(),
        };
        let line = |count| InOneLine(&(0..count).map(member).collect::<Vec<_>>()).to_string();
        assert_eq!(line(2), "pod-0 (c at h), pod-1 (c at h)");
        assert!(line(12).ends_with("pod-9 (c at h) and 2 more"), "{}", line(12));
        assert_eq!(line(0), "who they are is not told");
    }
}
