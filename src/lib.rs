#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_auto_cfg))]
#![warn(clippy::unwrap_used)]

pub mod admin;
pub mod assign;
#[cfg(feature = "cli")]
pub mod cli;
pub mod client;
#[cfg(feature = "consumer")]
mod consumer;
mod error;
mod group;
mod membership;
pub mod protocol;
pub mod security;
mod subscription;
#[cfg(any(test, feature = "test-util"))]
pub mod testing;
mod transport;
pub mod types;
mod wire;

#[cfg(any(test, feature = "test-util"))]
#[doc(hidden)]
pub use group::PieceMember;

pub use client::Client;
#[cfg(feature = "consumer")]
pub use consumer::{
    AutoOffsetReset, Consumer, ConsumerBuilder, Header, RebalanceListener, Record, Timestamp,
    list_to_offsets, offsets_to_list,
};
pub use error::{CommitError, Error};
pub use group::{
    AssignFailed, Assigned, BoxError, Counters, Event, Gather, GroupMember, GroupMemberBuilder,
    GroupMetadata, GroupReader, Hold, Lost, MemberHandle, PROPERTIES, Plane, Property, Revoked,
    Role, Round, Status, TakeOver, Topics, registry,
};
pub use membership::{LeavePolicy, LossCause, MemberState, OnFenced};
pub use protocol::Cause;
pub use subscription::OnAssignError;
pub use wire::{ApiKey, ErrorCode};
