//! Members as applications meet them, against a fake cluster: the public surface and nothing else.

mod harness;

mod commits;
mod coordinators;
mod endings;
mod events;
mod faults;
mod gathering;
mod heartbeats;
mod options;
mod round_trips;
mod rounds;
mod settling;
mod statics;
mod topics;
