//! The Ribbon filter paper as plain code.
//!
//! Peter C. Dillinger and Stefan Walzer, *Ribbon filter: practically smaller than Bloom and Xor*
//! (2021, [arXiv:2103.02515](https://arxiv.org/abs/2103.02515)), here called *the paper*. This
//! crate is to be read beside it: one module for each of its ideas, in its terms, without vector
//! instructions. The `README.md` maps sections to files, tests and commands.
//!
//! # The idea
//! A key `x` has a *start* `s(x)`, `w` random *coefficients* `c(x)` of which the first is 1, and a
//! *fingerprint* `b(x)` of `r` bits. A filter is a matrix `Z` of `m` rows and `r` columns with
//!
//! ```text
//! c(x) * Z[s(x) .. s(x) + w) = b(x)        for every key x of the set,
//! ```
//!
//! where `*` is the exclusive or of the selected rows. An absent key satisfies this equation with
//! probability `2^-r`. All coefficients lie in a *ribbon* of width `w`, so Gaussian elimination
//! works on words of `w` bits, and a query reads `w` neighbouring slots.
//!
//! ```text
//! slots ->
//! 1 . 1 1
//!   1 1 . 1
//!   1 . 1 1                w = 4
//!       1 1 . .
//!         1 . . 1
//! ```
//!
//! # Reading order
//! 1. [`width`], [`hash`], [`starts`]: from a key to its equation.
//! 2. [`banding`]: Algorithm 1. [`solution`], [`layout`]: back substitution, storage, queries.
//! 3. [`ribbon`]: the variants, one file each. [`filter`] and [`function`] are their two uses.
//! 4. [`elastic`], [`part`], [`shards`], [`until_full`]: what can be done with finished filters and
//!    with many keys.
//! 5. [`rate`], [`slots`], [`simulate`], [`tables`]: what the paper proves, measures or simulates.

#![forbid(unsafe_code)]

pub mod banding;
pub mod elastic;
pub mod error;
pub mod filter;
pub mod format;
pub mod function;
pub mod hash;
pub mod layout;
pub mod part;
pub mod random;
pub mod rate;
pub mod ribbon;
pub mod settings;
pub mod shards;
pub mod simulate;
pub mod slots;
pub mod solution;
pub mod starts;
pub mod tables;
pub mod until_full;
pub mod width;

pub use error::Error;
pub use filter::Filter;
pub use format::Stored;
pub use function::Function;
pub use layout::Layout;
pub use part::Part;
pub use settings::{Settings, Variant};
pub use shards::Shards;
pub use solution::Solution;
pub use starts::Starts;
pub use until_full::UntilFull;
pub use width::Width;
