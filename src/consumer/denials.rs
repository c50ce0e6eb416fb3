//! Brokers that do not let rdkafka in, or that it does not trust: who, since when, and what is to be said now. Pure:
//! time is an argument.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// After so long without a repetition a denial is over. librdkafka keeps identical errors of a broker to itself for
/// 30 s, and waits 10 s and half of that, at the most, before it connects again.
const QUIET: Duration = Duration::from_secs(60);

/// How long a denial waits at the most for the membership to meet the same: a third of Kafka's default session.
const HOLD: Duration = Duration::from_secs(15);

/// How many brokers are remembered. Where more are denied, these tell the story.
const BROKERS: usize = 64;

/// How much of librdkafka's text is kept, in characters.
const TEXT: usize = 300;

/// How librdkafka begins when the token provider failed.
const WITHOUT_TOKEN: &str = "Failed to acquire SASL OAUTHBEARER token";

/// What one of rdkafka's connections met.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Denial {
    /// Its address.
    broker: String,
    /// librdkafka's text, and the property to look at.
    why: String,
}

/// Which side does not trust the other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Distrust {
    /// TLS failed.
    Certificate,
    /// SASL failed.
    Credentials,
}

impl Denial {
    /// Reads librdkafka's text, which begins with its name of the connection: `ssl://host:port/id: …`, or
    /// `GroupCoordinator: host:port: …`. Without a token no broker at all lets it in.
    pub(super) fn read(distrust: Distrust, said: &str) -> Option<Self> {
        if said.starts_with(WITHOUT_TOKEN) {
            let why = format!("{}; look at the token provider", plain(said));
            return Some(Self { broker: "any broker".to_owned(), why });
        }
        let said = said.strip_prefix("GroupCoordinator: ").unwrap_or(said);
        let (name, cause) = said.split_once(": ")?;
        let name = name.split_once("://").map_or(name, |(_, name)| name);
        let broker = name.rsplit_once('/').map_or(name, |(broker, _)| broker);
        broker.rsplit_once(':')?.1.parse::<u16>().ok()?;
        let cause = cause.rfind(" (after ").and_then(|at| cause.get(..at)).unwrap_or(cause);
        let look = match distrust {
            Distrust::Certificate => {
                "ssl.ca.location (Kafka: ssl.truststore.location), and at the dates and names in the broker's certificate"
            }
            Distrust::Credentials => {
                "sasl.mechanism, sasl.username and sasl.password, or at the token (Kafka: sasl.jaas.config)"
            }
        };
        Some(Self { broker: plain(broker), why: format!("{}; look at {look}", plain(cause)) })
    }
}

/// Without what a terminal would obey, and not too long.
fn plain(text: &str) -> String {
    let visible = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().take(TEXT).map(visible).collect()
}

/// What is to be said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Word {
    /// A broker denies rdkafka, and not the membership.
    Denied(Arc<str>),
    /// It still does, after a session.
    Lasts(String),
}

/// The brokers that deny rdkafka.
///
/// What a broker denies rdkafka is said when the membership has not met the same within a third of a session; and again
/// when it is repeated after a session. What the membership says is not said here, too.
#[derive(Debug)]
pub(super) struct Denials {
    session: Duration,
    brokers: Vec<Broker>,
    /// The membership has spoken.
    silent_until: Option<Instant>,
}

#[derive(Debug)]
struct Broker {
    last: Denial,
    since: Instant,
    repeated: Instant,
    said: Said,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Said {
    Nothing,
    Denied,
    Lasts,
}

impl Denials {
    pub(super) fn new(session: Duration) -> Self {
        Self { session, brokers: Vec::new(), silent_until: None }
    }

