//! A member on a cluster with TLS and OAUTHBEARER, whose tokens something else writes to a file (a Kubernetes projected
//! volume, for one): `cargo run --features tls,sasl --example secure -- broker:9093 ca.pem token`.
//!
//! Name and password take less: `Sasl::scram_sha_512("indexer", password)`, or Kafka's properties by `from_properties`.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use kafka_group::assign::RangeAssigner;
use kafka_group::security::{Sasl, Security, Tls, Token, TokenProvider};
use kafka_group::{Event, GroupMember};

/// A file that always holds a token which is good for at least this long.
struct TokenFile {
    path: PathBuf,
    good_for: Duration,
}

#[async_trait::async_trait]
impl TokenProvider for TokenFile {
    async fn token(&self) -> Result<Token, Box<dyn Error + Send + Sync>> {
        // Not to block: this runs where the heartbeats are.
        let token = tokio::fs::read_to_string(&self.path).await?;
        Ok(Token::new(token.trim(), wall_clock() + self.good_for))
    }
}

#[expect(clippy::disallowed_methods, reason = "tokens are dated by the clock on the wall")]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [brokers, ca, path] = [(1, "localhost:9093"), (2, "ca.pem"), (3, "token")]
        .map(|(at, usual)| env::args().nth(at).unwrap_or_else(|| usual.to_owned()));
    let tokens = TokenFile { path: path.into(), good_for: Duration::from_secs(600) };
    let mut member = GroupMember::builder()
        .bootstrap_servers(brokers)
        .security(Security::sasl_ssl(Tls::ca_file(ca), Sasl::oauth_bearer(tokens)))
        .group_id("secure-example")
        .subscribe(["orders"])
        .assigner(RangeAssigner::default())
        .join() // Ends at once where one side does not trust the other, and says which property to look at.
        .await?;
    while let Some(event) = member.next().await? {
        match event {
            Event::Assigned(assigned) => println!("{:?}", assigned.all()),
            Event::Denied(why) => {
                eprintln!("not let in any more, and tried again for a session: {why}")
            }
            _ => {}
        }
    }
    Ok(())
}
