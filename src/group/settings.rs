//! Options, checked: what a member is started with.

use std::time::Duration;

use super::options::Options;
use crate::error::Error;
use crate::membership::{MembershipConfig, OnFenced};
use crate::types::GroupInstanceId;

/// The identity and times of a member, every one in its range and at peace with the others.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) group_id: String,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    pub(crate) client_id: String,
    pub(crate) client_rack: Option<String>,
    pub(crate) options: Options,
}

/// The longest rebalance timeout: Kafka's times are 32-bit milliseconds.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

impl Settings {
    /// Checks everything that can be checked without a broker.
    pub(crate) fn check(mut options: Options) -> Result<Self, Error> {
        if let Some(problem) = options.problem.take() {
            return Err(problem);
        }
        let group_id = required("group.id", options.group_id.as_deref())?;
        let group_instance_id = instance_id(&options)?;
        check_times(&options)?;
        let client_id = options.client_id().to_owned();
        let client_rack = options.client_rack.as_deref().filter(|rack| !rack.is_empty());
        let client_rack = client_rack.map(|rack| fitting("client.rack", rack)).transpose()?;
        Ok(Self { group_id, group_instance_id, client_id, client_rack, options })
    }

    /// What the membership machine is told.
    pub(crate) fn membership(&self, protocol_type: &str) -> MembershipConfig {
        let options = &self.options;
        MembershipConfig {
            group_id: self.group_id.clone(),
            group_instance_id: self.group_instance_id.clone(),
            protocol_type: protocol_type.to_owned(),
            session_timeout: options.session_timeout,
            rebalance_timeout: options.max_poll_interval,
            heartbeat_interval: options.heartbeat_interval,
            request_timeout: options.request_timeout,
            retry_backoff: options.retry_backoff.0,
            retry_backoff_max: options.retry_backoff.1,
            api_timeout: options.default_api_timeout,
            settle_delay: options.settle_delay,
            allow_foreign_commits: options.allow_foreign_commits,
            leave_policy: options.leave_policy,
            on_fenced: options.on_fenced,
        }
    }

    /// What is legal but worth a warning.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let Some(id) = &self.group_instance_id else { return warnings };
        let Options { session_timeout, max_poll_interval, on_fenced, .. } = &self.options;
        if id.looks_random() {
            warnings.push(format!(
                "group.instance.id `{id}` looks as if every start had another: then each start adds a member, and the \
                 old ones keep their partitions until their sessions end. Use what outlives a restart, as the name of a \
                 StatefulSet's pod does, or leave it out"
            ));
        }
        if matches!(on_fenced, OnFenced::RetryAfter(wait) if wait < session_timeout) {
            warnings.push(format!(
                "fenced.retry.delay.ms is shorter than session.timeout.ms ({} ms): two processes with one \
                 group.instance.id would throw each other out that often, for ever",
                session_timeout.as_millis()
            ));
        }
        if session_timeout > max_poll_interval {
            warnings.push(format!(
                "session.timeout.ms ({} ms) is longer than max.poll.interval.ms ({} ms): a static member that is away \
                 while the group rebalances is removed after the shorter of the two",
                session_timeout.as_millis(),
                max_poll_interval.as_millis()
            ));
        }
        warnings
    }
}

/// The id that the operator gave, with the member's number in its process behind it where there are several.
fn instance_id(options: &Options) -> Result<Option<GroupInstanceId>, Error> {
    const INDEX: &str = "group.instance.index";
    let (property, base) = match (&options.group_instance_id, &options.client_id) {
        (Some(id), _) => ("group.instance.id", id),
        (None, _) if options.instance_index.is_none() => return Ok(None),
        (None, Some(id)) => ("client.id", id),
        (None, None) => {
            return Err(Error::option(
                INDEX,
                "needs group.instance.id, or else client.id, to stand behind",
            ));
        }
    };
    let id = GroupInstanceId::new(base.as_str())
        .map_err(|problem| Error::option(property, problem.to_string()))?;
    let Some(index) = options.instance_index else { return Ok(Some(id)) };
    match GroupInstanceId::new(format!("{id}-{index}")) {
        Ok(id) => Ok(Some(id)),
        Err(problem) => Err(Error::option(INDEX, format!("the id that it ends {problem}"))),
    }
}

