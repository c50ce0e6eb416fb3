//! What goes into user data under which protocol name, and what is found there.
//!
//! Under Kafka's names other clients read what we write, and some break over it: each rule here was run against nine
//! of them. Under names of our own nobody else listens.

use bytes::Bytes;

use super::embedded::Subscription;
use super::envelope::{Direction, EnvelopeError, Prior, Up};
use super::sticky::{StickyClaim, decode_generation, encode_generation};
use crate::assign::{ErasedAssigner, MetadataCodec, MetadataError, MetadataPayload};
use crate::types::{Generation, Partitions};

/// The byte rules of a protocol name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dialect {
    /// "range", "roundrobin": no client reads user data here, but some hand them on.
    Plain,
    /// "cooperative-sticky": a bare generation first.
    CooperativeSticky,
    /// "sticky": a claim in version 1 exactly; one byte more, and Sarama fails the group.
    Sticky,
    /// A name of our own.
    Own,
    /// A name that an assigner in another language shares: the application's bytes and nothing else.
    Raw,
}

/// Where a member's claim stood.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim {
    /// In the subscription's own fields: not given up.
    Held(Partitions, Generation),
    /// In user data: given up, and remembered.
    Prior(Prior),
    /// Nothing is claimed.
    Nothing,
}

impl Dialect {
    pub(super) fn of(assigner: &ErasedAssigner) -> Self {
        match &**assigner.name() {
            "range" | "roundrobin" => Self::Plain,
            "cooperative-sticky" => Self::CooperativeSticky,
            "sticky" => Self::Sticky,
            _ if assigner.codec() == MetadataCodec::Raw => Self::Raw,
            _ => Self::Own,
        }
    }

    /// Whether a nonce finds a place in the user data.
    pub(super) fn has_room(self, allow_migration: bool) -> bool {
        match self {
            Self::Own => true,
            Self::Plain | Self::CooperativeSticky => !allow_migration,
            Self::Sticky | Self::Raw => false,
        }
    }

    /// What a member sends up. With `allow_migration` nothing goes where librdkafka, as leader, would copy it into
    /// an assignment: one assignment with user data keeps a consumer of the new protocol out.
    pub(super) fn user_data(
        self,
        up: Up,
        generation: Generation,
        prior: Option<&StickyClaim>,
        allow_migration: bool,
    ) -> Option<Bytes> {
        match self {
            Self::Own => Some(up.encode()),
            Self::Plain => (!allow_migration).then(|| up.encode()),
            Self::CooperativeSticky if allow_migration => Some(encode_generation(generation)),
            Self::CooperativeSticky => {
                Some([encode_generation(generation), up.encode()].concat().into())
            }
            Self::Sticky => prior.map(StickyClaim::encode),
            Self::Raw => up.payload.map(|payload| payload.bytes),
        }
    }

    /// What a member said in these user data, if they hold an envelope.
    pub(super) fn envelope(self, user_data: &Bytes) -> Result<Up, EnvelopeError> {
        // The generation of "cooperative-sticky" comes first.
        let behind = user_data.get(4..).filter(|_| self == Self::CooperativeSticky);
        match behind.and_then(Direction::of) {
            Some(_) if Direction::of(user_data).is_none() => Up::decode(&user_data.slice(4..)),
            _ => Up::decode(user_data),
        }
    }

    /// The typed metadata in user data, still as bytes.
    pub(super) fn metadata(
        self,
        user_data: Option<&Bytes>,
        envelope: &Result<Up, EnvelopeError>,
    ) -> Result<MetadataPayload, MetadataError> {
        match (envelope, user_data) {
            (Ok(up), _) => up.payload.clone().ok_or(MetadataError::Missing),
            (Err(EnvelopeError::Foreign), Some(bytes)) if self == Self::Raw => {
                Ok(raw(bytes.clone()))
            }
            (Err(EnvelopeError::Foreign), None) if self == Self::Raw => Ok(raw(Bytes::new())),
            // Under Kafka's names other clients have user data of their own.
            (Err(EnvelopeError::Foreign | EnvelopeError::Echo), _) if self != Self::Own => {
                Err(MetadataError::Missing)
            }
            (Err(_), None) => Err(MetadataError::Missing),
            (Err(problem), Some(_)) => Err(MetadataError::undecodable(problem)),
        }
    }

    /// What a member claims. In the subscription's own fields it is still held; eager members leave these empty and
    /// remember in user data.
    pub(super) fn claim(
        self,
        subscription: &Subscription,
        envelope: &Result<Up, EnvelopeError>,
    ) -> Claim {
        let user_data = subscription.user_data.as_ref();
        if !subscription.owned.is_empty() {
            let bare = || {
                user_data.filter(|_| self == Self::CooperativeSticky).and_then(decode_generation)
            };
            let generation = match subscription.generation {
                Generation::NONE => bare().unwrap_or(Generation::NONE),
                generation => generation,
            };
            return Claim::Held(subscription.owned.clone(), generation);
        }
        if let Ok(Up { prior: Some(prior), .. }) = envelope {
            return Claim::Prior(prior.clone());
        }
        match user_data.filter(|_| self == Self::Sticky).and_then(StickyClaim::decode) {
            Some(claim) if !claim.partitions.is_empty() => Claim::Prior(Prior {
                generation: claim.generation,
                partitions: (&claim.partitions).into(),
            }),
            _ => Claim::Nothing,
        }
    }

    /// Whether a claim of nothing means that nothing was had: eager members of other clients do not say.
    pub(super) fn tells_all(self, envelope: &Result<Up, EnvelopeError>) -> bool {
        envelope.is_ok() || self == Self::CooperativeSticky
    }
}

/// The bytes of an assigner in another language have no version.
pub(super) fn raw(bytes: Bytes) -> MetadataPayload {
    MetadataPayload { codec: MetadataCodec::Raw.id(), version: 0, bytes }
}
