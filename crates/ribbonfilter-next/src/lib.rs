//! Ribbon filters: a static set in a few bits per key.
//!
//! ```
//! use ribbonfilter_next::Filter;
//!
//! let filter = Filter::build(["ada", "grace", "edsger"], 0.01)?;
//! assert!(filter.contains("ada")); // always true for a key that was put in
//! let maybe = filter.contains("alan"); // true for one absent key in a hundred
//! # let _ = maybe;
//! # Ok::<(), ribbonfilter_next::BuildError>(())
//! ```
//!
//! This is the core of the next release, on *whole blocks*. It is built beside the core of the
//! present one, which it will replace under the same names.
//!
//! # What a ribbon filter is
//!
//! Every key is an equation over a table of slots with `r` bits each: it picks about half of some
//! consecutive slots, and demands that their exclusive or be the key's fingerprint. Here an equation
//! begins at a *block* of 64 slots and covers two to four whole blocks, each with 64 random
//! coefficients:
//!
//! ```text
//! blocks         0          1          2          3          4
//! ada                  |0110..10||1011..01||0001..11|               = 1011
//! grace      |1100..01||0111..00||1010..11|                         = 0110
//! edsger               |0101..11||0010..10||1110..00|               = 1100
//!                       `--- W = 3 blocks of 64 slots ---´            r = 4 bits
//! ```
//!
//! So a query reads `W` blocks from one place, and no shift, mask or bound stands in its way. The
//! ones of all equations lie in a band along the diagonal (the ribbon), so Gaussian elimination is
//! quick: block after block, a dense system of about a hundred rows. The paper (Dillinger and
//! Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021) lets equations begin at
//! any slot; `docs/decisions/` says why and when whole blocks are as small and faster.
//!
//! - [`Variant::Standard`]: one system with somewhat more slots than keys. If it has no solution,
//!   another seed is tried.
//! - [`Variant::Bumped`]: fewer slots than keys, so that nearly all are used. Where too many keys
//!   meet, some are bumped to a second, small system. The default for large sets.
//!
//! # How to use it
//!
//! [`Filter::build`] takes keys and a rate and lets the planner decide the rest.
//! [`Filter::builder`] takes keys one by one, or hashes of your own, and any of four targets. With
//! [`FilterBuilder::fast`] a filter is built and queried faster, and still smaller than a binary fuse
//! filter:
//!
//! ```
//! use ribbonfilter_next::Filter;
//!
//! let mut builder = Filter::builder().false_positive_rate(0.01).fast();
//! builder.extend(0..100_000);
//! let plan = builder.plan()?; // size, rate and memory, before any work
//! let filter = builder.finish()?;
//! assert!(filter.size_in_bytes() as u64 == plan.size_in_bytes());
//! # Ok::<(), ribbonfilter_next::BuildError>(())
//! ```
//!
//! A filter is its bytes: write [`Filter::as_bytes`] anywhere, and [`Filter::open`] them
//! again, in constant time and without a copy, from a `Vec`, a slice or a memory map. The same keys
//! and settings give the same bytes on every machine, in any order.
//!
//! A [`Function`] maps keys to values of 1 to 64 bits, in hardly more space than the values take,
//! since the keys are not stored. [`Shards`] are one file of many filters, each built from its own
//! keys, anywhere.
//!
//! # Features
//!
//! - `std` (default): files and writers, and the kernels that are chosen by the CPU. Without it
//!   the library needs only `alloc`.
//! - `build` (default): builders, plans and shrinking.
//! - `parallel`: builds on several threads, if [`FilterBuilder::threads`] says so.
//! - `mmap`: `Filter::map_file`, a filter that stays in its file.
//! - `serde`: filters, functions and shards serialise as their bytes.
//! - `internals`: the choice of a kernel, and what `ribbonfilter-exact` is built on. Not covered by
//!   semantic versioning.

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
mod filter;
mod format;
mod function;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
mod kernel;
pub mod key;
#[cfg(any(test, feature = "build"))]
mod plan;
#[cfg(any(test, feature = "build"))]
mod progress;
mod query;
mod ribbon;
#[cfg(feature = "serde")]
mod serialization;
mod shards;
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
pub use filter::Filter;
#[cfg(any(test, feature = "build"))]
pub use filter::FilterBuilder;
pub use function::Function;
#[cfg(any(test, feature = "build"))]
pub use function::FunctionBuilder;
#[cfg(feature = "internals")]
pub use kernel::Kernel;
pub use key::Key;
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

/// Filters, views and builders may be sent from thread to thread as their bytes may.
const _: () = {
    const fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Filter>();
    send_and_sync::<Filter<&[u8]>>();
    send_and_sync::<Function>();
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
    send::<ShardsBuilder<'_>>();
};
