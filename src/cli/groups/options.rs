//! What the command line says about groups.

use std::time::Duration;

use super::Command;
use super::offsets::Offsets;
use crate::admin::{GroupState, GroupType, MemberFilter, MemberKey};
use crate::cli::UsageError;
use crate::cli::arguments::{Format, text};
use crate::cli::commands;
use crate::cli::reach::{NOWHERE, Reach};
use crate::types::GroupInstanceId;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) reach: Reach,
    pub(super) format: Format,
    pub(super) groups: Vec<String>,
    pub(super) states: Vec<GroupState>,
    pub(super) types: Vec<GroupType>,
    pub(super) protocol_types: Vec<String>,
    /// Those to be removed, in the order in which they are named.
    pub(super) members: Vec<MemberKey>,
    /// Those to be removed by what they are known for.
    pub(super) filter: MemberFilter,
    /// Whether all are to be removed.
    pub(super) all: bool,
    /// For how long signs of life are looked for before anybody is asked.
    pub(super) observe: Duration,
    pub(super) reason: Option<String>,
    pub(super) require_all: bool,
    pub(super) one_by_one: bool,
    pub(super) offsets: Offsets,
    pub(super) yes: bool,
    pub(super) dry_run: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reach: Reach::default(),
            format: Format::default(),
            groups: Vec::new(),
            states: Vec::new(),
            types: Vec::new(),
            protocol_types: Vec::new(),
            members: Vec::new(),
            filter: MemberFilter::new(),
            all: false,
            observe: Duration::from_secs(6),
            reason: None,
            require_all: false,
            one_by_one: false,
            offsets: Offsets::default(),
            yes: false,
            dry_run: false,
        }
    }
}

impl Options {
    /// Reads what follows the command's name; none where help is asked for.
    pub(super) fn read(
        command: Command,
        mut arguments: lexopt::Parser,
    ) -> Result<Option<Self>, UsageError> {
        use lexopt::Arg::{Long, Short};

        let table = commands::Command::named(command.name());
        let mut options = Self::default();
        while let Some(argument) = arguments.next()? {
            let option = match argument {
                Short('h') | Long("help") => return Ok(None),
                Long(option) if table.is_some_and(|table| table.takes(option)) => option.to_owned(),
                other => return Err(other.unexpected().into()),
            };
            options.set(&option, &mut arguments)?;
        }
        options.check(command)?;
        Ok(Some(options))
    }

    fn set(&mut self, option: &str, arguments: &mut lexopt::Parser) -> Result<(), UsageError> {
        match option {
            "all" => self.all = true,
            "require-all" => self.require_all = true,
            "one-by-one" => self.one_by_one = true,
            "yes" => self.yes = true,
            "dry-run" => self.dry_run = true,
            _ if self.offsets.flag(option) => {}
            _ => self.set_to(option, text(arguments.value()?)?)?,
        }
        Ok(())
    }

    fn set_to(&mut self, option: &str, value: String) -> Result<(), UsageError> {
        if self.reach.set(option, &value)? || self.offsets.set(option, &value)? {
            return Ok(());
        }
        let listed = || value.split(',').map(str::trim);
        match option {
            "format" => self.format = Format::named(&value)?,
            "state" => self.states.extend(listed().map(GroupState::from)),
            "type" => self.types.extend(listed().map(GroupType::from)),
            "protocol-type" => self.protocol_types.extend(listed().map(str::to_owned)),
            "instance-ids" => {
                for id in listed() {
                    GroupInstanceId::new(id).map_err(|why| wrong(option, id, &why.to_string()))?;
                    self.name(MemberKey::instance_id(id));
                }
            }
            "member-ids" => {
                for id in listed() {
                    if id.is_empty() {
                        return Err(wrong(option, id, "is empty"));
                    }
                    self.name(MemberKey::member_id(id));
                }
            }
            "client-host" => listed().for_each(|host| self.filter.add_client_host(host)),
            "client-id" => self.filter.add_client_id(&value),
            "instance-id-pattern" => {
                let added = self.filter.add_instance_id_pattern(&value);
                added.map_err(|error| UsageError::Other(error.to_string()))?;
            }
            "observe" => self.observe = observation(&value)?,
            "reason" => self.reason = Some(value),
            _ => self.groups.push(value),
        }
        Ok(())
    }

    /// Whoever is named twice is removed once.
    fn name(&mut self, member: MemberKey) {
        if !self.members.contains(&member) {
            self.members.push(member);
        }
    }

    fn check(&self, command: Command) -> Result<(), UsageError> {
        let problem = match self {
            Self { reach, .. } if !reach.is_known() => Some(NOWHERE),
            Self { groups, .. } if groups.is_empty() && command != Command::List => {
                Some("no `--group` is named")
            }
            Self { groups, .. } if groups.iter().any(String::is_empty) => {
                Some("`--group`: the name of a group is empty")
            }
            _ => match command {
                Command::RemoveMembers => self.wrong_removal(),
                Command::ResetOffsets => self.wrong_reset(),
                Command::DeleteOffsets => self.wrong_deletion(),
                _ => None,
            },
        };
        problem.map_or(Ok(()), |problem| Err(UsageError::Other(problem.to_owned())))
    }

    fn wrong_removal(&self) -> Option<&'static str> {
        let chosen = [!self.members.is_empty(), !self.filter.is_empty(), self.all];
        match (self.groups.len(), chosen) {
            (2.., _) => {
                Some("members are removed from one group at a time: `--group` is given twice")
            }
            (_, [false, false, false]) => Some(
                "no member to remove is named: `--instance-ids a,b`, `--member-ids x,y`, \
                 `--instance-id-pattern P`, `--client-id C`, `--client-host H`, or `--all`",
            ),
            (_, [_, _, true]) if chosen != [false, false, true] => {
                Some("`--all` and some of them are both asked for")
            }
            (_, [true, true, _]) => Some(
                "some are named and others are to be found: do one after the other, since the one cannot narrow the other",
            ),
            _ => None,
        }
    }

    fn wrong_reset(&self) -> Option<&'static str> {
        match &self.offsets {
            _ if self.groups.len() > 1 => {
                Some("offsets are reset in one group at a time: `--group` is given twice")
            }
            _ if self.dry_run && self.offsets.execute => {
                Some("`--dry-run` and `--execute` are both asked for")
            }
            offsets => offsets.wrong(),
        }
    }

    fn wrong_deletion(&self) -> Option<&'static str> {
        match self.groups.len() {
            2.. => Some("offsets are deleted in one group at a time: `--group` is given twice"),
            _ if !self.offsets.names_topics => {
                Some("no `--topic` is named; `delete` forgets all of a group")
            }
            _ => None,
        }
    }
}

fn wrong(option: &str, id: &str, why: &str) -> UsageError {
    UsageError::Other(format!("`--{option}`: {id:?} {why}"))
}

fn observation(value: &str) -> Result<Duration, UsageError> {
    const LONGEST: u64 = 60 * 60;
    let seconds = value.parse().ok().filter(|seconds| *seconds <= LONGEST);
    seconds.map(Duration::from_secs).ok_or_else(|| {
        UsageError::Other(format!("`--observe` takes 0 to {LONGEST} seconds, not {value:?}"))
    })
}
