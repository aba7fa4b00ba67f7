//! One shard of a container, in bytes of its own.

use crate::error::OpenError;
use crate::format::Container;
use crate::storage::bytes::OwnedBytes;
use crate::storage::over_bytes::over_bytes;
use crate::{Variant, Width};
use core::fmt;

/// One shard of a container that is split by hash, in bytes of its own.
///
/// [`ShardsBuilder::only`](crate::ShardsBuilder::only) builds one, from its keys alone and in
/// any process; [`Shards::assemble`](crate::Shards::assemble) makes a container of all.
///
/// ```
/// use ribbonfilter::{Shard, Shards, Split};
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
    pub(super) container: Container,
}

impl<D: AsRef<[u8]>> Shard<D> {
    /// Opens a shard over existing bytes, in constant time.
    ///
    /// # Errors
    /// If the bytes are not a shard that this version can read, or not all of one.
    pub fn open(data: D) -> Result<Self, OpenError> {
        let container = Container::read_alone(data.as_ref())?;
        Ok(Self { data, container })
    }

    /// Checks every byte against the checksums.
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        let bytes = self.data.as_ref();
        // A foreign `AsRef` may have other bytes by now.
        Container::read_alone(bytes)?.verify(bytes)
    }

    /// The number of the shard, counted from 0.
    pub fn number(&self) -> u64 {
        self.container.number()
    }

    /// How many shards its container has.
    pub fn shard_count(&self) -> u64 {
        self.container.shards()
    }

    /// The number of keys, distinct ones unless duplicates are too few to matter.
    pub fn len(&self) -> u64 {
        self.container.keys
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes, the footer included.
    pub fn size_in_bytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// The variant of all shards.
    pub fn variant(&self) -> Variant {
        self.container.variant
    }

    /// The ribbon width of all shards.
    pub fn width(&self) -> Width {
        self.container.width
    }

    /// The seed under which keys are hashed.
    pub fn key_seed(&self) -> u64 {
        self.container.key_seed
    }
}

over_bytes!(
    Shard,
    "shard",
    "ribbonfilter::Shards::builder(ribbonfilter::Split::ByHash { bits: 1 }).only(1)?.finish()?"
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
