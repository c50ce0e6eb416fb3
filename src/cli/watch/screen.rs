//! A picture in place: what a terminal is told.
//!
//! It is drawn on the terminal's other page, so what stood there before is there again when watching ends. Each picture
//! begins in the upper left corner and clears what it does not fill, so one that was torn by a change of size, or by
//! something else that wrote, is whole the next time.

use super::frame::frame;
use super::view::View;
use crate::cli::console::Console;
use crate::cli::page::Page;

/// Goes to the other page, and hides the cursor.
pub(super) fn enter(console: &mut Console<'_>) {
    console.say(format_args!("\u{1b}[?1049h\u{1b}[?25l"));
}

/// Shows the cursor, and goes back.
pub(super) fn leave(console: &mut Console<'_>) {
    console.say(format_args!("\u{1b}[?25h\u{1b}[?1049l"));
}

pub(super) fn paint(view: &View, console: &mut Console<'_>) {
    let picture = painted(&frame(view, console.page()));
    console.say(format_args!("{picture}"));
}

/// A line is cleared before it is written: behind the last column there is nothing to clear.
fn painted(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("\u{1b}[2K{line}")).collect();
    format!("\u{1b}[H{}\u{1b}[J", lines.join("\r\n"))
}

/// The last picture, as it stays on the page where watching was begun.
pub(super) fn left_behind(view: &View, page: Page) -> String {
    frame(view, page).iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_begins_in_the_corner_and_clears_what_it_does_not_fill() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(painted(&lines), "\u{1b}[H\u{1b}[2Ka\r\n\u{1b}[2Kb\u{1b}[J");
    }
}
