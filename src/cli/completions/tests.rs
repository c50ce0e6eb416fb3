//! What shells make of the scripts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;
use crate::cli::dispatch;

/// The script, as the command writes it.
fn script(shell: &str) -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["/usr/bin/kafka-group", "completions", shell].map(std::ffi::OsString::from);
    let mut console = Console::new(&mut out, &mut err);
    assert_eq!(dispatch(args, &Assigners::builtin(), &mut console), 0);
    drop(console);
    String::from_utf8(out).unwrap()
}

/// What a shell prints that runs this; none where there is no such shell.
fn run(shell: &str, args: &[&str], script: &str) -> Option<String> {
    let mut command = Command::new(shell);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        println!("there is no {shell}");
        return None;
    };
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{shell} {args:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// What bash offers for the last of these words.
fn completed(words: &[&str]) -> String {
    let typed: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let ask = format!(
        "{}\nCOMP_WORDS=({}) COMP_CWORD={}\n_kafka_group\necho \"${{COMPREPLY[*]}}\"\n",
        script("bash"),
        typed.join(" "),
        words.len() - 1
    );
    run("bash", &["--norc"], &ask).expect("bash").trim_end().to_owned()
}

#[test]
fn bash_completes_commands_their_options_and_what_these_take() {
    for (words, expected) in [
        (&["kafka-group", "l"][..], "list lag"),
        (&["kafka-group", "rem"], "remove-members"),
        (&["kafka-group", "list", "--st"], "--state"),
        (&["kafka-group", "list", "--gr"], ""),
        (&["kafka-group", "lag", "--co"], "--command-config"),
        (&["kafka-group", "list", "--state", "P"], "PreparingRebalance"),
        (&["kafka-group", "list", "--format", ""], "table json"),
        (&["kafka-group", "list", "--format", "=", "j"], "json"),
        (&["kafka-group", "list", "--format", "="], "table json"),
        (&["kafka-group", "plan", "-a", "co"], "cooperative-sticky co-partition"),
        (&["kafka-group", "plan", "--assigner", "ra"], "range rack-aware"),
        (&["kafka-group", "plan", "Carg"], "Cargo.toml Cargo.lock"),
        (&["kafka-group", "plan", "--save", "Cargo.t"], "Cargo.toml"),
        (&["kafka-group", "plan", "--group", "Carg"], ""),
        (&["kafka-group", "completions", "z"], "zsh"),
        (&["kafka-group", "help", "desc"], "describe"),
    ] {
        let offered = completed(words);
        let sorted = |text: &str| {
            let mut words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        let expected = expected.split_whitespace();
        assert_eq!(sorted(&offered), sorted(&expected.collect::<Vec<_>>().join(" ")), "{words:?}");
    }
}

#[test]
fn the_scripts_are_what_their_shells_take() {
    for (shell, args) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["--no-execute"])] {
        run(shell, args, &script(shell));
    }
    let ask = format!("{}\ncomplete -C 'kafka-group list --format '\n", script("fish"));
    if let Some(offered) = run("fish", &["--no-config"], &ask) {
        // What it is about stands behind it.
        let offered: Vec<&str> =
            offered.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(offered, ["json", "table"]);
    }
}

#[test]
fn a_command_of_another_name_completes_itself() {
    let assigners = vec!["range"];
    let completing = Completing { program: "my.groups".to_owned(), assigners };
    assert!(bash::script(&completing).ends_with("complete -F _my_groups my.groups\n"));
    assert!(zsh::script(&completing).starts_with("#compdef my.groups\n_my_groups() {"));
    assert!(fish::script(&completing).starts_with("complete -c my.groups -f\n"));
}

#[test]
fn every_option_and_command_is_in_every_script() {
    for shell in SHELLS {
        let script = script(shell);
        for command in COMMANDS {
            assert!(script.contains(command.name), "{shell}: {}", command.name);
            for option in command.options() {
                assert!(script.contains(option.name), "{shell}: {}", option.name);
            }
        }
    }
}

#[test]
fn quotes_in_texts_do_not_end_them() {
    assert_eq!(quoted("the broker's"), "'the broker'\\''s'");
}
