//! The assigner kit: what groups live through, run over an assigner.

mod change;
mod codec;
mod group;
mod report;
mod rounds;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::codec::codec_fault;
use self::group::Group;
use self::rounds::Run;
use crate::assign::{ErasedAssigner, PartitionAssigner};
use crate::types::Partitions;

pub use change::GroupChange;
pub use report::{AssignerFault, AssignerReport, ChangeReport, CheckedGroup};

/// How many groups are driven, unless said otherwise.
const GROUPS: usize = 24;

/// Of how many members the assigners are asked for; further members have those of the first.
const VARIANTS: usize = 5;

/// Drives an assigner through what groups live through, and reports what came of it.
///
/// When to use it: in a unit test of every assigner. All members run `assigner`; where they should differ, or the
/// assigner reads what a `Gather` brought, [`AssignerCheck`].
///
/// ```
/// use kafka_group::assign::StickyAssigner;
/// use kafka_group::testing::check_assigner;
///
/// let report = check_assigner(StickyAssigner::default());
/// report.assert_sound();
/// assert!(report.is_balanced() && report.moves_least(), "{report}");
/// ```
///
/// Sound is an assigner whose plans are valid, the same for the same group whoever leads and however it is told, and
/// reached within two rounds; whose static members get theirs back when they restart; and whose metadata comes back
/// from its bytes. An assigner may refuse a group, but not all of them. How well it balances and how much it moves is
/// reported beside the best that is possible, and is no fault.
pub fn check_assigner<A, T>(assigner: A) -> AssignerReport
where
    A: PartitionAssigner<T>,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let mut once = Some(assigner);
    AssignerCheck::of_variants(|_| once.take()).run()
}

/// A check of an assigner, with more to choose than [`check_assigner`] has.
///
/// ```
/// # use kafka_group::assign::{AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, StickyPlanner};
/// # struct ByThreads { threads: u32 }
/// # impl PartitionAssigner<u32> for ByThreads {
/// #     fn name(&self) -> &str { "by-threads" }
/// #     fn metadata(&self, _local: &LocalMember<'_>) -> u32 { self.threads }
/// #     fn assign(&self, group: &GroupSubscription<u32>) -> Result<GroupAssignment, AssignError> {
/// #         Ok(StickyPlanner::new().capacity(|member| member.metadata().copied().unwrap_or(1)).plan(group))
/// #     }
/// # }
/// use kafka_group::testing::AssignerCheck;
///
/// AssignerCheck::new(|member| ByThreads { threads: 1 + member as u32 }).run().assert_sound();
/// ```
pub struct AssignerCheck {
    variants: Result<Vec<Variant>, AssignerFault>,
    gather: Option<Box<Gathering>>,
    groups: usize,
    seed: u64,
}

type Gathering = dyn Fn(&Partitions) -> Arc<dyn Any + Send + Sync>;

/// The assigner of some members.
struct Variant {
    assigner: ErasedAssigner,
    codec: Option<String>,
}

impl AssignerCheck {
    /// A check of groups in which each member has an assigner of its own: that of the `n`-th.
    ///
    /// What they tell the leader may differ; what they would plan, as leaders, may not.
    pub fn new<A, T>(assigner_of: impl Fn(usize) -> A) -> Self
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        Self::of_variants(|member| (member < VARIANTS).then(|| assigner_of(member)))
    }

    /// What the leader's `Gather` would bring for these partitions. Default: it brings nothing.
    #[must_use]
    pub fn gathered<G: Any + Send + Sync>(
        mut self,
        gather: impl Fn(&Partitions) -> G + 'static,
    ) -> Self {
        self.gather = Some(Box::new(move |partitions| Arc::new(gather(partitions))));
        self
    }

    /// How many groups are driven. Default: 24.
    #[must_use]
    pub fn groups(mut self, groups: usize) -> Self {
        self.groups = groups;
        self
    }

    /// What the groups are drawn from; the same seed draws the same groups. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Drives the assigner. Runs its code, panics contained.
    pub fn run(&self) -> AssignerReport {
        let variants = match &self.variants {
            Ok(variants) => variants,
            Err(unfit) => return AssignerReport::unfit(self.seed, unfit.clone()),
        };
        let mut report = AssignerReport::new(variants, self.groups, self.seed);
        for number in 0..self.groups as u64 {
            let seed = self.seed.wrapping_add(number);
            let mut dice = fastrand::Rng::with_seed(seed);
            let group = Group::random(&mut dice);
            let gather = self.gather.as_deref();
            Run { variants, gather, group, dice, seed }.drive(&mut report);
        }
        report.finish();
        report
    }

    fn of_variants<A, T>(assigner_of: impl FnMut(usize) -> Option<A>) -> Self
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let made = (0..).map_while(assigner_of).map(|assigner| {
            let codec = codec_fault(&assigner);
            let unfit =
                |unfit: crate::assign::UnfitAssigner| AssignerFault::Unfit(unfit.to_string());
            let assigner = ErasedAssigner::new(assigner).map_err(unfit)?;
            Ok(Variant { assigner, codec })
        });
        Self { variants: made.collect(), gather: None, groups: GROUPS, seed: 0 }
    }
}

impl fmt::Debug for AssignerCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssignerCheck")
            .field("groups", &self.groups)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
