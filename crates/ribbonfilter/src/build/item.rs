//! The items that construction works on: a hash of a key and, in a function, its value.
//!
//! A filter is a function whose values are fingerprints (paper, section 2). Fingerprints follow
//! from the hash, so a filter's items are hashes alone and take no additional space.

use super::Task;
use crate::build::variant::{self, Failure, Solved};
use crate::ribbon::equation::Seeded;
use crate::solve::banding::RightSide;
use core::fmt::Debug;

/// A key during construction: a hash of it and its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item<H, V> {
    pub(crate) hash: H,
    pub(crate) value: V,
}

impl<H, V> Item<H, V> {
    /// The same key with its hash mapped by `hash`.
    #[inline(always)]
    pub(crate) fn map<G>(self, hash: impl FnOnce(H) -> G) -> Item<G, V> {
        Item { hash: hash(self.hash), value: self.value }
    }
}

impl<H> From<H> for Item<H, ()> {
    #[inline(always)]
    fn from(hash: H) -> Self {
        Self { hash, value: () }
    }
}

/// The value of a key: `()` in a filter, a row of bits in a function.
pub(crate) trait Value: Copy + Debug + Default + Ord + Send + Sync + 'static {
    /// Whether two items of one key can contradict each other. If so, insertion order is kept, so
    /// that an error can name them.
    const CONTRADICTS: bool;

    /// The value as a word of the spill file; 0 for `()`.
    #[cfg(feature = "std")]
    fn to_word(self) -> u64;

    #[cfg(feature = "std")]
    fn from_word(word: u64) -> Self;

    /// Solves a task with the variant of its plan.
    fn solve(task: &mut Task<'_, '_, Self>) -> Result<Solved, Failure>;
}

impl Value for () {
    const CONTRADICTS: bool = false;

    #[cfg(feature = "std")]
    fn to_word(self) -> u64 {
        0
    }

    #[cfg(feature = "std")]
    fn from_word(_: u64) -> Self {}

    fn solve(task: &mut Task<'_, '_, Self>) -> Result<Solved, Failure> {
        variant::solve_filter(task)
    }
}

impl Value for u64 {
    const CONTRADICTS: bool = true;

    #[cfg(feature = "std")]
    fn to_word(self) -> u64 {
        self
    }

    #[cfg(feature = "std")]
    fn from_word(word: u64) -> Self {
        word
    }

    fn solve(task: &mut Task<'_, '_, Self>) -> Result<Solved, Failure> {
        variant::solve_function(task)
    }
}

/// The right-hand side of a key's equation: the sum that its slots must have.
pub(crate) trait Goal: RightSide {
    /// The value of a key in a system with such right-hand sides.
    type Value: Value;

    fn of(item: Item<Seeded, Self::Value>) -> Self;
}

impl Goal for () {
    type Value = ();

    #[inline(always)]
    fn of(_: Item<Seeded, ()>) {}
}

/// Zero, in a homogeneous system that stores its free variables where right-hand sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zero(u32);

impl RightSide for Zero {
    const ZERO: Self = Self(0);

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self.0.into()
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        Self(bits as u32)
    }
}

impl Goal for Zero {
    type Value = ();

    #[inline(always)]
    fn of(_: Item<Seeded, ()>) -> Self {
        Self::ZERO
    }
}

impl Goal for u32 {
    type Value = ();

    #[inline(always)]
    fn of(item: Item<Seeded, ()>) -> Self {
        item.hash.fingerprint()
    }
}

impl Goal for u64 {
    type Value = u64;

    #[inline(always)]
    fn of(item: Item<Seeded, u64>) -> Self {
        item.value
    }
}
