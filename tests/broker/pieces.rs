//! The second group protocol, of its own type and without topics, on the same machine and driver.

use std::collections::BTreeSet;

use kafka_group::PieceMember;

use crate::common::{Kafka, unique};
use crate::harness::SOON;

async fn until_it_holds(member: &mut PieceMember, count: usize) -> BTreeSet<u16> {
    loop {
        let held = tokio::time::timeout(SOON, member.next()).await.expect("a round in time");
        match held.expect("no error").expect("not the end") {
            held if held.len() == count => return held,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_without_topics_shares_out_pieces_on_a_real_broker() {
    let kafka = Kafka::shared();
    let group = unique("pieces");
    let mut ann = PieceMember::join(kafka.bootstrap(), &group, 10).await.unwrap();
    until_it_holds(&mut ann, 10).await;

    let mut bob = PieceMember::join(kafka.bootstrap(), &group, 10).await.unwrap();
    let (anns, bobs) = tokio::join!(until_it_holds(&mut ann, 5), until_it_holds(&mut bob, 5));
    assert!(anns.is_disjoint(&bobs));
    let listed = tokio::task::block_in_place(|| kafka.admin().describe_group(&group));
    assert_ne!(listed.protocol_type.as_str(), "consumer");

    let (left, all) = tokio::join!(bob.leave(), until_it_holds(&mut ann, 10));
    left.unwrap();
    assert_eq!(all.len(), 10);
    ann.leave().await.unwrap();
}
