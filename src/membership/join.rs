//! JoinGroup, and what its answer makes of us.

use std::time::{Duration, Instant};

use super::round::Step;
use super::timers::{Timer, after};
use super::{
    Ended, Event, Failure, GroupRequest, GroupResponse, InFlight, Lane, LossCause, Membership,
    Output, Role, Work,
};
use crate::protocol::{Cause, Holding, Led, LedMember};
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::api::{JoinGroupRequest, JoinGroupResponse};
use crate::wire::{ApiKey, ErrorCode, Recovery, recovery};

/// How much longer than a round a parked request may take: the broker's own timers run first.
const PARKED_GRACE: Duration = Duration::from_secs(5);

impl<H: Holding> Membership<H> {
    pub(super) fn send_join(&mut self, now: Instant) {
        let Some(protocols) = self.round.described.clone() else { return };
        let request = JoinGroupRequest {
            group_id: self.config.group_id.clone(),
            session_timeout: self.config.session_timeout,
            rebalance_timeout: self.config.rebalance_timeout,
            member_id: self.identity.member_id.clone(),
            group_instance_id: self.identity.group_instance_id.clone(),
            protocol_type: self.config.protocol_type.clone(),
            protocols,
            reason: self.round.wanted.as_ref().map(Cause::to_string),
        };
        let span = self.parked_span().max(self.config.request_timeout);
        self.round.step = Step::Joining;
        self.send_parked(now, ApiKey::JoinGroup, GroupRequest::Join(request), span);
        self.stop_heartbeats_while_joining();
    }

    /// Sends JoinGroup or SyncGroup: one is out at a time, and each has a deadline, since some are never answered.
    pub(super) fn send_parked(
        &mut self,
        now: Instant,
        api: ApiKey,
        request: GroupRequest,
        span: Duration,
    ) {
        let sent = self.in_flight(now, api);
        let deadline = after(now, span);
        self.timers.set(Timer::RoundAnswer, deadline);
        let id = sent.id;
        self.round.out = Some(sent);
        self.round.is_overtaken = false;
        self.ask_again_in_time(now, &request);
        self.outputs.push_back(Output::Send { id, lane: Lane::Rounds, request, deadline });
    }

    /// Who holds something (KIP-429) and was not heard would be left behind with it when the round ends. So before it
    /// can end, the same request goes out once more: it takes the place of one that is parked, and costs nothing.
    fn ask_again_in_time(&mut self, now: Instant, request: &GroupRequest) {
        self.timers.stop(Timer::AskAgain);
        self.round.asked = Some(request.clone()).filter(|_| !self.held.is_empty());
        let before_its_end = self.revoke_until(now);
        if self.round.asked.is_some() && before_its_end > now {
            self.timers.set(Timer::AskAgain, before_its_end);
        }
    }

    pub(super) fn on_ask_again(&mut self, now: Instant) {
        let Some(request) = self.round.asked.take() else { return };
        let Some(sent) = self.round.out.take() else { return };
        self.note_abandoned(now, &sent);
        self.drop_rounds();
        let span = self.parked_span().max(self.config.request_timeout);
        self.send_parked(now, sent.api, request, span);
    }

    pub(super) fn parked_span(&self) -> Duration {
        self.config.rebalance_timeout.saturating_add(PARKED_GRACE)
    }

    pub(super) fn on_join_answer(
        &mut self,
        now: Instant,
        sent: &InFlight,
        answer: Result<GroupResponse, Failure>,
    ) {
        match answer {
            Ok(GroupResponse::Join(joined)) if joined.error.is_none() => {
                self.on_joined(now, sent, joined);
            }
            Ok(GroupResponse::Join(refusal)) => self.on_join_refused(now, sent, &refusal),
            Ok(_) => self.on_round_unanswered(now, sent, Failure::Unreadable),
            Err(failure) => self.on_round_unanswered(now, sent, failure),
        }
    }

