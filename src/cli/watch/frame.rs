//! The picture of what is watched: from a view to lines, and nothing else.

use std::time::Duration;

use super::changes::Change;
use super::seen::{GroupSeen, MemberSeen};
use super::view::{GroupView, Happened, Trouble, View};
use crate::cli::page::{Page, Shade};
use crate::cli::partitions::in_words;
use crate::cli::table::{Align, Table, printable, shortened};

/// How many members of a group are shown: as many as find room, if need be none.
const CAPS: [usize; 9] = [usize::MAX, 100, 50, 20, 10, 5, 3, 1, 0];

/// Below this, only names and numbers find room.
const WIDE: usize = 64;

/// A line, and how it is shown.
struct Line {
    text: String,
    shade: Option<Shade>,
}

impl Line {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), shade: None }
    }

    fn shaded(text: impl Into<String>, shade: Shade) -> Self {
        Self { text: text.into(), shade: Some(shade) }
    }

    /// Cut to the page, and coloured after that.
    fn on(&self, page: Page) -> String {
        let text = shortened(&self.text, page.columns());
        self.shade.map_or_else(|| text.clone(), |shade| page.shaded(&text, shade))
    }
}

/// The picture, no larger than the page.
pub(super) fn frame(view: &View, page: Page) -> Vec<String> {
    let rows = page.rows().max(1);
    let recent = recent(view, rows);
    let room = rows.saturating_sub(recent.len());
    let drawn = |cap| -> Vec<Line> {
        let groups = view.groups.iter();
        let blocks = groups.flat_map(|group| block(group, view, page, cap));
        std::iter::once(head(view)).chain(blocks).collect()
    };
    let fits = CAPS.into_iter().map(drawn).find(|lines| lines.len() <= room);
    let mut lines = fits.unwrap_or_else(|| drawn(0));
    if lines.len() > room {
        lines.truncate(room.saturating_sub(1));
        lines.push(Line::plain("…"));
    }
    lines.iter().chain(&recent).take(rows).map(|line| line.on(page)).collect()
}

fn head(view: &View) -> Line {
    let every = every(view.interval);
    Line::shaded(format!("{} UTC  every {every}  Ctrl-C ends", view.time.of_day()), Shade::Faint)
}

fn every(interval: Duration) -> String {
    format!("{} s", interval.as_secs_f64())
}

/// One group: a line of its own, and its members.
fn block(group: &GroupView, view: &View, page: Page, cap: usize) -> Vec<Line> {
    let mut lines = vec![Line::plain("")];
    match &group.seen {
        Some(seen) => lines.push(title(&group.name, seen)),
        None => lines.push(Line::shaded(printable(&group.name), Shade::Strong)),
    }
    lines.extend(group.trouble.as_ref().map(|trouble| excuse(group, trouble, view)));
    let Some(seen) = &group.seen else { return lines };
    if let Some(why) = &seen.no_lag {
        lines.push(Line::shaded(format!("lag: {}", printable(why)), Shade::Bad));
    }
    if cap == 0 {
        return lines;
    }
    let is_old = group.trouble.is_some();
    for (row, place) in members(seen, page, cap).lines().zip(0..) {
        lines.push(match place {
            0 => Line::shaded(row, Shade::Strong),
            _ if is_old => Line::shaded(row, Shade::Faint),
            _ => Line::plain(row),
        });
    }
    if let Some(more) = seen.members.len().checked_sub(cap).filter(|more| *more > 0) {
        lines.push(Line::shaded(format!("… and {more} more"), Shade::Faint));
    }
    lines
}

fn title(name: &str, seen: &GroupSeen) -> Line {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let shade = match seen.state.as_str() {
        "Stable" => Shade::Good,
        "Empty" | "Dead" => Shade::Faint,
        _ => Shade::Busy,
    };
    let words = [
        printable(name),
        printable(&seen.state),
        seen.assigner.as_deref().map_or_else(|| "-".to_owned(), printable),
        format!("generation {}", number(seen.generation.map(i64::from))),
        format!("members {}", seen.members.len()),
        format!("lag {}", number(seen.lag)),
    ];
    Line::shaded(words.join("  "), shade)
}

/// Why a group is not seen, and how old the picture is.
fn excuse(group: &GroupView, trouble: &Trouble, view: &View) -> Line {
    let why = printable(&trouble.error.to_string());
    let (since, seconds) = (trouble.since.of_day(), view.time.since(trouble.since));
    let words = match group.seen {
        Some(_) => format!("not seen since {since} ({seconds} s): {why}"),
        None => why,
    };
    Line::shaded(words, Shade::Bad)
}

fn members(seen: &GroupSeen, page: Page, cap: usize) -> String {
    if seen.members.is_empty() && seen.unowned.is_empty() {
        return String::new();
    }
    let is_wide = page.columns() >= WIDE;
    let head = [
        ("MEMBER", Align::Left),
        (if is_wide { "CLIENT-ID" } else { "" }, Align::Left),
        (if is_wide { "HOST" } else { "" }, Align::Left),
        ("HAS", Align::Right),
        ("LAG", Align::Right),
        ("PARTITIONS", Align::Left),
    ];
    let mut table = Table::new(&head);
    let text = |text: &str| if is_wide { printable(text) } else { String::new() };
    for member in seen.members.iter().take(cap) {
        let MemberSeen { name, client_id, host, partitions, lag, .. } = member;
        let count = partitions.as_ref().map_or_else(|| "-".to_owned(), |it| it.len().to_string());
        table.row(vec![
            shortened(&printable(name), 40),
            text(client_id),
            text(host),
            count,
            lag.map_or_else(|| "-".to_owned(), |lag| lag.to_string()),
            partitions.as_ref().map(in_words).unwrap_or_default(),
        ]);
    }
    if !seen.unowned.is_empty() {
        let count = seen.unowned.len().to_string();
        let nobody = "(nobody)".to_owned();
        let words = in_words(&seen.unowned);
        table.row(vec![nobody, String::new(), String::new(), count, "-".to_owned(), words]);
    }
    table.to_string()
}

/// The last changes, as many as a page has room for beside the groups.
fn recent(view: &View, rows: usize) -> Vec<Line> {
    let most = match rows {
        0..12 => 0,
        12..20 => 3,
        _ => 6,
    };
    let skipped = view.recent.len().saturating_sub(most);
    let shown: Vec<_> = view.recent.iter().skip(skipped).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let several = view.groups.len() > 1;
    let line = |happened: &&Happened| {
        let group = view.groups.get(happened.group).map_or("", |group| &group.name);
        let of = if several { format!("{}: ", printable(group)) } else { String::new() };
        let text = format!("{}  {of}{}", happened.time.of_day(), happened.change);
        match happened.change {
            Change::Unseen(_) => Line::shaded(text, Shade::Bad),
            _ => Line::shaded(text, Shade::Faint),
        }
    };
    std::iter::once(Line::plain("")).chain(shown.iter().map(line)).collect()
}

#[cfg(test)]
mod tests;
