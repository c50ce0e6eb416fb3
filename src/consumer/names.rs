//! Names of properties that are nobody's, and which may have been meant. Pure.

use crate::group::{PROPERTIES, Plane};
use crate::security::nearest;

/// librdkafka's own that are set the most. Only hints are made of them: librdkafka alone knows what it takes.
const LIBRDKAFKAS: &[&str] = &[
    "broker.address.family",
    "broker.address.ttl",
    "check.crcs",
    "debug",
    "enable.partition.eof",
    "fetch.error.backoff.ms",
    "fetch.max.bytes",
    "fetch.message.max.bytes",
    "fetch.min.bytes",
    "fetch.queue.backoff.ms",
    "fetch.wait.max.ms",
    "log.connection.close",
    "max.partition.fetch.bytes",
    "message.max.bytes",
    "metadata.broker.list",
    "queued.max.messages.kbytes",
    "queued.min.messages",
    "receive.message.max.bytes",
    "socket.keepalive.enable",
    "socket.nagle.disable",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
    "socket.timeout.ms",
    "statistics.interval.ms",
    "topic.metadata.refresh.interval.ms",
];

/// What is wrong with a name that neither this crate nor librdkafka knows.
pub(super) fn unknown(name: &str) -> String {
    let read = PROPERTIES.iter().filter(|property| !matches!(property.plane, Plane::Refused(_)));
    let known = read.map(|property| property.name).chain(LIBRDKAFKAS.iter().copied());
    let hint = nearest(name, known).map(|near| format!(": is `{near}` meant?"));
    let name = name.escape_debug();
    format!("`{name}` is neither this crate's nor librdkafka's{}", hint.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rdkafka::ClientConfig;
    use rdkafka::error::KafkaError;
    use rdkafka::types::RDKafkaConfRes;

    use super::*;

    #[test]
    fn what_may_have_been_meant_is_named() {
        for (mistyped, meant) in [
            ("sesion.timeout.ms", "session.timeout.ms"),
            ("fetch.min.bites", "fetch.min.bytes"),
            ("max.pol.interval.ms", "max.poll.interval.ms"),
            ("metadata.brokers.list", "metadata.broker.list"),
        ] {
            let said = unknown(mistyped);
            assert!(said.ends_with(&format!(": is `{meant}` meant?")), "{said}");
        }
    }

    #[test]
    fn what_resembles_nothing_is_not_guessed() {
        assert_eq!(unknown("colour\n"), "`colour\\n` is neither this crate's nor librdkafka's");
    }

    #[test]
    fn librdkafka_knows_all_that_is_said_to_be_its() {
        for name in LIBRDKAFKAS {
            // Whether it likes the value is another matter.
            let made = ClientConfig::new().set(*name, "1").create_native_config();
            let unknown = RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN;
            let is_known =
                !matches!(made, Err(KafkaError::ClientConfig(said, ..)) if said == unknown);
            assert!(is_known, "{name}");
        }
    }
}
