//! What parts make of the whole: what it tells of a member, its rounds, and how often it gives partitions.

use super::*;

#[test]
fn a_part_describes_the_member_as_far_as_its_topics_go() {
    struct Describing;
    impl PartitionAssigner<String> for Describing {
        fn name(&self) -> &str {
            "describing"
        }

        fn metadata(&self, local: &LocalMember<'_>) -> String {
            format!("{:?} {:?}", local.topics, local.held)
        }

        fn assign(
            &self,
            group: &GroupSubscription<String>,
        ) -> Result<GroupAssignment, AssignError> {
            Ok(group.plan())
        }
    }
    let held: Partitions = [("x", 0), ("y", 1)].into_iter().collect();
    let local = LocalMember { topics: &["x", "y"], held: Some(&held), ..LocalMember::new("group") };
    let parts = sticky().topics(["y"], Describing).unwrap().metadata(&local);
    let said = parts.of::<String>("describing").unwrap().unwrap();
    assert_eq!(said, r#"["y"] Some({"y": [1]})"#);
}

#[test]
fn a_part_that_cannot_describe_the_member_is_named() {
    struct Panicking;
    impl PartitionAssigner<String> for Panicking {
        fn name(&self) -> &str {
            "panicking"
        }

        fn metadata(&self, _local: &LocalMember<'_>) -> String {
            panic!("no idea")
        }

        fn assign(
            &self,
            group: &GroupSubscription<String>,
        ) -> Result<GroupAssignment, AssignError> {
            Ok(group.plan())
        }
    }
    let assigner = ErasedAssigner::new(sticky().topics(["y"], Panicking).unwrap()).unwrap();
    let error = assigner.describe(&LocalMember::new("group")).unwrap_err();
    assert_eq!(error.to_string(), "`panicking`: metadata() panicked: no idea");
}

#[test]
fn rounds_are_what_all_parts_allow_but_builtins_are_eager_by_name_alone() {
    let both = [RebalanceProtocol::Cooperative, RebalanceProtocol::Eager];
    let assigner = sticky().topics(["x"], RoundRobinAssigner::default()).unwrap();
    assert_eq!(assigner.protocols(), both);
    let eager = Greatest { protocols: vec![RebalanceProtocol::Eager], ..numbers(0) };
    let assigner = assigner.topics(["y"], eager).unwrap();
    assert_eq!(assigner.protocols(), [RebalanceProtocol::Eager]);
    let cooperative = Greatest { protocols: vec![RebalanceProtocol::Cooperative], ..numbers(0) };
    let unfit = ErasedAssigner::new(assigner.topics(["z"], cooperative).unwrap()).unwrap_err();
    assert_eq!(unfit, UnfitAssigner::NoProtocol { name: "per-topic".to_owned() });
}

#[test]
fn each_topic_is_given_as_often_as_its_part_says() {
    let assigner = || sticky().topics(["y"], Twice).unwrap();
    let plan = run([assigner(), assigner()]).unwrap();
    let once = r#"{"a": {"x": [0], "y": [0, 1]}, "b": {"x": [1], "y": [0, 1]}}"#;
    assert_eq!(format!("{plan:?}"), once);
    let nested = PerTopicAssigner::new(assigner()).unwrap().named("nested");
    assert_eq!(nested.coverage_of("y"), Coverage::Copies(2));
    assert_eq!(format!("{:?}", run([nested, sticky()]).unwrap()), once);
}

#[test]
fn holders_are_counted_as_each_topics_part_says() {
    let topics = ["x", "y"];
    let held = [("x", 0), ("y", 0)];
    let group = GroupSubscription::builder().topic("x", 1).topic("y", 1);
    let group = group.member("a", topics, Parts::default()).owns(held, 7);
    let group = group.member("b", topics, Parts::default()).owns(held, 7);
    let group = group.standing_by([("y", 0)]).build();
    let assigner = sticky().topics(["y"], Twice).unwrap();
    let mut plan = assigner.assign(&group).unwrap();
    let withheld = plan.withhold(assigner.coverage());
    let published = r#"{"a": {"y": [0]}, "b": {"y": [0]}}"#;
    assert_eq!((format!("{plan:?}"), withheld.len()), (published.to_owned(), 1));

    let assigner = ErasedAssigner::new(assigner).unwrap();
    let by_topic = assigner.coverage_by_topic(group.model());
    let kept = keep_claims(group.model(), assigner.coverage(), by_topic, assigner.codec());
    assert_eq!(format!("{kept:?}"), published);
}
