//! For fish.

use super::{Completing, quoted};
use crate::cli::commands::{COMMANDS, Command, Opt, Value};

pub(super) fn script(completing: &Completing<'_>) -> String {
    let program = &completing.program;
    let mut script = format!("complete -c {program} -f\n");
    for command in COMMANDS {
        let (name, about) = (command.name, quoted(command.about));
        script += &format!("complete -c {program} -n __fish_use_subcommand -a {name} -d {about}\n");
    }
    for command in COMMANDS {
        let condition = quoted(&format!("__fish_seen_subcommand_from {}", command.name));
        let begin = format!("complete -c {program} -n {condition}");
        script += &format!("{begin} -l help -s h -d 'says what it can do'\n");
        for option in command.options() {
            script += &format!("{begin}{}\n", option_words(option, completing));
        }
        script += &operands(&begin, command, completing);
    }
    script
}

fn option_words(option: &Opt, completing: &Completing<'_>) -> String {
    let short = option.short.map(|short| format!(" -s {short}")).unwrap_or_default();
    let value = match option.value {
        Value::Nothing => String::new(),
        Value::File => " -r -F".to_owned(),
        value => match completing.words(value) {
            Some(words) => format!(" -x -a {}", quoted(&words)),
            None => " -x".to_owned(),
        },
    };
    format!(" -l {}{short}{value} -d {}", option.name, quoted(option.about))
}

fn operands(begin: &str, command: &Command, completing: &Completing<'_>) -> String {
    match (command.operands, completing.words(command.operands)) {
        (Value::File, _) => format!("{begin} -F\n"),
        (_, Some(words)) => format!("{begin} -a {}\n", quoted(&words)),
        _ => String::new(),
    }
}
