//! The broker's settings that the coordinator knows.

use std::time::Duration;

/// How a coordinator behaves: the broker's settings, and a seed for what Kafka leaves open.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CoordinatorSettings {
    /// Kafka: `group.initial.rebalance.delay.ms`. Kafka's default is 3 s; here it is 0, which tests want.
    pub initial_rebalance_delay: Duration,
    /// Kafka: `group.min.session.timeout.ms`. Kafka's default is 6 s; here it is 1 ms, which tests want.
    pub min_session_timeout: Duration,
    /// Kafka: `group.max.session.timeout.ms`, default 30 min.
    pub max_session_timeout: Duration,
    /// Kafka: `group.max.size`, by default without limit.
    pub max_size: usize,
    /// How long the JoinGroup of a new member may stay parked. Not a setting in Kafka, where it is 5 min.
    pub new_member_timeout: Duration,
    /// The limit of a group's record: Kafka's `max.message.bytes` of `__consumer_offsets`, default 1,048,588.
    pub max_record_size: usize,
    /// Kafka: `offset.metadata.max.bytes`, default 4096.
    pub max_offset_metadata: usize,
    /// How long a coordinator that takes over a group is loading it.
    pub loading_time: Duration,
    /// Decides what Kafka leaves open: a tied vote, the next leader, member ids.
    pub seed: u64,
}

impl Default for CoordinatorSettings {
    fn default() -> Self {
        Self {
            initial_rebalance_delay: Duration::ZERO,
            min_session_timeout: Duration::from_millis(1),
            max_session_timeout: Duration::from_secs(30 * 60),
            max_size: usize::MAX,
            new_member_timeout: Duration::from_secs(5 * 60),
            max_record_size: 1_048_588,
            max_offset_metadata: 4096,
            loading_time: Duration::from_millis(50),
            seed: 0,
        }
    }
}
