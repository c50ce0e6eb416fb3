//! In which line of a text of JSON something stands.

/// A step into a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// The value under a key; of several, the last.
    Key(&'static str),
    /// The value at a place in a list, or the one at that place in an object.
    Place(usize),
}

/// The line, from 1 on, in which the entry begins that the steps lead to; of the last that could be gone where they
/// lead nowhere. The text is JSON.
pub(super) fn line_of(text: &[u8], steps: &[Step]) -> usize {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip_space();
    let mut begin = scanner.at;
    for step in steps {
        let Some(entry) = scanner.enter(step) else { break };
        begin = entry.begin;
        scanner.at = entry.value;
    }
    1 + text.iter().take(begin).filter(|byte| **byte == b'\n').count()
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

/// An entry of a list or an object.
struct Entry {
    /// Where it begins: in an object at its key.
    begin: usize,
    value: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// The entry that a step leads to, from the beginning of the value that it is in.
    fn enter(&mut self, step: &Step) -> Option<Entry> {
        let is_object = match self.peek()? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        self.at += 1;
        let mut found = None;
        for place in 0.. {
            self.skip_space();
            if matches!(self.peek(), None | Some(b'}' | b']')) {
                break;
            }
            let (begin, key) = (self.at, if is_object { self.skip_key() } else { &[] });
            let is_it = match step {
                Step::Key(name) => {
                    serde_json::from_slice(key).is_ok_and(|key: String| key == *name)
                }
                Step::Place(wanted) => place == *wanted,
            };
            if is_it {
                found = Some(Entry { begin, value: self.at });
            }
            self.skip_value();
            self.skip_space();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        }
        found
    }

    /// Goes behind a key and its colon; the key, with its quotes.
    fn skip_key(&mut self) -> &[u8] {
        let begin = self.at;
        self.skip_value();
        let end = self.at;
        self.skip_space();
        self.at += 1;
        self.skip_space();
        self.text.get(begin..end).unwrap_or_default()
    }

    /// Goes behind a value.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_text(),
                b'{' | b'[' => (depth, self.at) = (depth + 1, self.at + 1),
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => (depth, self.at) = (depth - 1, self.at + 1),
                b',' | b':' if depth == 0 => return,
                _ => self.at += 1,
            }
            if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
                return;
            }
        }
    }

    /// Goes behind a text.
    fn skip_text(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{Key, Place};
    use super::*;

    const TEXT: &str = r#"{
  "a": [1, {"b": "}\"]"},
        [
         7 ]],
  "c": {"x": 1,
        "y": {"deep":
              true}}
}"#;

    #[test]
    fn lines_are_found_through_lists_and_objects() {
        for (steps, line) in [
            (&[][..], 1),
            (&[Key("a")], 2),
            (&[Key("a"), Place(1)], 2),
            (&[Key("a"), Place(2)], 3),
            (&[Key("a"), Place(2), Place(0)], 4),
            (&[Key("c"), Place(1)], 6),
            (&[Key("c"), Place(1), Key("deep")], 6),
            (&[Key("c"), Key("y"), Key("deep")], 6),
        ] {
            assert_eq!(line_of(TEXT.as_bytes(), steps), line, "{steps:?}");
        }
    }

    #[test]
    fn a_path_that_leads_nowhere_ends_where_it_could_go_no_further() {
        assert_eq!(line_of(TEXT.as_bytes(), &[Key("c"), Key("z")]), 5);
        assert_eq!(line_of(TEXT.as_bytes(), &[Key("a"), Place(9)]), 2);
        assert_eq!(line_of(b"{", &[Key("a"), Place(9)]), 1);
        assert_eq!(line_of(b"", &[Place(0)]), 1);
    }
}
