//! A static member: stop it with ctrl-c and start it again within its session, and the group does not notice.
//!
//!     cargo run --example static_member -- localhost:9092 indexer-1

use std::env;
use std::error::Error;
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::{Event, GroupMember};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let servers = args.next().unwrap_or_else(|| "localhost:9092".into());
    let instance = args.next().unwrap_or_else(|| "indexer-1".into());

    let mut member = GroupMember::builder()
        .bootstrap_servers(servers)
        .group_id("static-member-example")
        .group_instance_id(instance)
        .session_timeout(Duration::from_secs(60)) // a restart may take this long
        .subscribe(["orders"])
        .assigner(RangeAssigner::default())
        .join()
        .await?;

    let handle = member.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = handle.close().await; // stays registered: `leave()` would give its place up
        }
    });
    let status = member.handle().status();
    while let Some(event) = member.next().await? {
        match event {
            Event::Assigned(assigned) => {
                let id = status.borrow().member_id.clone();
                println!("generation {}: {id} has {:?}", assigned.generation(), assigned.all());
            }
            other => println!("{other:?}"),
        }
    }
    Ok(())
}
