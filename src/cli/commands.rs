//! The commands and what each takes: the one table by which they are read, listed and completed.

use super::completions::SHELLS;

/// A command.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) name: &'static str,
    /// What it does, in a few words.
    pub(super) about: &'static str,
    /// Its own options. Those of [`REACH`] come to them where it asks a cluster.
    options: &'static [&'static str],
    asks: bool,
    /// What it takes besides options.
    pub(super) operands: Value,
}

/// What may follow an option, or stand alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Value {
    Nothing,
    /// Whatever the user knows.
    Anything,
    /// A file's name.
    File,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// The name of an assigner that the command was made with.
    Assigner,
    /// The name of a command.
    Command,
}

/// An option that one command or several know.
#[derive(Debug)]
pub(super) struct Opt {
    pub(super) name: &'static str,
    /// Another way to write it, in one letter.
    pub(super) short: Option<char>,
    pub(super) value: Value,
    pub(super) about: &'static str,
}

/// The options of commands that ask a cluster.
const REACH: &[&str] = &["bootstrap-server", "command-config", "timeout"];

pub(super) const COMMANDS: &[Command] = &[
    asking("list", "lists the groups of a cluster", &["state", "type", "protocol-type", "format"]),
    asking(
        "describe",
        "describes groups: who is in them, who wants what, who has what",
        &["group", "format"],
    ),
    asking("members", "lists the members of groups, by their ids", &["group", "format"]),
    asking(
        "lag",
        "says how far groups are behind the ends of their partitions",
        &["group", "format"],
    ),
    asking(
        "remove-members",
        "takes members out of a group",
        &[
            "group",
            "instance-ids",
            "member-ids",
            "client-host",
            "client-id",
            "instance-id-pattern",
            "all",
            "observe",
            "reason",
            "require-all",
            "one-by-one",
            "yes",
            "dry-run",
            "format",
        ],
    ),
    asking(
        "reset-offsets",
        "says where a group would begin anew, and with --execute has it begin there",
        &[
            "group",
            "topic",
            "all-topics",
            "to-earliest",
            "to-latest",
            "to-current",
            "to-offset",
            "shift-by",
            "to-datetime",
            "by-duration",
            "from-file",
            "execute",
            "dry-run",
            "export",
            "create",
            "format",
        ],
    ),
    asking(
        "delete-offsets",
        "has a group forget what it has committed for partitions",
        &["group", "topic", "yes", "dry-run", "format"],
    ),
    asking(
        "delete",
        "deletes groups that nobody is in, with what they have committed",
        &["group", "yes", "dry-run", "format"],
    ),
    Command {
        name: "plan",
        about: "plans groups, from files or as they are, and says who would have what",
        options: &[
            "assigner",
            "racks",
            "slack",
            "co-partition",
            "strict",
            "copies",
            "explain",
            "all",
            "format",
            "runs",
            "without",
            "with",
            "group",
            "save",
        ],
        asks: true,
        operands: Value::File,
    },
    asking("watch", "shows groups as they change", &["group", "interval", "count", "format"]),
    Command {
        name: "completions",
        about: "writes what a shell needs to complete this command",
        options: &[],
        asks: false,
        operands: Value::OneOf(SHELLS),
    },
    Command {
        name: "help",
        about: "says this, or with a command's name what that command can do",
        options: &[],
        asks: false,
        operands: Value::Command,
    },
];

/// A command that asks a cluster.
const fn asking(
    name: &'static str,
    about: &'static str,
    options: &'static [&'static str],
) -> Command {
    Command { name, about, options, asks: true, operands: Value::Nothing }
}

const FORMATS: Value = Value::OneOf(&["table", "json"]);
const STATES: Value =
    Value::OneOf(&["Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead"]);
const TYPES: Value = Value::OneOf(&["classic", "consumer", "share", "streams"]);
const RACKS: Value = Value::OneOf(&[
    "after-moves",
    "before-moves",
    "leaders-after-moves",
    "leaders-before-moves",
    "ignored",
]);

