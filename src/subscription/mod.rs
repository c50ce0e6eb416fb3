//! Pure. The "consumer" protocol: topics wanted, partitions given, and the bytes that say so.
//!
//! [`ConsumerProtocol`] is what the driver of a member talks to. Below it, `embedded` holds Kafka's own bytes,
//! `envelope` those that members of this crate put into Kafka's user data, and `dialect` which of them go where, since
//! other clients read, copy and choke on user data each in their own way. `describe`, `lead` and `joined` are the
//! three steps of a round; `watch` says who starts the next one when topics change,
//! and `outside` reads what members wrote for those who look at a group without being in it.

mod describe;
mod dialect;
mod embedded;
mod envelope;
mod hash;
mod joined;
mod lead;
mod members;
mod notice;
mod options;
mod outcome;
mod outside;
mod protocol;
mod publish;
mod reading;
mod selection;
mod sticky;
#[cfg(test)]
#[cfg(feature = "bincode")]
mod tests;
mod topics_said;
mod watch;
mod writer;

#[cfg(any(test, feature = "test-util"))]
pub(crate) use embedded::{Assignment, Subscription};
pub(crate) use envelope::{Down, Told, Up};
pub(crate) use notice::ConsumerNotice;
pub(crate) use options::ConsumerOptions;
pub use options::OnAssignError;
pub(crate) use outside::{SeenSubscription, see_assignment, see_subscription};
pub(crate) use protocol::{ConsumerProtocol, PlanSeen, Reaction};
pub(crate) use selection::Selection;
#[cfg(any(test, feature = "test-util"))]
pub(crate) use sticky::StickyClaim;

#[cfg(test)]
fn hex(text: &str) -> bytes::Bytes {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}
