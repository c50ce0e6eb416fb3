//! For zsh.

use super::{Completing, quoted};
use crate::cli::commands::{COMMANDS, Command, Opt, Value};

pub(super) fn script(completing: &Completing<'_>) -> String {
    let (function, program) = (completing.function(), &completing.program);
    let abouts = COMMANDS.iter().map(|command| {
        format!("        {}\n", quoted(&format!("{}:{}", command.name, command.about)))
    });
    format!(
        "\
#compdef {program}
{function}() {{
    local -a commands
    commands=(
{abouts}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{cases}    esac
}}
if [[ $funcstack[1] == {function} ]]; then
    {function} \"$@\"
else
    compdef {function} {program}
fi
",
        abouts = abouts.collect::<String>(),
        cases = COMMANDS.iter().map(|it| case(it, completing)).collect::<String>(),
    )
}

fn case(command: &Command, completing: &Completing<'_>) -> String {
    let mut arguments = vec![quoted("(-h --help)--help[says what it can do]")];
    arguments.extend(command.options().flat_map(|option| argument(option, completing)));
    let operands = action(command.operands, completing);
    arguments.extend(operands.map(|action| quoted(&format!("*:what:{action}"))));
    let arguments = arguments.join(" \\\n            ");
    format!("    {})\n        _arguments {arguments}\n        ;;\n", command.name)
}

/// An option, once for each way in which it is written. It may be given again.
fn argument(option: &Opt, completing: &Completing<'_>) -> Vec<String> {
    let about = option.about.replace([':', '[', ']'], " ");
    let value = match option.value {
        Value::Nothing => String::new(),
        value => format!(":{}:{}", option.name, action(value, completing).unwrap_or_default()),
    };
    let long = format!("*--{}[{about}]{value}", option.name);
    let short = option.short.map(|short| format!("*-{short}[{about}]{value}"));
    [Some(long), short].into_iter().flatten().map(|written| quoted(&written)).collect()
}

/// How zsh finds what may follow.
fn action(value: Value, completing: &Completing<'_>) -> Option<String> {
    match value {
        Value::Nothing => None,
        Value::Anything => Some(" ".to_owned()),
        Value::File => Some("_files".to_owned()),
        value => completing.words(value).map(|words| format!("({words})")),
    }
}
