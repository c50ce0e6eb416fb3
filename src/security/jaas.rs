//! `sasl.jaas.config`: one entry of a Java login configuration, as Kafka's clients take it.
//!
//! ```text
//! org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="secret";
//! ```

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// A login module and its options.
pub(super) struct Login {
    pub(super) module: Module,
    options: BTreeMap<String, String>,
}

/// Kafka's login modules that are understood.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Module {
    Plain,
    Scram,
    OAuthBearer,
}

const KAFKAS: &str = "org.apache.kafka.common.security.";

/// Options of Kafka's tokens for tests, and how Kafka's tools write tokens of its own.
const UNSECURED: &str = "unsecuredLogin";
const TOKEN_AUTH: &str = "tokenauth";

impl Login {
    /// Reads an entry. The error never holds what was read: it may be a password.
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        let mut words = Words(text.chars().peekable());
        let module = module(&words.next()?.ok_or("is empty")?)?;
        match words.next()?.map(|flag| flag.to_ascii_lowercase()).as_deref() {
            Some("required" | "requisite" | "sufficient" | "optional") => {}
            _ => return Err("has no flag behind the module: write `required`"),
        }
        let mut options = BTreeMap::new();
        loop {
            let Some(name) = words.next()? else { return Err("does not end with `;`") };
            if name == ";" {
                break;
            }
            if words.next()?.as_deref() != Some("=") {
                return Err("has an option without `=`");
            }
            let value = words.next()?.filter(|value| value != ";");
            let value = value.ok_or("has an option without a value")?;
            if options.insert(name, value).is_some() {
                return Err("has an option twice");
            }
        }
        match words.next()? {
            None => Self { module, options }.checked(),
            Some(_) => Err("has more than one entry"),
        }
    }

    fn checked(self) -> Result<Self, &'static str> {
        if self.is_true(TOKEN_AUTH) {
            return Err(
                "asks for delegation tokens (tokenauth), which are not spoken: use the user's own credentials",
            );
        }
        let known = |name: &String| match self.module {
            Module::Plain => matches!(name.as_str(), "username" | "password"),
            Module::Scram => matches!(name.as_str(), "username" | "password" | TOKEN_AUTH),
            Module::OAuthBearer => name.starts_with(UNSECURED),
        };
        match self.options.keys().all(known) {
            true => Ok(self),
            false if self.module == Module::OAuthBearer => Err(
                "has options that are not read: tokens come from a `TokenProvider` (`Sasl::oauth_bearer`)",
            ),
            false => Err("has options other than `username` and `password`"),
        }
    }

    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    fn is_true(&self, name: &str) -> bool {
        self.option(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

fn module(name: &str) -> Result<Module, &'static str> {
    match name.strip_prefix(KAFKAS) {
        Some("plain.PlainLoginModule") => Ok(Module::Plain),
        Some("scram.ScramLoginModule") => Ok(Module::Scram),
        Some("oauthbearer.OAuthBearerLoginModule") => Ok(Module::OAuthBearer),
        _ => Err(
            "has a login module that is not Kafka's PlainLoginModule, ScramLoginModule or OAuthBearerLoginModule",
        ),
    }
}

/// Words, texts in quotes of either kind, `=` and `;`, as Java's `StreamTokenizer` tells them apart. More is taken for a
/// word: Kafka refuses numbers and signs outside of quotes.
struct Words<'a>(Peekable<Chars<'a>>);

