//! The items that construction works on: a hash of a key and, in a function, its value.
//!
//! Fingerprints follow from the hash, so a filter's items are hashes alone and take no additional
//! space.

use crate::ribbon::equation::{Seeded, Starts};
use crate::ribbon::width::Band;
use crate::solve::banding::Equation;
use crate::solve::right_side::RightSide;

/// A key during construction: a hash of it and its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item<H, V> {
    pub(crate) hash: H,
    pub(crate) value: V,
}

impl<H, V> Item<H, V> {
    /// Whether two items of one key can contradict each other. If so, insertion order is kept, so
    /// that an error can name them.
    pub(crate) const CAN_CONTRADICT: bool = size_of::<V>() > 0;

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

impl<V> Item<Seeded, V> {
    /// The key's equation if it starts where `position` does: at its own hash, or at another
    /// location in a Balanced ribbon.
    #[inline(always)]
    pub(crate) fn equation_at<B: Band, R: RightSide<Value = V>>(
        self,
        starts: Starts,
        position: Seeded,
    ) -> Equation<B, R> {
        let start = starts.start(position);
        Equation {
            start: start as usize,
            coefficients: starts.coefficients(self.hash, start),
            right_side: R::of(self.hash, self.value),
        }
    }

    /// The key's equation.
    #[inline(always)]
    pub(crate) fn equation<B: Band, R: RightSide<Value = V>>(
        self,
        starts: Starts,
    ) -> Equation<B, R> {
        let position = self.hash;
        self.equation_at(starts, position)
    }
}