/// Every option that there is, by name. One name means the same wherever it is taken.
pub(super) const OPTIONS: &[Opt] = &[
    option("all", Value::Nothing, "all, however many there are"),
    option("all-topics", Value::Nothing, "all partitions that something is committed for"),
    Opt { short: Some('a'), ..option("assigner", Value::Assigner, "who plans") },
    option("bootstrap-server", Value::Anything, "brokers to begin with, as host:port"),
    option("by-duration", Value::Anything, "back to so long ago, as in P1DT2H"),
    option("client-host", Value::Anything, "members that run there"),
    option("client-id", Value::Anything, "members that are called so"),
    option("co-partition", Value::Anything, "topics that belong together"),
    option("command-config", Value::File, "a properties file for the way to the cluster"),
    option("copies", Value::Anything, "how many members have each partition"),
    option("count", Value::Anything, "how often is looked"),
    option("create", Value::Nothing, "also a group that does not exist yet"),
    option("dry-run", Value::Nothing, "says what would be done, and does nothing"),
    option("execute", Value::Nothing, "does what would else only be said"),
    option("explain", Value::Anything, "what another owner of a partition would cost"),
    option("export", Value::Nothing, "prints topic,partition,offset"),
    option("format", FORMATS, "how things are printed"),
    option("from-file", Value::File, "a file of topic,partition,offset"),
    option("group", Value::Anything, "a group"),
    option("instance-id-pattern", Value::Anything, "static members whose ids match"),
    option("instance-ids", Value::Anything, "static members"),
    option("interval", Value::Anything, "how many seconds between two looks"),
    option("member-ids", Value::Anything, "members"),
    option("observe", Value::Anything, "for how many seconds signs of life are looked for"),
    option("one-by-one", Value::Nothing, "one request a member, for old brokers"),
    option("protocol-type", Value::Anything, "only groups of these protocol types"),
    option("racks", RACKS, "what racks count for"),
    option("reason", Value::Anything, "why, for the broker's log"),
    option("require-all", Value::Nothing, "does nothing unless all are members"),
    option("runs", Value::Anything, "how often the assigner runs"),
    option("save", Value::File, "where a group is written to"),
    option("shift-by", Value::Anything, "so many records on, or back"),
    option("slack", Value::Anything, "how uneven loads may be to save moves"),
    option("state", STATES, "only groups in these states"),
    option("strict", Value::Nothing, "refuses what can only be done in part"),
    option("timeout", Value::Anything, "how many seconds it may take"),
    option("to-current", Value::Nothing, "to what is committed now"),
    option(
        "to-datetime",
        Value::Anything,
        "to the first record of a time, as in 2026-01-31T12:00:00",
    ),
    option("to-earliest", Value::Nothing, "to where partitions start"),
    option("to-latest", Value::Nothing, "to where partitions end"),
    option("to-offset", Value::Anything, "to an offset"),
    option("topic", Value::Anything, "a topic, or partitions of it as in orders:0,1"),
    option("type", TYPES, "only groups of these types"),
    option("with", Value::Anything, "as if so many more had joined"),
    option("without", Value::Anything, "as if these members had left"),
    option("yes", Value::Nothing, "does not ask first"),
];

const fn option(name: &'static str, value: Value, about: &'static str) -> Opt {
    Opt { name, short: None, value, about }
}

impl Command {
    /// The command of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name)
    }

    /// The options that it takes, all but the one for help.
    pub(super) fn options(&self) -> impl Iterator<Item = &'static Opt> {
        let reach = if self.asks { REACH } else { &[] };
        let names = self.options.iter().chain(reach);
        names.filter_map(|name| OPTIONS.iter().find(|known| known.name == *name))
    }

    /// Whether it takes an option.
    pub(super) fn takes(&self, option: &str) -> bool {
        self.options().any(|known| known.name == option)
    }
}

/// What `help` says.
pub(super) fn usage() -> String {
    let lines =
        COMMANDS.iter().map(|Command { name, about, .. }| format!("  {name:<14}  {about}\n"));
    format!(
        "usage: kafka-group COMMAND …\n\n{}\nThe exit status is 0 if all was done, 1 if something was not, 2 if the \
         command was not understood, and 3 if no broker\ncould be reached or this user may not do it.\n",
        lines.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The long options that a text names.
    fn named_in(text: &str) -> BTreeSet<&str> {
        let words = text.split(|letter: char| letter.is_whitespace() || "`,()[]=".contains(letter));
        words.filter_map(|word| word.strip_prefix("--")).collect()
    }

    #[test]
    fn each_command_says_in_its_help_what_it_takes_and_takes_what_it_says() {
        for command in COMMANDS.iter().filter(|command| command.asks) {
            let usage = crate::cli::usage(command.name).unwrap();
            let takes: BTreeSet<&str> = command.options().map(|option| option.name).collect();
            assert_eq!(named_in(&usage), takes, "{}", command.name);
        }
    }

    #[test]
    fn options_stand_in_order_and_each_is_taken_by_some_command() {
        assert!(OPTIONS.is_sorted_by_key(|option| option.name));
        for option in OPTIONS {
            assert!(COMMANDS.iter().any(|command| command.takes(option.name)), "{option:?}");
        }
        for command in COMMANDS {
            for name in command.options {
                assert!(command.takes(name), "{}: {name} is in no table", command.name);
            }
        }
    }
}
