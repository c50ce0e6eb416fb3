//! What goes into user data under which protocol name, and what is found there.
//!
//! Under Kafka's names other clients read what we write, and some break over it: each rule here was run against nine
//! of them. Under names of our own nobody else listens.

use bytes::Bytes;

use super::embedded::Subscription;
use super::envelope::{Direction, EnvelopeError, Prior, Up};
use super::reading::Reading;
use super::sticky::{StickyClaim, decode_generation, encode_generation};
use crate::assign::{ErasedAssigner, MetadataCodec, MetadataError, MetadataPayload};
use crate::types::{Generation, PartitionRanges};

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
    Held(PartitionRanges, Generation),
    /// In user data: given up, and remembered.
    Prior(Prior),
    /// Nothing is claimed.
    Nothing,
}

impl Dialect {
    pub(super) fn of(assigner: &ErasedAssigner) -> Self {
        Self::named(assigner.name(), assigner.codec() == MetadataCodec::Raw)
    }

    /// By the protocol's name, and whether those who share it write nothing but their own bytes.
    pub(super) fn named(protocol: &str, raw: bool) -> Self {
        match protocol {
            "range" | "roundrobin" => Self::Plain,
            "cooperative-sticky" => Self::CooperativeSticky,
            "sticky" => Self::Sticky,
            _ if raw => Self::Raw,
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
    pub(super) fn envelope(
        self,
        user_data: &Bytes,
        reading: &mut Reading,
    ) -> Result<Up, EnvelopeError> {
        // The generation of "cooperative-sticky" comes first.
        let behind = user_data.get(4..).filter(|_| self == Self::CooperativeSticky);
        match behind.and_then(Direction::of) {
            Some(_) if Direction::of(user_data).is_none() => {
                Up::read(&user_data.slice(4..), reading)
            }
            _ => Up::read(user_data, reading),
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

    /// What a member claims. In the subscription's own fields, out of which it is taken, it is still held; eager members
    /// leave these empty and remember in user data.
    pub(super) fn claim(
        self,
        subscription: &mut Subscription,
        envelope: &Result<Up, EnvelopeError>,
        reading: &mut Reading,
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
            return Claim::Held(std::mem::take(&mut subscription.owned), generation);
        }
        if let Ok(Up { prior: Some(prior), .. }) = envelope {
            return Claim::Prior(prior.clone());
        }
        let sticky = user_data.filter(|_| self == Self::Sticky);
        match sticky.and_then(|bytes| StickyClaim::read(bytes, &mut reading.names)) {
            Some(claim) if !claim.partitions.is_empty() => {
                Claim::Prior(Prior { generation: claim.generation, partitions: claim.partitions })
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subscription::hex;
    use crate::types::Partitions;

    fn partitions(set: &[(&str, i32)]) -> Partitions {
        set.iter().copied().collect()
    }

    fn prior() -> StickyClaim {
        StickyClaim { partitions: (&partitions(&[("a", 1)])).into(), generation: Generation(6) }
    }

    fn up() -> Up {
        Up { nonce: 5, ..Up::default() }
    }

    fn envelope(dialect: Dialect, user_data: &Bytes) -> Result<Up, EnvelopeError> {
        dialect.envelope(user_data, &mut Reading::default())
    }

    fn claim(
        dialect: Dialect,
        subscription: &Subscription,
        envelope: &Result<Up, EnvelopeError>,
    ) -> Claim {
        dialect.claim(&mut subscription.clone(), envelope, &mut Reading::default())
    }

    fn said(dialect: Dialect, allow_migration: bool) -> Option<Bytes> {
        dialect.user_data(up(), Generation(6), Some(&prior()), allow_migration)
    }

    const ALL: [Dialect; 5] =
        [Dialect::Plain, Dialect::CooperativeSticky, Dialect::Sticky, Dialect::Own, Dialect::Raw];

    #[test]
    fn each_name_has_its_own_bytes_up() {
        let envelope = up().encode();
        let behind_generation = Bytes::from([&6_i32.to_be_bytes()[..], &envelope].concat());
        for (dialect, expected) in [
            (Dialect::Plain, Some(envelope.clone())),
            (Dialect::CooperativeSticky, Some(behind_generation)),
            (Dialect::Sticky, Some(hex("00000001 0001 61 00000001 00000001 00000006"))),
            (Dialect::Own, Some(envelope)),
            (Dialect::Raw, None),
        ] {
            assert_eq!(said(dialect, false), expected, "{dialect:?}");
        }
    }

    #[test]
    fn a_sticky_member_that_never_had_anything_says_null() {
        assert_eq!(Dialect::Sticky.user_data(up(), Generation::NONE, None, false), None);
    }

    #[test]
    fn an_envelope_is_found_where_its_name_puts_it() {
        for dialect in [Dialect::Plain, Dialect::CooperativeSticky, Dialect::Own] {
            let user_data = said(dialect, false).unwrap();
            assert_eq!(envelope(dialect, &user_data), Ok(up()), "{dialect:?}");
        }
        assert_eq!(envelope(Dialect::CooperativeSticky, &up().encode()), Ok(up()), "alone, too");
    }

    #[test]
    fn a_nonce_has_room_where_there_is_an_envelope() {
        for dialect in ALL {
            for allow_migration in [false, true] {
                let found = said(dialect, allow_migration)
                    .is_some_and(|user_data| envelope(dialect, &user_data).is_ok());
                assert_eq!(
                    dialect.has_room(allow_migration),
                    found,
                    "{dialect:?} {allow_migration}"
                );
            }
        }
    }

    #[test]
    fn a_claim_in_the_subscription_is_held_and_one_in_user_data_was_given_up() {
        let owned: PartitionRanges = (&partitions(&[("a", 0)])).into();
        let held = Subscription {
            owned: owned.clone(),
            generation: Generation(7),
            ..Subscription::default()
        };
        let remembered =
            Subscription { user_data: Some(prior().encode()), ..Subscription::default() };
        let foreign = Err(EnvelopeError::Foreign);
        let given_up =
            Claim::Prior(Prior { generation: Generation(6), partitions: prior().partitions });
        for dialect in ALL {
            let found = claim(dialect, &held, &foreign);
            assert_eq!(found, Claim::Held(owned.clone(), Generation(7)), "{dialect:?}");
            let expected = if dialect == Dialect::Sticky { &given_up } else { &Claim::Nothing };
            assert_eq!(claim(dialect, &remembered, &foreign), *expected, "{dialect:?}");
        }
    }

    #[test]
    fn a_bare_generation_stands_in_where_the_subscription_has_none() {
        let older = Subscription {
            owned: (&partitions(&[("a", 0)])).into(),
            user_data: Some(encode_generation(Generation(4))),
            ..Subscription::default()
        };
        let generation =
            |dialect: Dialect| match claim(dialect, &older, &Err(EnvelopeError::Foreign)) {
                Claim::Held(_, generation) => generation,
                other => panic!("{other:?}"),
            };
        assert_eq!(generation(Dialect::CooperativeSticky), Generation(4));
        assert_eq!(generation(Dialect::Plain), Generation::NONE);
    }

    #[test]
    fn foreign_user_data_is_missing_metadata_under_kafkas_names_and_broken_under_ours() {
        let bytes = hex("00000004");
        let foreign = Err(EnvelopeError::Foreign);
        for dialect in [Dialect::Plain, Dialect::CooperativeSticky, Dialect::Sticky] {
            let metadata = dialect.metadata(Some(&bytes), &foreign);
            assert_eq!(metadata, Err(MetadataError::Missing), "{dialect:?}");
        }
        let own = Dialect::Own.metadata(Some(&bytes), &foreign);
        assert_eq!(own, Err(MetadataError::undecodable("is no envelope of this crate")));
        assert_eq!(Dialect::Raw.metadata(Some(&bytes), &foreign), Ok(raw(bytes)));
    }
}
