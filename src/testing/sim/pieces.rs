//! A group's work without topics: numbered pieces, shared out in turn. The second group protocol beside "consumer".

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::protocol::{
    Cause, Change, DescribeJob, GroupProtocol, Holding, Joined, Joining, LeadJob, Led, LedMember,
    Needs, Plan, Rejoin,
};
use crate::types::{Generation, MemberId};

/// A set of pieces.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Pieces(pub(crate) BTreeSet<u16>);

impl Holding for Pieces {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    fn remove(&mut self, other: &Self) {
        self.0.retain(|piece| !other.0.contains(piece));
    }

    fn common(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }
}

impl<const N: usize> From<[u16; N]> for Pieces {
    fn from(pieces: [u16; N]) -> Self {
        Self(pieces.into())
    }
}

/// Shares out pieces `0..total`. Eager, or cooperative as KIP-429 has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceProtocol {
    pub(crate) total: u16,
    pub(crate) is_cooperative: bool,
    /// What a restart may change; comes back in the plan, so that a member sees what it was planned on (KAFKA-12759).
    pub(crate) wish: u8,
    asked_for: Option<u8>,
}

/// What a member says.
struct Said {
    wish: u8,
    generation: Generation,
    claims: BTreeSet<u16>,
}

impl PieceProtocol {
    pub(crate) fn new(total: u16, is_cooperative: bool, wish: u8) -> Self {
        Self { total, is_cooperative, wish, asked_for: None }
    }

    /// Piece `n` goes to member `n`, round and round; what somebody else claims waits until it is given up.
    fn plan(self, led: &Led) -> Plan {
        let mut members: Vec<(&LedMember, Said)> =
            led.members.iter().map(|member| (member, read_said(member.metadata.clone()))).collect();
        members.sort_by_key(|(member, _)| name(member));
        let owners = owners(&members);
        let count = members.len().max(1);
        let plan = members.iter().enumerate().map(|(at, (member, said))| {
            let id = &member.member_id;
            let is_in_share = |piece: u16| usize::from(piece) % count == at;
            let is_free = |piece: u16| owners.get(&piece).is_none_or(|owner| *owner == id);
            let pieces = (0..self.total).filter(|piece| is_in_share(*piece) && is_free(*piece));
            let owes = owners.iter().any(|(piece, owner)| *owner == id && !is_in_share(*piece));
            (id.clone(), write_part(said.wish, owes, pieces))
        });
        Plan { assignments: plan.collect(), again_after: None }
    }
}

impl GroupProtocol for PieceProtocol {
    type Held = Pieces;
    type Notice = ();

    fn protocol_type(&self) -> &str {
        "pieces"
    }

    fn before_join(&mut self, held: &Pieces, _cause: &Cause) -> Pieces {
        if self.is_cooperative { Pieces::default() } else { held.clone() }
    }

    fn describe(&mut self, joining: Joining<'_, Pieces>) -> DescribeJob {
        let mut said = BytesMut::new();
        said.put_u8(self.wish);
        said.put_i32(joining.generation.0);
        said.put_u64(joining.nonce);
        joining.held.0.iter().for_each(|piece| said.put_u16(*piece));
        Box::new(move || Ok(vec![("in-turn".to_owned(), said.freeze())]))
    }

    fn lead(&mut self, led: Led) -> (Needs, LeadJob) {
        let protocol = *self;
        (Needs::default(), Box::new(move |_| Ok(protocol.plan(&led))))
    }

    fn joined(&mut self, joined: Joined<'_, Pieces>) -> Change<Pieces, ()> {
        let mut part = joined.assignment;
        let planned_on = part.try_get_u8().unwrap_or(self.wish);
        // Who restarts is handed its part again, and owes the others a round still.
        let owes = part.try_get_u8().is_ok_and(|owes| owes == 1);
        let given = Pieces(read_pieces(&mut part));
        let (mut revoke, mut add) = (joined.held.clone(), given.clone());
        revoke.remove(&given);
        add.remove(joined.held);
        let cause = if !revoke.is_empty() || owes {
            Some(Cause::FollowUp)
        } else if planned_on != self.wish && self.asked_for != Some(planned_on) {
            self.asked_for = Some(planned_on);
            Some(Cause::PlannedOnOther)
        } else {
            None
        };
        let rejoin = cause.map(|cause| Rejoin { cause, after: Duration::ZERO });
        Change {
            revoke,
            add,
            standby: Pieces::default(),
            rejoin,
            heartbeat_interval: None,
            hurried_interval: None,
            notices: Vec::new(),
        }
    }
}

fn name(member: &LedMember) -> String {
    member.group_instance_id.clone().unwrap_or_else(|| member.member_id.as_str().to_owned())
}

/// Of claims on one piece the newest counts.
fn owners<'a>(members: &[(&'a LedMember, Said)]) -> BTreeMap<u16, &'a MemberId> {
    let mut owners: BTreeMap<u16, (Generation, &MemberId)> = BTreeMap::new();
    for (member, said) in members {
        for piece in &said.claims {
            let owner = owners.entry(*piece).or_insert((said.generation, &member.member_id));
            if said.generation > owner.0 {
                *owner = (said.generation, &member.member_id);
            }
        }
    }
    owners.into_iter().map(|(piece, (_, id))| (piece, id)).collect()
}

fn read_said(mut bytes: Bytes) -> Said {
    if bytes.len() < 13 {
        return Said { wish: 0, generation: Generation::NONE, claims: BTreeSet::new() };
    }
    let (wish, generation) = (bytes.get_u8(), Generation(bytes.get_i32()));
    bytes.advance(8);
    Said { wish, generation, claims: read_pieces(&mut bytes) }
}

fn read_pieces(bytes: &mut Bytes) -> BTreeSet<u16> {
    let mut pieces = BTreeSet::new();
    while bytes.len() >= 2 {
        pieces.insert(bytes.get_u16());
    }
    pieces
}

fn write_part(wish: u8, owes: bool, pieces: impl Iterator<Item = u16>) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(wish);
    bytes.put_u8(u8::from(owes));
    pieces.for_each(|piece| bytes.put_u16(piece));
    bytes.freeze()
}
