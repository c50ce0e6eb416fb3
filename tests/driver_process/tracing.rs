//! What the log says of a round: one line, one span, and nothing that is nobody's business.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, RangeAssigner,
    StickyAssigner,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::harness::{assigned, bare, member, one_broker, soon};
use crate::{Alone, alone};

type Fields = BTreeMap<&'static str, String>;

/// Everything that was said on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Said>>);

#[derive(Default)]
struct Said {
    lines: Vec<(Level, Fields)>,
    spans: Vec<(&'static str, Fields)>,
    /// Which of them has an id now: ids are used again.
    open: BTreeMap<u64, usize>,
}

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        write!(text, "{value:?}").unwrap();
        self.0.insert(field.name(), text);
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Into(&mut fields));
        if event.metadata().target().starts_with("kafka_group") {
            self.0.lock().unwrap().lines.push((*event.metadata().level(), fields));
        }
    }

    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let mut fields = Fields::new();
        span.record(&mut Into(&mut fields));
        let mut said = self.0.lock().unwrap();
        let place = said.spans.len();
        said.open.insert(id.into_u64(), place);
        said.spans.push((span.metadata().name(), fields));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let said = &mut *self.0.lock().unwrap();
        if let Some(place) = said.open.get(&id.into_u64()) {
            values.record(&mut Into(&mut said.spans[*place].1));
        }
    }
}

impl Log {
    /// Listens to this thread. What others say meanwhile could make tracing forget that somebody listens.
    fn listen() -> (Self, (DefaultGuard, Alone)) {
        let alone = alone();
        let log = Self::default();
        let guard = tracing_subscriber::registry().with(log.clone()).set_default();
        (log, (guard, alone))
    }

    fn lines(&self) -> Vec<(Level, Fields)> {
        self.0.lock().unwrap().lines.clone()
    }

    /// The spans of rounds that came to a plan.
    fn rounds(&self) -> Vec<Fields> {
        let said = self.0.lock().unwrap();
        let rounds = said.spans.iter().filter(|(name, _)| *name == "group.round");
        rounds.map(|(_, fields)| fields.clone()).filter(|it| it.contains_key("plan")).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_join_and_a_rebalance_are_one_line_a_round_and_nothing_louder() {
    let (log, _listening) = Log::listen();
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));

    let lines = log.lines();
    let loud: Vec<_> = lines.iter().filter(|(level, _)| *level < Level::INFO).collect();
    assert!(loud.is_empty(), "{loud:?}");
    let told: Vec<_> = lines.iter().filter(|(level, _)| *level == Level::INFO).collect();
    assert_eq!(told.len(), 3, "two rounds of ann's, one of bob's: {told:?}");
    for (_, fields) in told {
        for field in ["group", "generation", "leader", "plan", "cause", "protocol"] {
            assert!(fields.contains_key(field), "{field} in {fields:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_round_is_one_span_at_each_member_with_the_same_generation_leader_and_plan() {
    let (log, _listening) = Log::listen();
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let (anns, _) = tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));

    let generation = anns.generation().0.to_string();
    let of_the_last = |round: &Fields| round["generation"] == generation;
    let rounds: Vec<_> = log.rounds().into_iter().filter(of_the_last).collect();
    let [one, two] = rounds.as_slice() else { panic!("{rounds:?}") };
    for field in ["group", "generation", "leader", "plan"] {
        assert_eq!(one[field], two[field], "{field}");
    }
    assert_ne!(one["member_id"], two["member_id"]);
    assert!([one, two].iter().any(|round| round["leader"] == round["member_id"]));
    assert!(one["plan"].chars().any(|digit| digit != '0'), "{one:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_with_one_eager_name_is_warned_of_once() {
    let (log, _listening) = Log::listen();
    let cluster = one_broker();
    let both =
        bare(&cluster).assigner(StickyAssigner::default()).assigner(RangeAssigner::default());
    let mut ann = soon(both.join()).await.unwrap();
    assigned(&mut ann, 4).await;
    ann.handle().rejoin("again").await.unwrap();
    assigned(&mut ann, 4).await;
    let lines = log.lines();
    let warnings: Vec<_> = lines.iter().filter(|(level, _)| *level == Level::WARN).collect();
    let [(_, warning)] = &warnings[..] else { panic!("{warnings:?}") };
    let named = (warning["eager"].trim_matches('"'), warning["cooperative"].trim_matches('"'));
    assert_eq!(named, ("range", "cooperative-sticky"));
}

/// Says something that is nobody's business.
struct Discreet;

impl PartitionAssigner<String> for Discreet {
    fn name(&self) -> &str {
        "discreet"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> String {
        "s3cret".to_owned()
    }

    fn assign(&self, group: &GroupSubscription<String>) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        let members: Vec<_> = group.members().collect();
        for partition in group.partitions() {
            plan.give(members[0], partition);
        }
        for member in members {
            plan.tell(member, "wh1sper");
        }
        Ok(plan)
    }
}

#[tokio::test(start_paused = true)]
async fn what_members_and_leaders_tell_each_other_is_not_told_to_the_log() {
    let (log, _listening) = Log::listen();
    let cluster = one_broker();
    let discreet = bare(&cluster).assigner(Discreet);
    let mut ann = soon(discreet.join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    assert_eq!(all.told::<String>().unwrap().unwrap(), "wh1sper");
    soon(ann.leave()).await.unwrap();
    let said = format!("{:?} {:?}", log.lines(), log.rounds());
    assert!(said.contains("indexers"));
    for secret in ["s3cret", "wh1sper", &format!("{:?}", b"s3cret"), &format!("{:?}", b"wh1sper")] {
        assert!(!said.contains(secret), "{secret}");
    }
}
