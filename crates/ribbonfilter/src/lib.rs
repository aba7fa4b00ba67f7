//! Ribbon filters: a static set in a few bits per key.
//!
//! ```
//! use ribbonfilter::Filter;
//!
//! let filter = Filter::build(["ada", "grace", "edsger"], 0.01)?;
//! assert!(filter.contains("ada")); // always true for a key that was put in
//! let maybe = filter.contains("alan"); // true for one absent key in a hundred
//! # let _ = maybe;
//! # Ok::<(), ribbonfilter::BuildError>(())
//! ```
//!
//! A Bloom filter spends 44 % more bits than theory demands, an Xor filter 23 %, a binary
//! fuse filter 8 to 13 %. A ribbon filter (Dillinger and Walzer, "Ribbon filter: practically
//! smaller than Bloom and Xor", 2021) spends 0.09 % on a million keys at a rate of 1/256 (0.18 % at
//! 1/8, 0.47 % at 1/2), and 0.4 % on a thousand, plus a footer of 40 bytes, which is 4 % of a filter
//! of a thousand keys with 8 bits each. For a rate that is not 1/2, 1/4, 1/8 and so on, part of the
//! filter has one bit per key fewer than the rest, which costs more than the average of both. On a
//! million keys the total is 1.2 % at a rate of 0.01 and 0.2 % at 0.001; it is at most 1.5 % for rates below 1/64,
//! 2.7 % from there to 1/8, 3.8 % from 1/8 to 1/4, 6.4 % from 1/4 to 1/2, and more above 1/2 (over
//! 20 % at 0.75).
//!
//! It is static: keys are known when it is built and none can be added later. For sets that live
//! for a second, a blocked Bloom filter is built faster and is the better tool.
//!
//! # What a ribbon filter is
//!
//! Every key is an equation over a table `Z` of `m` slots with `r` bits each: it names `w`
//! consecutive slots, picks about half of them at random, and demands that their xor be the
//! key's fingerprint.
//!
//! ```text
//!             slots of Z:   0   1   2   3   4   5   6   7   8
//! ada      starts at 1:         1   .   1   1                    = 1011
//! grace    starts at 3:                 1   1   .   1            = 0110
//! edsger   starts at 4:                     1   .   .   1        = 1100
//!                               └─ w = 4 coefficients ─┘           └ r = 4 bits
//! ```
//!
//! Because the ones of all equations lie in a narrow band along the diagonal (the ribbon),
//! Gaussian elimination is quick: each key is reduced by the rows that are there and fills
//! an empty one. `Z` is the filter. To query a key is to compute its xor and compare: a
//! key that was put in always agrees, another one with probability `2^-r` on average.
//!
//! - [`Variant::Standard`] does just that. If some equations contradict each other, other
//!   random coefficients are tried.
//! - [`Variant::Homogeneous`] demands zero instead of a fingerprint: nothing can contradict,
//!   and the free slots are filled at random.
//! - [`Variant::Balanced`] gives every key a second location, used where too many keys meet.
//!   Hardly a slot stays empty, but building takes longer.
//! - [`Variant::Bumped`] has fewer slots than keys, so that nearly all of them are used, and
//!   passes the keys that find no slot on to a second, small ribbon, which does the same.
//!
//! The repository's `docs/algorithm.md` explains everything.
//!
//! # How to use it
//!
//! [`Filter::build`] takes keys and a rate and lets the planner decide the rest.
//! [`Filter::builder`] takes keys one by one, or hashes of your own, and any of four targets:
//!
//! ```
//! use ribbonfilter::{Filter, Variant, Width};
//!
//! let mut builder = Filter::builder()
//!     .bits_per_key(9.0)              // or .false_positive_rate, .columns, .total_bytes
//!     .variant(Variant::Homogeneous)  // the fastest query; default: the smallest filter
//!     .width(Width::W64);
//! builder.extend(0..100_000);
//! let plan = builder.plan()?;         // size, rate and memory, before any work
//! let filter = builder.finish()?;
//! assert!(filter.size_in_bytes() as u64 == plan.size_in_bytes());
//! # Ok::<(), ribbonfilter::BuildError>(())
//! ```
//!
//! A filter is its bytes: write [`Filter::as_bytes`] anywhere, and [`Filter::open`] them
//! again, in constant time and without a copy, from a `Vec`, a slice or a memory map.
//!
//! ```
//! # use ribbonfilter::Filter;
//! # let filter = Filter::build(["ada"], 0.01)?;
//! let bytes: &[u8] = filter.as_bytes();
//! let view = Filter::open(bytes)?;
//! view.verify()?; // the full check, for bytes that may be corrupt
//! assert!(view.contains("ada"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same keys and settings give the same bytes on every machine, in any order.
//!
//! # Static functions
//!
//! If the xor of a key's slots may be a fingerprint, it may as well be a value: a [`Function`]
//! maps keys to values of 1 to 64 bits, in hardly more space than the values take, since the keys
//! are not stored.
//!
//! ```
//! use ribbonfilter::Function;
//!
//! let mut builder = Function::builder().value_bits(7).fingerprint_bits(12);
//! builder.extend([("ada", 36), ("grace", 85)]);
//! let ages = builder.finish()?;
//! assert_eq!(ages.get("ada"), 36);
//! assert_eq!(ages.lookup("grace"), Some(85));
//! assert_eq!(ages.lookup("alan"), None); // with probability 1 - 2^-12
//! # Ok::<(), ribbonfilter::BuildError>(())
//! ```
//!
//! # Exact sets
//!
//! If all keys that will ever be queried are known, an [`ExactSet`] has no false positives: a filter
//! of the members, and a function of one bit for the members and the filter's false positives.
//!
//! ```
//! use ribbonfilter::ExactSet;
//!
//! let revoked = ExactSet::build([17, 99], (100..1000).chain(0..17))?;
//! assert!(revoked.contains(99) && !revoked.contains(100));
//! # Ok::<(), ribbonfilter::BuildError>(())
//! ```
//!
//! # Shards
//!
//! A set that exceeds memory, or whose keys lie with several processes, goes into [`Shards`]: one
//! file of many filters. Each is built from its own keys, anywhere, and the bytes are those that
//! one process would have built.
//!
//! ```
//! use ribbonfilter::{Shards, Split};
//!
//! let split = Split::ByHash { bits: 2 };
//! let build = |number| {
//!     let mut builder = Shards::builder(split).false_positive_rate(0.001).only(number)?;
//!     builder.extend(0..10_000); // keeps those of its shard
//!     builder.finish()
//! };
//! let shards = Shards::assemble([build(0)?, build(1)?, build(2)?, build(3)?])?;
//! assert!(shards.contains(4711));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `std` (default): files and writers, and the kernels that are chosen by the CPU. Without it
//!   the library needs only `alloc`.
//! - `build` (default): builders, plans and shrinking. A program that only opens and queries can
//!   leave it out, `default-features = false, features = ["std"]`, and compiles in a fifth of the
//!   time.
//! - `parallel`: builds on several threads, if [`FilterBuilder::threads`] says so.
//! - `mmap`: `Filter::map_file`, a filter that stays in its file.
//! - `serde`: filters, functions, shards and parts serialise as their bytes, and are verified when
//!   they are deserialised; [`Variant`], [`Width`] and [`Effort`] serialise as their names.
//! - `internals`: what the project's own tests and benchmarks need, namely the choice of a kernel
//!   and simulations of the construction. Not covered by semantic versioning: any release may
//!   change it.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What is opened and queried shares its modules with what is built.
#![cfg_attr(not(any(test, feature = "build")), allow(dead_code, unused_imports))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(any(test, feature = "build"))]
mod build;
mod error;
mod exact;
mod filter;
mod format;
mod function;
mod kernel;
pub mod key;
mod part;
#[cfg(any(test, feature = "build"))]
mod plan;
#[cfg(any(test, feature = "build"))]
mod progress;
mod query;
mod ribbon;
#[cfg(feature = "serde")]
mod serialization;
mod shards;
#[cfg(any(test, feature = "internals"))]
pub mod simulate;
#[cfg(any(test, feature = "build"))]
mod solve;
mod storage;
#[cfg(test)]
mod testing;

