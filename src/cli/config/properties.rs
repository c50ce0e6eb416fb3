//! Java's properties files, as `java.util.Properties` reads them.

use std::fmt;

/// A key with its value.
#[derive(Clone, Eq, PartialEq)]
pub(super) struct Property {
    /// Where it begins, from 1 on.
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: String,
}

/// What is no properties file, and where.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub(super) struct Malformed {
    /// From 1 on.
    pub(super) line: usize,
    pub(super) problem: Problem,
}

/// What Java refuses, too.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Problem {
    #[error("`\\u` is followed by something else than four hexadecimal digits")]
    BadEscape,
    #[error("an escaped half of a character stands without its other half")]
    HalfCharacter,
}

/// Values may be secrets.
impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property")
            .field("line", &self.line)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Reads a text; what is there twice comes twice.
pub(super) fn parse(text: &str) -> Result<Vec<Property>, Malformed> {
    let lines = Lines { rest: text, number: 0 };
    lines.map(|(line, text)| property(line, &text)).collect()
}

/// What is written in one line or several: `key`, `key=value`, `key: value`, `key value`.
fn property(line: usize, text: &str) -> Result<Property, Malformed> {
    let (key, value) = divide(text);
    let unescaped = |text| unescape(text).map_err(|problem| Malformed { line, problem });
    Ok(Property { line, key: unescaped(key)?, value: unescaped(value)? })
}

/// Key and value, with their escapes. Space around the first sign between them belongs to neither.
fn divide(text: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = text.find(|letter: char| {
        let ends = !escaped && (is_blank(letter) || matches!(letter, '=' | ':'));
        escaped = !escaped && letter == '\\';
        ends
    });
    let (key, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim_start_matches(is_blank);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (key, value.trim_start_matches(is_blank))
}

fn unescape(text: &str) -> Result<String, Problem> {
    // Escapes are of UTF-16 units, of which a character beyond the basic plane has two.
    let mut units = Vec::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            // One at the very end escapes nothing.
            '\\' => match letters.next() {
                None => break,
                Some('u') => {
                    units.push(unit(&mut letters)?);
                    continue;
                }
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some(other) => other,
            },
            letter => letter,
        };
        units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16(&units).map_err(|_| Problem::HalfCharacter)
}

/// The number in four digits.
fn unit(letters: &mut impl Iterator<Item = char>) -> Result<u16, Problem> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = letters.next().and_then(|letter| letter.to_digit(16));
        unit = (unit << 4) | digit.ok_or(Problem::BadEscape)? as u16;
    }
    Ok(unit)
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\u{c}')
}

/// Lines that say something, those that go on in the next one put together, each with the number of its first.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Lines<'a> {
    /// The next line as it stands in the file, without what ends it: a line feed, a carriage return, or both.
    fn natural(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.find(['\n', '\r']).unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        let behind = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r']));
        self.rest = behind.unwrap_or_default();
        Some(line)
    }
}

impl Iterator for Lines<'_> {
    type Item = (usize, String);

    fn next(&mut self) -> Option<(usize, String)> {
        loop {
            let line = self.natural()?.trim_start_matches(is_blank);
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            let (first, mut text) = (self.number, line.to_owned());
            // A comment sign begins no comment in a line that goes on.
            while goes_on(&text) {
                text.pop();
                let Some(next) = self.natural() else { break };
                text.push_str(next.trim_start_matches(is_blank));
            }
            // A line that holds nothing but the sign that it goes on, in nothing.
            if !text.is_empty() {
                return Some((first, text));
            }
        }
    }
}

/// Whether a line ends in a backslash that is not escaped itself.
fn goes_on(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text holds, as `line key=value`.
    fn read(text: &str) -> Vec<String> {
        let properties = parse(text).unwrap();
        let shown =
            properties.iter().map(|Property { line, key, value }| format!("{line} {key}={value}"));
        shown.collect()
    }

    #[test]
    fn key_and_value_stand_apart_in_three_ways() {
        let text = "a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf  6 = 7\ng\nh=\n=i\n";
        assert_eq!(
            read(text),
            ["1 a=1", "2 b=2", "3 c=3", "4 d=4", "5 e=5", "6 f=6 = 7", "7 g=", "8 h=", "9 =i"]
        );
    }

    #[test]
    fn comments_and_empty_lines_say_nothing_and_space_before_a_key_counts_for_nothing() {
        let text = "# a=1\n! b=2\n\n   \t\n  # c=3 \\\nd=4 # no comment\n \u{c} e=5";
        assert_eq!(read(text), ["6 d=4 # no comment", "7 e=5"]);
    }

    #[test]
    fn lines_end_in_any_of_three_ways() {
        assert_eq!(read("a=1\r\nb=2\rc=3\n\r\nd=4"), ["1 a=1", "2 b=2", "3 c=3", "5 d=4"]);
    }

    #[test]
    fn a_line_goes_on_behind_a_backslash_that_is_not_escaped() {
        let text = "a=1,\\\r\n    2,\\\n#3\nb=4\\\\\nc=5\\\\\\\n6\n\\\nd=7\ne=8\\";
        assert_eq!(read(text), ["1 a=1,2,#3", "4 b=4\\", "5 c=5\\6", "7 d=7", "9 e=8"]);
        assert_eq!(read("a=1\\\n\nb=2\n  \\\n"), ["1 a=1", "3 b=2"]);
    }

    #[test]
    fn escapes_stand_for_what_they_do_in_java() {
        let text = r"a\ b\:c\=d = \ x\t\n\r\f\q\\ \u00e4\uD83D\uDE00 ";
        assert_eq!(read(text), ["1 a b:c=d= x\t\n\r\u{c}q\\ ä😀 "]);
    }

    #[test]
    fn what_java_refuses_is_refused_with_its_line() {
        for (text, line, problem) in [
            ("a=1\nb=\\u12", 2, Problem::BadEscape),
            ("a=\\u12g4", 1, Problem::BadEscape),
            ("\n\na=1\\\n\\u", 3, Problem::BadEscape),
            ("a=\\ud83d", 1, Problem::HalfCharacter),
        ] {
            assert_eq!(parse(text), Err(Malformed { line, problem }), "{text}");
        }
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let letters: Vec<char> = "ab=: \t\u{c}\\\\\\\r\n#!u00ed83ä😀".chars().collect();
        for _ in 0..5_000 {
            let text: String =
                (0..random.usize(..40)).filter_map(|_| random.choice(&letters)).collect();
            if let Ok(properties) = parse(&text) {
                let lines = properties.iter().map(|property| property.line);
                assert!(lines.clone().is_sorted() && lines.max() <= Some(41), "{text:?}");
            }
        }
    }

    #[test]
    fn values_do_not_get_into_logs() {
        let shown = format!("{:?}", parse("sasl.password=secret").unwrap());
        assert!(shown.contains("sasl.password") && !shown.contains("secret"), "{shown}");
    }
}