impl Words<'_> {
    fn next(&mut self) -> Result<Option<String>, &'static str> {
        self.pass_over_comments();
        let Some(first) = self.0.next() else { return Ok(None) };
        match first {
            '=' | ';' => Ok(Some(first.to_string())),
            '"' | '\'' => self.quoted(first).map(Some),
            _ => {
                let mut word = String::from(first);
                let ends = |c: &char| c.is_whitespace() || matches!(c, '=' | ';' | '"' | '\'');
                while let Some(c) = self.0.next_if(|c| !ends(c)) {
                    word.push(c);
                }
                Ok(Some(word))
            }
        }
    }

    /// `//` to the end of the line, and what stands between `/*` and `*/`; space, too.
    fn pass_over_comments(&mut self) {
        loop {
            while self.0.next_if(|c| c.is_whitespace()).is_some() {}
            let mut ahead = self.0.clone();
            match (ahead.next(), ahead.next()) {
                (Some('/'), Some('/')) => {
                    while self.0.next_if(|c| !matches!(c, '\n' | '\r')).is_some() {}
                }
                (Some('/'), Some('*')) => {
                    let mut last = ' ';
                    while let Some(c) = ahead.next().filter(|c| (last, *c) != ('*', '/')) {
                        last = c;
                    }
                    self.0 = ahead;
                }
                _ => return,
            }
        }
    }

    /// A backslash takes most of what follows as it is.
    fn quoted(&mut self, quote: char) -> Result<String, &'static str> {
        let mut text = String::new();
        loop {
            match self.0.next() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') => text.extend(self.escaped()),
                None | Some('\n' | '\r') => return Err("has a quote that is not closed"),
                Some(c) => text.push(c),
            }
        }
    }

    /// A control character by its letter or by up to three octal digits, or what stands there.
    fn escaped(&mut self) -> Option<char> {
        let first = self.0.next()?;
        let Some(mut number) = first.to_digit(8) else {
            return Some(match first {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                other => other,
            });
        };
        let most = if number < 4 { 2 } else { 1 };
        for _ in 0..most {
            let Some(digit) = self.0.next_if(|c| c.is_digit(8)) else { break };
            number = number * 8 + digit.to_digit(8)?;
        }
        char::from_u32(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRAM: &str = "org.apache.kafka.common.security.scram.ScramLoginModule";

    fn login(rest: &str) -> Result<Login, &'static str> {
        Login::read(&format!("{SCRAM} {rest}"))
    }

    #[test]
    fn an_entry_is_read_with_its_quotes_lines_and_backslashes() {
        let login =
            login("required\n  username=alice\n  password = \"a;b =\\\"c\\\\\" ;\n").unwrap();
        assert_eq!(login.module, Module::Scram);
        assert_eq!(login.option("username"), Some("alice"));
        assert_eq!(login.option("password"), Some("a;b =\"c\\"));
    }

    /// What Kafka 4.4's own `JaasContext` makes of the same.
    #[test]
    fn quotes_escapes_comments_and_flags_mean_what_they_mean_to_kafka() {
        for (password, expected) in [
            (r#"'s;e"c'"#, "s;e\"c"),
            (r#""it's""#, "it's"),
            (r#""x\ny\tz\101\q\\""#, "x\ny\tzAq\\"),
            (r#""\7\18\477""#, "\u{7}\u{1}8'7"),
            ("\"ä€😀\"", "ä€😀"),
            ("// a comment\n /* and ; another **/ \"a//b\"", "a//b"),
        ] {
            let login = login(&format!("REQUIRED username=alice password={password};"));
            let login = login.unwrap_or_else(|why| panic!("{password}: {why}"));
            assert_eq!(login.option("password"), Some(expected), "{password}");
        }
    }

    #[test]
    fn what_is_no_entry_is_refused_without_a_word_of_it() {
        for text in [
            "",
            "username=\"secret\";",
            "required username=\"secret\"",
            "required username \"secret\";",
            "required username=;",
            "required username=\"secret",
            "required username=a username=\"secret\";",
            "required username=\"secret\" realm=\"secret\";",
            "required username=\"secret\" tokenauth=true;",
            "required username=\"secret\"; secret",
            "required username=\"secret\nsecret\";",
            "required username='secret\";",
            "required username=secret's;",
            "required username=secret /* secret;",
        ] {
            let error = login(text).err().unwrap_or_else(|| panic!("{text} is read"));
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(Login::read("com.sun.security.auth.module.Krb5LoginModule required;").is_err());
    }
}
