//! Members under test: started in one line, watched by what they say.

use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::{Event, GroupMember, GroupMemberBuilder};

/// How long anything may take on a slow machine before a test gives up.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// A member of `group` on range, with short times.
pub(crate) fn member(bootstrap: &str, group: &str, topic: &str) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(bootstrap)
        .group_id(group)
        .subscribe([topic])
        .session_timeout(Duration::from_secs(10))
        .max_poll_interval(Duration::from_secs(30))
        .assigner(RangeAssigner::default())
}

/// The next event, in time.
pub(crate) async fn next(member: &mut GroupMember) -> Event {
    let event = tokio::time::timeout(SOON, member.next()).await.expect("an event in time");
    event.expect("no error").expect("not the end")
}

/// Takes events until one is an assignment of so many partitions.
pub(crate) async fn assigned(member: &mut GroupMember, count: usize) -> kafka_group::Assigned {
    loop {
        match next(member).await {
            Event::Assigned(assigned) if assigned.all().len() == count => return assigned,
            _ => {}
        }
    }
}
