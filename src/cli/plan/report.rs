//! A plan as people read it.

use std::fmt::Write as _;

use super::Planned;
use super::changes::Changes;
use super::names::ranges;
use super::options::Choices;
use crate::assign::{Coverage, GroupSubscription, MemberRef, Racks, Worth, is_near};
use crate::cli::table::{Align, Table, counted, printable};

/// How many lines a table has, unless all are wanted.
const MOST_LINES: usize = 40;

pub(super) fn of(planned: &Planned, choices: &Choices, all: bool) -> String {
    let changes = Changes::of(planned);
    let worth = Worth::of(&planned.view, &planned.timed.plan);
    let mut text = head(planned);
    text.push('\n');
    text.push_str(&members(planned, all));
    if !changes.moves.is_empty() {
        text.push('\n');
        text.push_str(&moves(planned, &changes, all));
    }
    text.push('\n');
    text.push_str(&verdict(planned, choices, &changes, &worth));
    text
}

/// What was planned, and what of the file cannot be so.
fn head(planned: &Planned) -> String {
    let model = &planned.group.model;
    let mut text = format!(
        "{}: {}, {} of {}, planned by {} in {:.2} ms\n",
        printable(&planned.name),
        counted(model.members().len(), "member"),
        counted(model.partition_count(), "partition"),
        counted(model.topics().len(), "topic"),
        planned.assigner,
        planned.timed.median(),
    );
    for note in &planned.group.notes {
        let _ = writeln!(text, "{note}");
    }
    for missing in model.missing_topics() {
        let members: Vec<String> =
            missing.members.iter().map(|member| printable(member.as_str())).collect();
        let _ = writeln!(
            text,
            "{}, though it is subscribed to by {}",
            planned.group.why_missing(&missing.name),
            members.join(", ")
        );
    }
    if planned.group.left_out > 0 {
        let _ =
            writeln!(text, "claims of partitions that do not exist: {}", planned.group.left_out);
    }
    text
}

/// Who has what.
fn members(planned: &Planned, all: bool) -> String {
    let (view, plan) = (&planned.view, &planned.timed.plan);
    let lists = plan.by_member();
    let mut table = Table::new(&[
        ("MEMBER", Align::Left),
        ("RACK", Align::Left),
        ("HAD", Align::Right),
        ("HAS", Align::Right),
        ("NEW", Align::Right),
        (if has_copies(planned) { "FIRST" } else { "" }, Align::Right),
        ("FAR", Align::Right),
        ("PARTITIONS", Align::Left),
    ]);
    let most = if all { usize::MAX } else { MOST_LINES };
    for member in view.members().take(most) {
        let places = lists.places(member.position() as u32);
        let had = planned.had.get(member.position()).map_or(&[][..], Vec::as_slice);
        let is_new = |place: &&u32| had.binary_search(place).is_err();
        let far = view_partitions(planned, places)
            .filter(|partition| is_near(member, *partition) == Some(false));
        table.row(vec![
            name(member),
            member.rack().map_or_else(|| "-".to_owned(), printable),
            had.len().to_string(),
            places.len().to_string(),
            places.iter().filter(is_new).count().to_string(),
            firsts(planned, member, places),
            far.count().to_string(),
            ranges(&planned.group.model, places, all),
        ]);
    }
    format!("{}{}", table.on(planned.page), and_more(view.members().len(), most, "members"))
}

fn has_copies(planned: &Planned) -> bool {
    matches!(planned.erased.coverage(), Coverage::Copies(_))
}

/// Of how many partitions a member has the first copy.
fn firsts(planned: &Planned, member: MemberRef<'_>, places: &[u32]) -> String {
    if !has_copies(planned) {
        return String::new();
    }
    let place = member.position() as u32;
    let is_first = |partition: &&u32| planned.timed.plan.first_place(**partition) == Some(place);
    places.iter().filter(is_first).count().to_string()
}

/// Who would get what from whom.
fn moves(planned: &Planned, changes: &Changes, all: bool) -> String {
    let group = &planned.group;
    let mut table = Table::new(&[
        ("FROM", Align::Left),
        ("TO", Align::Left),
        ("N", Align::Right),
        ("PARTITIONS", Align::Left),
        ("WHY", Align::Left),
    ]);
    let most = if all { usize::MAX } else { MOST_LINES };
    for (change, places) in changes.moves.iter().take(most) {
        let from = group.names(change.from.iter().copied());
        table.row(vec![
            from.clone(),
            change.to.map_or_else(|| "-".to_owned(), |to| group.names([to])),
            places.len().to_string(),
            ranges(&group.model, places, all),
            change.why.words(&from),
        ]);
    }
    format!("{}{}", table.on(planned.page), and_more(changes.moves.len(), most, "moves"))
}

/// The best that a group allows.
struct Best {
    /// The balanced plan with the fewest moves.
    stays: Worth,
    /// The balanced plan with the fewest partitions far from their members.
    near: Worth,
}

