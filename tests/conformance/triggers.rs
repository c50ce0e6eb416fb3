//! What makes a group of static members rebalance, and what does not: the whole list, in one table.
//!
//! The draft of static membership (KIP-345) has four triggers; Kafka as it was shipped has three more. What a restart
//! does in the middle of a round is in `restarts`.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{Member, leave, pair};
use crate::run::scenarios;

scenarios![Usual: what_makes_a_static_group_rebalance_and_what_does_not];

/// Something that happens to a stable group of two static members: ann, who leads, and bob.
#[derive(Clone, Copy, Debug)]
enum Event {
    // The draft's triggers.
    ANewDynamicMember,
    ANewStaticMember,
    TheLeaderJoinsAgain,
    BobIsAwayForLongerThanHisSession,
    AnAdministratorRemovesBobByInstanceId,
    // What shipped besides.
    BobLeaves,
    BobJoinsAgainWithOtherMetadata,
    BobRestartsWithoutTheChosenProtocol,
    // And what is no trigger.
    BobRestarts,
    TheLeaderRestarts,
    BobRestartsWithOtherMetadata,
    TheLeaderRestartsWithOtherMetadata,
    BobRestartsWithAnotherProtocolBehindTheOthers,
    BobJoinsAgainUnchanged,
    BobSyncsAgain,
    BobBeats,
    BobCommits,
    BobClosesWithoutAWord,
    ASecondBobFencesTheFirst,
    AFencedBobLeaves,
    ARestartThatIsRefused,
    SomebodyAsksForAnIdAndGoesAway,
    AnAdministratorRemovesNobody,
    AnAdministratorRemovesBobUnderAWrongId,
}

const REBALANCES: bool = true;
const GOES_ON: bool = false;

#[rustfmt::skip]
const TABLE: [(Event, bool); 24] = [
    (Event::ANewDynamicMember, REBALANCES),
    (Event::ANewStaticMember, REBALANCES),
    (Event::TheLeaderJoinsAgain, REBALANCES),
    (Event::BobIsAwayForLongerThanHisSession, REBALANCES),
    (Event::AnAdministratorRemovesBobByInstanceId, REBALANCES),
    (Event::BobLeaves, REBALANCES),
    (Event::BobJoinsAgainWithOtherMetadata, REBALANCES),
    (Event::BobRestartsWithoutTheChosenProtocol, REBALANCES),
    (Event::BobRestarts, GOES_ON),
    (Event::TheLeaderRestarts, GOES_ON),
    (Event::BobRestartsWithOtherMetadata, GOES_ON),
    (Event::TheLeaderRestartsWithOtherMetadata, GOES_ON),
    (Event::BobRestartsWithAnotherProtocolBehindTheOthers, GOES_ON),
    (Event::BobJoinsAgainUnchanged, GOES_ON),
    (Event::BobSyncsAgain, GOES_ON),
    (Event::BobBeats, GOES_ON),
    (Event::BobCommits, GOES_ON),
    (Event::BobClosesWithoutAWord, GOES_ON),
    (Event::ASecondBobFencesTheFirst, GOES_ON),
    (Event::AFencedBobLeaves, GOES_ON),
    (Event::ARestartThatIsRefused, GOES_ON),
    (Event::SomebodyAsksForAnIdAndGoesAway, GOES_ON),
    (Event::AnAdministratorRemovesNobody, GOES_ON),
    (Event::AnAdministratorRemovesBobUnderAWrongId, GOES_ON),
];

async fn what_makes_a_static_group_rebalance_and_what_does_not(broker: &mut Broker) {
    for (event, rebalances) in TABLE {
        broker.next_group().await;
        let ann = broker.member("ann").fixed().speaking(&["p", "q"]);
        let mut bob = broker.member("bob").fixed().speaking(&["p", "q"]);
        if matches!(event, Event::BobIsAwayForLongerThanHisSession) {
            bob.session_timeout = 2000;
        }
        let (ann, bob) = pair(broker, ann, bob).await;
        let witness = happens(event, broker, ann, bob).await;
        let said = if rebalances {
            witness.until_rebalancing(broker).await;
            ErrorCode::RebalanceInProgress
        } else {
            ErrorCode::None
        };
        assert_eq!(witness.heartbeat(broker).await, said, "{event:?}");
        let state = if rebalances { "PreparingRebalance" } else { "Stable" };
        let listed = broker.list(4, &[]).await.map(|(_, state)| state);
        assert_eq!(listed.as_deref(), Some(state), "{event:?}");
    }
}

