//! The right-hand sides of equations, and the values of keys that they come from.

use crate::ribbon::equation::Seeded;
use core::fmt::Debug;

/// The right-hand side of an equation: the sum that the slots of a key must have.
///
/// `()` and [`Zero`] in a homogeneous system, a fingerprint (`u32`) in a filter, a value (`u64`) in
/// a function. A filter is a function whose values are fingerprints (paper, section 2).
pub(crate) trait RightSide: Copy + Eq + Send + Sync + 'static {
    /// What construction keeps of a key in addition to its hash: `()` if the right-hand side
    /// follows from the hash.
    type Value: Value;
    /// The right-hand side of an empty row and of a homogeneous equation.
    const ZERO: Self;
    /// The right-hand side of a key's equation.
    fn of(hash: Seeded, value: Self::Value) -> Self;
    /// The right-hand side as a row of the solution: bit `c` belongs to column `c`.
    fn bits(self) -> u64;
    /// The right-hand side of such a row. Bits that do not fit the type are dropped.
    fn from_bits(bits: u64) -> Self;
    /// The sum of two equations' right-hand sides.
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self::from_bits(self.bits() ^ other.bits())
    }
}

/// Zero, in a homogeneous system that stores its free variables where right-hand sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zero(u32);

impl RightSide for () {
    type Value = ();
    const ZERO: Self = ();
    #[inline(always)]
    fn of(_: Seeded, (): ()) {}
    #[inline(always)]
    fn bits(self) -> u64 {
        0
    }
    #[inline(always)]
    fn from_bits(_: u64) {}
}

impl RightSide for Zero {
    type Value = ();
    const ZERO: Self = Self(0);
    #[inline(always)]
    fn of(_: Seeded, (): ()) -> Self {
        Self::ZERO
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

impl RightSide for u32 {
    type Value = ();
    const ZERO: Self = 0;
    #[inline(always)]
    fn of(hash: Seeded, (): ()) -> Self {
        hash.fingerprint()
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.into()
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits as u32
    }
}

impl RightSide for u64 {
    type Value = u64;
    const ZERO: Self = 0;
    #[inline(always)]
    fn of(_: Seeded, value: u64) -> Self {
        value
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits
    }
}

/// What is kept of a key in addition to its hash: `()` in a filter, a row of bits in a function, a
/// group in an exact set.
pub(crate) trait Value: Copy + Debug + Default + Ord + Send + Sync + 'static {
    /// The value as a word of a file; 0 for `()`.
    #[cfg(feature = "std")]
    fn to_word(self) -> u64;

    #[cfg(feature = "std")]
    fn from_word(word: u64) -> Self;
}

impl Value for () {
    #[cfg(feature = "std")]
    fn to_word(self) -> u64 {
        0
    }

    #[cfg(feature = "std")]
    fn from_word(_: u64) -> Self {}
}

impl Value for u64 {
    #[cfg(feature = "std")]
    fn to_word(self) -> u64 {
        self
    }

    #[cfg(feature = "std")]
    fn from_word(word: u64) -> Self {
        word
    }
}
