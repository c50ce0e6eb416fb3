//! The layers of the crate and its tidiness, checked by reading the source.
//!
//! ```text
//! types ─ wire ─ error ─┬─ protocol ─┬─ membership ────────┬─ group ─┬─ consumer
//!                       │            └─ assign ─ subscription ─┘      ├─ pool, election
//!            security ──┴─ transport ─ client ─────────────────┘      └─ admin ─ cli
//! ```

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Each module, and what it may use besides itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("types", &[]),
    ("wire", &["types"]),
    ("error", &["types", "wire"]),
    ("protocol", &["types", "wire", "error"]),
    ("membership", &["types", "wire", "error", "protocol"]),
    ("assign", &["types", "error"]),
    ("subscription", &["types", "wire", "error", "protocol", "assign"]),
    ("security", &["types"]),
    ("transport", &["types", "wire", "error", "security"]),
    ("client", &["types", "wire", "error", "security", "transport"]),
    (
        "group",
        &[
            "types",
            "wire",
            "error",
            "protocol",
            "membership",
            "assign",
            "subscription",
            "security",
            "transport",
            "client",
            // The second group protocol, for tests alone.
            "testing",
        ],
    ),
    ("consumer", &["types", "error", "assign", "subscription", "security", "client", "group"]),
    ("pool", &["types", "error", "protocol", "assign", "client", "group"]),
    ("election", &["types", "error", "protocol", "client", "group"]),
    ("admin", &["types", "wire", "error", "assign", "subscription", "client"]),
    ("cli", &["types", "error", "assign", "client", "admin"]),
    ("testing", &["types", "wire", "error", "protocol", "membership", "assign", "subscription"]),
];

/// Layers without I/O, clock and threads.
const PURE: &[&str] = &[
    "types",
    "wire",
    "error",
    "protocol",
    "membership",
    "assign",
    "subscription",
    "security",
    "testing",
];

/// What a pure layer does not name.
const IMPURE: &[&str] = &["tokio", "std::net", "std::thread", "rdkafka", "Instant::now"];

/// The parts of pure layers that do speak to the world.
const DOORS: &[&str] = &["testing/broker"];

/// What the code of the crate never does: the network must not be able to end the process.
const PANICS: &[&str] = &[".unwrap()", "panic!(", "unreachable!(", "todo!(", "unimplemented!("];

const LONGEST_FILE: usize = 800;

#[test]
fn every_module_has_its_place_in_the_layers() {
    let known: BTreeSet<&str> = MAY_USE.iter().map(|&(module, _)| module).collect();
    for file in source_files() {
        let module = file.module();
        let is_root = matches!(module.as_str(), "lib" | "bin");
        assert!(is_root || known.contains(module.as_str()), "`{module}` is not in MAY_USE");
    }
}

#[test]
fn modules_use_only_the_layers_below_them() {
    for file in source_files() {
        let module = file.module();
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == module) else {
            continue;
        };
        for used in crate_uses(&file.code) {
            let is_layer = MAY_USE.iter().any(|(known, _)| *known == used);
            assert!(
                !is_layer || used == module || allowed.contains(&used.as_str()),
                "{}: `{module}` may not use `{used}`",
                file.name
            );
        }
    }
}

#[test]
fn pure_layers_name_nothing_impure() {
    for file in source_files() {
        let is_door = DOORS.iter().any(|door| file.name.starts_with(door));
        if is_door || !PURE.contains(&file.module().as_str()) {
            continue;
        }
        for word in IMPURE {
            assert!(!names(&file.code, word), "{}: a pure layer may not name `{word}`", file.name);
        }
    }
}

#[test]
fn the_crate_neither_panics_nor_holds_long_files() {
    for file in source_files() {
        for panic in PANICS {
            assert!(!file.code.contains(panic), "{}: `{panic}` outside tests", file.name);
        }
        let lines = file.text.lines().count();
        assert!(lines <= LONGEST_FILE, "{}: {lines} lines", file.name);
    }
}

#[test]
fn no_test_sleeps_or_is_ignored() {
    for folder in ["src", "tests", "examples", "benches"] {
        for file in files_in(folder) {
            for forbidden in [concat!("thread::", "sleep("), concat!("#[", "ignore")] {
                assert!(!file.text.contains(forbidden), "{folder}/{}: `{forbidden}`", file.name);
            }
        }
    }
}

#[test]
fn the_walk_in_architecture_goes_through_functions_that_exist() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("`src/"));
    let mut steps = 0;
    for row in rows {
        let mut quoted = row.rsplit(" | ").next().unwrap().split('`').skip(1).step_by(2);
        let (Some(path), Some(function)) = (quoted.next(), quoted.next()) else { continue };
        let code = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(code.contains(&format!("fn {function}")), "{path} has no `{function}`");
        steps += 1;
    }
    assert!(steps >= 12, "the walk has {steps} steps");
}

