//! A story told by a seed.

use std::time::{Duration, Instant};

use super::network::Weather;
use super::{Rule, Sim, SimMember, Violation};
use crate::membership::OnFenced;

/// How long the storm lasts.
const STORM: Duration = Duration::from_secs(45);

/// After so many spells of good weather the group must have come to rest, and so many in a row show that it has.
const CALM_SPELLS: u32 = 9;
const RESTFUL_SPELLS: u32 = 2;
const SPELL: Duration = Duration::from_secs(10);

impl Sim {
    /// A group that lives through a storm which `seed` decides: members static and dynamic, a bad network, crashes,
    /// restarts with and without other metadata, second processes with one instance id, removals, pauses, moves of the
    /// coordinator, applications that dawdle. Then the weather turns good.
    pub fn storm(start: Instant, seed: u64, broken: Option<Rule>) -> Self {
        let mut sim = Self::new(start, 6, seed);
        sim.is_cooperative = seed % 3 == 2;
        if seed % 4 == 3 {
            // Shorter than a session: a round can end without a member whose session goes on.
            sim.rebalance_timeout = Duration::from_secs(4);
        }
        sim.broken = broken;
        sim
    }

    /// Runs the storm, and returns what was broken, if anything was.
    pub fn weather_it(&mut self) -> Result<(), Violation> {
        self.weather = Weather::BAD;
        for instance in ["ann", "bob"] {
            self.join_as(instance);
        }
        for _ in 0..self.dice.usize(1..3) {
            self.join();
        }
        let end = self.now + STORM;
        while self.now < end {
            let quiet = Duration::from_millis(self.dice.u64(200..6000));
            self.pass(quiet)?;
            self.strike();
        }
        self.weather = Weather::GOOD;
        if self.members().is_empty() {
            self.join();
        }
        while self.is_rolled_out && self.bounce() {
            // Long enough for whoever was killed to be forgotten, with what it listed.
            self.pass(SPELL)?;
        }
        self.calm_down()
    }

    fn calm_down(&mut self) -> Result<(), Violation> {
        let mut restful = 0;
        for _ in 0..CALM_SPELLS {
            self.pass(SPELL)?;
            restful = if self.settled().is_ok() { restful + 1 } else { 0 };
            if restful >= RESTFUL_SPELLS {
                return Ok(());
            }
        }
        self.settled()
    }

    fn strike(&mut self) {
        let members = self.members();
        let Some(&member) = members.get(self.dice.usize(..members.len().max(1))) else {
            self.join();
            return;
        };
        match self.dice.u32(..14) {
            0 => drop(self.restart(member, false)),
            1 => drop(self.restart(member, true)),
            2 => self.kill(member),
            3 => self.remove(member),
            4 => {
                let span = Duration::from_millis(self.dice.u64(500..15_000));
                self.pause(member, span);
            }
            5 => {
                let killed = self.dice.bool();
                let span = Duration::from_millis(self.dice.u64(..6000));
                self.fail_over(killed, span);
            }
            6 => self.duplicate(member),
            7 if members.len() < 5 => drop(self.join()),
            8 => self.close(member),
            9 | 10 if self.is_rolled_out => drop(self.bounce()),
            9 | 10 => self.rejoin(member),
            _ => self.commit(member.0),
        }
    }

    /// A second process with the member's instance id, while the first one runs. Of two, one at the most comes back.
    fn duplicate(&mut self, member: SimMember) {
        let instance = self.processes.get(member.0).and_then(|process| process.instance.clone());
        if instance.is_some() {
            self.start(instance, 0, OnFenced::Fail);
        }
    }
}
