//! Assigners side by side whatever their `T`: the type ends here.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::codec::{CodecError, MetadataCodec};
use super::error::{AssignError, MetadataError};
use super::model::Model;
use super::names::{UnfitAssigner, is_builtin, is_kafkas_name};
use super::run::panic_message;
use super::view::{Gathered, GroupSubscription, Scope};
use super::{
    Coverage, GroupAssignment, LocalMember, PartitionAssigner, PerTopicAssigner, RebalanceProtocol,
};

/// An assigner without its type: what it says of itself, once, and what it can do with bytes.
#[derive(Clone)]
pub(crate) struct ErasedAssigner {
    name: Arc<str>,
    version: u16,
    codec: MetadataCodec,
    protocols: Arc<[RebalanceProtocol]>,
    coverage: Coverage,
    builtin: bool,
    tells_nothing: bool,
    work: Arc<dyn Work>,
}

/// What one member told, as it travels in its envelope.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MetadataPayload {
    /// The codec's number, which may be one that we do not know.
    pub(crate) codec: u8,
    pub(crate) version: u16,
    pub(crate) bytes: Bytes,
}

/// Why a member could not be described in this round.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum DescribeError {
    #[error("metadata() panicked: {0}")]
    Panicked(String),
    #[error(transparent)]
    Codec(#[from] CodecError),
}

impl ErasedAssigner {
    /// Takes an assigner's type away and checks what it says of itself.
    pub(crate) fn new<A, T>(assigner: A) -> Result<Self, UnfitAssigner>
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let name = assigner.name().to_owned();
        let builtin = is_builtin::<A>();
        match name.len() {
            0 => return Err(UnfitAssigner::NoName),
            len if len > i16::MAX as usize => return Err(UnfitAssigner::NameTooLong { len }),
            _ if is_kafkas_name(&name) && !builtin => {
                return Err(UnfitAssigner::KafkasName { name });
            }
            _ if assigner.protocols().is_empty() => return Err(UnfitAssigner::NoProtocol { name }),
            _ => {}
        }
        let codec = assigner.codec();
        // Without metadata there is nothing to write, so built-ins need no codec.
        if let (Err(error), false) = (codec.check::<T>(), nothing::<T>().is_some()) {
            return Err(UnfitAssigner::Codec { name, error });
        }
        Ok(Self {
            name: name.into(),
            version: assigner.version(),
            codec,
            protocols: assigner.protocols().into(),
            coverage: assigner.coverage(),
            builtin,
            tells_nothing: nothing::<T>().is_some(),
            work: Arc::new(Typed { assigner, codec, metadata: PhantomData }),
        })
    }

    /// Whether it is one of this crate's, so that describing with it runs no code of the application's.
    pub(crate) fn is_builtin(&self) -> bool {
        self.builtin
    }

    /// Whether members tell its leader nothing.
    pub(crate) fn tells_nothing(&self) -> bool {
        self.tells_nothing
    }

    /// The protocol name.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The version of what it writes.
    #[cfg(feature = "cli")]
    pub(crate) fn version(&self) -> u16 {
        self.version
    }

    pub(crate) fn codec(&self) -> MetadataCodec {
        self.codec
    }

    pub(crate) fn protocols(&self) -> &[RebalanceProtocol] {
        &self.protocols
    }

    pub(crate) fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// What this member tells the leader. Runs the application's code.
    pub(crate) fn describe(
        &self,
        local: &LocalMember<'_>,
    ) -> Result<MetadataPayload, DescribeError> {
        let bytes = catch_unwind(AssertUnwindSafe(|| self.work.describe(local)))
            .map_err(|panic| DescribeError::Panicked(panic_message(panic)))??;
        Ok(MetadataPayload { codec: self.codec.id(), version: self.version, bytes: bytes.into() })
    }

    /// The plan, unchecked and with panics passing through: `run_assign` is the door. Runs the application's code.
    ///
    /// `told` is in the order of the model's members.
    pub(super) fn plan(
        &self,
        model: &Arc<Model>,
        told: &[Result<MetadataPayload, MetadataError>],
        gathered: Gathered,
    ) -> Result<GroupAssignment, AssignError> {
        self.work.plan(model, told, gathered, None)
    }

    /// The same for some of the topics.
    pub(super) fn plan_within(
        &self,
        model: &Arc<Model>,
        told: &[Result<MetadataPayload, MetadataError>],
        gathered: Gathered,
        scope: Scope,
    ) -> Result<GroupAssignment, AssignError> {
        self.work.plan(model, told, gathered, Some(scope))
    }

    /// How often partitions of each topic are given, where that is not the same for all.
    pub(crate) fn coverage_by_topic(&self, model: &Model) -> Option<Arc<[Coverage]>> {
        model.topics().iter().map(|topic| self.work.coverage_of(&topic.name)).collect()
    }

    /// How often partitions of a topic are given.
    pub(super) fn coverage_of(&self, topic: &str) -> Coverage {
        self.work.coverage_of(topic).unwrap_or(self.coverage)
    }

    /// What a member told, for people: JSON where that feature is on, else the bytes. Runs the application's code.
    pub(crate) fn show(&self, told: &MetadataPayload) -> Result<String, MetadataError> {
        contained(|| self.work.show(told))
    }
}

