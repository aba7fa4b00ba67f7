//! One shard of a container, in bytes of its own.

use crate::error::OpenError;
use crate::format::container::Alone;
use crate::storage::bytes::OwnedBytes;
use crate::storage::over_bytes::over_bytes;
use crate::{Variant, Width};
use core::fmt;

/// One shard of a container, in bytes of its own.
///
/// [`ShardsBuilder::only`](crate::ShardsBuilder::only) builds one, from its keys alone and in
/// any process; [`Shards::assemble`](crate::Shards::assemble) makes a container of all.
///
/// ```
/// use ribbonfilter_next::{Shard, Shards, Split};
///
/// let mut builder = Shards::builder(Split::ByHash { bits: 2 }).only(3)?;
/// builder.extend(0..1000); // keys of other shards are ignored
/// let bytes = builder.finish()?.into_inner().to_vec(); // to be sent, or written to a file
///
/// let shard = Shard::open(&bytes[..])?;
/// assert_eq!((shard.number(), shard.shard_count()), (3, 4));
/// assert_eq!(shard.size_in_bytes(), bytes.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Shard<D = OwnedBytes> {
    data: D,
    pub(super) alone: Alone,
}

impl<D: AsRef<[u8]>> Shard<D> {
    /// Opens a shard over existing bytes, in constant time.
    ///
    /// # Errors
    /// If the bytes are not a shard that this version can read, or not all of one.
    pub fn open(data: D) -> Result<Self, OpenError> {
        let alone = Alone::read(data.as_ref())?;
        Ok(Self { data, alone })
    }

    /// Checks every byte against the checksums.
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        Alone::verify(self.data.as_ref())
    }

    /// The number of the shard, counted from 0.
    pub fn number(&self) -> u64 {
        self.alone.number
    }

    /// How many shards its container has.
    pub fn shard_count(&self) -> u64 {
        self.alone.common.shards()
    }

    /// The number of keys, distinct ones unless duplicates are too few to matter.
    pub fn len(&self) -> u64 {
        self.alone.filter.keys
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes, the footer included.
    pub fn size_in_bytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// The variant of its filter.
    pub fn variant(&self) -> Variant {
        self.alone.filter.shape.variant()
    }

    /// The ribbon width of its filter.
    pub fn width(&self) -> Width {
        self.alone.filter.shape.first.width
    }

    /// The seed under which keys are hashed.
    pub fn key_seed(&self) -> u64 {
        self.alone.common.key_seed
    }
}

over_bytes!(
    Shard,
    "shard",
    "ribbonfilter_next::Shards::builder(ribbonfilter_next::Split::ByHash { bits: 1 }).only(1)?.finish()?"
);

impl<D: AsRef<[u8]>> fmt::Debug for Shard<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("number", &self.number())
            .field("shard_count", &self.shard_count())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