    /// The group's next generation has us. Its leader plans; everybody syncs.
    fn on_joined(&mut self, now: Instant, sent: &InFlight, joined: JoinGroupResponse) {
        self.heard_from_coordinator();
        let protocol = match self.check_joined(&joined) {
            Ok(protocol) => protocol,
            Err(ended) => {
                self.adopt_id(&joined.member_id);
                return self.fail(now, ended);
            }
        };
        if self.has_missed_one(now, joined.generation) {
            self.lose_all(now, LossCause::GenerationOver);
        }
        // An unchanged follower is answered at once, which starts neither a generation nor its session. The generation
        // may even be news to it, if it is static and was absent.
        let starts = self.round.id_is_pending
            || joined.generation > self.identity.generation && self.was_waited_for(now);
        let is_new = sent.identity.member_id.is_empty() || starts && !self.round.join_is_lost;
        self.round.join_is_lost = false;
        self.adopt_id(&joined.member_id);
        self.round.id_is_pending = false;
        self.round.refused_since = None;
        self.identity.generation = joined.generation;
        self.chosen = Some(protocol.clone());
        self.leader = joined.leader.clone();
        self.role = self.role_in(&joined);
        self.start_heartbeats(now, sent, is_new);
        self.divide(now, protocol, joined);
    }

    /// Whether a generation may have come and gone without us, whose leader did not know all that we hold.
    fn has_missed_one(&self, now: Instant, joined: Generation) -> bool {
        let next = self.identity.generation.0.saturating_add(1);
        !self.held.is_empty() && joined.0 > next && !self.was_waited_for(now)
    }

    fn adopt_id(&mut self, member_id: &MemberId) {
        if !member_id.is_empty() {
            self.identity.member_id = member_id.clone();
        }
    }

    fn check_joined(&self, joined: &JoinGroupResponse) -> Result<String, Ended> {
        if joined.leader.is_empty() {
            return Err(Ended::ManagedByBroker);
        }
        self.check_protocol_type(joined.protocol_type.as_deref())?;
        let offered = self.round.described.as_ref().or(self.round.last_described.as_ref());
        let ours = |name: &&String| offered.is_some_and(|all| all.iter().any(|(n, _)| n == *name));
        match joined.protocol.as_ref().filter(ours) {
            Some(protocol) => Ok(protocol.clone()),
            None => Err(Ended::Inconsistent {
                what: format!("protocol {:?}, which was not offered", joined.protocol),
            }),
        }
    }

    pub(super) fn check_protocol_type(&self, protocol_type: Option<&str>) -> Result<(), Ended> {
        match protocol_type {
            Some(other) if other != self.config.protocol_type => {
                Err(Ended::Inconsistent { what: format!("protocol type {other:?}") })
            }
            _ => Ok(()),
        }
    }

    fn role_in(&self, joined: &JoinGroupResponse) -> Role {
        let instance = self.identity.group_instance_id.as_ref();
        if joined.leader == self.identity.member_id {
            // Without members there is nothing to plan, whatever the broker meant by it.
            let plans = !joined.skip_assignment && !joined.members.is_empty();
            if plans { Role::Leader } else { Role::Watcher }
        } else if instance.is_some_and(|instance| is_former_id(&joined.leader, instance)) {
            Role::Watcher
        } else {
            Role::Follower
        }
    }

    fn divide(&mut self, now: Instant, protocol: String, joined: JoinGroupResponse) {
        let deadline = after(now, self.config.rebalance_timeout / 10 * 9);
        let is_leader = self.role == Role::Leader;
        self.round.watching = None;
        if self.role != Role::Follower {
            let id = self.next_work();
            let led = Led {
                generation: joined.generation,
                protocol,
                member_id: self.identity.member_id.clone(),
                members: joined.members.into_iter().map(LedMember::from).collect(),
                skip_assignment: !is_leader,
            };
            if is_leader {
                self.round.step = Step::Leading(id);
                return self.lead_when_settled(now, id, led, deadline);
            }
            self.round.watching = Some(id);
            self.outputs.push_back(Output::Work { id, work: Work::Lead { led, deadline } });
        }
        self.forget_settling();
        self.send_sync(now, Vec::new());
    }

    fn on_join_refused(&mut self, now: Instant, sent: &InFlight, refusal: &JoinGroupResponse) {
        let code = refusal.error;
        match recovery(ApiKey::JoinGroup, code) {
            Recovery::RejoinWithGivenId => self.on_id_given(now, &refusal.member_id),
            Recovery::NoCommonProtocol => self.on_no_common_protocol(now),
            Recovery::GroupFull => self.on_group_full(now, sent),
            other => self.recover_round(now, ApiKey::JoinGroup, code, other),
        }
    }

