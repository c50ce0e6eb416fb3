//! For bash, from version 3.2 on.

use std::fmt::Write as _;

use super::{Completing, names};
use crate::cli::commands::{COMMANDS, Command, OPTIONS, Opt, Value};

pub(super) fn script(completing: &Completing<'_>) -> String {
    let (function, program) = (completing.function(), &completing.program);
    let names = names().join(" ");
    format!(
        "\
{function}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= files=
    COMPREPLY=()
    # Bash takes `--option=value` for three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    if [[ $COMP_CWORD -eq 1 ]]; then
        words='{names}'
    else
        case $before in
{values}        *)
            case ${{COMP_WORDS[1]}} in
{commands}            esac
            [[ $current == -* ]] && files=
            ;;
        esac
    fi
    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))
    if [[ $files ]]; then
        local IFS=$'\\n'
        COMPREPLY+=($(compgen -f -- \"$current\"))
        compopt -o filenames 2>/dev/null
    fi
}}
complete -F {function} {program}
",
        values = OPTIONS.iter().map(|option| value(option, completing)).collect::<String>(),
        commands = COMMANDS.iter().map(|it| command(it, completing)).collect::<String>(),
    )
}

/// What follows an option.
fn value(option: &Opt, completing: &Completing<'_>) -> String {
    let short = option.short.map(|short| format!("|-{short}")).unwrap_or_default();
    let found = match (option.value, completing.words(option.value)) {
        (Value::Nothing, _) => return String::new(),
        (_, Some(words)) => format!("words='{words}'"),
        (Value::File, _) => "files=1".to_owned(),
        _ => ":".to_owned(),
    };
    format!("        --{}{short}) {found} ;;\n", option.name)
}

/// What may stand where no value is expected.
fn command(command: &Command, completing: &Completing<'_>) -> String {
    let mut words = completing.words(command.operands).unwrap_or_default();
    for option in command.options() {
        // Writing to a text does not fail.
        let _ = write!(words, " --{}", option.name);
    }
    let files = if command.operands == Value::File { " files=1" } else { "" };
    format!("            {}) words='{words} --help'{files} ;;\n", command.name)
}
