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
    let plan = try_assign(assigner, model, told, gathered)?;
    check_plan(&plan, assigner, model)?;
    Ok(plan)
}

/// Whether a plan of this assigner for this group can be.
pub(crate) fn check_plan(
    plan: &GroupAssignment,
    assigner: &ErasedAssigner,
    model: &Model,
) -> Result<(), InvalidPlan> {
    match plan.model().stamp() == model.stamp() {
        true => validate(plan, assigner.coverage()),
        false => Err(InvalidPlan::OtherGroup),
    }
}

/// Runs an assigner and takes what comes out as it is: for measuring the call alone.
pub(crate) fn try_assign(
    assigner: &ErasedAssigner,
    model: &Arc<Model>,
    told: &[Result<MetadataPayload, MetadataError>],
    gathered: Gathered,
) -> Result<GroupAssignment, AssignFailure> {
    catch_unwind(AssertUnwindSafe(|| assigner.plan(model, told, gathered)))
        .map_err(|panic| AssignFailure::Panicked(panic_message(panic)))?
        .map_err(AssignFailure::Refused)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::GroupSubscription;
    use crate::assign::TopicInput;
    use crate::assign::build::{MemberInput, ModelBuilder};
    use crate::assign::free::Free;
    use crate::types::{Generation, MemberId};

    /// What becomes of a group of one member and two partitions.
    fn failure(assign: fn(&GroupSubscription) -> Result<GroupAssignment, AssignError>) -> String {
        let mut group = ModelBuilder::new("group", Generation(1), MemberId::new("a"));
        group.topics.insert("t".into(), TopicInput::new(2));
        group.members.push(MemberInput::new(
            MemberId::new("a"),
            vec!["t".into()],
            Err(MetadataError::Missing),
        ));
        let (model, told) = group.build();
        let assigner = ErasedAssigner::new(Free(assign)).unwrap();
        run_assign(&assigner, &Arc::new(model), &told, None).unwrap_err().to_string()
    }

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        assert_eq!(failure(|_| panic!("no idea")), "the assigner panicked: no idea");
        assert_eq!(
            failure(|group| panic!("{group:?}")).split('{').next(),
            Some("the assigner panicked: GroupSubscription ")
        );
        assert_eq!(failure(|_| std::panic::panic_any(7)), "the assigner panicked: (not a text)");
    }

    #[test]
    fn a_refusal_is_handed_on() {
        assert_eq!(failure(|_| Err(AssignError::other("not today"))), "not today");
    }

    #[test]
    fn an_empty_plan_is_refused() {
        let text = "invalid plan: t-0 goes to 0 of 1 members, and so do 1 other partitions";
        assert_eq!(failure(|group| Ok(group.plan())), text);
    }

    #[test]
    fn a_plan_for_another_group_is_refused() {
        let other = |_: &GroupSubscription| Ok(GroupSubscription::<()>::builder().build().plan());
        assert_eq!(failure(other), "invalid plan: it holds members or partitions of another group");
    }
}

/// A rolling change of `T` by the documented pattern: variants appended, the version raised with them.
#[cfg(test)]
#[cfg(feature = "bincode")]
mod rolling_change {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::assign::build::{MemberInput, ModelBuilder};
    use crate::assign::{GroupSubscription, LocalMember, PartitionAssigner};
    use crate::types::{Generation, MemberId};

    #[derive(Deserialize, Serialize)]
    enum Old {
        V1(u32),
    }

    #[derive(Deserialize, Serialize)]
    enum New {
        V1(u32),
        V2 { threads: u32, zone: String },
    }

    struct Old1;
    struct New2;

    impl PartitionAssigner<Old> for Old1 {
        fn name(&self) -> &str {
            "rolling"
        }

        fn metadata(&self, _local: &LocalMember<'_>) -> Old {
            Old::V1(4)
        }

        fn assign(&self, group: &GroupSubscription<Old>) -> Result<GroupAssignment, AssignError> {
            Err(seen(group, |told| match told {
                Old::V1(threads) => format!("{threads}"),
            }))
        }

        fn version(&self) -> u16 {
            1
        }
    }

    impl PartitionAssigner<New> for New2 {
        fn name(&self) -> &str {
            "rolling"
        }

        fn metadata(&self, _local: &LocalMember<'_>) -> New {
            New::V2 { threads: 8, zone: "eu".to_owned() }
        }

        fn assign(&self, group: &GroupSubscription<New>) -> Result<GroupAssignment, AssignError> {
            Err(seen(group, |told| match told {
                New::V1(threads) => format!("{threads} anywhere"),
                New::V2 { threads, zone } => format!("{threads} in {zone}"),
            }))
        }

        fn version(&self) -> u16 {
            2
        }
    }

    /// What a leader made of each member, said as its refusal to plan.
    fn seen<T: DeserializeOwned>(
        group: &GroupSubscription<T>,
        show: impl Fn(&T) -> String,
    ) -> AssignError {
        let members = group.members().map(|member| match member.metadata() {
            Ok(told) => show(told),
            Err(error) => error.to_string(),
        });
        AssignError::other(members.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn old_and_new_share_a_group_whoever_leads() {
        let assigners = [ErasedAssigner::new(Old1).unwrap(), ErasedAssigner::new(New2).unwrap()];
        let mut group = ModelBuilder::new("group", Generation(1), MemberId::new("0"));
        for (assigner, id) in assigners.iter().zip(["0", "1"]) {
            let told = assigner.describe(&LocalMember::new("group")).unwrap();
            group.members.push(MemberInput::new(MemberId::new(id), Vec::new(), Ok(told)));
        }
        let (model, told) = group.build();
        let model = Arc::new(model);
        let [old, new] = assigners
            .map(|leader| run_assign(&leader, &model, &told, None).unwrap_err().to_string());
        assert_eq!(old, "4; written as version 2; this program is at version 1");
        assert_eq!(new, "4 anywhere; 8 in eu");
    }
}
