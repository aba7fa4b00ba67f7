//! One shard of a container, as the process that built it gives it away.

use crate::error::OpenError;
use crate::format::Container;
use crate::storage::bytes::OwnedBytes;
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
/// builder.extend(0..1000); // those of other shards are passed over
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

impl Shard {
    /// Reads a shard from a file into memory.
    ///
    /// # Errors
    /// If the file cannot be read, or as in [`open`](Shard::open).
    #[cfg(feature = "std")]
    pub fn open_file(path: impl AsRef<std::path::Path>) -> Result<Self, OpenError> {
        Self::open(OwnedBytes::read_file(path)?)
    }
}

#[cfg(feature = "mmap")]
impl Shard<crate::MappedBytes> {
    /// Maps a shard's file into memory, to be assembled with others without being read in.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read, or as in [`open`](Shard::open).
    ///
    /// # Safety
    /// As for [`Filter::map_file`](crate::Filter::map_file).
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<std::path::Path>) -> Result<Self, OpenError> {
        // SAFETY: the caller promises that nobody changes the file.
        Self::open(unsafe { crate::MappedBytes::map_file(path)? })
    }
}

impl<D: AsRef<[u8]>> Shard<D> {
    /// Opens a shard over bytes that are there already, in constant time.
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

    /// The bytes of the shard: write them anywhere, [`open`](Self::open) them again.
    pub fn as_bytes(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// The buffer that the shard was opened over.
    pub fn into_inner(self) -> D {
        self.data
    }
}

/// Equal if their bytes are, in any kind of buffer.
impl<D: AsRef<[u8]>, E: AsRef<[u8]>> PartialEq<Shard<E>> for Shard<D> {
    fn eq(&self, other: &Shard<E>) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<D: AsRef<[u8]>> Eq for Shard<D> {}

/// The bytes, as `as_bytes` returns them.
impl<D: AsRef<[u8]>> AsRef<[u8]> for Shard<D> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<D: AsRef<[u8]>> fmt::Debug for Shard<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("number", &self.number())
            .field("shard_count", &self.shard_count())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
