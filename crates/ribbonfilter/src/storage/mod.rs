//! Memory: the aligned buffer of a structure's bytes, memory maps, and fallible allocation.

pub(crate) mod bytes;
#[cfg(feature = "mmap")]
mod map;
pub(crate) mod memory;
mod stored;

pub use bytes::OwnedBytes;
#[cfg(feature = "mmap")]
pub use map::MappedBytes;
pub(crate) use stored::stored;