    /// rdkafka was denied.
    pub(super) fn heard(&mut self, now: Instant, denial: Denial) {
        self.forget(now);
        if self.silent_until.is_some_and(|until| now < until) {
            return;
        }
        let known = self.brokers.iter_mut().find(|broker| broker.last.broker == denial.broker);
        if let Some(broker) = known {
            broker.last = denial;
            broker.repeated = now;
        } else if self.brokers.len() < BROKERS {
            let said = Said::Nothing;
            self.brokers.push(Broker { last: denial, since: now, repeated: now, said });
        }
    }

    /// The membership has said that it is denied: for two sessions, in which it does not repeat itself either, nothing
    /// is said here.
    pub(super) fn membership_denied(&mut self, now: Instant) {
        self.brokers.clear();
        self.silent_until = Some(now + 2 * self.session);
    }

    /// When there is something to say, if nothing is heard until then.
    pub(super) fn due(&self) -> Option<Instant> {
        let waiting = self.brokers.iter().filter(|broker| broker.said == Said::Nothing);
        waiting.map(|broker| broker.since + self.hold()).min()
    }

    /// The next word. Ask until there is none.
    pub(super) fn word(&mut self, now: Instant) -> Option<Word> {
        let (session, hold) = (self.session, self.hold());
        self.brokers.iter_mut().find_map(|broker| broker.word(now, session, hold))
    }

    /// Members beat at least three times a session, so the membership has met the same by then, if it does.
    fn hold(&self) -> Duration {
        HOLD.min(self.session / 3)
    }