/// Makes it happen, and says who has nothing to do with it.
async fn happens(event: Event, broker: &mut Broker, ann: Member, mut bob: Member) -> Member {
    match event {
        Event::ANewDynamicMember => newcomer(broker, broker.member("carl")).await,
        Event::ANewStaticMember => newcomer(broker, broker.member("carl").fixed()).await,
        Event::TheLeaderJoinsAgain => return joins_beside(broker, ann, bob).await,
        Event::BobIsAwayForLongerThanHisSession | Event::BobClosesWithoutAWord => {}
        Event::BobLeaves => assert_eq!(bob.leave(broker).await, ErrorCode::None),
        Event::BobJoinsAgainWithOtherMetadata => {
            bob.protocols[0].1 = b"changed".to_vec();
            return joins_beside(broker, bob, ann).await;
        }
        Event::BobRestartsWithoutTheChosenProtocol => {
            return joins_beside(broker, bob.restarted().speaking(&["q"]), ann).await;
        }
        Event::BobRestarts => goes_on(broker, bob.restarted()).await,
        Event::TheLeaderRestarts => {
            goes_on(broker, ann.restarted()).await;
            return bob;
        }
        Event::BobRestartsWithOtherMetadata => goes_on(broker, changed(&bob)).await,
        Event::TheLeaderRestartsWithOtherMetadata => {
            goes_on(broker, changed(&ann)).await;
            return bob;
        }
        Event::BobRestartsWithAnotherProtocolBehindTheOthers => {
            goes_on(broker, bob.restarted().speaking(&["p", "q", "r"])).await;
        }
        Event::BobJoinsAgainUnchanged => goes_on(broker, bob).await,
        Event::BobSyncsAgain => assert_eq!(bob.sync(broker, &[]).await.assignment, "two"),
        Event::BobBeats => assert_eq!(bob.heartbeat(broker).await, ErrorCode::None),
        Event::BobCommits => assert_eq!(bob.commit(broker, 7).await, ErrorCode::None),
        Event::ASecondBobFencesTheFirst => {
            goes_on(broker, bob.restarted()).await;
            assert_eq!(bob.heartbeat(broker).await, ErrorCode::FencedInstanceId);
            assert_eq!(bob.join(broker).await.error, ErrorCode::FencedInstanceId);
        }
        Event::AFencedBobLeaves => {
            goes_on(broker, bob.restarted()).await;
            assert_eq!(bob.leave(broker).await, ErrorCode::FencedInstanceId);
        }
        Event::ARestartThatIsRefused => {
            let refused = bob.restarted().speaking(&["other"]).join(broker).await.error;
            assert_eq!(refused, ErrorCode::InconsistentGroupProtocol);
        }
        Event::SomebodyAsksForAnIdAndGoesAway => {
            let asked = broker.member("carl").join(broker).await.error;
            assert_eq!(asked, ErrorCode::MemberIdRequired);
        }
        Event::AnAdministratorRemovesBobByInstanceId => {
            assert_eq!(removes(broker, "", "i-bob").await, ErrorCode::None);
        }
        Event::AnAdministratorRemovesNobody => {
            assert_eq!(removes(broker, "", "i-nobody").await, ErrorCode::UnknownMemberId);
        }
        Event::AnAdministratorRemovesBobUnderAWrongId => {
            assert_eq!(removes(broker, "wrong", "i-bob").await, ErrorCode::FencedInstanceId);
        }
    }
    ann
}

/// Somebody new is parked until the others have joined again.
async fn newcomer(broker: &mut Broker, mut carl: Member) {
    carl.protocols = vec![("p".to_owned(), b"carl".to_vec())];
    carl.enter(broker).await.assert_parked().await;
}

/// Joins, and is parked until the other one does, too; says who that is.
async fn joins_beside(broker: &Broker, member: Member, other: Member) -> Member {
    member.send_join(broker).assert_parked().await;
    other
}

/// Joins, and is answered at once in the generation that is.
async fn goes_on(broker: &mut Broker, mut member: Member) {
    let joined = member.join(broker).await;
    assert_eq!((joined.error, joined.generation), (ErrorCode::None, 2));
    assert!(["one", "two"].contains(&&*member.sync(broker, &[]).await.assignment));
}

fn changed(member: &Member) -> Member {
    let mut again = member.restarted();
    again.protocols[0].1 = b"changed".to_vec();
    again
}

async fn removes(broker: &mut Broker, id: &str, instance_id: &str) -> ErrorCode {
    leave(broker, 5, None, &[(id.to_owned(), Some(instance_id.to_owned()))]).await[0]
}