    /// KIP-394: at once, for a pending id holds the whole group up. Static members are never asked to.
    fn on_id_given(&mut self, now: Instant, member_id: &MemberId) {
        self.heard_from_coordinator();
        let usable = !member_id.is_empty() && self.identity.group_instance_id.is_none();
        if usable {
            self.identity.member_id = member_id.clone();
            self.round.id_is_pending = true;
        }
        self.retry_round(now, !usable);
    }

    /// Members that speak our protocol may be about to replace those that do not.
    fn on_no_common_protocol(&mut self, now: Instant) {
        self.heard_from_coordinator();
        let since = *self.round.refused_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= self.config.api_timeout {
            return self.fail(now, Ended::NoCommonProtocol);
        }
        if since == now {
            self.tell(now, Event::NoCommonProtocol);
        }
        self.retry_round(now, true);
    }

    /// A static member that restarts is refused by a group that is full with its own old entry, until that expires.
    fn on_group_full(&mut self, now: Instant, sent: &InFlight) {
        self.heard_from_coordinator();
        let restarts =
            self.identity.group_instance_id.is_some() && sent.identity.member_id.is_empty();
        let since = *self.round.refused_since.get_or_insert(now);
        let waited = now.saturating_duration_since(since);
        if !restarts || waited > self.config.session_timeout.saturating_add(PARKED_GRACE) {
            return self.fail(now, Ended::GroupFull);
        }
        self.retry_round(now, true);
    }

    /// No answer to JoinGroup or SyncGroup: perhaps no coordinator, perhaps one that will never say.
    pub(super) fn on_round_unanswered(&mut self, now: Instant, sent: &InFlight, why: Failure) {
        match why {
            Failure::Unsupported(message) => {
                return self.fail(now, Ended::Unsupported { message });
            }
            Failure::Disconnected | Failure::Denied(_) => self.note_abandoned(now, sent),
            Failure::TimedOut | Failure::Unreadable | Failure::Refused(_) => {
                self.note_abandoned(now, sent);
                self.drop_rounds();
            }
        }
        self.lose_coordinator(now);
        self.want(Cause::Unanswered);
        self.retry_round(now, false);
    }

    /// JoinGroup again, with the same words if they still are true.
    pub(super) fn retry_round(&mut self, now: Instant, wait: bool) {
        self.want(Cause::GroupRebalancing);
        self.round.step = match self.round.described {
            Some(_) => Step::Ready,
            None => Step::Idle,
        };
        self.watch_ownership();
        if wait {
            self.wait_before_round(now);
        }
    }

    pub(super) fn wait_before_round(&mut self, now: Instant) {
        self.round.tries = self.round.tries.saturating_add(1);
        let wait = self.jitter.backoff(
            self.config.retry_backoff,
            self.config.retry_backoff_max,
            self.round.tries,
        );
        self.timers.set(Timer::Round, after(now, wait));
    }

    pub(super) fn fail_code(&mut self, now: Instant, api: ApiKey, code: ErrorCode) {
        self.fail(now, Ended::Refused { api, code });
    }
}

/// Whether `leader` is an id that the broker gave to an earlier life of `instance`: up to JoinGroup v8 a leader that
/// restarted is told its old id (KIP-814). The broker's uuid has 36 characters, so that "a" does not take "a-b" for its
/// own.
fn is_former_id(leader: &MemberId, instance: &GroupInstanceId) -> bool {
    leader
        .as_str()
        .strip_prefix(instance.as_str())
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|uuid| uuid.len() == 36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_id_of_ours_is_told_from_one_of_a_similar_instance() {
        let instance = GroupInstanceId::new("a").unwrap();
        let uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
        for (leader, ours) in
            [(format!("a-{uuid}"), true), (format!("a-b-{uuid}"), false), ("a-1".to_owned(), false)]
        {
            assert_eq!(is_former_id(&MemberId::new(leader.as_str()), &instance), ours, "{leader}");
        }
    }
}
