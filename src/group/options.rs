//! What an application may set, in Kafka's words, before it is checked.

use std::collections::BTreeMap;
use std::time::Duration;

use super::properties::{PROPERTIES, Plane, is_so_anyway, plane, unknown};
use super::take_over::TakeOver;
use crate::error::Error;
use crate::membership::{LeavePolicy, OnFenced};
use crate::security::{self, Security, SecurityProperties};

/// Options by Kafka's property names. All but the first two have a default.
///
/// Filled by the builder's methods, by `set` and by `from_properties`, and checked by `join()`.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// `bootstrap.servers`: `host:port`, separated by commas.
    pub(crate) bootstrap_servers: Option<String>,
    /// `group.id`.
    pub(crate) group_id: Option<String>,
    /// `group.instance.id`: set, the member is static.
    pub(crate) group_instance_id: Option<String>,
    /// `group.instance.index`, ours: which member of its process it is.
    pub(crate) instance_index: Option<u32>,
    /// `client.id`.
    pub(crate) client_id: Option<String>,
    /// `client.rack`.
    pub(crate) client_rack: Option<String>,
    /// `session.timeout.ms`.
    pub(crate) session_timeout: Duration,
    /// `heartbeat.interval.ms`; unset, it follows the group's size.
    pub(crate) heartbeat_interval: Option<Duration>,
    /// `max.poll.interval.ms`: the rebalance timeout.
    pub(crate) max_poll_interval: Duration,
    /// `request.timeout.ms`.
    pub(crate) request_timeout: Duration,
    /// `default.api.timeout.ms`.
    pub(crate) default_api_timeout: Duration,
    /// `metadata.max.age.ms`.
    pub(crate) metadata_max_age: Duration,
    /// `retry.backoff.ms` and `retry.backoff.max.ms`.
    pub(crate) retry_backoff: (Duration, Duration),
    /// `reconnect.backoff.ms` and `reconnect.backoff.max.ms`.
    pub(crate) reconnect_backoff: (Duration, Duration),
    /// `connections.max.idle.ms`.
    pub(crate) connections_max_idle: Duration,
    /// `socket.connection.setup.timeout.ms`.
    pub(crate) connection_setup_timeout: Duration,
    /// `close.timeout.ms`, ours.
    pub(crate) close_timeout: Duration,
    /// `settle.delay.ms`, ours.
    pub(crate) settle_delay: Duration,
    /// Whether closing leaves.
    pub(crate) leave_policy: LeavePolicy,
    /// `fenced.retry.delay.ms`, ours: set, a member that is fenced comes back.
    pub(crate) on_fenced: OnFenced,
    /// `take.over`, ours.
    pub(crate) take_over: TakeOver,
    /// `allow.foreign.commits`, ours.
    pub(crate) allow_foreign_commits: bool,
    /// Whether a broker too old for instance ids is joined as a dynamic member.
    pub(crate) degrade_to_dynamic: bool,
    /// `partition.assignment.strategy`: names, if given so.
    pub(crate) assignment_strategy: Option<Vec<String>>,
    /// `enable.auto.commit`, of the consumer.
    pub(crate) enable_auto_commit: bool,
    /// `auto.commit.interval.ms`, of the consumer.
    pub(crate) auto_commit_interval: Duration,
    /// `auto.offset.reset`, of the consumer.
    pub(crate) auto_offset_reset: String,
    /// `security.protocol`, `ssl.*`, `sasl.*`, as one value.
    pub(crate) security: Option<Security>,
    /// The same by their names.
    pub(crate) security_properties: SecurityProperties,
    /// What goes to rdkafka.
    pub(crate) rdkafka: BTreeMap<String, String>,
    /// The first thing that was wrong with a `set`; told by `join()`.
    pub(crate) problem: Option<Error>,
}

impl Default for Options {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            bootstrap_servers: None,
            group_id: None,
            group_instance_id: None,
            instance_index: None,
            client_id: None,
            client_rack: None,
            session_timeout: ms(45_000),
            heartbeat_interval: None,
            max_poll_interval: ms(300_000),
            request_timeout: ms(30_000),
            default_api_timeout: ms(60_000),
            metadata_max_age: ms(300_000),
            retry_backoff: (ms(100), ms(1000)),
            reconnect_backoff: (ms(50), ms(1000)),
            connections_max_idle: ms(540_000),
            connection_setup_timeout: ms(10_000),
            close_timeout: ms(30_000),
            settle_delay: ms(0),
            leave_policy: LeavePolicy::Auto,
            on_fenced: OnFenced::Fail,
            take_over: TakeOver::Always,
            allow_foreign_commits: false,
            degrade_to_dynamic: false,
            assignment_strategy: None,
            enable_auto_commit: false,
            auto_commit_interval: ms(5000),
            auto_offset_reset: "latest".into(),
            security: None,
            security_properties: SecurityProperties::default(),
            rdkafka: BTreeMap::new(),
            problem: None,
        }
    }
}

