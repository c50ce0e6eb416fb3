//! Test doubles: a group's coordinator without a broker, and a broker without Kafka.
//!
//! [`FakeCoordinator`] is the broker's half of the classic group protocol as Kafka 4.4 does it, pure and in virtual
//! time. [`FakeBroker`] and [`FakeCluster`] put it behind TCP ports of this machine, with scripted faults. Each rule
//! of the coordinator is a scenario that runs unchanged against the fake and against a real Kafka
//! (`tests/conformance`), and a difference fails.
//!
//! [`check_assigner`] drives an assigner of the application's through what groups live through, without any of these.

mod broker;
mod coordinator;
#[doc(hidden)]
pub mod fuzz;
mod kit;
#[doc(hidden)]
pub mod leader;
mod sim;

pub use crate::wire::{ApiKey, ErrorCode};
pub use broker::{FakeBroker, FakeCluster, FakeClusterBuilder, SeenRequest, Verdict};
pub use coordinator::{CoordinatorSettings, FakeCoordinator};
pub use kit::{
    AssignerCheck, AssignerFault, AssignerReport, ChangeReport, CheckedGroup, GroupChange,
    check_assigner,
};
pub(crate) use sim::PieceProtocol;
#[cfg(test)]
pub(crate) use sim::Pieces;
pub use sim::{Rule, Sim, SimMember, Violation};

#[expect(unused_imports, reason = "the simulation speaks to the coordinator in these")]
pub(crate) use coordinator::{
    ConnectionId, CoordinatorRequest, CoordinatorResponse, GroupState, Loss, RequestBody,
    RequestTag, ResponseBody,
};
