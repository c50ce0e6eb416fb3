//! What this member says of itself in a round: one set of bytes a protocol name.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::dialect::{Dialect, raw};
use super::embedded::Subscription;
use super::envelope::{Prior, Rounds, TopicCounts, Up};
use super::hash::planned_on;
use super::notice::ConsumerNotice;
use super::options::ConsumerOptions;
use super::sticky::StickyClaim;
use crate::assign::{ErasedAssigner, LocalMember, MetadataPayload, RebalanceProtocol};
use crate::types::{Generation, MemberId, Partitions};

/// What was said in a round, kept until its assignment comes back.
#[derive(Clone, Debug, Default)]
pub(super) struct Described {
    /// Sorted.
    pub(super) topics: Vec<Arc<str>>,
    /// By assigner, in order of preference.
    pub(super) protocols: Vec<DescribedProtocol>,
    pub(super) notices: Vec<ConsumerNotice>,
}

#[derive(Clone, Debug)]
pub(super) struct DescribedProtocol {
    pub(super) name: Arc<str>,
    /// None where `metadata()` has never succeeded.
    pub(super) payload: Option<MetadataPayload>,
    /// What a plan made on these bytes was made on.
    pub(super) hash: u64,
}

impl Described {
    pub(super) fn hash(&self, protocol: &str) -> Option<u64> {
        let described = self.protocols.iter().find(|described| &*described.name == protocol);
        described.map(|described| described.hash)
    }

    /// The value that an assigner last told, for when it fails to tell another.
    fn last_good(&self, assigner: &ErasedAssigner) -> Option<MetadataPayload> {
        let described = self.protocols.iter().find(|described| described.name == *assigner.name());
        described?.payload.clone()
    }
}

/// Everything that the job needs, taken along so that it can run anywhere.
#[derive(Debug)]
pub(super) struct Describing {
    pub(super) options: Arc<ConsumerOptions>,
    pub(super) rounds: Rounds,
    /// Sorted.
    pub(super) topics: Vec<Arc<str>>,
    pub(super) counts: TopicCounts,
    /// What is still held.
    pub(super) held: Partitions,
    /// What was had last, given up or not.
    pub(super) prior: Option<StickyClaim>,
    /// Of which of these another had the first copy.
    pub(super) standbys: Partitions,
    pub(super) generation: Generation,
    pub(super) member_id: MemberId,
    pub(super) nonce: u64,
    /// An unused protocol name, different whenever other bytes are wanted.
    pub(super) spare_name: Option<String>,
    pub(super) before: Arc<Described>,
    /// Where the result goes.
    pub(super) slot: Arc<OnceLock<Described>>,
}

impl Describing {
    /// Runs the application's code.
    pub(super) fn run(self) -> Vec<(String, Bytes)> {
        let mut described = Described { topics: self.topics.clone(), ..Described::default() };
        let mut protocols = Vec::with_capacity(self.options.assigners.len() + 1);
        for assigner in &self.options.assigners {
            let (payload, notice) = self.payload(assigner);
            described.notices.extend(notice);
            protocols
                .push((assigner.name().to_string(), self.subscription(assigner, payload.as_ref())));
            let rack = self.options.rack.as_deref();
            let hash = planned_on(assigner.name(), payload.as_ref(), &self.topics, rack);
            described.protocols.push(DescribedProtocol {
                name: Arc::clone(assigner.name()),
                payload,
                hash,
            });
        }
        if let Some(name) = &self.spare_name {
            // Should it ever be chosen, these bytes can be read: the broker wants them so in a takeover (KIP-848).
            let topics = self.topics.as_slice().into();
            let bare = Subscription { topics, ..Subscription::default() };
            protocols.push((name.clone(), bare.encode()));
        }
        // A job that was abandoned comes too late, and finds a slot that nobody looks at.
        drop(self.slot.set(described));
        protocols
    }

    fn payload(
        &self,
        assigner: &ErasedAssigner,
    ) -> (Option<MetadataPayload>, Option<ConsumerNotice>) {
        let topics: Vec<&str> = self.topics.iter().map(AsRef::as_ref).collect();
        let had = self.prior.as_ref().map(|claim| claim.partitions.within(|_| Some(u32::MAX)));
        match assigner.describe(&self.local_member(&topics, had.as_ref())) {
            Ok(payload) if Dialect::of(assigner) == Dialect::Raw => {
                (Some(raw(payload.bytes)), None)
            }
            Ok(payload) => (Some(payload), None),
            Err(error) => {
                let (name, message) = (Arc::clone(assigner.name()), error.to_string().into());
                let notice = ConsumerNotice::MetadataFailed { assigner: name, message };
                (self.before.last_good(assigner), Some(notice))
            }
        }
    }

    fn local_member<'a>(
        &'a self,
        topics: &'a [&'a str],
        had: Option<&'a Partitions>,
    ) -> LocalMember<'a> {
        let options = &self.options;
        let mut local = LocalMember::new(&options.group_id);
        local.client_id = &options.client_id;
        local.member_id = self.member_id.as_str();
        local.instance_id = options.group_instance_id.as_ref().map(|id| id.as_str());
        local.rack = options.rack.as_deref();
        local.host_name = &options.host_name;
        local.cpus = options.cpus;
        local.topics = topics;
        // Eager members have given everything up by now, and are described by what they had.
        local.held = Some(&self.held).filter(|held| !held.is_empty()).or(had);
        local.generation = self.generation;
        local
    }

    fn subscription(&self, assigner: &ErasedAssigner, payload: Option<&MetadataPayload>) -> Bytes {
        let options = &self.options;
        let user_data = Dialect::of(assigner).user_data(
            self.envelope(payload),
            self.generation,
            self.prior.as_ref(),
            options.allow_migration,
        );
        Subscription {
            topics: self.topics.as_slice().into(),
            user_data,
            owned: (&self.held).into(),
            generation: self.generation,
            rack: options.rack.clone(),
        }
        .encode()
    }

    fn envelope(&self, payload: Option<&MetadataPayload>) -> Up {
        // A claim that is still held stands in the subscription's own fields.
        let given_up = self.prior.as_ref().filter(|_| self.held.is_empty());
        Up {
            payload: payload.cloned(),
            counts: self.counts.clone(),
            nonce: self.nonce,
            prior: given_up.map(|claim| Prior {
                generation: claim.generation,
                partitions: claim.partitions.clone(),
            }),
            process: Some(Arc::clone(&self.options.process)),
            session_timeout: Some(self.options.session_timeout),
            rebalance_timeout: Some(self.options.rebalance_timeout),
            rounds: self.rounds,
            standbys: (&self.standbys).into(),
        }
    }
}

/// The ways to rebalance that a list of assigners leaves: those that all of them allow, as in Java. What is to be given
/// up is decided before the broker has chosen one of them.
pub(super) fn rounds_of(assigners: &[ErasedAssigner]) -> Rounds {
    let all = |protocol| assigners.iter().all(|assigner| assigner.protocols().contains(&protocol));
    let cooperative = all(RebalanceProtocol::Cooperative);
    Rounds { eager: !cooperative || all(RebalanceProtocol::Eager), cooperative }
}
