//! A broker that librdkafka does not trust, or that does not trust it.

use std::collections::BTreeMap;
use std::fmt;

use rdkafka::error::KafkaError;

/// Which broker, and why, in librdkafka's words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::consumer) struct Denial {
    /// As librdkafka calls it: `sasl_ssl://host:9093/1`.
    pub(in crate::consumer) broker: String,
    pub(in crate::consumer) cause: String,
}

/// How long a text may be.
const LONGEST: usize = 300;

/// What is said where it is none in particular.
const ANY: &str = "any broker";

/// How librdkafka calls what it takes for a denial.
const CAUSES: [&str; 7] = [
    "SSL handshake failed",
    "Failed to verify broker certificate",
    "Broker did not provide a certificate",
    "SASL authentication error",
    "SASL authentication failure",
    "mechanism handshake failed",
    "Failed to initialize SASL",
];

impl Denial {
    /// Reads it from a line of librdkafka's log, if there is one: `[thrd:NAME]: BROKER: CAUSE (after 3ms in state STATE)`.
    /// The error itself has neither.
    pub(super) fn logged(facility: &str, message: &str) -> Option<Self> {
        if facility != "FAIL" {
            return None;
        }
        let said = match message.strip_prefix("[thrd:") {
            Some(rest) => rest.split_once("]: ")?.1,
            None => message,
        };
        let (broker, cause) = said.split_once(": ")?;
        let cause = cause.rsplit_once(" (after ").map_or(cause, |(cause, _)| cause);
        let is_denial = CAUSES.iter().any(|begins| cause.contains(begins));
        // Hung up on, which has many reasons: librdkafka takes it for one of the network's.
        let is_denial = is_denial && !cause.contains(": Disconnected");
        is_denial.then(|| Self { broker: shown(broker), cause: shown(cause) })
    }

    /// There is no token to be let in with, anywhere.
    fn without_token(error: &impl fmt::Display) -> Self {
        Self { broker: ANY.to_owned(), cause: format!("SASL OAUTHBEARER has no token: {error}") }
    }

    /// A denial of which nothing was logged.
    fn untold(error: &KafkaError) -> Self {
        Self { broker: ANY.to_owned(), cause: error.to_string() }
    }
}

/// Denials whose errors are still to come.
#[derive(Debug, Default)]
pub(super) struct Logged {
    brokers: BTreeMap<String, Denial>,
    /// Whether there ever was one.
    any: bool,
}

impl Logged {
    /// Of more brokers nothing is kept.
    const MOST: usize = 64;

    pub(super) fn note(&mut self, denial: Denial) {
        self.any = true;
        if self.brokers.len() < Self::MOST {
            self.brokers.insert(denial.broker.clone(), denial);
        }
    }

    /// Whether there is a token, which is asked for before anybody is connected to.
    pub(super) fn note_token<T, E: fmt::Display>(&mut self, token: &Result<T, E>) {
        match token {
            Ok(_) => drop(self.brokers.remove(ANY)),
            Err(error) => self.note(Denial::without_token(error)),
        }
    }

    /// What an error is about, which says no broker: all that was logged and not taken. Several brokers deny at once where
    /// one CA or one password is wrong, and the first of their errors speaks for all.
    pub(super) fn take(&mut self, error: &KafkaError) -> Vec<Denial> {
        let brokers = std::mem::take(&mut self.brokers);
        match self.any {
            true => brokers.into_values().collect(),
            false => vec![Denial::untold(error)],
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { broker, cause } = self;
        let look = match cause.contains("SASL") {
            true => "sasl.username and sasl.password, or the token provider",
            false => {
                "ssl.ca.location and ssl.certificate.location, or the certificate of the broker"
            }
        };
        write!(f, "rdkafka is not let in by {broker}: {cause}; look at {look}")
    }
}

/// Cut, and without what could harm a terminal: part of it is the broker's.
fn shown(text: &str) -> String {
    text.trim_end_matches([':', ' ']).chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_read_from_the_line_that_is_logged_before_its_error() {
        let line = "[thrd:ssl://b:9093/bootstrap]: ssl://b:9093/bootstrap: SSL handshake failed: error:0A000086: \
                    certificate verify failed: has expired\u{1b} (after 3ms in state SSL_HANDSHAKE)";
        let denial = Denial::logged("FAIL", line).unwrap();
        assert_eq!(denial.broker, "ssl://b:9093/bootstrap");
        assert_eq!(
            denial.cause,
            "SSL handshake failed: error:0A000086: certificate verify failed: has expired"
        );
        let endless = format!("ssl://b:9093/1: SSL handshake failed {}", "x".repeat(100_000));
        assert_eq!(Denial::logged("FAIL", &endless).unwrap().cause.len(), LONGEST);
    }

    fn error() -> KafkaError {
        KafkaError::MessageConsumption(rdkafka::error::RDKafkaErrorCode::Authentication)
    }

    /// The brokers of which is told.
    fn told(logged: &mut Logged) -> Vec<String> {
        logged.take(&error()).into_iter().map(|denial| denial.broker).collect()
    }

    #[test]
    fn brokers_that_deny_at_once_are_each_told_and_once() {
        let mut logged = Logged::default();
        for broker in ["a:1", "b:1", "a:1"] {
            let line = format!("{broker}: SASL authentication error: no such user (after 1ms)");
            logged.note(Denial::logged("FAIL", &line).unwrap());
        }
        assert_eq!(told(&mut logged), ["a:1", "b:1"]);
        assert_eq!(told(&mut logged), [""; 0], "the error of the second");
        assert_eq!(Logged::default().take(&error()), [Denial::untold(&error())]);
    }

    #[test]
    fn a_token_provider_that_fails_is_named_until_it_gives_a_token() {
        let mut logged = Logged::default();
        logged.note_token(&Err::<(), _>("the token provider failed: it is away"));
        let said = logged.take(&error()).first().map(Denial::to_string).unwrap_or_default();
        assert!(said.contains("it is away") && said.ends_with("or the token provider"), "{said}");
        logged.note_token(&Err::<(), _>("it is away"));
        logged.note_token(&Ok::<_, String>(()));
        assert_eq!(told(&mut logged), [""; 0]);
    }

    #[test]
    fn other_lines_are_no_denials() {
        for (facility, line) in [
            (
                "FAIL",
                "[thrd:b:9092/1]: b:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused",
            ),
            ("FAIL", "[thrd:a]: a:1: Disconnected (after 3ms in state SSL_HANDSHAKE)"),
            (
                "FAIL",
                "a:1: SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?",
            ),
            ("FAIL", "a:1: Receive failed: SSL transport error: Connection reset by peer"),
            ("FAIL", "a:1: Disconnected: broker might require SASL authentication"),
            ("FAIL", "[thrd:SSL"),
            ("FAIL", "SSL"),
            ("SSL", "[thrd:app]: ssl://b:9093/1: SSL handshake failed"),
        ] {
            assert_eq!(Denial::logged(facility, line), None, "{line}");
        }
    }
}
