//! The one door to an assigner: whatever it does, a plan that holds or a typed failure comes out.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::GroupAssignment;
use super::erased::{ErasedAssigner, MetadataPayload};
use super::error::{AssignError, MetadataError};
use super::model::Model;
use super::validate::{InvalidPlan, validate};
use super::view::Gathered;

/// Why a round has no plan. All of these are handled alike, by the leader's `on_assign_error`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssignFailure {
    /// The assigner refused.
    #[error(transparent)]
    Refused(#[from] AssignError),
    /// The assigner panicked. Nothing of it is left running.
    #[error("the assigner panicked: {0}")]
    Panicked(String),
    /// The assigner was not done in time. Its thread is left to it; none other starts for this member meanwhile.
    #[error("the assigner was not done after {after:?}")]
    TimedOut {
        /// How long it was given.
        after: Duration,
    },
    /// What the assigner planned cannot be.
    #[error("invalid plan: {0}")]
    Invalid(#[from] InvalidPlan),
}

/// Runs an assigner over a group and checks what comes out. `told` is in the order of the model's members.
///
/// Runs the application's code for as long as that likes: a matter for a thread of its own.
pub(crate) fn run_assign(
    assigner: &ErasedAssigner,
    model: &Arc<Model>,
    told: &[Result<MetadataPayload, MetadataError>],
    gathered: Gathered,
) -> Result<GroupAssignment, AssignFailure> {
    let plan = catch_unwind(AssertUnwindSafe(|| assigner.plan(model, told, gathered)))
        .map_err(|panic| AssignFailure::Panicked(panic_message(panic)))??;
    if plan.model().stamp() != model.stamp() {
        return Err(InvalidPlan::OtherGroup.into());
    }
    validate(&plan, assigner.coverage())?;
    Ok(plan)
}

/// What a panic said.
pub(crate) fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let panic = match panic.downcast::<String>() {
        Ok(text) => return *text,
        Err(panic) => panic,
    };
    match panic.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(panic) => {
            // A value of the application's own type: dropping it runs its code, which may panic again.
            std::mem::forget(panic);
            "(not a text)".to_owned()
        }
    }
}