#[cfg(any(test, feature = "build"))]
pub use build::BuildOptions;
#[cfg(any(test, feature = "build"))]
pub use error::BuildError;
pub use error::{JoinError, Kind, OpenError, ShrinkError};
#[cfg(any(test, feature = "build"))]
pub use exact::{ExactPlan, ExactSetBuilder, OtherKeys};
pub use exact::{ExactSet, Membership};
pub use filter::Filter;
#[cfg(any(test, feature = "build"))]
pub use filter::FilterBuilder;
pub use function::Function;
#[cfg(any(test, feature = "build"))]
pub use function::FunctionBuilder;
#[cfg(feature = "internals")]
pub use kernel::Kernel;
pub use key::Key;
pub use part::Part;
#[cfg(any(test, feature = "build"))]
pub use plan::{Effort, Plan};
#[cfg(any(test, feature = "build"))]
pub use progress::{Phase, Progress};
pub use ribbon::{ParseError, Variant, Width};
pub use shards::{Shard, Shards, Split};
#[cfg(any(test, feature = "build"))]
pub use shards::{ShardBuilder, ShardsBuilder};
#[cfg(feature = "mmap")]
pub use storage::MappedBytes;
pub use storage::OwnedBytes;

/// Filters, views and builders go from thread to thread as their bytes do.
const _: () = {
    const fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Filter>();
    send_and_sync::<Filter<&[u8]>>();
    send_and_sync::<Function>();
    send_and_sync::<ExactSet>();
    send_and_sync::<Part>();
    send_and_sync::<Shards>();
    send_and_sync::<Shard>();
    send_and_sync::<JoinError>();
    send_and_sync::<OpenError>();
    send_and_sync::<ShrinkError>();
};
#[cfg(any(test, feature = "build"))]
const _: () = {
    const fn send_and_sync<T: Send + Sync>() {}
    const fn send<T: Send>() {}
    send_and_sync::<Plan>();
    send_and_sync::<BuildError>();
    send::<FilterBuilder<'_>>();
    send::<FunctionBuilder<'_>>();
    send::<ExactSetBuilder<'_>>();
    send::<OtherKeys<'_>>();
    send::<ShardsBuilder<'_>>();
};
