//! How keys are split among shards.

#[cfg(any(test, feature = "build"))]
use crate::error::BuildError;
use crate::format::{MAX_CONTAINER_BITS, MAX_CONTAINER_BYTES};
use crate::ribbon::equation::{mix, segment};

/// How the keys of a container are split among its shards.
///
/// | split | shards | for |
/// |---|---|---|
/// | `ByHash` | a chosen number, each planned for its own keys | sets beyond memory, and many processes that build a shard each |
/// | `FixedSize` | the same, each in the same number of bytes | pages, blocks, cache lines |
/// | `UntilFull` | of the natural size, w²/4 slots, any number | small shards with hardly any empty slots |
///
/// ```
/// use ribbonfilter::{Key, Split};
///
/// let split = Split::ByHash { bits: 3 };
/// assert!(split.shard_of_hash("ada".key_hash(0)) < Some(8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Split {
    /// `2^bits` shards by the top bits of the hash, each planned for its own keys.
    ///
    /// A shard is a function of its keys and the settings alone, so it can be built in any
    /// process ([`ShardsBuilder::only`](crate::ShardsBuilder::only)). The directory takes 32
    /// bytes per shard. The data of a shard begin at a multiple of 64 bytes if they are 65,536 bytes
    /// or more, and anywhere if they are fewer.
    ByHash {
        /// At most 24.
        bits: u32,
    },
    /// `2^bits` shards by the top bits of the hash, each of the same number of bytes: a
    /// shard of more keys has fewer columns, possibly a fraction, and a higher rate.
    ///
    /// The size decides the columns; the target of the builder is not used. The directory takes
    /// 32 further bytes per shard.
    FixedSize {
        /// At most 24.
        bits: u32,
        /// The bytes of each shard.
        bytes: u64,
    },
    /// Standard ribbons of w²/4 slots, each filled in the order of hashes until the first key
    /// that does not fit, which begins the next (paper, section 5.4). The directory takes about
    /// 4 bytes per shard.
    UntilFull,
}

impl Split {
    /// The shard of the key with this hash, counted from 0; `None` if it depends on all keys
    /// and not on the hash alone ([`UntilFull`](Self::UntilFull)).
    ///
    /// ```
    /// use ribbonfilter::Split;
    ///
    /// assert_eq!(Split::ByHash { bits: 0 }.shard_of_hash(7), Some(0));
    /// assert_eq!(Split::UntilFull.shard_of_hash(7), None);
    /// ```
    pub fn shard_of_hash(self, key_hash: u64) -> Option<u64> {
        let bits = self.bits()?.min(MAX_CONTAINER_BITS);
        Some(segment(mix(key_hash), bits))
    }

    /// The bits of the hash that choose the shard.
    pub(super) fn bits(self) -> Option<u32> {
        match self {
            Self::ByHash { bits } | Self::FixedSize { bits, .. } => Some(bits),
            Self::UntilFull => None,
        }
    }

    #[cfg(any(test, feature = "build"))]
    /// Refuses more shards than a container can have.
    pub(super) fn check(self) -> Result<(), BuildError> {
        let bits = self.bits().unwrap_or(0);
        if bits > MAX_CONTAINER_BITS {
            return Err(BuildError::TooManyShards { bits, max: MAX_CONTAINER_BITS });
        }
        match self {
            Self::FixedSize { bytes, .. } if bytes > MAX_CONTAINER_BYTES >> bits => {
                Err(BuildError::ContainerTooLarge { max: MAX_CONTAINER_BYTES })
            }
            _ => Ok(()),
        }
    }
}
