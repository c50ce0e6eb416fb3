//! Groups looked at and changed from outside, against fake clusters.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod answers;
#[cfg(feature = "cli")]
mod changing;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod ending;
mod harness;

mod deleting;
mod lagging;
mod listing;
#[cfg(feature = "cli")]
mod live;
mod looking;
mod removing;
mod resetting;
mod selecting;
#[cfg(feature = "cli")]
#[path = "../support/watching.rs"]
mod watching;
