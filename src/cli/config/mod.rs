//! `--command-config`: a properties file with what a client of the cluster needs, as Kafka's own tools take it.

mod properties;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use self::properties::{Property, parse};
use crate::client::{ClientError, ClientOptions};

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// What the names of properties begin with that decide who can read along: one that is not known is not passed over.
const GRAVE: [&str; 3] = ["ssl.", "sasl.", "security."];

/// What a file says, each key once.
#[derive(Debug)]
pub(super) struct Config {
    path: PathBuf,
    properties: Vec<Property>,
    /// What is odd about the file, and no reason to refuse it.
    warnings: Vec<String>,
}

impl Config {
    /// Reads a file. What is wrong with it is said with its name, and the line where there is one.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let bytes = read_bytes(path).map_err(|why| format!("{}: {why}", path.display()))?;
        Self::parse(path, &decoded(bytes))
    }

    fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let read = parse(text).map_err(|wrong| at(path, wrong.line, wrong))?;
        let mut config =
            Self { path: path.to_owned(), properties: Vec::new(), warnings: Vec::new() };
        for property in read {
            config.add(property);
        }
        Ok(config)
    }

    /// Of two with one key the last counts, as in Java.
    fn add(&mut self, property: Property) {
        let known = self.properties.iter_mut().find(|known| known.key == property.key);
        let Some(known) = known else { return self.properties.push(property) };
        let again = format!(
            "`{}` is there twice: this counts, and line {} does not",
            property.key, known.line
        );
        let line = property.line;
        *known = property;
        self.warnings.push(at(&self.path, line, again));
    }

    /// Hands everything to the client; a property that means nothing to it is passed over with a warning.
    pub(super) fn apply(&mut self, options: &mut ClientOptions) -> Result<(), String> {
        for Property { line, key, value } in &self.properties {
            let is_known =
                options.set(key, trimmed(value)).map_err(|error| self.at(*line, error))?;
            if is_known {
                continue;
            }
            if GRAVE.iter().any(|grave| key.starts_with(grave)) {
                return Err(self.at(*line, format!("`{key}` is not known")));
            }
            if key == "config.providers" {
                let message = "`config.providers` is not known: write the values themselves";
                return Err(self.at(*line, message));
            }
            self.warnings.push(self.at(*line, format!("`{key}` means nothing here")));
        }
        Ok(())
    }

    /// Whether the file says this.
    pub(super) fn has(&self, key: &str) -> bool {
        self.properties.iter().any(|property| property.key == key)
    }

    /// An error of the client's, with the line if it is about a property of the file.
    pub(super) fn locate(&self, error: &ClientError) -> String {
        let ClientError::InvalidOption { property, .. } = error else { return error.to_string() };
        let line = self.properties.iter().find(|known| known.key == *property);
        line.map_or_else(|| error.to_string(), |known| self.at(known.line, error))
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn at(&self, line: usize, message: impl std::fmt::Display) -> String {
        at(&self.path, line, message)
    }
}

fn at(path: &Path, line: usize, message: impl std::fmt::Display) -> String {
    format!("{}:{line}: {message}", path.display())
}

/// Kafka trims values, passwords among them, of what Java calls space.
fn trimmed(value: &str) -> &str {
    value.trim_matches(|letter| letter <= ' ')
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() as u64 > MOST_BYTES {
        true => Err(format!("it is larger than {MOST_BYTES} bytes")),
        false => Ok(bytes),
    }
}

/// Java reads such files as ISO 8859-1, and those of its resources as UTF-8 where they are that; so do we.
fn decoded(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
        Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str) -> Result<(ClientOptions, Vec<String>), String> {
        let mut config = Config::parse(Path::new("c"), text)?;
        let mut options = ClientOptions::default();
        config.apply(&mut options)?;
        Ok((options, config.warnings))
    }

    #[test]
    fn what_a_client_knows_is_set_with_values_trimmed() {
        let (options, warnings) =
            applied("client.id = ops \r\nrequest.timeout.ms=1500\r\n").unwrap();
        let shown = format!("{options:?}");
        assert!(shown.contains("client_id: \"ops\"") && shown.contains("1.5s"), "{shown}");
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn of_two_with_one_key_the_last_counts_and_that_is_said() {
        let (options, warnings) = applied("client.id=a\n\nclient.id=b\n").unwrap();
        assert!(format!("{options:?}").contains("client_id: \"b\""));
        let message = "c:3: `client.id` is there twice: this counts, and line 1 does not";
        assert_eq!(warnings, [message]);
    }

    #[test]
    fn what_means_nothing_here_is_passed_over_with_a_word() {
        let (_, warnings) = applied("acks=all\ngroup.id=g\n").unwrap();
        assert_eq!(
            warnings,
            ["c:1: `acks` means nothing here", "c:2: `group.id` means nothing here"]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_without_a_secret() {
        for (text, message) in [
            ("\nrequest.timeout.ms=soon", "c:2: `request.timeout.ms` is no number of milliseconds"),
            ("ssl.no.such.thing=s3cret", "c:1: `ssl.*` has no `ssl.no.such.thing`"),
            ("a=1\nsasl.no.such.thing=s3cret", "c:2: `sasl.*` has no `sasl.no.such.thing`"),
            (
                "config.providers=file",
                "c:1: `config.providers` is not known: write the values themselves",
            ),
            (
                "sasl.jaas.config=\\u12",
                "c:1: `\\u` is followed by something else than four hexadecimal digits",
            ),
        ] {
            assert_eq!(applied(text).unwrap_err(), message);
        }
    }

    #[test]
    fn an_error_that_comes_later_is_led_back_to_its_line() {
        let mut config = Config::parse(Path::new("c"), "\nbootstrap.servers=nowhere\n").unwrap();
        let mut options = ClientOptions::default();
        config.apply(&mut options).unwrap();
        let error = crate::client::Client::new(options).unwrap_err();
        let located = config.locate(&error);
        assert!(
            located.starts_with("c:2: `bootstrap.servers` has an entry, `nowhere`"),
            "{located}"
        );
    }

    #[test]
    fn a_file_is_read_as_utf_8_and_else_as_java_does() {
        assert_eq!(decoded("\u{feff}ä".into()), "ä");
        assert_eq!(decoded(vec![b'a', 0xe4]), "aä");
    }

    #[test]
    fn files_that_are_none_or_too_large_are_refused() {
        let gone = Config::read(Path::new("/nowhere/c")).unwrap_err();
        assert!(gone.starts_with("/nowhere/c: "), "{gone}");
        assert!(Config::read(&std::env::temp_dir()).is_err());
        let large = std::env::temp_dir().join(format!("kafka-group-large-{}", std::process::id()));
        std::fs::write(&large, vec![b'#'; MOST_BYTES as usize + 1]).unwrap();
        let refused = Config::read(&large).unwrap_err();
        std::fs::remove_file(&large).unwrap();
        assert!(refused.ends_with("it is larger than 1048576 bytes"), "{refused}");
    }
}
