//! What members and leaders wrote, as somebody outside the group reads it.

use bytes::Bytes;

use super::dialect::Dialect;
use super::embedded::{Assignment, Subscription};
use super::envelope::{Down, Up};
use super::reading::Reading;
use crate::assign::{MetadataError, MetadataPayload};
use crate::wire::ReadError;

/// A subscription, whatever client wrote it.
#[derive(Debug)]
pub(crate) struct SeenSubscription {
    pub(crate) subscription: Subscription,
    /// What members of this crate add.
    pub(crate) envelope: Option<Up>,
    /// What the member's assigner told, if its user data hold that.
    pub(crate) metadata: Option<Result<MetadataPayload, MetadataError>>,
}

/// Reads a subscription under a protocol's name. `raw`: the assigner of that name writes nothing but its own bytes.
pub(crate) fn see_subscription(
    protocol: &str,
    raw: bool,
    bytes: Bytes,
) -> Result<SeenSubscription, ReadError> {
    let dialect = Dialect::named(protocol, raw);
    let mut reading = Reading::default();
    let subscription = Subscription::read(bytes, &mut reading)?;
    let Some(user_data) = &subscription.user_data else {
        return Ok(SeenSubscription { subscription, envelope: None, metadata: None });
    };
    let envelope = dialect.envelope(user_data, &mut reading);
    let metadata = match dialect.metadata(Some(user_data), &envelope) {
        Err(MetadataError::Missing) => None,
        // Foreign user data under a name of our own: an assigner in another language, not a broken one of ours.
        Err(_) if envelope.is_err() && !raw => None,
        metadata => Some(metadata),
    };
    Ok(SeenSubscription { subscription, envelope: envelope.ok(), metadata })
}

/// Reads an assignment, and what a leader of this crate adds.
pub(crate) fn see_assignment(bytes: Bytes) -> Result<(Assignment, Option<Down>), ReadError> {
    let assignment = Assignment::decode(bytes)?;
    let envelope = assignment.user_data.as_ref().and_then(|user_data| Down::decode(user_data).ok());
    Ok((assignment, envelope))
}
