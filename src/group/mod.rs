//! Where machine, clock, connections and the application meet.

mod builder;
mod command;
mod driver;
mod event;
mod gather;
mod handle;
mod hosted;
mod jobs;
mod join;
mod mailbox;
mod member;
mod options;
#[cfg(any(test, feature = "test-util"))]
mod polls;
mod properties;
mod settings;
mod status;
mod stream;

pub use builder::GroupMemberBuilder;
pub use event::{AssignFailed, Assigned, Event, Hold, Lost, Revoked};
pub use gather::{BoxError, Gather, GroupReader, Topics};
pub use handle::{GroupMetadata, MemberHandle};
pub use member::GroupMember;
pub use properties::{PROPERTIES, Plane, Property};
pub use status::{Counters, Round, Status};
