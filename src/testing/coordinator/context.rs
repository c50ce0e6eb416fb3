//! What a group needs from its coordinator while it works on one input.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::types::{GroupInstanceId, MemberId};

use super::request::{ConnectionId, CoordinatorResponse, RequestTag, ResponseBody};
use super::settings::CoordinatorSettings;

/// The time, the settings, the way back, and chance.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) now: Instant,
    pub(super) settings: &'a CoordinatorSettings,
    pub(super) answers: &'a mut VecDeque<CoordinatorResponse>,
    pub(super) dice: &'a mut fastrand::Rng,
}

impl Context<'_> {
    pub(super) fn answer(&mut self, parked: Parked, body: ResponseBody) {
        let Parked { connection, tag } = parked;
        self.answers.push_back(CoordinatorResponse { connection, tag, body });
    }

    /// A new member id: the instance id or the client id, and a UUID.
    pub(super) fn new_member_id(
        &mut self,
        caller: &Caller,
        instance_id: Option<&GroupInstanceId>,
    ) -> MemberId {
        let prefix = instance_id.map_or(&*caller.client_id, GroupInstanceId::as_str);
        let (high, low) = (self.dice.u64(..), self.dice.u64(..));
        let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0x0fff);
        let (d, e) = ((low >> 48) & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
        MemberId::new(format!("{prefix}-{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{e:012x}"))
    }

    /// Ranks what Kafka would take in hash order: always the same for one seed.
    pub(super) fn rank(&self, text: &str) -> u64 {
        let start = 0xcbf2_9ce4_8422_2325 ^ self.settings.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = text
            .bytes()
            .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Who sent a request, and how.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) parked: Parked,
    pub(super) version: i16,
    pub(super) client_id: Arc<str>,
}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parked {
    pub(super) connection: ConnectionId,
    pub(super) tag: RequestTag,
}
