//! Whether a member lives, as far as anybody can tell from outside.
//!
//! A broker tells no observer when it last heard from a member. What is left is what a member causes: its session goes
//! on, what it has is committed further, its instance id gets another member id when its process has restarted.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::admin::lag::committed;
use crate::admin::look::look_at_any;
use crate::admin::{GroupDescription, GroupState, MemberDescription};
use crate::client::Client;
use crate::types::Offsets;

/// What is known about the life of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Life {
    /// It lives, or did when this was seen.
    Seen(SignOfLife),
    /// It is not in the group any more: it left, or its session ended, while it was watched.
    Gone,
    /// Nothing was seen of it, which does not mean that it is dead.
    Unknown {
        /// Within what time its coordinator has heard from it, since it would have been put out of the group otherwise:
        /// its session timeout. None where it did not tell it (members of this crate do), and while the group
        /// rebalances. A coordinator that has just moved gives twice the time.
        heard_within: Option<Duration>,
    },
}

/// What was seen of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignOfLife {
    /// Offsets of partitions that it has were committed.
    Commits,
    /// A process has joined under its instance id.
    Joins,
    /// It is in the group for longer than its session would last without heartbeats.
    Beats,
}

impl Life {
    /// Whether it was seen to live. Where not, nobody can tell.
    pub fn is_seen(self) -> bool {
        matches!(self, Self::Seen(_))
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seen(SignOfLife::Commits) => f.write_str("yes: it commits"),
            Self::Seen(SignOfLife::Joins) => f.write_str("yes: it has joined anew"),
            Self::Seen(SignOfLife::Beats) => f.write_str("yes: it beats"),
            Self::Gone => f.write_str("it has left"),
            Self::Unknown { heard_within: Some(time) } => {
                write!(f, "unknown, heard within {} s", time.as_secs_f64())
            }
            Self::Unknown { heard_within: None } => f.write_str("unknown"),
        }
    }
}

/// Watches members of a group, for some time or until something was seen of all. What cannot be asked says nothing.
pub(super) async fn watch(
    client: &Client,
    group: &GroupDescription,
    members: &[MemberDescription],
    time: Duration,
) -> Vec<Life> {
    /// A member that commits does so every five seconds, if nobody has told it otherwise.
    const EVERY: Duration = Duration::from_secs(1);
    let mut lives: Vec<Life> = members
        .iter()
        .map(|member| Life::Unknown { heard_within: session(group, member) })
        .collect();
    let begun = Instant::now();
    let Ok(mut before) = offsets(client, group, time).await else { return lives };
    while begun.elapsed() < time && lives.iter().any(|life| matches!(life, Life::Unknown { .. })) {
        sleep(EVERY.min(time.saturating_sub(begun.elapsed()))).await;
        let deadline = client.api_deadline();
        let Ok(now) = look_at_any(client, &group.group_id, &[], deadline).await else { break };
        let Ok(after) = offsets(client, group, time).await else { break };
        // A coordinator that has moved has given everybody a new session.
        let watched = (now.coordinator.id == group.coordinator.id).then(|| begun.elapsed());
        let moment = Moment { group: &now, before: &before, after: &after, watched };
        for (member, life) in members.iter().zip(&mut lives) {
            if let Life::Unknown { heard_within } = *life {
                *life = moment.life(member, heard_within);
            }
        }
        before = after;
    }
    lives
}

async fn offsets(
    client: &Client,
    group: &GroupDescription,
    time: Duration,
) -> Result<Offsets, crate::admin::AdminError> {
    let deadline = client.api_deadline().min(Instant::now() + time);
    committed(client, &group.group_id, deadline).await
}

/// How long it can have been silent.
fn session(group: &GroupDescription, member: &MemberDescription) -> Option<Duration> {
    let words = member.subscription.read()?.words.as_ref()?;
    words.session_timeout.filter(|_| group.state == GroupState::Stable)
}

/// What is seen at one time.
struct Moment<'a> {
    group: &'a GroupDescription,
    before: &'a Offsets,
    after: &'a Offsets,
    /// For how long one coordinator has been watched.
    watched: Option<Duration>,
}

impl Moment<'_> {
    fn life(&self, member: &MemberDescription, session: Option<Duration>) -> Life {
        /// Brokers look for sessions that have ended a little later.
        const LATE: Duration = Duration::from_secs(1);
        let mut members = self.group.members.iter();
        let Some(now) = members.clone().find(|now| now.member_id == member.member_id) else {
            let instance_id = member.group_instance_id.as_ref();
            let is_back = members
                .any(|now| instance_id.is_some() && now.group_instance_id.as_ref() == instance_id);
            return if is_back { Life::Seen(SignOfLife::Joins) } else { Life::Gone };
        };
        let moved = |partition| {
            self.after.contains_key(&partition)
                && self.after.get(&partition) != self.before.get(&partition)
        };
        let has = now.partitions().filter(|_| now.partitions() == member.partitions());
        if has.is_some_and(|has| has.iter().any(moved)) {
            return Life::Seen(SignOfLife::Commits);
        }
        match (self.watched, session) {
            (Some(watched), Some(session)) if watched > session.saturating_add(LATE) => {
                Life::Seen(SignOfLife::Beats)
            }
            _ => Life::Unknown { heard_within: session },
        }
    }
}
