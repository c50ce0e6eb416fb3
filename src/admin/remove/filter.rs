//! Which members are meant, by what they are known for.

use std::net::IpAddr;

use regex::{Regex, RegexBuilder};

use crate::admin::{AdminError, MemberDescription};

/// Members by where they run, what they are called, or how their instance ids read.
///
/// What is said of one thing several times is a choice; different things must all hold. A filter of nothing takes
/// nobody.
#[derive(Clone, Debug, Default)]
pub struct MemberFilter {
    client_hosts: Vec<String>,
    client_ids: Vec<String>,
    instance_ids: Vec<Regex>,
}

impl MemberFilter {
    /// Takes nobody, until more is said.
    pub fn new() -> Self {
        Self::default()
    }

    /// Members whose connection came from this address, as [`MemberDescription::client_host`] tells it: an IP address,
    /// in any spelling. The trap: behind a proxy or a NAT, all members have one address.
    #[must_use]
    pub fn client_host(mut self, host: impl Into<String>) -> Self {
        self.add_client_host(host);
        self
    }

    /// Members with this `client.id`.
    #[must_use]
    pub fn client_id(mut self, client_id: impl Into<String>) -> Self {
        self.add_client_id(client_id);
        self
    }

    /// Static members whose whole instance id matches this regular expression, as Kafka's tools and `subscribe(Pattern)`
    /// have it: `indexer-[0-9]+`. The trap: `indexer-*` is no wildcard, and matches `indexer--`.
    ///
    /// # Errors
    ///
    /// It is no expression, or one that would take more than a megabyte of memory.
    pub fn instance_id_pattern(mut self, pattern: &str) -> Result<Self, AdminError> {
        self.add_instance_id_pattern(pattern)?;
        Ok(self)
    }

    pub(crate) fn add_client_host(&mut self, host: impl Into<String>) {
        self.client_hosts.push(host.into());
    }

    pub(crate) fn add_client_id(&mut self, client_id: impl Into<String>) {
        self.client_ids.push(client_id.into());
    }

    pub(crate) fn add_instance_id_pattern(&mut self, pattern: &str) -> Result<(), AdminError> {
        const MOST_MEMORY: usize = 1 << 20;
        let compiled = |expression: &str| {
            let compiled = RegexBuilder::new(expression).size_limit(MOST_MEMORY).build();
            compiled.map_err(|error| AdminError::Invalid(wrong(pattern, &error)))
        };
        // By itself first: `a)|(b` makes sense only between the parentheses that it gets.
        compiled(pattern)?;
        self.instance_ids.push(compiled(&format!(r"\A(?:{pattern})\z"))?);
        Ok(())
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.client_hosts.is_empty() && self.client_ids.is_empty() && self.instance_ids.is_empty()
    }

    /// Whether this member is meant.
    pub fn takes(&self, member: &MemberDescription) -> bool {
        let host = |wanted: &String| is_same_host(wanted, &member.client_host);
        let instance_id = |pattern: &Regex| {
            member.group_instance_id.as_deref().is_some_and(|id| pattern.is_match(id))
        };
        !self.is_empty()
            && holds(&self.client_hosts, host)
            && holds(&self.client_ids, |wanted| *wanted == member.client_id)
            && holds(&self.instance_ids, instance_id)
    }
}

/// An empty list is no wish.
fn holds<T>(wanted: &[T], is: impl Fn(&T) -> bool) -> bool {
    wanted.is_empty() || wanted.iter().any(is)
}

/// Brokers write IPv6 addresses in full, and a name in front of the address where they know one.
fn is_same_host(wanted: &str, told: &str) -> bool {
    let same = |told: &str| {
        let addresses = (wanted.parse::<IpAddr>(), told.parse::<IpAddr>());
        wanted == told || matches!(addresses, (Ok(wanted), Ok(told)) if wanted == told)
    };
    wanted.trim_start_matches('/') == told || told.split('/').any(same)
}

/// In one line: the error draws the pattern, with a mark below it, and says what is wrong in its last line.
fn wrong(pattern: &str, error: &regex::Error) -> String {
    let error = error.to_string();
    let last = error.lines().last().unwrap_or_default();
    format!("instance id pattern {pattern:?}: {}", last.trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::Content;
    use crate::types::MemberId;

    fn member(instance_id: Option<&str>, client_id: &str, host: &str) -> MemberDescription {
        MemberDescription {
            member_id: MemberId::new("m"),
            group_instance_id: instance_id.map(str::to_owned),
            client_id: client_id.to_owned(),
            client_host: host.to_owned(),
            subscription: Content::Nothing,
            assignment: Content::Nothing,
        }
    }

    fn pattern(pattern: &str) -> MemberFilter {
        MemberFilter::new().instance_id_pattern(pattern).unwrap()
    }

    #[test]
    fn nothing_asked_for_is_nobody() {
        assert!(!MemberFilter::new().takes(&member(Some("a"), "c", "h")));
    }

    #[test]
    fn a_pattern_must_match_the_whole_id_and_takes_no_dynamic_member() {
        let takes = |expression: &str, id| pattern(expression).takes(&member(id, "c", "h"));
        assert!(takes("indexer-[0-9]+", Some("indexer-17")));
        assert!(!takes("indexer-[0-9]", Some("indexer-17")));
        assert!(!takes("7", Some("indexer-7")));
        assert!(takes("a|b", Some("b")) && !takes("a|b", Some("ab")));
        assert!(!takes(".*", None));
    }

    #[test]
    fn what_is_no_expression_or_a_huge_one_is_refused() {
        for wrong in ["(", "a)|(b", "(?x)a # not closed", "(?:a{1000}){1000}"] {
            let error = MemberFilter::new().instance_id_pattern(wrong).unwrap_err();
            let error = error.to_string();
            let begins = format!("instance id pattern {wrong:?}: ");
            assert!(error.starts_with(&begins) && !error.contains(char::is_control), "{error}");
        }
    }

    #[test]
    fn hosts_are_the_same_in_any_spelling() {
        for (wanted, told, same) in [
            ("10.0.0.7", "10.0.0.7", true),
            ("/10.0.0.7", "10.0.0.7", true),
            ("::1", "0:0:0:0:0:0:0:1", true),
            ("10.0.0.7", "worker/10.0.0.7", true),
            ("worker", "worker/10.0.0.7", true),
            ("10.0.0.7", "10.0.0.70", false),
            ("", "10.0.0.7", false),
        ] {
            let filter = MemberFilter::new().client_host(wanted);
            assert_eq!(filter.takes(&member(None, "c", told)), same, "{wanted} {told}");
        }
    }

    #[test]
    fn one_thing_said_twice_is_a_choice_and_different_things_must_all_hold() {
        let filter = pattern("a").instance_id_pattern("b").unwrap().client_id("c");
        assert!(filter.takes(&member(Some("b"), "c", "h")));
        assert!(!filter.takes(&member(Some("b"), "d", "h")));
        assert!(!filter.takes(&member(Some("d"), "c", "h")));
        assert!(!filter.client_host("i").takes(&member(Some("b"), "c", "h")));
    }
}
