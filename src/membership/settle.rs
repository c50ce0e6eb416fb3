//! A leader that waits for more joiners before it plans, so that many members that start together share a generation.

use std::collections::BTreeSet;
use std::mem;
use std::time::Instant;

use super::round::Step;
use super::timers::{Timer, after};
use super::{Membership, Output, Work, WorkId};
use crate::protocol::{Holding, Led, LedMember};

/// How many delays a plan may be put off by newcomers that keep coming.
const MOST_DELAYS: u32 = 4;

/// What a leader knows of those who came.
#[derive(Debug)]
pub(super) struct Settling<H> {
    /// By name, whom this leader has seen in its last generation; nobody if it did not lead.
    known: BTreeSet<String>,
    /// When the first of those came for whom no plan was published yet.
    since: Option<Instant>,
    /// The work that is put off.
    lead: Option<(WorkId, Work<H>)>,
}

impl<H> Settling<H> {
    pub(super) fn new() -> Self {
        Self { known: BTreeSet::new(), since: None, lead: None }
    }
}

impl<H: Holding> Membership<H> {
    /// Hands out the leader's work, at once or when those who are on their way have had time to come. They are not
    /// seen from here: whoever joins meanwhile ends this generation, and is in the next one together with all others.
    pub(super) fn lead_when_settled(
        &mut self,
        now: Instant,
        id: WorkId,
        led: Led,
        deadline: Instant,
    ) {
        let until = self.settles_at(now, &led);
        let work = Work::Lead { led, deadline };
        if until <= now {
            return self.outputs.push_back(Output::Work { id, work });
        }
        self.settling.lead = Some((id, work));
        self.timers.set(Timer::Settle, until);
    }

    pub(super) fn on_settled(&mut self) {
        let Some((id, work)) = self.settling.lead.take() else { return };
        if matches!(self.round.step, Step::Leading(waited_for) if waited_for == id) {
            self.outputs.push_back(Output::Work { id, work });
        }
    }

    /// Another leads: what we know of the group is of yesterday.
    pub(super) fn forget_settling(&mut self) {
        self.settling = Settling::new();
    }

    /// The plan is published, with everybody who came.
    pub(super) fn note_settled(&mut self) {
        self.settling.since = None;
    }

    fn settles_at(&mut self, now: Instant, led: &Led) -> Instant {
        let names: BTreeSet<String> = led.members.iter().map(name).collect();
        // A member that leads for the first time was there when the last leader went. Who else is new it cannot tell.
        let takes_over = self.settling.known.is_empty() && self.held_in.is_some();
        let known = mem::replace(&mut self.settling.known, names);
        let have_come = !takes_over && !known.is_superset(&self.settling.known);
        let delay = self.config.settle_delay;
        if delay.is_zero() || !have_come {
            return now;
        }
        let since = *self.settling.since.get_or_insert(now);
        after(now, delay).min(after(since, delay.saturating_mul(MOST_DELAYS)))
    }
}

/// A static member that restarts is no newcomer, though it has another id.
fn name(member: &LedMember) -> String {
    let instance_id = member.group_instance_id.clone();
    instance_id.unwrap_or_else(|| member.member_id.to_string())
}
