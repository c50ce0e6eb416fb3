//! What it would cost to give one partition to another member.

use std::fmt::Write as _;

use super::Planned;
use super::options::Choices;
use crate::assign::{MemberRef, PartitionRef, StickyPlanner, Worth, is_near};
use crate::cli::table::{Align, Table, printable};

/// How many members are tried.
const MOST_CANDIDATES: usize = 32;

pub(super) fn of(
    planned: &Planned,
    (topic, number): &(String, i32),
    choices: &Choices,
) -> Result<String, String> {
    let view = &planned.view;
    let partition = view.topic(topic).and_then(|topic| topic.partition(*number));
    let partition = partition
        .ok_or_else(|| format!(": no partition {}-{number} in this group", printable(topic)))?;
    let owner = view.owner(partition);
    let holders: Vec<MemberRef<'_>> =
        planned.timed.plan.holders(partition).filter_map(|holder| view.member(holder)).collect();

    let mut text = format!("{}: {}-{number}\n\n", printable(&planned.name), printable(topic));
    let _ = writeln!(text, "had by       {}", had_by(planned, partition, owner));
    let given = match holders.is_empty() {
        true => "nobody".to_owned(),
        false => names(planned, &holders),
    };
    let _ = writeln!(text, "planned for  {given}, by {}", planned.assigner);

    let subscribers = view.subscribers(topic).len();
    let candidates = candidates(planned, partition, owner, &holders);
    let _ = writeln!(text, "candidates   {subscribers}, who subscribe to the topic\n");
    let free = Worth::of(view, &planner(choices).plan(view));
    text.push_str(&costs(planned, partition, &candidates, &free, choices));
    if candidates.len() < subscribers {
        let _ = writeln!(text, "… and {} more, not tried", subscribers - candidates.len());
    }
    Ok(text)
}

fn had_by(planned: &Planned, partition: PartitionRef<'_>, owner: Option<MemberRef<'_>>) -> String {
    if let Some(owner) = owner {
        return format!("{}, in generation {}", names(planned, &[owner]), owner.owned_generation());
    }
    let model = &planned.group.model;
    let place = partition.position() as u32;
    let claims = |member: &u32| model.claims(*member).binary_search(&place).is_ok();
    let claimants: Vec<u32> = (0..model.members().len() as u32).filter(claims).collect();
    match claimants.is_empty() {
        true => "nobody".to_owned(),
        false => format!("nobody for certain: {} claim it", planned.group.names(claimants)),
    }
}

/// Who is tried: the owner, who is given it, and the others from the least loaded on.
fn candidates<'a>(
    planned: &'a Planned,
    partition: PartitionRef<'_>,
    owner: Option<MemberRef<'a>>,
    holders: &[MemberRef<'a>],
) -> Vec<MemberRef<'a>> {
    let mut others: Vec<MemberRef<'a>> = planned.view.subscribers(partition.topic()).collect();
    let is_first = |member: &MemberRef<'a>| holders.contains(member) || owner == Some(*member);
    others.sort_by_key(|member| (!is_first(member), planned.timed.plan.load(*member)));
    others.truncate(MOST_CANDIDATES);
    others
}

/// What the best plan costs with the partition forced to each candidate.
fn costs(
    planned: &Planned,
    partition: PartitionRef<'_>,
    candidates: &[MemberRef<'_>],
    free: &Worth,
    choices: &Choices,
) -> String {
    let mut table = Table::new(&[
        ("IF GIVEN TO", Align::Left),
        ("LOADS", Align::Left),
        ("BALANCE", Align::Right),
        ("MOVES", Align::Right),
        ("FAR", Align::Right),
        ("", Align::Left),
    ]);
    table.row(row("(anybody)".to_owned(), free, free, ""));
    for member in candidates {
        let plan = planner(choices).force(member, partition).plan(&planned.view);
        let worth = Worth::of(&planned.view, &plan);
        let note = match is_near(*member, partition) {
            Some(false) => "far from it",
            _ => "",
        };
        table.row(row(names(planned, &[*member]), &worth, free, note));
    }
    format!(
        "{}\nThe exact plans of the sticky assigners. BALANCE is by how much the sum of the squared loads is above \
         the least.\n",
        table.on(planned.page)
    )
}

fn names(planned: &Planned, members: &[MemberRef<'_>]) -> String {
    planned.group.names(members.iter().map(|member| member.position() as u32))
}

fn row(name: String, worth: &Worth, free: &Worth, note: &str) -> Vec<String> {
    let above = i128::from(worth.sumsq) - i128::from(free.sumsq);
    vec![
        name,
        format!("{}..{}", worth.min, worth.max),
        format!("+{above}"),
        worth.moves.to_string(),
        worth.cross_rack.to_string(),
        note.to_owned(),
    ]
}

fn planner(choices: &Choices) -> StickyPlanner<'static> {
    StickyPlanner::new().racks(choices.racks).slack(choices.slack)
}
