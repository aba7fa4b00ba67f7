//! The integration tests of exact sets.

#[path = "../support/mod.rs"]
mod support;

mod exact;
mod fixed_bytes;
mod serialization;
mod small_sets;
