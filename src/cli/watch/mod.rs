//! `kafka-group watch`: groups as they change, drawn in place on a terminal and told in lines elsewhere.

mod changes;
mod clock;
mod frame;
mod line;
mod options;
mod screen;
mod seen;
mod stop;
mod view;

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use self::options::WatchOptions;
use self::stop::{Stop, Stops};
use self::view::View;
use super::UsageError;
use super::arguments::Format;
use super::assigners::Assigners;
use super::console::Console;
use super::outcome::{Ended, Outcome};
use super::reach;

pub(super) const USAGE: &str = "\
usage: kafka-group watch --bootstrap-server HOST:PORT --group GROUP [--group GROUP]… [OPTION]…

Shows groups as they change: state, generation, members, who has what and how far behind. On a terminal the picture is
drawn in place, with the last changes below; elsewhere each change is a line. Ends on Ctrl-C.

  --interval SECONDS     how long between two looks; 2 s unless told otherwise
  --count N              ends after so many looks
  --format json          a line of JSON for each look that finds something changed

Kafka tells no observer the generation of a group: it is shown where a member of this crate planned, and is - elsewhere. A
broker that is away is waited for, and the picture says since when it is old.
";

/// Watches until it is told to stop.
pub(super) fn run(
    arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<Outcome, UsageError> {
    let Some(options) = WatchOptions::read(arguments)? else {
        console.say(format_args!("{}", super::usage("watch").unwrap_or_default()));
        return Ok(Outcome::Done);
    };
    let draws = console.page().is_terminal() && options.format == Format::Table;
    reach::asking(console, async |console| {
        if draws {
            screen::enter(console);
        }
        let watched = watch(&options, draws, assigners, console).await;
        if draws {
            screen::leave(console);
        }
        let view = watched?;
        // The last picture stays when the terminal is as it was.
        if draws {
            console.say(format_args!("{}", screen::left_behind(&view, console.page())));
        }
        Ok(view.outcome())
    })
}

async fn watch(
    options: &WatchOptions,
    draws: bool,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<View, Ended> {
    let mut stops = Stops::new();
    let connecting = options.reach.connect(console);
    let admin = tokio::select! {
        admin = connecting => admin?.knowing(assigners.readers()),
        stop = stops.ended() => {
            end(stop, console);
            return Ok(View::new(&options.groups, options.interval));
        }
    };
    let mut view = View::new(&options.groups, options.interval);
    let mut looks = interval(options.interval.max(Duration::from_millis(1)));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut left = options.count;
    while left != Some(0) && !console.is_broken() {
        let looking = async {
            looks.tick().await;
            seen::look(&admin, &options.groups).await
        };
        tokio::pin!(looking);
        let seen = loop {
            tokio::select! {
                seen = &mut looking => break seen,
                stop = stops.next() => match stop {
                    Stop::Resized if draws => screen::paint(&view, console),
                    Stop::Resized => {}
                    Stop::Interrupted | Stop::Unread => {
                        end(stop, console);
                        return Ok(view);
                    }
                },
            }
        };
        let changes = view.update(seen, clock::now());
        match options.format {
            Format::Json => line::say(&view, &changes, console),
            Format::Table if draws => screen::paint(&view, console),
            Format::Table => changes::say(&changes, &view, console),
        }
        left = left.map(|left| left - 1);
    }
    Ok(view)
}

/// Whoever has gone is told nothing more.
fn end(stop: Stop, console: &mut Console<'_>) {
    if stop == Stop::Unread {
        console.close();
    }
}
