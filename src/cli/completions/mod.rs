//! `kafka-group completions`: what a shell needs to complete a command line, made from the table of commands.

mod bash;
mod fish;
mod zsh;

use super::arguments::text;
use super::assigners::Assigners;
use super::commands::{COMMANDS, Value};
use super::console::Console;
use super::outcome::Outcome;
use super::{UsageError, usage};

pub(super) const USAGE: &str = "\
usage: kafka-group completions (bash | zsh | fish)

Writes what a shell needs to complete this command: its commands, their options, and what options take.

  bash   source <(kafka-group completions bash)
  zsh    kafka-group completions zsh > ~/.zfunc/_kafka-group, where fpath has ~/.zfunc
  fish   kafka-group completions fish > ~/.config/fish/completions/kafka-group.fish
";

/// Which shells there are.
pub(super) const SHELLS: &[&str] = &["bash", "zsh", "fish"];

pub(super) fn run(
    mut arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<Outcome, UsageError> {
    use lexopt::Arg::{Long, Short, Value};

    let program = arguments.bin_name().filter(|name| is_plain(name)).unwrap_or("kafka-group");
    let program = program.to_owned();
    let shell = match arguments.next()? {
        Some(Short('h') | Long("help")) => {
            console.say(format_args!("{}", usage("completions").unwrap_or_default()));
            return Ok(Outcome::Done);
        }
        Some(Value(shell)) => text(shell)?,
        Some(other) => return Err(other.unexpected().into()),
        None => String::new(),
    };
    if let Some(more) = arguments.next()? {
        return Err(more.unexpected().into());
    }
    let names = assigners.names().filter(|name| is_plain(name)).collect();
    let completing = Completing { program, assigners: names };
    let script = match shell.as_str() {
        "bash" => bash::script(&completing),
        "zsh" => zsh::script(&completing),
        "fish" => fish::script(&completing),
        _ => {
            let shells = SHELLS.join(", ");
            return Err(UsageError::Other(format!("`completions` takes one of {shells}")));
        }
    };
    console.say(format_args!("{script}"));
    Ok(Outcome::Done)
}

/// What the scripts are made of beside the table.
struct Completing<'a> {
    /// The name by which the command is called.
    program: String,
    assigners: Vec<&'a str>,
}

impl Completing<'_> {
    /// A name for a function of a shell.
    fn function(&self) -> String {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        format!("_{}", self.program.chars().map(letter).collect::<String>())
    }

    /// The words of which one may follow, if there is such a list.
    fn words(&self, value: Value) -> Option<String> {
        match value {
            Value::OneOf(words) => Some(words.join(" ")),
            Value::Assigner => Some(self.assigners.join(" ")),
            Value::Command => Some(names().join(" ")),
            Value::Nothing | Value::Anything | Value::File => None,
        }
    }
}

/// The commands' names.
fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|command| command.name).collect()
}

/// Whether a shell takes it as it is, wherever it stands.
fn is_plain(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    !name.is_empty() && name.chars().all(plain)
}

/// A text in single quotes, as all three shells read it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