fn required(property: &'static str, value: Option<&str>) -> Result<String, Error> {
    match value {
        None => Err(Error::option(property, "must be set")),
        Some(text) if text.trim().is_empty() => Err(Error::option(property, "is empty")),
        Some(text) => fitting(property, text),
    }
}

fn fitting(property: &'static str, text: &str) -> Result<String, Error> {
    match text.len() > 32_767 {
        true => Err(Error::option(
            property,
            "is longer than 32767 bytes, the most that a request can carry",
        )),
        false => Ok(text.to_owned()),
    }
}

fn check_times(options: &Options) -> Result<(), Error> {
    for (property, value) in [
        ("session.timeout.ms", options.session_timeout),
        ("max.poll.interval.ms", options.max_poll_interval),
        ("request.timeout.ms", options.request_timeout),
        ("default.api.timeout.ms", options.default_api_timeout),
        ("metadata.max.age.ms", options.metadata_max_age),
        ("retry.backoff.ms", options.retry_backoff.0),
        ("reconnect.backoff.ms", options.reconnect_backoff.0),
        ("socket.connection.setup.timeout.ms", options.connection_setup_timeout),
        ("close.timeout.ms", options.close_timeout),
        ("auto.commit.interval.ms", options.auto_commit_interval),
    ] {
        in_range(property, value)?;
    }
    if let OnFenced::RetryAfter(wait) = options.on_fenced {
        in_range("fenced.retry.delay.ms", wait)?;
    }
    for (property, (first, most)) in [
        ("retry.backoff.max.ms", options.retry_backoff),
        ("reconnect.backoff.max.ms", options.reconnect_backoff),
    ] {
        if most < first {
            return Err(Error::option(property, "is shorter than the first back-off"));
        }
    }
    check_peace(options)
}

fn in_range(property: &'static str, value: Duration) -> Result<(), Error> {
    match value < Duration::from_millis(1) || value > LONGEST {
        true => Err(Error::option(property, "must be from 1 ms to 2147483647 ms")),
        false => Ok(()),
    }
}

