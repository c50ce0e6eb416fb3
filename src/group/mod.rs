//! Where machine, clock, connections and the application meet.

mod jobs;
mod options;
mod properties;
mod settings;

pub use properties::{PROPERTIES, Plane, Property};