impl Best {
    fn of(group: &GroupSubscription, racks: Racks) -> Self {
        let (after, before) = match racks {
            Racks::LeadersAfterMoves | Racks::LeadersBeforeMoves => {
                (Racks::LeadersAfterMoves, Racks::LeadersBeforeMoves)
            }
            _ => (Racks::AfterMoves, Racks::BeforeMoves),
        };
        let stays = Worth::best(group, after);
        let near = if stays.rackable == 0 { stays } else { Worth::best(group, before) };
        Self { stays, near }
    }
}

/// How good the plan is, beside the best that the exact solver finds.
fn verdict(planned: &Planned, choices: &Choices, changes: &Changes, worth: &Worth) -> String {
    let mut text = String::new();
    let mut line = |head: &str, words: String| {
        let _ = writeln!(text, "{head:<10} {words}");
    };
    line("loads", format!("{} to {} partitions", worth.min, worth.max));
    if planned.erased.coverage() == Coverage::ExactlyOnce {
        let best = Best::of(&planned.view, choices.racks);
        line("balance", balance(worth, &best));
        line("moves", moved(changes, worth, &best));
        if worth.rackable > 0 {
            line("racks", racks(worth, &best, choices.racks));
        }
    } else {
        line("moves", moved_alone(changes, worth));
        if worth.rackable > 0 {
            line("racks", far(worth));
        }
        for few in planned.timed.plan.few_copies(planned.erased.coverage()) {
            let topic = printable(&few.topic);
            line(
                "copies",
                format!("{topic} has {} of {}: no more subscribe", few.copies, few.wanted),
            );
        }
    }
    if let Some(weights) = &choices.weights {
        line("weights", weight_range(planned, weights));
    }
    if worth.unassigned > 0 {
        line("nobody", format!("has {} partitions", worth.unassigned));
    }
    let mut published = planned.timed.plan.clone();
    let withheld = published.withhold(planned.erased.coverage()).len();
    if withheld > 0 {
        line("rounds", format!("2: {withheld} are given up in the first and given in the second"));
    }
    text
}

fn balance(worth: &Worth, best: &Best) -> String {
    match worth.sumsq.checked_sub(best.stays.sumsq) {
        Some(0) => "as good as can be".to_owned(),
        Some(more) => format!(
            "loads could be {} to {} (the sum of their squares is {}, {more} above the least)",
            best.stays.min, best.stays.max, worth.sumsq
        ),
        None => "fewer partitions than balance counts are given".to_owned(),
    }
}

fn moved(changes: &Changes, worth: &Worth, best: &Best) -> String {
    let least = match worth.sumsq == best.stays.sumsq && worth.moves == best.stays.moves {
        true => "as few as balance allows".to_owned(),
        false => format!("the balanced plan that moves least moves {}", best.stays.moves),
    };
    format!("{}; {least}", moved_alone(changes, worth))
}

fn moved_alone(changes: &Changes, worth: &Worth) -> String {
    let mut text =
        format!("{} ({} stay, {} had no owner", worth.moves, changes.kept, changes.unclaimed);
    if changes.freed > 0 {
        let _ = write!(text, ", {} were of members that leave", changes.freed);
    }
    if changes.doubtful > 0 {
        let _ = write!(text, ", {} had none for certain", changes.doubtful);
    }
    text.push(')');
    text
}

fn racks(worth: &Worth, best: &Best, order: Racks) -> String {
    let far = far(worth);
    match (order, best.near.cross_rack) {
        (Racks::Ignored, _) => format!("{far}; racks were ignored"),
        (_, least) if least == worth.cross_rack => format!("{far}; as few as balance allows"),
        (_, least) => {
            format!("{far}; {least} could be, with {} moves", best.near.moves)
        }
    }
}

fn far(worth: &Worth) -> String {
    format!("{} of {} are far from their members", worth.cross_rack, worth.rackable)
}

/// The least and the most that a member bears.
fn weight_range(planned: &Planned, weights: &super::file::Weights) -> String {
    let lists = planned.timed.plan.by_member();
    let weigh = |member: MemberRef<'_>| {
        let partitions = view_partitions(planned, lists.places(member.position() as u32));
        partitions
            .filter_map(|partition| {
                weights.get(partition.topic())?.get(partition.number() as usize)
            })
            .fold(0.0, |sum, weight| sum + weight)
    };
    let weights: Vec<f64> = planned.view.members().map(weigh).collect();
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let most = weights.iter().copied().fold(0.0, f64::max);
    format!("{least:.2} to {most:.2}")
}

fn view_partitions<'a>(
    planned: &'a Planned,
    places: &'a [u32],
) -> impl Iterator<Item = crate::assign::PartitionRef<'a>> {
    places.iter().filter_map(|place| planned.view.partition_at(*place))
}

/// A member's name: the instance id by which it is ordered, and its member id unless a broker has made that of it.
fn name(member: MemberRef<'_>) -> String {
    let Some(instance) = member.instance_id() else { return printable(member.id()) };
    match member.id().strip_prefix(instance) {
        Some(rest) if rest.is_empty() || rest.starts_with('-') => printable(instance),
        _ => format!("{} ({})", printable(instance), printable(member.id())),
    }
}

fn and_more(count: usize, most: usize, what: &str) -> String {
    match count.saturating_sub(most) {
        0 => String::new(),
        more => format!("… and {more} more {what}; --all lists them\n"),
    }
}
