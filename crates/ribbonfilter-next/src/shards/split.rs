//! How keys are split among shards.

#[cfg(any(test, feature = "build"))]
use crate::error::BuildError;
use crate::format::container::{MAX_BITS, MAX_BYTES};
use crate::ribbon::equation::Mixer;

/// How the keys of a container are split among its shards: by the top bits of their hashes.
///
/// A shard is a function of its keys and the settings alone, so it can be built in any process
/// ([`ShardsBuilder::only`](crate::ShardsBuilder::only)). In a container it takes 5 bytes in addition
/// to its filter.
///
/// ```
/// use ribbonfilter_next::{Key, Split};
///
/// let split = Split::ByHash { bits: 3 };
/// assert!(split.shard_of_hash("ada".key_hash(0)) < 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Split {
    /// `2^bits` shards, each planned for its own keys: for sets beyond memory, and for many
    /// processes that build a shard each.
    ///
    /// If the filters have 65,536 bytes or more on average, each begins at a multiple of 64 bytes.
    ByHash {
        /// At most 24.
        bits: u32,
    },
    /// `2^bits` shards, each of the same number of bytes: for pages, blocks, cache lines. A shard of
    /// more keys has fewer columns, possibly a fraction, and a higher rate.
    ///
    /// The size decides the columns; the target of the builder is not used.
    FixedSize {
        /// At most 24.
        bits: u32,
        /// The bytes of each shard, the footer of its filter included.
        bytes: u64,
    },
}

impl Split {
    /// The shard of the key with this hash, counted from 0.
    ///
    /// ```
    /// use ribbonfilter_next::Split;
    ///
    /// assert_eq!(Split::ByHash { bits: 0 }.shard_of_hash(7), 0);
    /// ```
    pub fn shard_of_hash(self, key_hash: u64) -> u64 {
        locate(key_hash, self.bits().min(MAX_BITS)).0
    }

    /// The bits of the hash that choose the shard.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::ByHash { bits } | Self::FixedSize { bits, .. } => bits,
        }
    }

    /// The bytes of each shard if their size is fixed; else 0.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::ByHash { .. } => 0,
            Self::FixedSize { bytes, .. } => bytes,
        }
    }

    /// Refuses more shards than a container can have.
    #[cfg(any(test, feature = "build"))]
    pub(super) fn check(self) -> Result<(), BuildError> {
        let bits = self.bits();
        if bits > MAX_BITS {
            return Err(BuildError::TooManyShards { bits, max: MAX_BITS });
        }
        match self.bytes() > MAX_BYTES >> bits {
            true => Err(BuildError::ContainerTooLarge { max: MAX_BYTES }),
            false => Ok(()),
        }
    }
}

/// The shard of a key, and the key hash in the shard's filter: the integer part and the fraction of
/// the mixed hash times the number of shards. The filter mixes that again.
#[inline]
pub(super) fn locate(key_hash: u64, bits: u32) -> (u64, u64) {
    const MIXER: Mixer = Mixer::new(0);
    let product = u128::from(MIXER.mix(key_hash)) << bits;
    ((product >> 64) as u64, product as u64)
}
