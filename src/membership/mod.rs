//! Pure. One member's side of the classic group protocol, without clock, sockets, topics or the application's code.
//!
//! The contract is one sentence: tell the machine something, then do everything that [`Membership::poll_output`]
//! gives out, then sleep no later than [`Membership::poll_timeout`].

mod config;
mod event;
mod output;

pub(crate) use config::{LeavePolicy, MembershipConfig};
pub(crate) use event::{Ended, Event, LossCause, MemberState, RevocationId};
pub(crate) use output::{
    CommitEnd, CommitId, Failure, GroupRequest, GroupResponse, Identity, Lane, Output, RequestId,
    Work, WorkId,
};
