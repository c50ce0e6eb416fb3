//! What has changed between two looks, in words.

use std::collections::BTreeMap;
use std::fmt;

use super::seen::{GroupSeen, MemberSeen};
use super::view::{Happened, View};
use crate::cli::console::Console;
use crate::cli::partitions::in_words;
use crate::cli::table::{counted, printable};
use crate::types::Partitions;

/// A change of a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// What it was when it was seen first.
    First {
        state: String,
        assigner: Option<String>,
        generation: Option<i32>,
        members: usize,
    },
    State {
        from: String,
        to: String,
    },
    Assigner(String),
    Generation {
        from: Option<i32>,
        to: i32,
    },
    Came {
        name: String,
        host: String,
    },
    Gone(String),
    /// The same instance id, and another member id.
    Restarted {
        name: String,
        host: String,
    },
    /// What it had when it was seen first.
    Has {
        name: String,
        partitions: Partitions,
    },
    Got {
        name: String,
        partitions: Partitions,
    },
    GaveUp {
        name: String,
        partitions: Partitions,
    },
    Lag {
        from: Option<i64>,
        to: Option<i64>,
    },
    /// Why it is not seen any more.
    Unseen(String),
    /// After so many seconds.
    SeenAgain(u64),
}

/// What there is to say of a group that was not seen before.
pub(super) fn first(seen: &GroupSeen) -> Vec<Change> {
    let GroupSeen { state, assigner, generation, members, .. } = seen;
    let mut changes = vec![Change::First {
        state: state.clone(),
        assigner: assigner.clone(),
        generation: *generation,
        members: members.len(),
    }];
    changes.extend(members.iter().filter_map(|member| {
        let partitions = member.partitions.clone().filter(|partitions| !partitions.is_empty())?;
        Some(Change::Has { name: member.name.clone(), partitions })
    }));
    changes.extend(lag(None, seen.lag));
    changes
}

/// What makes one of the other.
pub(super) fn between(before: &GroupSeen, now: &GroupSeen) -> Vec<Change> {
    let mut changes = Vec::new();
    if before.state != now.state {
        changes.push(Change::State { from: before.state.clone(), to: now.state.clone() });
    }
    // It is told of a stable group only.
    if let Some(assigner) =
        now.assigner.as_ref().filter(|name| before.assigner.as_ref() != Some(*name))
    {
        if before.assigner.is_some() || before.members.is_empty() {
            changes.push(Change::Assigner(assigner.clone()));
        }
    }
    if let Some(to) = now.generation.filter(|_| now.generation != before.generation) {
        changes.push(Change::Generation { from: before.generation, to });
    }
    changes.extend(of_members(&before.members, &now.members));
    changes.extend(lag(before.lag, now.lag));
    changes
}

/// Members are known by their names: an instance id outlives its process.
fn of_members(before: &[MemberSeen], now: &[MemberSeen]) -> Vec<Change> {
    let by_name = |members: &'_ [MemberSeen]| -> BTreeMap<String, MemberSeen> {
        members.iter().map(|member| (member.name.clone(), member.clone())).collect()
    };
    let (before, now) = (by_name(before), by_name(now));
    let mut changes = Vec::new();
    for name in before.keys().filter(|name| !now.contains_key(*name)) {
        changes.push(Change::Gone(name.clone()));
    }
    for (name, member) in &now {
        let host = member.host.clone();
        let known = before.get(name);
        match known {
            None => changes.push(Change::Came { name: name.clone(), host }),
            Some(known) if known.member_id != member.member_id => {
                changes.push(Change::Restarted { name: name.clone(), host });
            }
            Some(_) => {}
        }
        let had = known.and_then(|known| known.partitions.clone()).unwrap_or_default();
        let has = member.partitions.clone().unwrap_or_default();
        let lost = had.difference(&has);
        if !lost.is_empty() {
            changes.push(Change::GaveUp { name: name.clone(), partitions: lost });
        }
        changes.extend(got(&had, member));
    }
    changes
}

fn got(had: &Partitions, member: &MemberSeen) -> Option<Change> {
    let partitions = member.partitions.as_ref()?.difference(had);
    (!partitions.is_empty()).then(|| Change::Got { name: member.name.clone(), partitions })
}

