//! Tests of the public API: one program, with one file per topic.
//!
//! Tests that measure the memory of the process are in a separate program, `tests/memory.rs`.

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod determinism;
mod elastic;
mod fixed_bytes;
mod functions;
mod map;
mod no_false_negatives;
mod properties;
mod rates;
#[cfg(feature = "serde")]
mod serialization;
mod shards;
mod small_sets;
mod spill;
mod structured_keys;
#[cfg(feature = "parallel")]
mod threads;
