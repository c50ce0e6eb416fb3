//! Whole groups in virtual time, through storms that seeds decide.
//!
//! A seed that fails is told, and told again in full by `SEED=… cargo test --test simulation one_seed -- --nocapture`,
//! with `CONSUMING=1` for one of those that consume, `ROLLED_OUT=1` for one that is brought to cooperative rounds, or
//! `COMING_BACK=1` for one whose members come back when they were fenced.

use std::ops::Range;
use std::time::{Duration, Instant};

use kafka_group::testing::{Rule, Sim, Violation};

#[expect(clippy::disallowed_methods, reason = "when virtual time begins does not matter")]
fn start() -> Instant {
    Instant::now()
}

fn weather(seed: u64, broken: Option<Rule>) -> Result<(), Violation> {
    Sim::storm(start(), seed, broken).weather_it()
}

fn weather_all(seeds: Range<u64>) {
    for seed in seeds {
        if let Err(violation) = weather(seed, None) {
            panic!("seed {seed}: {violation}");
        }
    }
}

/// Half as many storms are enough where a rule is off.
fn notices_the_lack_of(rule: Rule) {
    let noticed = (0..1000).any(|seed| weather(seed, Some(rule)).is_err());
    assert!(noticed, "a thousand storms did not show that {rule:?} is off");
}

// Several tests, so that they run side by side: 2,100 storms and, as partitions of topics are pieces too, 600 more.

#[test]
fn no_piece_has_two_owners_and_in_the_end_each_has_one_first_quarter() {
    weather_all(0..525);
}

#[test]
fn no_piece_has_two_owners_and_in_the_end_each_has_one_second_quarter() {
    weather_all(525..1050);
}

#[test]
fn no_piece_has_two_owners_and_in_the_end_each_has_one_third_quarter() {
    weather_all(1050..1575);
}

#[test]
fn no_piece_has_two_owners_and_in_the_end_each_has_one_fourth_quarter() {
    weather_all(1575..2100);
}

#[test]
fn no_partition_has_two_owners_and_in_the_end_each_has_one() {
    for seed in 0..300 {
        if let Err(violation) = Sim::storm(start(), seed, None).consuming().weather_it() {
            panic!("seed {seed}, consuming: {violation}");
        }
    }
}

#[test]
fn no_partition_has_two_owners_while_a_group_is_brought_from_eager_to_cooperative_rounds() {
    for seed in 0..300 {
        if let Err(violation) = Sim::storm(start(), seed, None).rolled_out().weather_it() {
            panic!("seed {seed}, rolled out: {violation}");
        }
    }
}

#[test]
fn no_piece_has_two_owners_though_members_that_were_fenced_come_back() {
    for seed in 0..300 {
        if let Err(violation) = coming_back(Sim::storm(start(), seed, None), seed).weather_it() {
            panic!("seed {seed}, coming back: {violation}");
        }
    }
}

fn coming_back(sim: Sim, seed: u64) -> Sim {
    sim.coming_back(Duration::from_secs(seed % 10 + 1))
}

#[test]
fn one_seed() {
    let Some(seed) = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()) else { return };
    let sim = Sim::storm(start(), seed, None).traced();
    let is_set = |name| std::env::var_os(name).is_some();
    let mut sim = match (is_set("CONSUMING"), is_set("ROLLED_OUT")) {
        (_, true) => sim.rolled_out(),
        (true, false) => sim.consuming(),
        (false, false) if is_set("COMING_BACK") => coming_back(sim, seed),
        (false, false) => sim,
    };
    let end = sim.weather_it();
    for line in sim.story() {
        println!("{line}");
    }
    assert_eq!(end, Ok(()), "seed {seed}");
}

// A simulation that cannot fail shows nothing: each rule is switched off once.

#[test]
fn a_member_that_takes_stale_answers_is_noticed() {
    notices_the_lack_of(Rule::DropStaleAnswers);
}

#[test]
fn a_member_that_joins_before_it_released_is_noticed() {
    notices_the_lack_of(Rule::ReleaseBeforeJoin);
}

#[test]
fn a_member_that_keeps_what_it_released_is_noticed() {
    notices_the_lack_of(Rule::ForgetReleased);
}

#[test]
fn a_member_that_says_nothing_at_a_revocation_s_deadline_is_noticed() {
    notices_the_lack_of(Rule::LoseWhatIsNotReleased);
}

#[test]
fn a_member_that_says_nothing_at_its_session_s_end_is_noticed() {
    notices_the_lack_of(Rule::LoseAtSessionEnd);
}

