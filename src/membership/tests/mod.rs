//! Sentences about the machine.
