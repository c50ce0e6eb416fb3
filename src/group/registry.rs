//! The members of this process, for whoever asks the process rather than the group: a REST endpoint, a log at shutdown.
//!
//! Members appear when [`join()`](crate::GroupMemberBuilder::join) returns and vanish when their membership ends. To take
//! static members out of a group for good, list their ids here, stop the process, and remove them from the group
//! (`kafka-group remove-members`, or [`Admin::remove_members`](crate::admin::Admin::remove_members)).

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::status::Status;
use crate::membership::MemberState;
use crate::types::{Generation, GroupInstanceId, MemberId};

/// A member of this process, as it was when it was looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RegisteredMember {
    /// Kafka: `group.id`.
    pub group_id: Arc<str>,
    /// Kafka: `group.instance.id`, of a static member.
    pub group_instance_id: Option<GroupInstanceId>,
    /// Kafka: `client.id`.
    pub client_id: Arc<str>,
    /// Kafka: `member.id`; empty before the first round.
    pub member_id: MemberId,
    /// Where the member is in a round.
    pub state: MemberState,
    /// The generation it is part of.
    pub generation: Generation,
    /// Whether it leads that generation.
    pub is_leader: bool,
}

/// The members of this process, sorted by group, instance id and member id.
pub fn snapshot() -> Vec<RegisteredMember> {
    // Looked at when the lock is free again: each has a lock of its own.
    let looks: Vec<Look> = members().here.values().cloned().collect();
    let mut found: Vec<RegisteredMember> = looks.iter().filter_map(|look| look()).collect();
    found.sort_by(|a, b| key(a).cmp(&key(b)));
    found
}

/// What [`snapshot`] finds, as a JSON array of objects: `group_id`, `group_instance_id` (`null` of a dynamic member),
/// `client_id`, `member_id` (`null` before the first round), `state` in Kafka's words, `generation` (`null` outside of
/// one), `is_leader`.
pub fn to_json() -> String {
    json(&snapshot())
}

fn key(member: &RegisteredMember) -> (&str, Option<&GroupInstanceId>, &MemberId) {
    (&member.group_id, member.group_instance_id.as_ref(), &member.member_id)
}

/// Looks at a member; nothing is there when its membership has ended.
type Look = Arc<dyn Fn() -> Option<RegisteredMember> + Send + Sync>;

#[derive(Default)]
struct Members {
    last: u64,
    here: BTreeMap<u64, Look>,
}

static MEMBERS: Mutex<Members> = Mutex::new(Members { last: 0, here: BTreeMap::new() });

fn members() -> MutexGuard<'static, Members> {
    MEMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a member in the registry; held by the task that drives it.
pub(super) struct Registration(u64);

impl Registration {
    /// Enters a member.
    pub(super) fn new<H: Send + Sync + 'static>(
        client_id: &str,
        status: watch::Receiver<Status<H>>,
    ) -> Self {
        let client_id = Arc::from(client_id);
        let look: Look = Arc::new(move || look(&client_id, &status.borrow()));
        let mut members = members();
        members.last += 1;
        let number = members.last;
        members.here.insert(number, look);
        Self(number)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let gone = members().here.remove(&self.0);
        // With the lock free again.
        drop(gone);
    }
}

fn look<H>(client_id: &Arc<str>, status: &Status<H>) -> Option<RegisteredMember> {
    status.ended.is_none().then(|| RegisteredMember {
        group_id: Arc::clone(&status.group_id),
        group_instance_id: status.group_instance_id.clone(),
        client_id: Arc::clone(client_id),
        member_id: status.member_id.clone(),
        state: status.state,
        generation: status.generation,
        is_leader: status.is_leader,
    })
}

fn json(members: &[RegisteredMember]) -> String {
    let objects: Vec<String> = members.iter().map(|member| Json(member).to_string()).collect();
    format!("[{}]", objects.join(","))
}