#[test]
fn every_event_and_every_error_is_in_the_page_about_them() {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let page = read("docs/errors-and-policies.md");
    for (path, public) in [
        ("src/group/event.rs", "Event"),
        ("src/error.rs", "Error"),
        ("src/error.rs", "CommitError"),
    ] {
        let missing: Vec<String> = variants(&code_of(&read(path)), public)
            .into_iter()
            .filter(|variant| !page.contains(&format!("`{variant}`")))
            .collect();
        assert!(missing.is_empty(), "{public} has {missing:?}");
    }
}

/// The variants of an enum, by rustfmt's indentation.
fn variants(code: &str, of: &str) -> Vec<String> {
    let (_, body) = code.split_once(&format!("pub enum {of} {{")).expect("the enum");
    let (body, _) = body.split_once("\n}").expect("its end");
    let names = body.lines().filter_map(|line| line.strip_prefix("    "));
    names.filter(|line| line.starts_with(char::is_uppercase)).map(word).collect()
}

#[test]
fn uses_and_code_are_found_where_they_are() {
    let uses = crate_uses(
        "use crate::types::A; use crate::{error::{B, C}, wire, assign as d}; pub(in crate::x) fn e()",
    );
    assert_eq!(uses, ["types", "error", "wire", "assign", "x"]);

    let code = code_of(
        "//! panic!() here\nfn a() {} // todo!()\n#[cfg(test)]\nmod tests { fn b() { \"}\" } }\nconst C: &str = \"//\"; d();\n",
    );
    assert!(!code.contains("panic") && !code.contains("todo") && !code.contains("fn b"), "{code}");
    assert!(code.contains("fn a()") && code.contains("d();"), "{code}");

    assert!(
        names("a(tokio::x)", "tokio") && !names("a_tokio", "tokio") && !names("tokios", "tokio")
    );
}

/// A source file.
struct SourceFile {
    /// Its path below the folder that was asked for, with `/`.
    name: String,
    text: String,
    /// The text without comments, the contents of strings and test modules.
    code: String,
}

impl SourceFile {
    /// The module at the crate's root to which the file belongs.
    fn module(&self) -> String {
        let first = self.name.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first).to_owned()
    }
}

/// The files in `src`, without those that hold tests alone.
fn source_files() -> Vec<SourceFile> {
    let mut files = files_in("src");
    files.retain(|file| {
        let path = file.name.trim_end_matches(".rs");
        !path.split('/').any(|part| part == "tests" || part.ends_with("_tests"))
    });
    files
}

fn files_in(folder: &str) -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    let mut queue: Vec<PathBuf> = vec![root.clone()];
    while let Some(path) = queue.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            queue.extend(entries.map(|entry| entry.expect("a folder that can be read").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file that can be read");
            let name = path.strip_prefix(&root).expect("found below it").display().to_string();
            found.push(SourceFile { name: name.replace('\\', "/"), code: code_of(&text), text });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The first segment of each path that begins with `crate::`, also within braces.
fn crate_uses(code: &str) -> Vec<String> {
    let mut uses = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => uses.extend(top_level(list).iter().map(|path| word(path.trim_start()))),
            None => uses.push(word(rest)),
        }
    }
    uses
}

/// The parts of a brace's inside, up to its end, between the commas that are in no inner brace.
fn top_level(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn word(text: &str) -> String {
    text.chars().take_while(|&c| is_word(c)).collect()
}

/// Whether `code` has `path` as whole words.
fn names(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, found)| {
        !code[..at].ends_with(is_word) && !code[at + found.len()..].starts_with(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text without comments, the contents of strings and `#[cfg(test)]` modules.
fn code_of(text: &str) -> String {
    let mut code = without_comments(text);
    while let Some(start) = code.find("#[cfg(test)]") {
        let end = code[start..].find(['{', ';']).map_or(code.len(), |at| start + at);
        let end = match code[end..].starts_with('{') {
            true => closing_brace(&code, end),
            false => (end + 1).min(code.len()),
        };
        code.replace_range(start..end, "");
    }
    code
}

/// The end of the block whose brace opens at `open`.
fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + at + 1;
        }
    }
    code.len()
}

fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' => string_length(rest, "\"", true),
            'r' if !code.ends_with(is_word) && raw_string_end(rest).is_some() => {
                let (open, end) = raw_string_end(rest).unwrap_or_default();
                open + string_length(&rest[open..], &end, false)
            }
            '\'' => char_length(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push_str(if matches!(first, '"' | 'r') { "\"\"" } else { " " });
            rest = &rest[skipped..];
        }
    }
    code
}

/// The length of a string that begins with one quote, up to and with what ends it.
fn string_length(text: &str, end: &str, escapes: bool) -> usize {
    let mut at = 1;
    while at < text.len() {
        if escapes && text[at..].starts_with('\\') {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
        } else if text[at..].starts_with(end) {
            return at + end.len();
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Where the quote of a raw string is, and what ends the string.
fn raw_string_end(text: &str) -> Option<(usize, String)> {
    let hashes = text[1..].chars().take_while(|&c| c == '#').count();
    text[1 + hashes..].starts_with('"').then(|| (1 + hashes, format!("\"{}", "#".repeat(hashes))))
}

/// The length of a character literal; 0 for a lifetime.
fn char_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let from = at + escaped.len_utf8();
            text[from..].find('\'').map_or(0, |end| from + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}
