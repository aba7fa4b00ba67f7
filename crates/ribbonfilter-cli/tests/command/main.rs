//! End-to-end tests of the command: the binary, its files, its output and its exit status.

mod build;
#[cfg(feature = "parquet")]
mod columnar;
mod errors;
mod exact;
mod faults;
mod interrupted;
mod map;
mod pages;
mod parts;
mod query;
mod shards;
mod smaller;
mod support;
#[cfg(unix)]
mod terminal;