fn lag(from: Option<i64>, to: Option<i64>) -> Option<Change> {
    (from != to).then_some(Change::Lag { from, to })
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |it| it.to_string());
        match self {
            Self::First { state, assigner, generation, members } => {
                let generation = number(generation.map(i64::from));
                let assigner = assigner.as_deref().map_or_else(|| "-".to_owned(), printable);
                write!(
                    f,
                    "{}, assigner {assigner}, generation {generation}, {}",
                    printable(state),
                    counted(*members, "member")
                )
            }
            Self::State { from, to } => write!(f, "{} → {}", printable(from), printable(to)),
            Self::Assigner(name) => write!(f, "assigner {}", printable(name)),
            Self::Generation { from, to } => {
                write!(f, "generation {} → {to}", number(from.map(i64::from)))
            }
            Self::Came { name, host } => {
                write!(f, "{} came, at {}", printable(name), printable(host))
            }
            Self::Gone(name) => write!(f, "{} is gone", printable(name)),
            Self::Restarted { name, host } => {
                write!(f, "{} was restarted, at {}", printable(name), printable(host))
            }
            Self::Has { name, partitions } => {
                write!(f, "{} has {}", printable(name), in_words(partitions))
            }
            Self::Got { name, partitions } => {
                write!(f, "{} got {}", printable(name), in_words(partitions))
            }
            Self::GaveUp { name, partitions } => {
                write!(f, "{} gave up {}", printable(name), in_words(partitions))
            }
            Self::Lag { from, to } => write!(f, "lag {} → {}", number(*from), number(*to)),
            Self::Unseen(why) => write!(f, "not seen: {}", printable(why)),
            Self::SeenAgain(seconds) => write!(f, "seen again after {seconds} s"),
        }
    }
}

/// Says each in a line.
pub(super) fn say(happened: &[Happened], view: &View, console: &mut Console<'_>) {
    for Happened { time, group, change } in happened {
        let name = view.groups.get(*group).map_or("", |group| &group.name);
        console.say(format_args!("{time}  {}: {change}\n", printable(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, member_id: &str, partitions: &[i32]) -> MemberSeen {
        MemberSeen {
            name: name.to_owned(),
            member_id: member_id.to_owned(),
            host: "h".to_owned(),
            partitions: Some(partitions.iter().map(|number| ("t", *number)).collect()),
            ..MemberSeen::default()
        }
    }

    fn group(members: &[MemberSeen]) -> GroupSeen {
        GroupSeen {
            state: "Stable".to_owned(),
            assigner: Some("range".to_owned()),
            generation: Some(3),
            members: members.to_vec(),
            lag: Some(5),
            ..GroupSeen::default()
        }
    }

    fn words(changes: &[Change]) -> Vec<String> {
        changes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_group_that_is_seen_first_is_told_as_a_whole() {
        let seen = group(&[member("a", "a-1", &[0, 1]), member("b", "b-1", &[])]);
        let expected =
            ["Stable, assigner range, generation 3, 2 members", "a has t 0-1", "lag - → 5"];
        assert_eq!(words(&first(&seen)), expected);
        let empty = first(&GroupSeen { state: "Empty".to_owned(), ..GroupSeen::default() });
        assert_eq!(words(&empty), ["Empty, assigner -, generation -, 0 members"]);
    }

    #[test]
    fn nothing_is_said_of_what_stays() {
        let seen = group(&[member("a", "a-1", &[0])]);
        assert_eq!(between(&seen, &seen), []);
    }

    #[test]
    fn members_come_go_restart_and_hand_over() {
        let before = group(&[
            member("a", "a-1", &[0, 1]),
            member("b", "b-1", &[2]),
            member("c", "c-1", &[3]),
        ]);
        let mut now = group(&[
            member("a", "a-1", &[0]),
            member("b", "b-2", &[2]),
            member("d\n", "d-1", &[1, 3]),
        ]);
        (now.generation, now.lag) = (Some(4), Some(0));
        let expected = [
            "generation 3 → 4",
            "c is gone",
            "a gave up t 1",
            "b was restarted, at h",
            "d\\n came, at h",
            "d\\n got t 1,3",
            "lag 5 → 0",
        ];
        assert_eq!(words(&between(&before, &now)), expected);
    }

    #[test]
    fn an_assigner_that_is_not_told_while_a_group_rebalances_has_not_changed() {
        let stable = group(&[member("a", "a-1", &[0])]);
        let busy =
            GroupSeen { state: "PreparingRebalance".to_owned(), assigner: None, ..stable.clone() };
        assert_eq!(words(&between(&stable, &busy)), ["Stable → PreparingRebalance"]);
        assert_eq!(words(&between(&busy, &stable)), ["PreparingRebalance → Stable"]);
        let other = GroupSeen { assigner: Some("sticky".to_owned()), ..stable.clone() };
        assert_eq!(words(&between(&stable, &other)), ["assigner sticky"]);
    }
}
