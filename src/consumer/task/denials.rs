//! Brokers that deny librdkafka, and what of it was said.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::consumer::pump::Denial;

/// How many brokers are remembered. Of one more nothing is said: so many have the same cause.
const BROKERS: usize = 64;

/// A denial of which nothing is heard for so long is over. librdkafka repeats itself every 30 to 40 s.
const OVER: Duration = Duration::from_secs(120);

/// Who denies librdkafka, since when. Said at once; again if it lasts for a session; then no more while it lasts.
#[derive(Debug)]
pub(super) struct Denials {
    patience: Duration,
    brokers: BTreeMap<String, Denied>,
}

#[derive(Debug)]
struct Denied {
    since: Instant,
    last: Instant,
    has_lasted: bool,
}

/// What is to be said of a denial.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Said {
    /// It has begun.
    First,
    /// It has lasted for as long as a membership would have.
    Lasting,
}

impl Denials {
    /// `patience`: how long a denial may last before it is more than news.
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, brokers: BTreeMap::new() }
    }

    /// Takes note; says what is to be said of it.
    pub(super) fn note(&mut self, denial: &Denial, now: Instant) -> Option<Said> {
        self.brokers.retain(|_, denied| now < denied.last + OVER);
        if let Some(denied) = self.brokers.get_mut(&denial.broker) {
            denied.last = now;
            let lasts = !denied.has_lasted && now >= denied.since + self.patience;
            denied.has_lasted |= lasts;
            return lasts.then_some(Said::Lasting);
        }
        if self.brokers.len() >= BROKERS {
            return None;
        }
        let denied = Denied { since: now, last: now, has_lasted: false };
        self.brokers.insert(denial.broker.clone(), denied);
        Some(Said::First)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a broker that is heard of at these seconds.
    fn said(at: &[u64]) -> Vec<(u64, Said)> {
        let begun = Instant::now();
        let mut denials = Denials::new(Duration::from_secs(45));
        let denial = of("one");
        let says = |second: &u64| {
            let said = denials.note(&denial, begun + Duration::from_secs(*second));
            said.map(|said| (*second, said))
        };
        at.iter().filter_map(says).collect()
    }

    fn of(broker: &str) -> Denial {
        Denial { broker: broker.to_owned(), cause: "has expired".to_owned() }
    }

    #[test]
    fn a_denial_is_said_at_once_and_once_more_when_it_has_lasted_for_a_session() {
        assert_eq!(said(&[0, 30, 60, 90, 120, 1000]).len(), 3);
        assert_eq!(said(&[0, 30, 44]), [(0, Said::First)]);
        assert_eq!(said(&[0, 30, 60, 90, 120]), [(0, Said::First), (60, Said::Lasting)]);
    }

    #[test]
    fn a_denial_of_which_nothing_was_heard_for_long_was_over() {
        assert_eq!(said(&[0, 120]), [(0, Said::First), (120, Said::First)]);
        assert_eq!(said(&[0, 119]), [(0, Said::First), (119, Said::Lasting)]);
    }

    #[test]
    fn each_broker_is_said_for_itself_and_not_without_end() {
        let mut denials = Denials::new(Duration::from_secs(45));
        let now = Instant::now();
        let said =
            (0..10_000).filter_map(|broker| denials.note(&of(&format!("broker {broker}")), now));
        assert_eq!(said.count(), BROKERS);
    }
}
