//! Who gets what, exactly: the solver on which all of the crate's sticky assigners stand.
//!
//! Among all plans it takes the balanced ones: no other plan has a smaller sum of squared loads, which is to say that
//! nothing can be taken from anybody for somebody with at least two less, directly or through others. Among these it
//! takes one with the fewest moves, and among those one with the fewest items far from their members; or the other
//! way round. The way there:
//!
//! 1. Items that no wish tells apart are one *class*, members that may take the same are one *group*; plans are
//!    compared by numbers per class and member alone ([`classes`], [`holdings`]).
//! 2. The loads of the balanced plans are found by largest flows between classes and groups ([`levels`]).
//! 3. Within those loads the cheapest flow says how many items of which class who keeps, gives and gets
//!    ([`exchange`]).
//! 4. Items are chosen for the numbers, so that families lie with many members, or weights are even
//!    ([`release`], [`deal`], [`weights`]).
//!
//! Items of different widths, each of which binds several partitions together, are a matter of their own ([`bands`]).
//!
//! Everything is counted in whole numbers and every order is that of the input, so equal problems have equal plans.

mod bands;
mod classes;
mod copies;
mod deal;
mod exchange;
mod families;
mod filling;
mod flow;
mod holdings;
mod levels;
mod parts;
mod problem;
mod queues;
mod quota;
mod racks;
mod release;
mod routing;
mod uniform;
mod weights;

#[cfg(test)]
mod tests;

pub(crate) use bands::{Widths, solve_bands};
pub(crate) use copies::{Copies, Holders, MOST_COPIES, solve_copies};
pub(crate) use problem::{Family, Member, NONE, Priority, Problem, Wishes};
pub(crate) use racks::{ItemRacks, RackSet};

use classes::Classes;
use deal::Deal;
use exchange::{Exchange, Terms};
use families::Families;
use holdings::{Holdings, Rows};
use levels::Levels;
use queues::Queues;
use racks::Nearness;
use release::Release;
use weights::Scales;

/// Per item its member; `NONE` for those that nobody may take.
pub(crate) fn solve(problem: &Problem<'_>, wishes: &Wishes) -> Vec<u32> {
    solve_beside(problem, wishes, &[])
}

/// The same among members that carry something already: balanced is what they have with it.
///
/// `loads` is per member; a missing end carries nothing.
pub(crate) fn solve_beside(problem: &Problem<'_>, wishes: &Wishes, loads: &[u32]) -> Vec<u32> {
    Solver::new(problem, wishes, loads).plan(&problem.owners)
}

/// Solves a problem for one prior owner of each item after the other: most of the way is the same for all.
#[derive(Debug)]
pub(crate) struct Solver<'p> {
    problem: &'p Problem<'p>,
    wishes: &'p Wishes,
    loads: &'p [u32],
    nearness: Option<Nearness<'p>>,
    way: Way<'p>,
}

/// What is known of a problem whoever had what.
#[derive(Debug)]
enum Way<'p> {
    /// These take everything, and alike.
    Uniform(Vec<u32>),
    General(Box<General<'p>>),
}

#[derive(Debug)]
struct General<'p> {
    classes: Classes,
    families: Families<'p>,
    queues: Queues,
    /// Found at the first plan, which helps in finding it.
    levels: Option<Levels>,
}

impl<'p> Solver<'p> {
    /// Gets ready for a problem; its own prior owners are of no interest. `loads` as in [`solve_beside`].
    pub(crate) fn new(problem: &'p Problem<'p>, wishes: &'p Wishes, loads: &'p [u32]) -> Self {
        let nearness = Nearness::of(problem);
        let carry_alike = loads.is_empty()
            || loads.len() == problem.members.len()
                && loads.windows(2).all(|pair| pair[0] == pair[1]);
        let takers = match nearness {
            None if carry_alike => uniform::takers(problem, wishes),
            _ => None,
        };
        let way = match takers {
            Some(takers) => Way::Uniform(takers),
            None => Way::General(Box::new(General {
                classes: Classes::of(problem, nearness.as_ref()),
                families: Families::of(problem),
                queues: Queues::of(problem, nearness.is_some()),
                levels: None,
            })),
        };
        Self { problem, wishes, loads, nearness, way }
    }

    /// Per item its member; `before` says who had it.
    pub(crate) fn plan(&mut self, before: &[u32]) -> Vec<u32> {
        let problem = self.problem;
        let General { classes, families, queues, levels } = match &mut self.way {
            Way::Uniform(takers) => return uniform::plan(problem, takers, before),
            Way::General(general) => &mut **general,
        };
        let (classes, families, queues) = (&*classes, &*families, &*queues);
        let mut owners = problem.everything_kept(before);
        let holdings = Holdings::of(&owners, problem.members.len());
        let rows = Rows::of(&holdings, families, classes);
        let levels =
            &*levels.get_or_insert_with(|| Levels::of(problem, classes, &rows, self.loads));
        let exchange = Exchange::of(Terms {
            problem,
            wishes: self.wishes,
            nearness: self.nearness.as_ref(),
            classes,
            rows: &rows,
            levels,
            queues,
        });
        match problem.weights.is_empty() {
            true => {
                release(Release::new(families, &holdings), classes, &rows, &exchange, &mut owners);
                let class_of = |family, item| classes.class_of(family, item);
                Deal::new(exchange, problem.members.len()).deal(problem, class_of, &mut owners);
            }
            false => Scales::of(problem, classes, &owners).level(
                &holdings,
                &rows,
                &exchange,
                &mut owners,
            ),
        }
        owners
    }
}

/// Makes ownerless what members give up.
fn release(
    mut release: Release<'_>,
    classes: &Classes,
    rows: &Rows,
    exchange: &Exchange,
    owners: &mut [u32],
) {
    let mut given_up = vec![0; classes.count()];
    for member in 0..rows.member_count() as u32 {
        let mut gives_up = false;
        for (row, place) in rows.of_member(member).iter().zip(rows.range(member)) {
            given_up[row.class as usize] = row.count - exchange.kept[place];
            gives_up |= row.count > exchange.kept[place];
        }
        if gives_up {
            let class_of = |family, item| classes.class_of(family, item);
            release.of_member(member, class_of, |class| given_up[class as usize], owners);
        }
    }
}
