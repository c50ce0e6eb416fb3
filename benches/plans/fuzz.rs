//! Small groups by chance, whose members have what was even before some left, joined and changed their minds.

use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::group::Group;

pub(crate) const NAME: &str = "fuzz";
const GROUPS: u64 = 300;

/// Writes them into a folder of their own; the files.
pub(crate) fn write(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.join(NAME);
    (0..GROUPS)
        .map(|seed| crate::write(&folder, &format!("{NAME}-{seed:03}"), &group(seed)))
        .collect()
}

fn group(seed: u64) -> Group {
    let mut dice = Rng::with_seed(seed);
    let (topics, members) = (dice.usize(2..30), dice.usize(3..31));
    let mut group = Group::new(&(0..topics).map(|_| dice.u32(1..41)).collect::<Vec<u32>>());
    if seed % 3 == 0 {
        group.place(3, dice.usize(1..3), |member| member % 3);
    }
    let habit = HABITS[dice.usize(0..HABITS.len())];
    for member in 0..members {
        let place = member as f64 / members as f64;
        let wanted: Vec<usize> =
            (0..topics).filter(|topic| habit(place, *topic, topics, &mut dice)).collect();
        // Whoever wants nothing wants something.
        let some = wanted.is_empty().then(|| dice.usize(0..topics));
        group.subscribe(wanted.into_iter().chain(some));
    }
    group.add_members(members, |member| 1 + member);
    group.own_evenly();
    for _ in 0..members / 5 {
        group.members.remove(dice.usize(0..group.members.len()));
    }
    group.add_members(dice.usize(0..3), |_| dice.usize(1..=members));
    for _ in 0..dice.usize(0..3) {
        let place = dice.usize(0..group.members.len());
        group.members[place].subscription = dice.usize(1..=members);
    }
    group
}

/// Whether a member, somewhere from 0 to 1 in the group, wants one of the topics.
type Habit = fn(f64, usize, usize, &mut Rng) -> bool;

const HABITS: [Habit; 4] = [
    // Any.
    |_, _, _, dice| dice.u32(0..5) < 2,
    // Those at its place and beside it.
    |place, topic, topics, _| (place * topics as f64 - topic as f64).abs() < 2.0,
    // Nearly everybody wants all.
    |place, _, _, dice| (place * 100.0) as u32 % 4 > 0 || dice.bool(),
    // What one wants the next wants too, and more.
    |place, topic, topics, _| topic as f64 <= place * topics as f64,
];
