//! A member of the second group protocol, the one without topics: to show on real brokers that the machine and its
//! driver know none.

use std::collections::BTreeSet;
use std::fmt;

use super::command::{Command, End};
use super::driver::{MailboxOf, Said};
use super::hosted::Hosted;
use super::join::{self, Started};
use super::options::Options;
use super::reach;
use super::settings::Settings;
use crate::client::Topics;
use crate::error::Error;
use crate::membership::Event;
use crate::testing::PieceProtocol;

impl Hosted for PieceProtocol {}

/// Shares out numbered pieces with the other members of its group.
pub struct PieceMember(Started<PieceProtocol>);

impl PieceMember {
    /// Joins a group that shares out the pieces `0..total`.
    pub async fn join(bootstrap: &str, group: &str, total: u16) -> Result<Self, Error> {
        let mut options = Options { group_id: Some(group.to_owned()), ..Options::default() };
        options.set("bootstrap.servers", bootstrap);
        options.set("session.timeout.ms", "10000");
        let mut settings = Settings::check(options)?;
        let client = reach::client(&settings.options, None)?;
        let holder = reach::reach(&client, &mut settings, Topics::none()).await?;
        let protocol = PieceProtocol::new(total, false, 0);
        Ok(Self(join::start(&client, settings, protocol, None, holder)))
    }

    /// What is held after the next round; none when the membership is over. Gives up at once what it must. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<BTreeSet<u16>>, Error> {
        let mailbox: &MailboxOf<PieceProtocol> = &self.0.mailbox;
        mailbox.ask();
        while let Some(said) = mailbox.take().await? {
            mailbox.ask();
            match said {
                Said::Event { event: Event::Assigned { held, .. }, .. } => return Ok(Some(held.0)),
                Said::Event { event: Event::Revoked { id, .. }, .. } => {
                    crate::group::mailbox::Release::release(mailbox, id);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Leaves the group. Not cancel safe.
    pub async fn leave(mut self) -> Result<(), Error> {
        let end = Command::End { how: End::Leave, reply: None };
        self.0.commands.send(end).await.map_err(|_| Error::Closed)?;
        while self.next().await?.is_some() {}
        Ok(())
    }
}

impl fmt::Debug for PieceMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PieceMember")
    }
}
