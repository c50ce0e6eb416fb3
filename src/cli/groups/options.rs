//! What the command line says about groups.

use super::Command;
use crate::admin::{GroupState, GroupType, MemberKey};
use crate::cli::UsageError;
use crate::cli::arguments::{Format, text};
use crate::cli::commands;
use crate::cli::reach::{NOWHERE, Reach};
use crate::types::GroupInstanceId;

/// What is asked for.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) reach: Reach,
    pub(super) format: Format,
    pub(super) groups: Vec<String>,
    pub(super) states: Vec<GroupState>,
    pub(super) types: Vec<GroupType>,
    pub(super) protocol_types: Vec<String>,
    /// Those to be removed, in the order in which they are named.
    pub(super) members: Vec<MemberKey>,
    /// Whether all are to be removed.
    pub(super) all: bool,
    pub(super) reason: Option<String>,
    pub(super) require_all: bool,
    pub(super) yes: bool,
    pub(super) dry_run: bool,
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
            "yes" => self.yes = true,
            "dry-run" => self.dry_run = true,
            _ => self.set_to(option, text(arguments.value()?)?)?,
        }
        Ok(())
    }

    fn set_to(&mut self, option: &str, value: String) -> Result<(), UsageError> {
        if self.reach.set(option, &value)? {
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
        let removes = command == Command::RemoveMembers;
        let problem = match self {
            Self { reach, .. } if !reach.is_known() => NOWHERE,
            Self { groups, .. } if groups.is_empty() && command != Command::List => {
                "no `--group` is named"
            }
            Self { groups, .. } if groups.iter().any(String::is_empty) => {
                "`--group`: the name of a group is empty"
            }
            Self { groups, .. } if groups.len() > 1 && removes => {
                "members are removed from one group at a time: `--group` is given twice"
            }
            Self { members, all: false, .. } if members.is_empty() && removes => {
                "no member to remove is named: `--instance-ids a,b`, `--member-ids x,y`, or `--all`"
            }
            Self { members, all: true, .. } if !members.is_empty() => {
                "`--all` and some of them are both asked for"
            }
            _ => return Ok(()),
        };
        Err(UsageError::Other(problem.to_owned()))
    }
}

fn wrong(option: &str, id: &str, why: &str) -> UsageError {
    UsageError::Other(format!("`--{option}`: {id:?} {why}"))
}