    fn forget(&mut self, now: Instant) {
        let passed = |at: Instant| now.saturating_duration_since(at);
        self.brokers.retain(|broker| passed(broker.repeated) <= QUIET);
    }
}

impl Broker {
    fn word(&mut self, now: Instant, session: Duration, hold: Duration) -> Option<Word> {
        let text = || format!("rdkafka is not let in by {}: {}", self.last.broker, self.last.why);
        let lasted = self.repeated.saturating_duration_since(self.since);
        match self.said {
            Said::Nothing if now.saturating_duration_since(self.since) >= hold => {
                let text = text().into();
                self.said = Said::Denied;
                Some(Word::Denied(text))
            }
            Said::Denied if lasted >= session => {
                let text = text();
                self.said = Said::Lasts;
                Some(Word::Lasts(text))
            }
            Said::Nothing | Said::Denied | Said::Lasts => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::now;

    const SESSION: Duration = Duration::from_secs(45);

    /// What happens, at which second.
    enum Step {
        Heard(&'static str),
        Membership,
        Nothing,
    }
    use Step::{Heard, Membership, Nothing};

    /// What happens, and what is said.
    type Case = (&'static str, &'static [(u64, Step)], &'static [&'static str]);

    fn denial(broker: &str) -> Denial {
        Denial { broker: broker.to_owned(), why: "no".to_owned() }
    }

    /// What is said, at which second, and of whom.
    fn said(steps: &[(u64, Step)]) -> Vec<String> {
        let begun = now();
        let mut denials = Denials::new(SESSION);
        let mut said = Vec::new();
        for (second, step) in steps {
            let now = begun + Duration::from_secs(*second);
            match step {
                Heard(broker) => denials.heard(now, denial(broker)),
                Membership => denials.membership_denied(now),
                Nothing => {}
            }
            while let Some(word) = denials.word(now) {
                let (kind, text) = match word {
                    Word::Denied(text) => ("denied", text.to_string()),
                    Word::Lasts(text) => ("lasts", text),
                };
                let whom = if text.contains("a:1") { "a:1" } else { "b:2" };
                said.push(format!("{second} {kind} {whom}"));
            }
        }
        said
    }

    #[test]
    fn what_is_said_when() {
        let cases: &[Case] = &[
            ("not at once", &[(0, Heard("a:1")), (14, Nothing)], &[]),
            (
                "once, however often it is heard",
                &[(0, Heard("a:1")), (1, Heard("a:1")), (15, Nothing), (31, Heard("a:1"))],
                &["15 denied a:1"],
            ),
            (
                "again when it is repeated after a session, once",
                &[
                    (0, Heard("a:1")),
                    (15, Nothing),
                    (31, Heard("a:1")),
                    (50, Nothing),
                    (62, Heard("a:1")),
                    (93, Heard("a:1")),
                ],
                &["15 denied a:1", "62 lasts a:1"],
            ),
            (
                "of each broker",
                &[(0, Heard("a:1")), (5, Heard("b:2")), (15, Nothing), (20, Nothing)],
                &["15 denied a:1", "20 denied b:2"],
            ),
            (
                "anew after it was over",
                &[
                    (0, Heard("a:1")),
                    (15, Nothing),
                    (90, Heard("a:1")),
                    (104, Nothing),
                    (105, Nothing),
                ],
                &["15 denied a:1", "105 denied a:1"],
            ),
            (
                "not what the membership meets as well, whoever is first",
                &[
                    (0, Heard("a:1")),
                    (10, Membership),
                    (15, Nothing),
                    (31, Heard("a:1")),
                    (99, Heard("a:1")),
                ],
                &[],
            ),
            (
                "after the membership's silence as if it were new",
                &[(0, Membership), (80, Heard("a:1")), (91, Heard("a:1")), (106, Nothing)],
                &["106 denied a:1"],
            ),
        ];
        for (case, steps, expected) in cases {
            assert_eq!(said(steps), *expected, "{case}");
        }
    }

    #[test]
    fn it_is_due_when_the_membership_had_its_time() {
        let begun = now();
        let mut denials = Denials::new(Duration::from_secs(6));
        assert_eq!(denials.due(), None);
        denials.heard(begun, denial("a:1"));
        let due = denials.due().expect("it is due some time");
        assert_eq!(due - begun, Duration::from_secs(2));
        assert!(denials.word(due).is_some());
        assert_eq!(denials.due(), None);
    }

    #[test]
    fn not_more_brokers_are_remembered_than_tell_the_story() {
        let mut denials = Denials::new(SESSION);
        for broker in 0..1000 {
            denials.heard(now(), denial(&format!("a:{broker}")));
        }
        assert_eq!(denials.brokers.len(), BROKERS);
    }

    #[test]
    fn librdkafkas_texts_are_read() {
        for (text, broker, cause) in [
            (
                "ssl://a:9093/bootstrap: SSL handshake failed: no (after 3ms in state SSL_HANDSHAKE)",
                "a:9093",
                "SSL handshake failed: no;",
            ),
            ("sasl_ssl://[::1]:9094/17: refused", "[::1]:9094", "refused;"),
            ("GroupCoordinator: a:9092: refused\u{1b}[2J", "a:9092", "refused [2J;"),
        ] {
            let read = Denial::read(Distrust::Certificate, text).expect(text);
            assert_eq!(read.broker, broker);
            assert!(read.why.starts_with(cause), "{}", read.why);
            assert!(read.why.contains("ssl.ca.location"), "{}", read.why);
        }
    }

    #[test]
    fn what_names_no_broker_is_no_brokers() {
        for text in ["", "nobody: nothing", "a:b: c", "a:1"] {
            assert_eq!(Denial::read(Distrust::Credentials, text), None, "{text}");
        }
    }

    #[test]
    fn a_token_provider_that_fails_is_named() {
        let text =
            "Failed to acquire SASL OAUTHBEARER token: the token provider failed: it is away";
        let read = Denial::read(Distrust::Credentials, text).expect("a denial");
        assert_eq!(read.broker, "any broker");
        assert!(read.why.contains("it is away; look at the token provider"), "{}", read.why);
    }

    #[test]
    fn a_long_text_is_cut() {
        let text = format!("a:1: {}", "é".repeat(10_000));
        let read = Denial::read(Distrust::Credentials, &text).expect("a denial");
        assert!(read.why.chars().count() < 2 * TEXT, "{}", read.why);
    }
}
