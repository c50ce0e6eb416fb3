//! What a member holds, as the machine sees it.

use std::fmt::Debug;

use crate::types::Partitions;

/// What a member holds of a group's work: a set, of which the membership machine knows nothing else.
pub trait Holding: Clone + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Whether nothing is held.
    fn is_empty(&self) -> bool;

    /// Adds what `other` holds.
    fn add(&mut self, other: &Self);

    /// Takes out what `other` holds.
    fn remove(&mut self, other: &Self);

    /// What both hold.
    #[must_use]
    fn common(&self, other: &Self) -> Self;
}

impl Holding for Partitions {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn add(&mut self, other: &Self) {
        self.extend_with(other);
    }

    fn remove(&mut self, other: &Self) {
        self.subtract(other);
    }

    fn common(&self, other: &Self) -> Self {
        self.intersection(other)
    }
}
