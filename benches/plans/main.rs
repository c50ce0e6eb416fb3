//! What planning takes, beside other clients, for groups that are made here. See `benches/README.md`.
//!
//! ```text
//! cargo bench --bench plans                                each group, ours and the peers in turn, as tables with ratios
//! cargo bench --bench plans -- compare NAME…               some of the groups, or `fuzz`
//! cargo bench --bench plans -- write FOLDER [NAME…]        the groups as files that `kafka-group plan` and the peers read
//! ```
//!
//! The same groups come out each time.

#![expect(clippy::unwrap_used, reason = "a program for measuring ends where its input is wrong")]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../support/peers.rs"]
mod peers;
#[path = "../support/mod.rs"]
mod support;

mod compare;
mod fuzz;
mod group;
mod scenarios;

use std::path::{Path, PathBuf};

use group::Group;
use scenarios::SCENARIOS;

fn main() {
    let Some(words) = support::arguments() else {
        return println!("nothing to test here: cargo bench --bench plans");
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => compare::run(&[]),
        ["compare", ref names @ ..] => compare::run(names),
        ["write", folder, ref names @ ..] => {
            let folder = Path::new(folder);
            for scenario in SCENARIOS.iter().filter(|scenario| is_wanted(scenario.name, names)) {
                println!("{}", write(folder, scenario.name, &(scenario.group)()).display());
            }
            if is_wanted(fuzz::NAME, names) {
                println!("{} files of small groups", fuzz::write(folder).len());
            }
        }
        _ => panic!("arguments: compare [NAME…], or write FOLDER [NAME…]"),
    }
}

fn is_wanted(name: &str, names: &[&str]) -> bool {
    names.is_empty() || names.contains(&name)
}

/// Writes a group's file.
fn write(folder: &Path, name: &str, group: &Group) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, group.json(name)).unwrap();
    path
}
