//! The admin client's requests about groups.

use std::collections::BTreeMap;

use kafka_protocol::{
    ResponseError,
    messages::{
        DeleteGroupsRequest, DescribeGroupsRequest, FindCoordinatorRequest, GroupId,
        LeaveGroupRequest, ListGroupsRequest, OffsetFetchRequest,
        describe_groups_response::DescribedGroup, leave_group_request::MemberIdentity,
        list_groups_response::ListedGroup, offset_fetch_request::OffsetFetchRequestGroup,
    },
    protocol::Request,
};

use super::{
    admin::{Admin, PATIENCE, string},
    rpc,
};
use crate::common::wait::eventually;

impl Admin {
    /// The node that coordinates a group, once the cluster has decided.
    pub(crate) fn find_coordinator(&self, group: &str) -> i32 {
        eventually(PATIENCE, &format!("{group} has a coordinator"), || self.coordinator(group).ok())
            .0
    }

    /// The node that coordinates a group, and its address.
    pub(super) fn coordinator(&self, group: &str) -> Result<(i32, String), String> {
        let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![string(group)]);
        let answer = self.call(4, &request).map_err(|error| error.to_string())?;
        let coordinator = answer.coordinators.first().ok_or("no coordinator in the answer")?;
        match ResponseError::try_from_code(coordinator.error_code) {
            None => Ok((
                coordinator.node_id.0,
                format!("{}:{}", coordinator.host.as_str(), coordinator.port),
            )),
            Some(error) => Err(format!("{error:?}")),
        }
    }

    /// Whether the group's coordinator is found and has loaded what it knows.
    pub(super) fn serves(&self, group: &str) -> bool {
        let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(string(group))]);
        let Ok((_, address)) = self.coordinator(group) else { return false };
        let answer = rpc::call(&address, 5, &request);
        answer.is_ok_and(|answer| answer.groups.iter().all(|group| group.error_code == 0))
    }

    /// A group as its coordinator knows it; its state is `Dead` where there is none.
    pub(crate) fn describe_group(&self, group: &str) -> DescribedGroup {
        let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(string(group))]);
        self.ask_coordinator(group, 5, &request, |answer| {
            let described = answer.groups.into_iter().next()?;
            Some((described.error_code, described))
        })
    }

    /// The groups of all brokers that answer.
    pub(crate) fn list_groups(&self) -> Vec<ListedGroup> {
        let brokers =
            eventually(PATIENCE, "a broker answers", || self.metadata(&["none-such"]).ok()).brokers;
        let addresses =
            brokers.into_iter().map(|broker| format!("{}:{}", broker.host.as_str(), broker.port));
        addresses
            .flat_map(|address| rpc::call(&address, 4, &ListGroupsRequest::default()))
            .flat_map(|answer| answer.groups)
            .collect()
    }

    /// Removes static members; each with what the coordinator said of it, 0 for done.
    pub(crate) fn leave_group(&self, group: &str, instances: &[&str]) -> Vec<(String, i16)> {
        let members = instances.iter().map(|instance| {
            MemberIdentity::default()
                .with_group_instance_id(Some(string(instance)))
                .with_reason(Some(string("a test")))
        });
        let request = LeaveGroupRequest::default()
            .with_group_id(GroupId(string(group)))
            .with_members(members.collect());
        let members = self.ask_coordinator(group, 5, &request, |answer| {
            Some((answer.error_code, answer.members))
        });
        let told = members.into_iter().map(|member| {
            (
                member.group_instance_id.map_or_else(String::new, |id| id.as_str().to_owned()),
                member.error_code,
            )
        });
        told.collect()
    }

    /// Deletes a group without members; what the coordinator said, 0 for done.
    pub(crate) fn delete_group(&self, group: &str) -> i16 {
        let request =
            DeleteGroupsRequest::default().with_groups_names(vec![GroupId(string(group))]);
        self.ask_coordinator(group, 2, &request, |answer| {
            let code = answer.results.first()?.error_code;
            Some((code, code))
        })
    }

    /// The offsets that a group has committed.
    pub(crate) fn committed(&self, group: &str) -> BTreeMap<(String, i32), i64> {
        let wanted = OffsetFetchRequestGroup::default()
            .with_group_id(GroupId(string(group)))
            .with_topics(None);
        let request = OffsetFetchRequest::default().with_groups(vec![wanted]);
        let answer = self.ask_coordinator(group, 8, &request, |answer| {
            let group = answer.groups.into_iter().next()?;
            Some((group.error_code, group))
        });
        let topics = answer.topics.iter().flat_map(|topic| {
            let name = topic.name.as_str();
            topic
                .partitions
                .iter()
                .map(move |at| ((name.to_owned(), at.partition_index), at.committed_offset))
        });
        topics.collect()
    }

    /// Asks the coordinator, again where it moves or loads. `read` gives the group's error code and the result.
    fn ask_coordinator<R: Request, T>(
        &self,
        group: &str,
        version: i16,
        request: &R,
        read: impl Fn(R::Response) -> Option<(i16, T)>,
    ) -> T {
        eventually(PATIENCE, &format!("the coordinator of {group} answers"), || {
            let (_, address) = self.coordinator(group).ok()?;
            let (code, result) = read(rpc::call(&address, version, request).ok()?)?;
            let passing = ResponseError::try_from_code(code).is_some_and(|error| {
                use ResponseError as E;
                matches!(
                    error,
                    E::CoordinatorNotAvailable | E::CoordinatorLoadInProgress | E::NotCoordinator
                )
            });
            (!passing).then_some(result)
        })
    }
}
