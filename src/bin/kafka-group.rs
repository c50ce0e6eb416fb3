//! The command `kafka-group`, which knows the built-in assigners.

use std::process::ExitCode;

use kafka_group::cli::{self, Assigners, CountingAllocator};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    cli::run(std::env::args_os(), Assigners::builtin())
}
