//! Memory: the aligned buffer of a structure's bytes, memory maps, and fallible allocation.

pub(crate) mod bytes;
#[cfg(feature = "mmap")]
mod map;
pub(crate) mod memory;
pub(crate) mod over_bytes;

pub use bytes::OwnedBytes;
#[cfg(feature = "mmap")]
pub use map::MappedBytes;
