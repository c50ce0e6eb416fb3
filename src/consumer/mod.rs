//! I/O. Records through rdkafka.

mod convert;
mod hand_over;
mod ledger;
mod pump;
mod queue;
mod raw;
mod record;

pub use convert::{list_to_offsets, offsets_to_list};
pub use record::{Header, Record, Timestamp};