/// What is right by itself, but not beside another.
fn check_peace(options: &Options) -> Result<(), Error> {
    let Options { session_timeout: session, heartbeat_interval, max_poll_interval, .. } = options;
    if options.settle_delay > *max_poll_interval / 4 {
        return Err(Error::option(
            "settle.delay.ms",
            "is longer than a quarter of max.poll.interval.ms, which the group has for the whole round",
        ));
    }
    match heartbeat_interval {
        Some(interval) if interval.is_zero() => {
            Err(Error::option("heartbeat.interval.ms", "is zero"))
        }
        Some(interval) if interval >= session => Err(Error::option(
            "heartbeat.interval.ms",
            "must be shorter than session.timeout.ms, by rule a third of it",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(change: impl FnOnce(&mut Options)) -> Option<&'static str> {
        let mut options = Options { group_id: Some("indexers".into()), ..Options::default() };
        change(&mut options);
        match Settings::check(options) {
            Ok(_) => None,
            Err(Error::InvalidOption { property, .. }) => Some(property),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_that_cannot_be_are_named() {
        let ms = Duration::from_millis;
        assert_eq!(problem(|_| {}), None);
        assert_eq!(problem(|options| options.group_id = None), Some("group.id"));
        assert_eq!(problem(|options| options.group_id = Some(" ".into())), Some("group.id"));
        let long = "r".repeat(32_768);
        assert_eq!(problem(|options| options.client_rack = Some(long)), Some("client.rack"));
        assert_eq!(
            problem(|options| options.group_instance_id = Some("a b".into())),
            Some("group.instance.id")
        );
        assert_eq!(problem(|options| options.session_timeout = ms(0)), Some("session.timeout.ms"));
        assert_eq!(
            problem(|options| options.max_poll_interval = ms(1 << 32)),
            Some("max.poll.interval.ms")
        );
        assert_eq!(
            problem(|options| options.heartbeat_interval = Some(ms(45_000))),
            Some("heartbeat.interval.ms")
        );
        assert_eq!(
            problem(|options| options.heartbeat_interval = Some(ms(0))),
            Some("heartbeat.interval.ms")
        );
        assert_eq!(problem(|options| options.settle_delay = ms(75_001)), Some("settle.delay.ms"));
        assert_eq!(
            problem(|options| options.retry_backoff = (ms(100), ms(50))),
            Some("retry.backoff.max.ms")
        );
    }

    /// A static member of these options.
    fn settings(change: impl FnOnce(&mut Options)) -> Settings {
        let mut options = Options {
            group_id: Some("indexers".into()),
            group_instance_id: Some("one".into()),
            ..Options::default()
        };
        change(&mut options);
        Settings::check(options).unwrap()
    }

    #[test]
    fn what_a_static_member_will_regret_is_warned_of() {
        let warnings = |change: fn(&mut Options)| settings(change).warnings();
        let retry = |secs| OnFenced::RetryAfter(Duration::from_secs(secs));
        assert!(warnings(|_| {}).is_empty());
        assert!(settings(|options| options.on_fenced = retry(45)).warnings().is_empty());

        let long = warnings(|options| options.session_timeout = Duration::from_secs(1800));
        assert!(long.len() == 1 && long[0].contains("max.poll.interval.ms"), "{long:?}");
        let random = warnings(|options| {
            options.group_instance_id = Some("name-5d4b8c7f9d-x2x4z".into());
        });
        assert!(random.len() == 1 && random[0].contains("StatefulSet"), "{random:?}");
        let eager = settings(|options| options.on_fenced = retry(1)).warnings();
        assert!(eager.len() == 1 && eager[0].contains("fenced.retry.delay.ms"), "{eager:?}");
        let dynamic = warnings(|options| {
            options.group_instance_id = None;
            options.session_timeout = Duration::from_secs(1800);
        });
        assert!(dynamic.is_empty(), "{dynamic:?}");
    }

    #[test]
    fn of_several_members_in_one_process_each_has_the_processs_id_and_its_number() {
        let id = |change: fn(&mut Options)| settings(change).group_instance_id.map(String::from);
        assert_eq!(id(|options| options.instance_index = Some(3)).as_deref(), Some("one-3"));
        let by_client = id(|options| {
            options.group_instance_id = None;
            options.client_id = Some("search".into());
            options.instance_index = Some(0);
        });
        assert_eq!(by_client.as_deref(), Some("search-0"));
        assert_eq!(id(|options| options.group_instance_id = None), None);
    }

    #[test]
    fn a_number_alone_or_behind_what_is_no_id_is_an_error() {
        let (ms, long) = (Duration::from_millis, "x".repeat(247));
        assert_eq!(
            problem(|options| options.instance_index = Some(0)),
            Some("group.instance.index"),
            "the default client.id would be the same in every process"
        );
        for (client, wrong) in
            [("", "client.id"), ("my app", "client.id"), (&long, "group.instance.index")]
        {
            let found = problem(|options| {
                options.client_id = Some(client.to_owned());
                options.instance_index = Some(10);
            });
            assert_eq!(found, Some(wrong), "{client:?}");
        }
        assert_eq!(
            problem(|options| options.on_fenced = OnFenced::RetryAfter(ms(0))),
            Some("fenced.retry.delay.ms")
        );
    }
}
