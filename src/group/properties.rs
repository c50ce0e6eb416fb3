//! Kafka's property names: which plane each belongs to.

use crate::types::nearest;

/// Who reads a property.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Plane {
    /// This crate alone.
    Ours,
    /// This crate and, where there is a data plane, rdkafka.
    Both,
    /// rdkafka alone: passed on untouched by `Consumer`, refused by `GroupMember`, which has no data plane.
    Rdkafka,
    /// Nobody: setting it is an error that says why, unless to what is so anyway.
    Refused(&'static str),
}

/// A property and who reads it.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Kafka's or librdkafka's name.
    pub name: &'static str,
    /// Who reads it.
    pub plane: Plane,
}

const JAVAS: &str = "is Java's alone: leave it out";
const BYTES: &str =
    "records are bytes: read them where they are received, and leave the property out";

/// What a refused property may be set to, since it is so anyway.
const SO_ANYWAY: &[(&str, &str)] = &[
    ("allow.auto.create.topics", "false"),
    ("enable.auto.offset.store", "false"),
    ("exclude.internal.topics", "true"),
];

/// Every property that means something here, but for those of [`security`](crate::security::PROPERTIES), which both
/// planes read. What is in neither list goes to rdkafka where there is one, and is an error elsewhere.
pub const PROPERTIES: &[Property] = &[
    own("allow.foreign.commits"),
    own("auto.commit.interval.ms"),
    both("auto.offset.reset"),
    both("bootstrap.servers"),
    both("client.id"),
    both("client.rack"),
    own("close.timeout.ms"),
    both("connections.max.idle.ms"),
    own("default.api.timeout.ms"),
    own("enable.auto.commit"),
    own("fenced.retry.delay.ms"),
    own("group.id"),
    own("group.instance.id"),
    own("group.instance.index"),
    own("group.protocol"),
    own("heartbeat.interval.ms"),
    both("isolation.level"),
    own("max.poll.interval.ms"),
    own("metadata.max.age.ms"),
    own("partition.assignment.strategy"),
    own("reconnect.backoff.max.ms"),
    own("reconnect.backoff.ms"),
    own("request.timeout.ms"),
    own("retry.backoff.max.ms"),
    own("retry.backoff.ms"),
    own("session.timeout.ms"),
    own("settle.delay.ms"),
    own("socket.connection.setup.timeout.ms"),
    own("take.over"),
    refused("allow.auto.create.topics", "this crate never creates topics: create them first"),
    refused("auto.include.jmx.reporter", JAVAS),
    refused("config.providers", JAVAS),
    refused(
        "enable.auto.offset.store",
        "offsets are marked with `mark_processed` or by `enable.auto.commit`",
    ),
    refused("exclude.internal.topics", "a pattern never matches internal topics"),
    refused("fetch.max.wait.ms", "librdkafka calls it `fetch.wait.max.ms`"),
    refused(
        "group.protocol.type",
        "the kind of group is the type you build: consumer, pool, election",
    ),
    refused(
        "group.remote.assignor",
        "the broker would assign: this crate's groups are of the classic protocol",
    ),
    refused("interceptor.classes", JAVAS),
    refused("internal.leave.group.on.close", "`leave_policy` says whether closing leaves"),
    refused("key.deserializer", BYTES),
    refused("max.poll.records", "records are received one by one: leave it out"),
    refused("metadata.broker.list", "is librdkafka's second name of `bootstrap.servers`: use that"),
    refused("metric.reporters", JAVAS),
    refused("metrics.num.samples", JAVAS),
    refused("metrics.recording.level", JAVAS),
    refused("metrics.sample.window.ms", JAVAS),
    refused("offset.store.method", "offsets are stored at the group's coordinator"),
    refused("offset.store.path", "offsets are stored at the group's coordinator"),
    refused("receive.buffer.bytes", "librdkafka calls it `socket.receive.buffer.bytes`"),
    refused("send.buffer.bytes", "librdkafka calls it `socket.send.buffer.bytes`"),
    refused(
        "socket.connection.setup.timeout.max.ms",
        "the time for a connection does not grow: `socket.connection.setup.timeout.ms` is all of it",
    ),
    refused("transactional.id", "a property of producers"),
    refused("value.deserializer", BYTES),
];

const fn own(name: &'static str) -> Property {
    Property { name, plane: Plane::Ours }
}

const fn both(name: &'static str) -> Property {
    Property { name, plane: Plane::Both }
}

const fn refused(name: &'static str, why: &'static str) -> Property {
    Property { name, plane: Plane::Refused(why) }
}

/// Whether a property is set to what is so anyway, and nobody need read it.
pub(crate) fn is_so_anyway(name: &str, value: &str) -> bool {
    let is = |(of, said): &(&str, &str)| *of == name && said.eq_ignore_ascii_case(value.trim());
    SO_ANYWAY.iter().any(is)
}

/// Who reads the property of this name; rdkafka where the table does not know it.
pub(crate) fn plane(name: &str) -> Plane {
    PROPERTIES
        .iter()
        .find(|property| property.name == name)
        .map_or(Plane::Rdkafka, |property| property.plane)
}

/// A name as it is shown where nobody knows it: beside the one that was meant, if that can be guessed.
pub(crate) fn unknown(name: &str) -> String {
    let read = PROPERTIES.iter().filter(|property| !matches!(property.plane, Plane::Refused(_)));
    match nearest(name, read.map(|property| property.name)) {
        Some(meant) => format!("`{name}` (is `{meant}` meant?)"),
        None => format!("`{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_by_plane_and_name_and_names_nothing_twice() {
        let names = |refused: bool| {
            PROPERTIES
                .iter()
                .filter(move |property| matches!(property.plane, Plane::Refused(_)) == refused)
                .map(|property| property.name)
        };
        assert!(names(false).is_sorted());
        assert!(names(true).is_sorted());
        let mut all: Vec<_> = PROPERTIES.iter().map(|property| property.name).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), PROPERTIES.len());
    }
}
