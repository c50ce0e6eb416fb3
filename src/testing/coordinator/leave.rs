//! LeaveGroup, of one's own accord or by an administrator.

use crate::types::{GroupInstanceId, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember, MemberLeft};

use super::context::Context;
use super::group::{Group, GroupState};

impl Group {
    /// Takes out whoever can be taken out; one is enough for a rebalance.
    pub(super) fn on_leave(
        &mut self,
        context: &mut Context<'_>,
        request: &LeaveGroupRequest,
    ) -> LeaveGroupResponse {
        let members: Vec<_> = request
            .members
            .iter()
            .map(|leaving| left(leaving, self.take_out(context, leaving).err().unwrap_or_default()))
            .collect();
        let any = members.iter().any(|member| member.error.is_none());
        if any && self.state != GroupState::Empty {
            match self.state {
                GroupState::PreparingRebalance => self.try_complete_join(context),
                _ => self.prepare_rebalance(context),
            }
        }
        LeaveGroupResponse { members, ..LeaveGroupResponse::default() }
    }

    fn take_out(
        &mut self,
        context: &mut Context<'_>,
        leaving: &LeavingMember,
    ) -> Result<(), ErrorCode> {
        let (id, instance_id) = (&leaving.member_id, leaving.group_instance_id.as_ref());
        if self.pending_ids.remove(id).is_some() {
            return Ok(());
        }
        let id = match id.is_empty() {
            true => self.id_of(instance_id).ok_or(ErrorCode::UnknownMemberId)?,
            false => {
                self.validate(id, instance_id)?;
                id.clone()
            }
        };
        self.expel(context, &id);
        Ok(())
    }

    fn id_of(&self, instance_id: Option<&GroupInstanceId>) -> Option<MemberId> {
        self.static_members.get(instance_id?).cloned()
    }
}

/// The answer for a group that does not exist.
pub(super) fn nobody_left(request: &LeaveGroupRequest) -> LeaveGroupResponse {
    let members = request.members.iter().map(|leaving| left(leaving, ErrorCode::UnknownMemberId));
    LeaveGroupResponse { members: members.collect(), ..LeaveGroupResponse::default() }
}

fn left(leaving: &LeavingMember, error: ErrorCode) -> MemberLeft {
    MemberLeft {
        member_id: leaving.member_id.clone(),
        group_instance_id: leaving.group_instance_id.as_ref().map(|id| id.as_str().to_owned()),
        error,
    }
}
