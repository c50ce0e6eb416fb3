//! Whatever comes in, in whatever order: no panic, no flood, and in the end an end.

use super::*;

const CODES: [i16; 16] = [0, 0, 0, 14, 15, 16, 22, 23, 25, 27, 30, 42, 79, 81, 82, -1];

struct Nonsense {
    script: Script,
    dice: fastrand::Rng,
}

impl Nonsense {
    fn code(&mut self) -> ErrorCode {
        ErrorCode::from(CODES[self.dice.usize(..CODES.len())])
    }

    fn text(&mut self) -> &'static str {
        ["", "me", "other", "in-turn", "pieces"][self.dice.usize(..5)]
    }

    fn answer(&mut self) -> Result<GroupResponse, Failure> {
        let error = self.code();
        let (id, leader) = (self.text(), self.text());
        Ok(match self.dice.u8(..9) {
            0 => return Err(Failure::TimedOut),
            1 => return Err(Failure::Disconnected),
            2 => return Err(Failure::Unreadable),
            3 => GroupResponse::Heartbeat(HeartbeatResponse {
                error,
                throttle: Duration::from_millis(self.dice.u64(..500)),
            }),
            4 => GroupResponse::Commit(error),
            5 => {
                GroupResponse::Leave(LeaveGroupResponse { error, ..LeaveGroupResponse::default() })
            }
            6 => GroupResponse::Sync(SyncGroupResponse { error, ..synced(&[1, 2]) }),
            _ => GroupResponse::Join(JoinGroupResponse {
                error,
                skip_assignment: self.dice.bool(),
                ..joined(self.dice.i32(-1..5), id, leader)
            }),
        })
    }

    /// Mostly an answer to what is out, sometimes to anything.
    fn request(&mut self) -> RequestId {
        match self.script.sent.pop_front() {
            Some((id, ..)) if self.dice.u8(..4) > 0 => id,
            _ => RequestId(self.dice.u64(..200)),
        }
    }

    fn step(&mut self) {
        let number = self.dice.u64(..200);
        let pieces = Pieces([self.dice.u16(..6), self.dice.u16(..6)].into());
        match self.dice.u8(..16) {
            0 => self.script.tell(|member, now| member.release(now, RevocationId(number))),
            1 => self.script.tell(|member, now| member.rejoin(now, Cause::MetadataChanged)),
            2 => self.script.tell(|member, now| member.commit(now, CommitId(number), pieces)),
            3 => self.script.tell(Membership::delivered),
            4 => self.script.tell(Membership::waiting),
            5 => self.script.tell(|member, now| {
                member.handle_release_wanted(now, WorkId(number), pieces);
            }),
            6 => self.script.tell(|member, now| {
                member.handle_planned(now, WorkId(number), Ok(Plan::default()));
            }),
            7 => self.script.pass(Duration::from_millis(number * 100)),
            8 => {
                let id = self.script.commits.pop_front().map_or(RequestId(number), |(id, ..)| id);
                let answer = self.answer();
                self.script.tell(|member, now| member.handle_response(now, id, answer));
            }
            _ => {
                let (id, answer) = (self.request(), self.answer());
                self.script.tell(|member, now| member.handle_response(now, id, answer));
            }
        }
    }
}

#[test]
fn nothing_that_comes_in_makes_it_panic_or_flood_and_it_always_comes_to_an_end() {
    for seed in 0..500 {
        let mut script = match seed % 3 {
            0 => Script::dynamic(),
            1 => Script::of_instance("me"),
            _ => Script::dynamic().cooperative(),
        };
        script.takes = seed % 5 > 0;
        script.tell(Membership::join);
        let mut nonsense = Nonsense { script, dice: fastrand::Rng::with_seed(seed) };
        for _ in 0..300 {
            nonsense.step();
        }
        let mut script = nonsense.script;
        let sent = script.log.len();
        assert!(sent < 6000, "seed {seed}: {sent} outputs");
        let limit = Duration::from_secs(30);
        script.tell(|member, now| member.close(now, now + limit));
        script.pass(limit);
        assert!(script.member.ended().is_some(), "seed {seed}");
        assert_eq!(script.member.held(), &Pieces::default(), "seed {seed}");
        assert_eq!(script.member.poll_timeout(), None, "seed {seed}");
    }
}
