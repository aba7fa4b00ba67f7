//! The library as its users see it: one program, one file a topic.
//!
//! What measures the memory of its process has a program of its own, `tests/memory.rs`.

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod determinism;
mod elastic;
mod fixed_bytes;
mod functions;
mod golden;
mod hostile_keys;
mod map;
mod no_false_negatives;
mod parts;
mod properties;
mod rates;
mod reader;
mod shards;
mod small_sets;
mod spill;
#[cfg(feature = "parallel")]
mod threads;
