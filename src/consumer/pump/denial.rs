//! A broker that librdkafka does not trust, or that does not trust it.

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

impl Denial {
    /// Reads it from a line of librdkafka's log, if there is one: `[thrd:NAME]: BROKER: CAUSE (after 3ms in state STATE)`.
    /// The error itself has neither.
    pub(super) fn logged(facility: &str, message: &str) -> Option<Self> {
        let of_security = ["SSL", "SASL", "certificate", "uthentication"];
        if facility != "FAIL" || !of_security.iter().any(|word| message.contains(word)) {
            return None;
        }
        let said = match message.strip_prefix("[thrd:") {
            Some(rest) => rest.split_once("]: ")?.1,
            None => message,
        };
        let (broker, cause) = said.split_once(": ")?;
        let cause = cause.rsplit_once(" (after ").map_or(cause, |(cause, _)| cause);
        Some(Self { broker: shown(broker), cause: shown(cause) })
    }

    /// A denial of which nothing was logged.
    pub(super) fn untold(error: &KafkaError) -> Self {
        Self { broker: "a broker".to_owned(), cause: error.to_string() }
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
        let endless = format!("ssl://b:9093/1: SSL {}", "x".repeat(100_000));
        assert_eq!(Denial::logged("FAIL", &endless).unwrap().cause.len(), LONGEST);
    }

    #[test]
    fn other_lines_are_no_denials() {
        for (facility, line) in [
            (
                "FAIL",
                "[thrd:b:9092/1]: b:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused",
            ),
            ("FAIL", "[thrd:SSL"),
            ("FAIL", "SSL"),
            ("SSL", "[thrd:app]: ssl://b:9093/1: SSL handshake failed"),
        ] {
            assert_eq!(Denial::logged(facility, line), None, "{line}");
        }
    }
}
