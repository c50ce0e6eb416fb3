//! Where machine, clock, connections and the application meet.

mod builder;
mod command;
#[cfg(feature = "consumer")]
mod data_plane;
mod driver;
mod event;
mod gather;
mod handle;
mod hosted;
mod instance;
mod jobs;
mod join;
mod mailbox;
mod member;
mod options;
#[cfg(any(test, feature = "test-util"))]
mod pieces;
#[cfg(any(test, feature = "test-util"))]
mod polls;
mod properties;
mod reach;
pub mod registry;
mod settings;
mod status;
mod stream;
mod take_over;

pub use builder::GroupMemberBuilder;
#[cfg(feature = "consumer")]
pub(crate) use data_plane::{DataPlane, Edge};
#[cfg(feature = "consumer")]
pub(crate) use driver::now;
#[cfg(feature = "consumer")]
pub(crate) use driver::sleep_until;
pub use event::{AssignFailed, Assigned, Event, Hold, Lost, Revoked, Role};
pub use gather::{BoxError, Gather, GroupReader, Topics};
pub use handle::{GroupMetadata, MemberHandle};
pub use member::GroupMember;
#[cfg(any(test, feature = "test-util"))]
pub use pieces::PieceMember;
#[cfg(feature = "consumer")]
pub(crate) use properties::unknown as unknown_property;
pub use properties::{PROPERTIES, Plane, Property};
pub use status::{Counters, Round, Status};
pub use take_over::TakeOver;

#[cfg(feature = "consumer")]
pub(crate) use crate::membership::{LeavePolicy, OnFenced};
