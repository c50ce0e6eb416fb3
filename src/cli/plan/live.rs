//! Groups that live, planned for: a dry run of what a rebalance would do now.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::draft::Draft;
use super::options::PlanOptions;
use super::{Task, plan, save, say};
use crate::admin::{
    Admin, AdminError, Content, GroupDescription, GroupState, GroupType, MemberDescription,
    SubscriptionDescription,
};
use crate::assign::{ErasedAssigner, MetadataError, ModelBuilder, RebalanceProtocol, TopicInput};
use crate::cli::UsageError;
use crate::cli::assigners::{Assigners, Make};
use crate::cli::console::Console;
use crate::cli::outcome::{Ended, Outcome, failure, one_line, worse};
use crate::cli::page::Page;
use crate::cli::partitions::in_words;
use crate::cli::reach;
use crate::cli::table::printable;
use crate::types::{Cluster, Generation, MemberId, Partitions, TopicError};

/// How long until a group that rebalances is looked at again.
const AGAIN: Duration = Duration::from_millis(200);

/// Plans each group that is asked for.
pub(super) fn run(
    options: &PlanOptions,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<Outcome, UsageError> {
    // A name that nobody has is said before anybody is asked.
    if let Some(name) = &options.assigner {
        assigners.find(name, &options.turned)?;
    }
    reach::asking(console, async |console| {
        let admin = options.reach.connect(console).await?.knowing(assigners.readers());
        let deadline = Instant::now() + options.reach.patience();
        let mut outcome = Outcome::Done;
        for (group, place) in options.groups.iter().zip(0..) {
            let came = match Live::read(&admin, group, deadline).await {
                Ok(live) => live.plan(options, assigners, console, place)?,
                Err(problem) => problem.tell(group, console),
            };
            outcome = worse(outcome, came);
        }
        Ok(outcome)
    })
}

/// A stable group of consumers, and its cluster.
struct Live {
    group: GroupDescription,
    cluster: Arc<Cluster>,
}

/// Why there is nothing to plan.
enum Unplannable {
    Asking(AdminError),
    Group(String),
}

impl Live {
    /// Reads a group. One that rebalances is waited for: what its members want is told of a stable one alone.
    async fn read(admin: &Admin, group: &str, deadline: Instant) -> Result<Self, Unplannable> {
        let group = loop {
            let described = admin.describe_group(group).await.map_err(Unplannable::Asking)?;
            let state = &described.state;
            let rebalances =
                matches!(state, GroupState::PreparingRebalance | GroupState::CompletingRebalance);
            if !rebalances {
                break described;
            }
            if Instant::now() + AGAIN > deadline {
                let message = format!(
                    "it is {state}, and what its members want is told of a stable group alone"
                );
                return Err(Unplannable::Group(message));
            }
            sleep(AGAIN).await;
        };
        if group.group_type != GroupType::Classic {
            let (group, group_type) = (group.group_id, group.group_type);
            return Err(Unplannable::Asking(AdminError::NotClassic { group, group_type }));
        }
        if group.protocol_type != "consumer" && !group.members.is_empty() {
            let kind = &group.protocol_type;
            let message = format!("it is of protocol type {kind}, not of consumers");
            return Err(Unplannable::Group(message));
        }
        if group.members.is_empty() {
            return Err(Unplannable::Group(format!("it is {} and has no members", group.state)));
        }
        let cluster = admin.cluster_of(&group).await.map_err(Unplannable::Asking)?;
        Ok(Self { group, cluster })
    }

    fn plan(
        &self,
        options: &PlanOptions,
        assigners: &Assigners,
        console: &mut Console<'_>,
        place: usize,
    ) -> Result<Outcome, Ended> {
        if let Some(path) = &options.save {
            if let Err(error) = std::fs::write(path, save::text(&self.group, &self.cluster)) {
                console.complain(format_args!("{}: {error}\n", path.display()));
                return Ok(Outcome::Failed);
            }
        }
        let own = self.group.protocol.as_deref().unwrap_or_default();
        let name = options.assigner.as_deref().unwrap_or(own);
        if options.assigner.is_none() && !assigners.knows(name) {
            let message = format!(
                "it plans by `{name}`, which this command was made without: `--assigner` names another"
            );
            return Ok(Unplannable::Group(message).tell(&self.group.group_id, console));
        }
        let make = assigners
            .find(name, &options.turned)
            .map_err(|error| Ended::Usage(error.to_string()))?;
        let planned = self.planned(name, make, options, console.page());
        let head = format!("group {}", self.group.group_id);
        Ok(say(planned, &head, options, console, place))
    }

    fn planned(
        &self,
        name: &str,
        make: &Make,
        options: &PlanOptions,
        page: Page,
    ) -> Result<String, String> {
        let erased = make(&options.choices).map_err(|error| format!(": {error}"))?;
        let mut group = self.draft(&erased).build(&options.what_if)?;
        group.notes.splice(0..0, self.notes(name));
        let (own, choices) = (self.group.group_id.clone(), &options.choices);
        plan(Task { name: own, assigner: name, erased, group, choices, page }, options)
    }

    /// The group as it is. What members told counts for the assigner that they told it for.
    fn draft(&self, erased: &ErasedAssigner) -> Draft {
        let holds = erased.protocols().contains(&RebalanceProtocol::Cooperative);
        let generation = self.group.generation().unwrap_or(Generation::NONE);
        let mut builder = ModelBuilder::new(&*self.group.group_id, generation, MemberId::default());
        builder.nodes = self.cluster.nodes().map(|node| (node.id, node.clone())).collect();
        builder.members = self.group.to_plan(holds);
        if self.group.protocol.as_deref() != Some(&**erased.name()) {
            for member in &mut builder.members {
                member.column = Err(MetadataError::Missing);
            }
        }
        let mut draft = Draft::new(builder);
        let topics = draft.builder.members.iter().flat_map(|member| member.topics.iter().cloned());
        for name in topics.collect::<BTreeSet<_>>() {
            let Some(topic) = self.cluster.topic(&name) else { continue };
            match topic.error() {
                None => {
                    let mut input = TopicInput::new(topic.partition_count() as u32);
                    for partition in topic.partitions() {
                        input.describe(partition.leader(), partition.replicas());
                    }
                    draft.builder.topics.insert(name, input);
                }
                Some(TopicError::Missing) => {}
                Some(error) => drop(draft.untold.insert(name, error)),
            }
        }
        draft
    }

    /// What the plan does not show, or cannot.
    fn notes(&self, name: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let own = self.group.protocol.as_deref().unwrap_or_default();
        if own != name {
            notes.push(format!("the group itself plans by {}", printable(own)));
        }
        let is_foreign = |told: &Content<SubscriptionDescription>| {
            told.read().is_some_and(|told| told.words.is_none())
        };
        let members = &self.group.members;
        let foreign = members.iter().filter(|member| is_foreign(&member.subscription)).count();
        // Range and round robin are the same everywhere.
        if own == name && foreign > 0 && name.contains("sticky") {
            notes.push(format!(
                "{foreign} of {} members are of other clients, which plan in their own way when they lead",
                members.len()
            ));
        }
        notes.extend(self.unwanted());
        for member in members {
            let name = printable(member.name());
            if let Content::Unreadable { why, .. } = &member.subscription {
                notes.push(format!("what {name} wants cannot be read ({why}): it gets nothing"));
            }
            if let Content::Unreadable { why, .. } = &member.assignment {
                notes.push(format!("what {name} has cannot be read ({why}): it counts as nothing"));
            }
        }
        notes
    }

    /// What members have of topics to which nobody subscribes, so that no plan knows of it.
    fn unwanted(&self) -> Option<String> {
        let members = &self.group.members;
        let wants = members.iter().filter_map(|member| member.subscription.read());
        let wanted: HashSet<&Arc<str>> = wants.flat_map(|wants| &wants.topics).collect();
        let had =
            members.iter().filter_map(MemberDescription::partitions).flat_map(Partitions::iter);
        let unwanted: Partitions =
            had.filter(|partition| !wanted.contains(&partition.shared_topic())).collect();
        let words = || format!("nobody subscribes to what members have: {}", in_words(&unwanted));
        (!unwanted.is_empty()).then(words)
    }
}

impl Unplannable {
    fn tell(&self, group: &str, console: &mut Console<'_>) -> Outcome {
        match self {
            Self::Asking(error) => {
                console.complain(format_args!("{}\n", one_line(error)));
                failure(error)
            }
            Self::Group(problem) => {
                let words = printable(&format!("group {group}: {problem}"));
                console.complain(format_args!("{words}\n"));
                Outcome::Failed
            }
        }
    }
}
