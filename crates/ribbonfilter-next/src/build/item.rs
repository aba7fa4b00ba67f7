//! The items that a build works on: the hash of a key and, in a map, its value.
//!
//! Fingerprints follow from the hash, so a filter's items are hashes alone and take no additional
//! space.

/// What a key maps to during construction: nothing in a filter, a row in a map.
pub(crate) trait Value: Copy + Default + Ord + Send + Sync + core::fmt::Debug {
    /// The row of a map; 0 in a filter.
    fn to_word(self) -> u64;
    #[cfg(feature = "std")] // only spilled items become values again
    /// The value of a word that [`to_word`](Self::to_word) returned.
    fn from_word(word: u64) -> Self;
}

impl Value for () {
    #[inline(always)]
    fn to_word(self) -> u64 {
        0
    }

    #[cfg(feature = "std")]
    fn from_word(_: u64) -> Self {}
}

impl Value for u64 {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self
    }

    #[cfg(feature = "std")]
    fn from_word(word: u64) -> Self {
        word
    }
}

/// A key during construction: its hash, and its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item<V> {
    pub(crate) hash: u64,
    pub(crate) value: V,
}

impl<V> Item<V> {
    /// Whether two items of one key can contradict each other. If so, insertion order is kept, so
    /// that an error can name them.
    pub(crate) const CAN_CONTRADICT: bool = size_of::<V>() > 0;
}