impl fmt::Debug for ErasedAssigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedAssigner")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish()
    }
}

/// Reads what a plan told this member.
pub(crate) fn read_told<U: DeserializeOwned + 'static>(
    codec: u8,
    bytes: &[u8],
) -> Result<U, MetadataError> {
    match MetadataCodec::from_id(codec) {
        Some(codec) => codec.decode(bytes),
        None => Err(MetadataError::OtherCodec { codec }),
    }
}

trait Work: Send + Sync {
    fn describe(&self, local: &LocalMember<'_>) -> Result<Vec<u8>, CodecError>;

    fn plan(
        &self,
        model: &Arc<Model>,
        told: &[Result<MetadataPayload, MetadataError>],
        gathered: Gathered,
        scope: Option<Scope>,
    ) -> Result<GroupAssignment, AssignError>;

    /// None if it is the same for all topics.
    fn coverage_of(&self, topic: &str) -> Option<Coverage>;

    fn show(&self, told: &MetadataPayload) -> Result<String, MetadataError>;
}

struct Typed<A, T> {
    assigner: A,
    codec: MetadataCodec,
    metadata: PhantomData<fn() -> T>,
}

impl<A, T> Typed<A, T>
where
    A: PartitionAssigner<T>,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// By the codec that the sender used, so that a rolling change of codec works.
    fn decode(&self, told: &MetadataPayload) -> Result<T, MetadataError> {
        match MetadataCodec::from_id(told.codec) {
            Some(MetadataCodec::Raw) if self.codec == MetadataCodec::Raw => {
                self.assigner.decode_metadata(self.assigner.version(), &told.bytes)
            }
            Some(codec) if codec == self.codec => {
                self.assigner.decode_metadata(told.version, &told.bytes)
            }
            Some(codec) => codec.decode_version(told.version, self.assigner.version(), &told.bytes),
            None => Err(MetadataError::OtherCodec { codec: told.codec }),
        }
    }

    /// One member's metadata; a decoder that panics over it is that member's misfortune, not the group's.
    fn read(&self, told: &Result<MetadataPayload, MetadataError>) -> Result<T, MetadataError> {
        if let Some(nothing) = nothing() {
            return Ok(nothing);
        }
        let told = told.as_ref().map_err(Clone::clone)?;
        contained(|| self.decode(told))
    }
}

impl<A, T> Work for Typed<A, T>
where
    A: PartitionAssigner<T>,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    fn describe(&self, local: &LocalMember<'_>) -> Result<Vec<u8>, CodecError> {
        let metadata = self.assigner.metadata(local);
        match nothing::<T>() {
            Some(_) => Ok(Vec::new()),
            None => self.codec.encode(&metadata),
        }
    }

    fn plan(
        &self,
        model: &Arc<Model>,
        told: &[Result<MetadataPayload, MetadataError>],
        gathered: Gathered,
        scope: Option<Scope>,
    ) -> Result<GroupAssignment, AssignError> {
        let column = told.iter().map(|told| self.read(told)).collect();
        let group = GroupSubscription::new(Arc::clone(model), column, gathered, self.codec);
        self.assigner.assign(&match scope {
            Some(scope) => group.within(scope),
            None => group,
        })
    }

    fn coverage_of(&self, topic: &str) -> Option<Coverage> {
        let parts = (&self.assigner as &dyn Any).downcast_ref::<PerTopicAssigner>()?;
        Some(parts.coverage_of(topic))
    }

    #[cfg(feature = "json")]
    fn show(&self, told: &MetadataPayload) -> Result<String, MetadataError> {
        let metadata = self.read(&Ok(told.clone()))?;
        serde_json::to_string(&metadata).map_err(MetadataError::undecodable)
    }

    #[cfg(not(feature = "json"))]
    fn show(&self, told: &MetadataPayload) -> Result<String, MetadataError> {
        self.read(&Ok(told.clone()))?;
        Ok(format!("{:02x?}", &told.bytes[..]))
    }
}

/// The value of a `T` that is `()`: it needs no bytes, and members that sent none are none the worse.
fn nothing<T: 'static>() -> Option<T> {
    if TypeId::of::<T>() != TypeId::of::<()>() {
        return None;
    }
    let mut value: Option<T> = None;
    *(&mut value as &mut dyn Any).downcast_mut::<Option<()>>()? = Some(());
    value
}

fn contained<V>(decode: impl FnOnce() -> Result<V, MetadataError>) -> Result<V, MetadataError> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
        let message = panic_message(panic);
        Err(MetadataError::undecodable(format_args!("its decoder panicked: {message}")))
    })
}

#[cfg(test)]
#[cfg(all(feature = "bincode", feature = "json"))]
mod tests;