/// A member as a JSON object. By hand: it is seven fields, and the crate has serde_json only where it is asked for.
struct Json<'a>(&'a RegisteredMember);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegisteredMember { group_id, group_instance_id, client_id, member_id, .. } = self.0;
        let RegisteredMember { state, generation, is_leader, .. } = self.0;
        let generation = generation.is_some().then(|| generation.to_string());
        f.write_str("{\"group_id\":")?;
        text(f, Some(group_id))?;
        f.write_str(",\"group_instance_id\":")?;
        text(f, group_instance_id.as_ref().map(GroupInstanceId::as_str))?;
        f.write_str(",\"client_id\":")?;
        text(f, Some(client_id))?;
        f.write_str(",\"member_id\":")?;
        text(f, Some(member_id.as_str()).filter(|id| !id.is_empty()))?;
        write!(f, ",\"state\":\"{state:?}\"")?;
        write!(f, ",\"generation\":{}", generation.as_deref().unwrap_or("null"))?;
        write!(f, ",\"is_leader\":{is_leader}}}")
    }
}

/// A JSON string, or `null`: quotes, backslashes and control characters must not stand in one as they are.
fn text(f: &mut fmt::Formatter<'_>, text: Option<&str>) -> fmt::Result {
    let Some(text) = text else { return f.write_str("null") };
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            character if character.is_control() => write!(f, "\\u{:04x}", u32::from(character))?,
            character => f.write_char(character)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(group: &str, instance: Option<&str>) -> RegisteredMember {
        RegisteredMember {
            group_id: group.into(),
            group_instance_id: instance.map(|id| GroupInstanceId::new(id).unwrap()),
            client_id: "kafka-group".into(),
            member_id: MemberId::new("m-1"),
            state: MemberState::Stable,
            generation: Generation(7),
            is_leader: true,
        }
    }

    #[test]
    fn a_registry_is_written_as_an_array_of_objects() {
        let newcomer = RegisteredMember {
            member_id: MemberId::default(),
            state: MemberState::PreparingRebalance,
            generation: Generation::NONE,
            is_leader: false,
            ..member("g", None)
        };
        assert_eq!(
            json(&[member("g", Some("ann")), newcomer]),
            r#"[{"group_id":"g","group_instance_id":"ann","client_id":"kafka-group","member_id":"m-1","#.to_owned()
                + r#""state":"Stable","generation":7,"is_leader":true},"#
                + r#"{"group_id":"g","group_instance_id":null,"client_id":"kafka-group","member_id":null,"#
                + r#""state":"PreparingRebalance","generation":null,"is_leader":false}]"#
        );
        assert_eq!(json(&[]), "[]");
    }

    #[test]
    fn names_of_any_characters_come_back_as_they_were() {
        let every: String =
            (0..=0x2ff).chain([0x2028, 0x1f600, 0x10ffff]).filter_map(char::from_u32).collect();
        for name in ["", "\"", "\\", "a\"b\\c", "tab\tline\r\n\u{0}", "grün 漢字 🦀", &every] {
            let written = json(&[member(name, None)]);
            let read: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read[0]["group_id"], name, "{written}");
        }
    }

    #[test]
    fn a_member_is_there_until_it_has_ended_or_its_task_is_gone() {
        let settings = |group: &str| {
            let options = crate::group::options::Options {
                group_id: Some(group.to_owned()),
                ..Default::default()
            };
            crate::group::settings::Settings::check(options).unwrap()
        };
        let status = |group: &str| {
            Status::<u8>::new(&settings(group), crate::assign::RebalanceProtocol::Eager)
        };
        let here = |group: &str| snapshot().iter().any(|member| &*member.group_id == group);

        let (ends, watched) = watch::channel(status("it ends"));
        let _registration = Registration::new("c", watched);
        let (_publish, watched) = watch::channel(status("its task goes"));
        let registration = Registration::new("c", watched);
        assert!(here("it ends") && here("its task goes"));

        ends.send_modify(|status| status.ended = Some(Ok(())));
        drop(registration);
        assert!(!here("it ends") && !here("its task goes"));
    }
}