impl Options {
    /// What brokers know this member by.
    pub(crate) fn client_id(&self) -> &str {
        self.client_id.as_deref().unwrap_or("kafka-group")
    }

    /// Sets one by its property name; what is wrong with it is kept for `join()`.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let Err(error) = self.try_set(name, value) else { return };
        match &mut self.problem {
            None => self.problem = Some(error),
            Some(Error::InvalidOption { problem, .. }) => add_further(problem, name),
            Some(_) => {}
        }
    }

    /// A data plane takes its properties out before the member joins. What is left is read by nobody.
    pub(crate) fn refuse_what_nobody_reads(&self) -> Result<(), Error> {
        let unread = self.rdkafka.keys().filter(|name| plane(name) == Plane::Rdkafka);
        let unread: Vec<String> = unread.map(|name| unknown(name)).collect();
        if unread.is_empty() {
            return Ok(());
        }
        let problem = format!(
            "librdkafka's, if anybody's, and a member without a data plane has no librdkafka: {}",
            unread.join(", ")
        );
        Err(Error::option("property", problem))
    }

    fn try_set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        if security::is_security(name) {
            let set = self.security_properties.set(name, value);
            return set.map(drop).map_err(|wrong| Error::option(wrong.property, wrong.why));
        }
        match plane(name) {
            Plane::Refused(_) if is_so_anyway(name, value) => Ok(()),
            Plane::Refused(why) => Err(wrong(name, why)),
            Plane::Rdkafka => {
                self.rdkafka.insert(name.to_owned(), value.to_owned());
                Ok(())
            }
            Plane::Both => {
                self.rdkafka.insert(name.to_owned(), value.to_owned());
                self.set_ours(name, value)
            }
            Plane::Ours => self.set_ours(name, value),
        }
    }

    fn set_ours(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let text = value.to_owned();
        match name {
            "bootstrap.servers" => self.bootstrap_servers = Some(text),
            "group.id" => self.group_id = Some(text),
            "group.instance.id" => self.group_instance_id = Some(text),
            "group.instance.index" => self.instance_index = Some(index(name, value)?),
            "client.id" => self.client_id = Some(text),
            "client.rack" => self.client_rack = Some(text),
            "auto.offset.reset" => self.auto_offset_reset = text,
            "isolation.level" => {}
            "group.protocol" => group_protocol(name, value)?,
            "partition.assignment.strategy" => self.assignment_strategy = Some(names(value)),
            "fenced.retry.delay.ms" => {
                self.on_fenced = OnFenced::RetryAfter(millis(name, value)?);
            }
            "take.over" => self.take_over = take_over(name, value)?,
            "allow.foreign.commits" => self.allow_foreign_commits = truth(name, value)?,
            "enable.auto.commit" => self.enable_auto_commit = truth(name, value)?,
            _ => *self.duration(name)? = millis(name, value)?,
        }
        if name == "heartbeat.interval.ms" {
            self.heartbeat_interval = Some(millis(name, value)?);
        }
        Ok(())
    }

    fn duration(&mut self, name: &str) -> Result<&mut Duration, Error> {
        Ok(match name {
            "session.timeout.ms" => &mut self.session_timeout,
            "heartbeat.interval.ms" => self.heartbeat_interval.get_or_insert_default(),
            "max.poll.interval.ms" => &mut self.max_poll_interval,
            "request.timeout.ms" => &mut self.request_timeout,
            "default.api.timeout.ms" => &mut self.default_api_timeout,
            "metadata.max.age.ms" => &mut self.metadata_max_age,
            "retry.backoff.ms" => &mut self.retry_backoff.0,
            "retry.backoff.max.ms" => &mut self.retry_backoff.1,
            "reconnect.backoff.ms" => &mut self.reconnect_backoff.0,
            "reconnect.backoff.max.ms" => &mut self.reconnect_backoff.1,
            "connections.max.idle.ms" => &mut self.connections_max_idle,
            "socket.connection.setup.timeout.ms" => &mut self.connection_setup_timeout,
            "close.timeout.ms" => &mut self.close_timeout,
            "settle.delay.ms" => &mut self.settle_delay,
            "auto.commit.interval.ms" => &mut self.auto_commit_interval,
            _ => return Err(wrong(name, "is not a property that this crate reads")),
        })
    }
}

fn group_protocol(name: &str, value: &str) -> Result<(), Error> {
    match value.trim().eq_ignore_ascii_case("classic") {
        true => Ok(()),
        false => Err(wrong(
            name,
            "must be `classic`: under `consumer` (KIP-848) the broker assigns, and no assigner is asked",
        )),
    }
}

/// Names what else is wrong, so that a file of another client's has to be corrected once.
fn add_further(problem: &mut String, name: &str) {
    const MOST: usize = 1000;
    if problem.len() < MOST {
        problem.push_str(if problem.contains(FURTHER) { ", " } else { FURTHER });
        problem.push_str(&format!("`{}`", name.escape_debug()));
    }
}