#[test]
fn a_member_that_works_on_when_expelled_is_noticed() {
    notices_the_lack_of(Rule::LoseWhenExpelled);
}

#[test]
fn a_member_that_uses_a_muted_connection_again_is_noticed() {
    notices_the_lack_of(Rule::DropTheConnection);
}

// The same group in good weather, one thing at a time.

fn settle(sim: &mut Sim) {
    pass(sim, 8);
}

fn pass(sim: &mut Sim, seconds: u64) {
    assert_eq!(sim.pass(Duration::from_secs(seconds)), Ok(()));
    assert_eq!(sim.settled(), Ok(()));
}

#[test]
fn a_newcomer_takes_its_share_and_gives_it_back_when_it_closes() {
    let mut sim = Sim::new(start(), 4, 1);
    let first = sim.join_as("a");
    settle(&mut sim);
    assert_eq!(sim.owned(first), [0, 1, 2, 3].into());

    let second = sim.join_as("b");
    settle(&mut sim);
    assert_eq!(sim.owned(first), [0, 2].into());
    assert_eq!(sim.owned(second), [1, 3].into());

    let third = sim.join();
    settle(&mut sim);
    assert_eq!(sim.owned(third), [2].into());
    sim.close(third);
    settle(&mut sim);
    assert_eq!(sim.owned(first), [0, 2].into());
}

#[test]
fn a_static_member_that_restarts_gets_back_what_it_had_and_nobody_else_notices() {
    let mut sim = Sim::new(start(), 4, 1).traced();
    let (first, second) = (sim.join_as("a"), sim.join_as("b"));
    settle(&mut sim);
    let had = sim.owned(second);
    let told = events_of(&sim, "0=a");

    let second = sim.restart(second, false);
    settle(&mut sim);

    assert_eq!(sim.owned(second), had);
    assert_eq!(events_of(&sim, "0=a"), told, "the other one was told something");
    assert_eq!(sim.owned(first).len(), 2);
}

#[test]
fn a_static_member_that_restarts_with_other_metadata_starts_exactly_one_round() {
    for instance in ["a", "b"] {
        let mut sim = Sim::new(start(), 4, 1).traced();
        let members = [sim.join_as("a"), sim.join_as("b")];
        settle(&mut sim);
        let told = (events_of(&sim, "0=a"), events_of(&sim, "1=b"));

        let restarted = members[usize::from(instance == "b")];
        sim.restart(restarted, true);
        settle(&mut sim);

        let others = match instance {
            "a" => events_of(&sim, "1=b") - told.1,
            _ => events_of(&sim, "0=a") - told.0,
        };
        assert_eq!(
            others, 2,
            "one Revoked and one Assigned for the other when {instance} restarts"
        );
    }
}

#[test]
fn of_two_processes_with_one_instance_id_the_first_one_ends() {
    let mut sim = Sim::new(start(), 2, 1);
    let first = sim.join_as("a");
    settle(&mut sim);
    let second = sim.join_as("a");
    settle(&mut sim);
    assert_eq!(sim.owned(first), [].into());
    assert_eq!(sim.owned(second), [0, 1].into());
    assert_eq!(sim.members(), [second]);
}

#[test]
fn a_member_that_stood_still_for_longer_than_its_session_has_lost_everything_when_it_goes_on() {
    let mut sim = Sim::new(start(), 2, 1).traced();
    let (first, _second) = (sim.join(), sim.join());
    settle(&mut sim);
    sim.pause(first, Duration::from_secs(15));
    pass(&mut sim, 40);
    assert!(sim.story().iter().any(|line| line.contains(" 0 says Lost")));
}

#[test]
fn a_cooperative_round_moves_what_must_move_and_leaves_the_rest() {
    let mut sim = Sim::new(start(), 4, 1).cooperative().traced();
    let first = sim.join();
    settle(&mut sim);
    let second = sim.join();
    settle(&mut sim);
    let shares = [sim.owned(first).len(), sim.owned(second).len()];
    assert_eq!(shares, [2, 2]);
    let revoked: Vec<_> = sim.story().iter().filter(|line| line.contains("Revoked")).collect();
    assert_eq!(revoked.len(), 1, "{revoked:?}");
}

/// How often a member's application was told something.
fn events_of(sim: &Sim, member: &str) -> usize {
    let says = format!(" {member} says ");
    sim.story().iter().filter(|line| line.contains(&says)).count()
}
