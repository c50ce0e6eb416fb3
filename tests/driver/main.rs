//! Members as applications meet them, against a fake cluster: the public surface and nothing else.

mod harness;

mod events;
mod round_trips;