/// What comes before the first of them.
const FURTHER: &str = "; to be changed as well: ";

/// The error names the property in its own field where the table knows it.
fn wrong(name: &str, problem: &str) -> Error {
    match PROPERTIES.iter().find(|property| property.name == name) {
        Some(property) => Error::option(property.name, problem),
        None => Error::option("property", format!("`{name}` {problem}")),
    }
}

fn names(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn truth(name: &str, value: &str) -> Result<bool, Error> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong(name, "must be `true` or `false`")),
    }
}

fn index(name: &str, value: &str) -> Result<u32, Error> {
    value.trim().parse().map_err(|_| wrong(name, "must be a whole number from 0 to 4294967295"))
}

fn take_over(name: &str, value: &str) -> Result<TakeOver, Error> {
    match value.trim() {
        "always" => Ok(TakeOver::Always),
        "same-host" => Ok(TakeOver::SameHost),
        "after-session" => Ok(TakeOver::AfterSession),
        _ => Err(wrong(name, "must be `always`, `same-host` or `after-session`")),
    }
}

fn millis(name: &str, value: &str) -> Result<Duration, Error> {
    match value.trim().parse::<u32>() {
        Ok(millis) => Ok(Duration::from_millis(millis.into())),
        Err(_) => Err(wrong(name, "must be a whole number of milliseconds, at most 4294967295")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_of_the_table_is_read_or_refused_as_the_table_says() {
        for property in PROPERTIES {
            let mut options = Options::default();
            let value = match property.name {
                "enable.auto.commit" | "allow.foreign.commits" => "true",
                "take.over" => "same-host",
                "group.instance.index" => "7",
                "group.protocol" => "classic",
                name if name.ends_with(".ms") => "7000",
                _ => "a:1",
            };
            options.set(property.name, value);
            match property.plane {
                Plane::Refused(why) => {
                    let problem = options.problem.expect(property.name).to_string();
                    assert!(problem.contains(why), "{}: {problem}", property.name);
                }
                plane => {
                    assert_eq!(options.problem, None, "{}", property.name);
                    let passed_on = options.rdkafka.contains_key(property.name);
                    assert_eq!(passed_on, plane == Plane::Both, "{}", property.name);
                }
            }
        }
    }

    #[test]
    fn what_the_table_does_not_know_goes_to_rdkafka() {
        let mut options = Options::default();
        options.set("fetch.min.bytes", "1000");
        assert_eq!(options.rdkafka.get("fetch.min.bytes").map(String::as_str), Some("1000"));
    }

    #[test]
    fn only_the_classic_protocol_is_taken() {
        let mut options = Options::default();
        options.set("group.protocol", "CLASSIC");
        assert_eq!(options.problem, None);
        options.set("group.protocol", "consumer");
        assert!(options.problem.is_some());
    }

    #[test]
    fn security_is_for_both_planes_and_a_mistyped_name_for_neither() {
        let mut options = Options::default();
        options.set("ssl.ca.location", "ca.pem");
        assert_eq!((options.problem.take(), options.rdkafka.len()), (None, 0));
        assert!(!options.security_properties.is_empty());
        options.set("ssl.ca.locaton", "ca.pem");
        let problem = options.problem.expect("an error").to_string();
        assert!(problem.contains("is `ssl.ca.location` meant?"), "{problem}");
    }

    #[test]
    fn what_is_so_anyway_may_be_said() {
        let mut options = Options::default();
        options.set("allow.auto.create.topics", "false");
        options.set("exclude.internal.topics", "true");
        options.set("enable.auto.offset.store", "False");
        assert_eq!((options.problem.take(), options.rdkafka.len()), (None, 0));
        options.set("exclude.internal.topics", "false");
        assert!(options.problem.is_some());
    }

    #[test]
    fn of_a_java_consumers_file_all_that_must_be_changed_is_named_at_once() {
        let mut options = Options::default();
        for (name, value) in [
            ("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
            ("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
            ("enable.auto.commit", "false"),
            ("max.poll.records", "500"),
            ("fetch.max.wait.ms", "500"),
        ] {
            options.set(name, value);
        }
        let problem = options.problem.expect("an error").to_string();
        assert_eq!(
            problem,
            "key.deserializer: records are bytes: read them where they are received, and leave the property out; \
             to be changed as well: `value.deserializer`, `max.poll.records`, `fetch.max.wait.ms`"
        );
    }

    #[test]
    fn the_first_problem_is_kept_with_the_property_and_the_reason() {
        let mut options = Options::default();
        options.set("session.timeout.ms", "ten");
        options.set("enable.auto.commit", "maybe");
        let problem = options.problem.map(|problem| problem.to_string());
        assert!(problem.is_some_and(
            |text| text.contains("session.timeout.ms") && text.contains("milliseconds")
        ));
    }
}
