//! Exact sets: no false positive within a known universe.
//!
//! A filter of the members has false positives, but if all keys that will ever be queried are
//! known, so are these. A map to one bit per key separates them from the members. Both together are
//! exact for every key of the universe.
//!
//! ```text
//!                 no                             0
//! key --> filter -----> not a member      map -----> not a member
//!           |  yes                         |  1
//!           +------------------------------+-----> member
//! ```
//!
//! If there are fewer others than members, the filter stores the others, and the result is inverted.
//! Groups differ in their fraction of members, and so in the best number of columns of the filter:
//! all groups of the same number share a filter, and all groups share the map.
//!
//! ```
//! use ribbonfilter_exact::ExactSet;
//!
//! let primes = ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
//! assert!(primes.contains(7) && !primes.contains(9));
//! # Ok::<(), ribbonfilter_exact::ExactError>(())
//! ```
//!
//! # The modules
//!
//! - `set.rs`: the set, and its queries.
//! - `format.rs`, `table.rs`: its bytes, and in them the table of groups.
//! - `builder.rs`, `other_keys.rs`: what takes keys; `keys.rs`, `spill.rs`, `group.rs`: how they are
//!   kept.
//! - `plan.rs`, `bound.rs`: how many columns the filters have, how large the set becomes, and how
//!   small it could be.
//! - `construct.rs`, `sieve.rs`: from keys and plan to bytes.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "build")]
mod bound;
#[cfg(feature = "build")]
mod builder;
#[cfg(feature = "build")]
mod construct;
#[cfg(feature = "build")]
mod error;
mod format;
mod group;
#[cfg(feature = "build")]
mod groups;
#[cfg(feature = "build")]
mod keys;
#[cfg(feature = "build")]
mod other_keys;
#[cfg(feature = "build")]
mod plan;
#[cfg(feature = "serde")]
mod serialization;
mod set;
#[cfg(feature = "build")]
mod sieve;
#[cfg(all(feature = "build", feature = "std"))]
mod spill;
mod table;
#[cfg(feature = "build")]
mod table_builder;

#[cfg(feature = "build")]
pub use builder::ExactSetBuilder;
#[cfg(feature = "build")]
pub use error::ExactError;
#[cfg(feature = "build")]
pub use other_keys::OtherKeys;
#[cfg(feature = "build")]
pub use plan::ExactPlan;
pub use set::{ExactSet, Membership};

#[cfg(feature = "internals")]
pub use ribbonfilter::Kernel;
#[cfg(feature = "mmap")]
pub use ribbonfilter::MappedBytes;
#[cfg(feature = "build")]
pub use ribbonfilter::{BuildError, BuildOptions, Effort, Phase, Progress};
pub use ribbonfilter::{Key, Kind, OpenError, OwnedBytes};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
