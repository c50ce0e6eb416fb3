//! Pictures, letter for letter.

use super::*;
use crate::admin::AdminError;
use crate::cli::watch::clock::Time;
use crate::types::Partitions;

/// 14:03:07 of some day.
const NOW: Time = Time(20_000 * 86_400 + 14 * 3600 + 3 * 60 + 7);

fn member(name: &str, host: &str, numbers: std::ops::Range<i32>, lag: Option<i64>) -> MemberSeen {
    MemberSeen {
        name: name.to_owned(),
        member_id: format!("{name}-1"),
        client_id: "indexer".to_owned(),
        host: host.to_owned(),
        partitions: Some(numbers.map(|number| ("orders", number)).collect()),
        lag,
    }
}

fn stable() -> GroupSeen {
    GroupSeen {
        state: "Stable".to_owned(),
        assigner: Some("cooperative-sticky".to_owned()),
        generation: Some(14),
        members: vec![
            member("pod-1", "10.0.0.1", 0..6, Some(120)),
            member("pod-2", "10.0.0.2", 6..11, None),
        ],
        unowned: [("orders", 11)].into_iter().collect(),
        lag: Some(127),
        no_lag: None,
    }
}

fn view(groups: &[&str]) -> View {
    let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
    View::new(&groups, Duration::from_secs(2))
}

/// A group as it was three seconds ago, and what has become of it.
fn changed(now: GroupSeen) -> View {
    let mut view = view(&["indexers"]);
    view.update(vec![Ok(stable())], Time(NOW.0 - 3));
    view.update(vec![Ok(now)], NOW);
    view
}

fn drawn(view: &View, columns: usize, rows: usize) -> String {
    let lines = frame(view, Page::of(columns, rows));
    assert!(lines.len() <= rows);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_group_is_drawn_with_its_members_and_its_last_changes() {
    let mut now = stable();
    now.members[1] = member("pod-3", "10.0.0.3", 6..12, Some(7));
    (now.generation, now.unowned) = (Some(15), Partitions::new());
    let expected = "\
14:03:07 UTC  every 2 s  Ctrl-C ends

indexers  Stable  cooperative-sticky  generation 15  members 2  lag 127
MEMBER  CLIENT-ID  HOST      HAS  LAG  PARTITIONS
pod-1   indexer    10.0.0.1    6  120  orders 0-5
pod-3   indexer    10.0.0.3    6    7  orders 6-11

14:03:04  pod-1 has orders 0-5
14:03:04  pod-2 has orders 6-10
14:03:07  generation 14 → 15
14:03:07  pod-2 is gone
14:03:07  pod-3 came, at 10.0.0.3
14:03:07  pod-3 got orders 6-11
";
    assert_eq!(drawn(&changed(now), 80, 24), expected);
}

#[test]
fn a_broker_that_is_away_leaves_the_old_picture_and_says_since_when() {
    let mut view = view(&["indexers"]);
    let away = || Err(AdminError::Invalid("no broker could be reached: a:1".to_owned()));
    view.update(vec![Ok(stable())], Time(NOW.0 - 30));
    view.update(vec![away()], Time(NOW.0 - 12));
    view.update(vec![away()], NOW);
    let expected = "\
14:03:07 UTC  every 2 s  Ctrl-C ends

indexers  Stable  cooperative-sticky  generation 14  members 2  lag 127
not seen since 14:02:37 (30 s): no broker could be reached: a:1
MEMBER    CLIENT-ID  HOST      HAS  LAG  PARTITIONS
pod-1     indexer    10.0.0.1    6  120  orders 0-5
pod-2     indexer    10.0.0.2    5    -  orders 6-10
(nobody)                         1    -  orders 11
";
    assert!(drawn(&view, 80, 24).starts_with(expected), "{}", drawn(&view, 80, 24));
    view.update(vec![Ok(stable())], NOW);
    assert!(drawn(&view, 80, 24).ends_with("14:03:07  seen again after 30 s\n"));
}

#[test]
fn a_terminal_of_20_columns_and_10_rows_shows_names_and_numbers() {
    let mut wide = stable();
    wide.members.push(member("組織-1", "h", 12..14, Some(5)));
    let expected = "\
14:03:07 UTC  every…

indexers  Stable  c…
MEMBER    HAS  LAG …
pod-1       6  120 …
pod-2       5    - …
組織-1      2    5 …
(nobody)    1    - …
";
    assert_eq!(drawn(&changed(wide), 20, 10), expected);
}

#[test]
fn more_members_than_rows_are_counted() {
    let mut many = stable();
    let pod = |number: i32| member(&format!("pod-{number}"), "h", number..number + 1, None);
    many.members = (0..500).map(pod).collect();
    let picture = drawn(&changed(many), 80, 24);
    assert!(picture.contains("\npod-9 ") && !picture.contains("\npod-10 "), "{picture}");
    assert!(picture.contains("\n… and 490 more\n"), "{picture}");
    assert!(picture.ends_with("14:03:07  pod-99 got orders 99\n"), "{picture}");
}

#[test]
fn groups_share_the_page_and_what_finds_no_room_is_left_out_with_a_sign() {
    let mut view = view(&["a", "b", "c"]);
    let missing = AdminError::NoSuchGroup("b".to_owned());
    view.update(vec![Ok(stable()), Err(missing), Ok(stable())], NOW);
    let expected = "\
14:03:07 UTC  every 2 s  Ctrl-C ends

a  Stable  cooperative-sticky  generation 14  members 2  lag 127

b
there is no group `b`

c  Stable  cooperative-sticky  generation 14  members 2  lag 127
";
    assert_eq!(drawn(&view, 80, 9), expected);
    assert!(drawn(&view, 80, 7).ends_with("there is no group `b`\n…\n"), "{}", drawn(&view, 80, 7));
    for rows in 0..40 {
        for columns in 0..100 {
            drawn(&view, columns, rows.max(1));
        }
    }
}

#[test]
fn what_cannot_be_told_is_a_stroke() {
    let foreign = GroupSeen {
        state: "PreparingRebalance".to_owned(),
        members: vec![MemberSeen { name: "m\u{1b}[2J".to_owned(), ..MemberSeen::default() }],
        no_lag: Some("not authorised".to_owned()),
        ..GroupSeen::default()
    };
    let mut view = view(&["g\u{9b}1m"]);
    view.update(vec![Ok(foreign)], NOW);
    let expected = "
g\\u{9b}1m  PreparingRebalance  -  generation -  members 1  lag -
lag: not authorised
MEMBER      CLIENT-ID  HOST  HAS  LAG  PARTITIONS
m\\u{1b}[2J  \"\"         \"\"      -    -
";
    let picture = drawn(&view, 80, 24);
    assert!(picture.contains(expected), "{picture}");
}

#[test]
fn colours_tell_states_apart_and_are_never_cut() {
    let mut busy = stable();
    busy.state = "PreparingRebalance".to_owned();
    let lines = frame(&changed(busy), Page::of(20, 24).with_colours());
    assert_eq!(lines[2], "\u{1b}[33mindexers  Preparing…\u{1b}[0m");
    assert_eq!(lines[3], "\u{1b}[1mMEMBER    HAS  LAG …\u{1b}[0m");
    let lines = frame(&changed(stable()), Page::of(80, 24).with_colours());
    assert!(lines[2].starts_with("\u{1b}[32mindexers  Stable"), "{}", lines[2]);
}
