//! Where machine, clock, connections and the application meet.

mod command;
mod driver;
mod event;
mod gather;
mod hosted;
mod jobs;
mod mailbox;
mod options;
mod properties;
mod settings;
mod status;

pub use event::{AssignFailed, Assigned, Event, Hold, Lost, Revoked};
pub use gather::{BoxError, Gather, GroupReader, Topics};
pub use properties::{PROPERTIES, Plane, Property};
pub use status::{Counters, Round, Status};
