//! The aligned buffer of an owned filter.
//!
//! With an alignment of 64 bytes, the blocks of r = 8 begin on cache lines.

use crate::OpenError;
use crate::error::OutOfMemory;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The bytes of one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// From this size on a buffer uses huge pages, if the system has any: queries access its pages in
/// no predictable order, and the TLB cannot hold all small pages.
const HUGE_FROM: usize = 4 << 20;

/// The bytes of an owned filter, on a 64-byte boundary.
///
/// ```
/// use ribbonfilter_next::Filter;
///
/// let filter = Filter::build(["ada"], 0.01)?;
/// let bytes: Vec<u8> = filter.into_inner().to_vec();
/// assert!(Filter::open(bytes).unwrap().contains("ada"));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
#[derive(Default)]
pub struct OwnedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl OwnedBytes {
    /// `len` zero bytes, to be filled through [`as_mut`](Self::as_mut) and opened.
    ///
    /// ```
    /// use ribbonfilter_next::{Filter, OwnedBytes};
    ///
    /// let source = Filter::build(["ada"], 0.01)?;
    /// let mut bytes = OwnedBytes::zeroed(source.size_in_bytes())?;
    /// bytes.as_mut().copy_from_slice(source.as_bytes()); // or read from a socket
    /// assert!(Filter::open(bytes)?.contains("ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the system refuses the memory.
    pub fn zeroed(len: usize) -> Result<Self, OpenError> {
        Ok(Self::allocate(len)?)
    }

    /// `len` zero bytes. On 32-bit targets a plan may be larger than the address space.
    pub(crate) fn allocate(len: impl TryInto<usize>) -> Result<Self, OutOfMemory> {
        let len = len.try_into().map_err(|_| OutOfMemory::new(usize::MAX))?;
        let (line, count) = (Line([0; 64]), len.div_ceil(64));
        let lines = match len >= HUGE_FROM {
            true => crate::storage::memory::try_filled_huge(line, count)?,
            false => crate::storage::memory::try_filled(line, count)?,
        };
        Ok(Self { lines, len })
    }

    /// Reads all bytes of a file, with any content.
    ///
    /// # Errors
    /// If the file cannot be read, or the system refuses the memory.
    #[cfg(feature = "std")]
    pub fn read_file(path: impl AsRef<std::path::Path>) -> Result<Self, OpenError> {
        let mut file = std::fs::File::open(path)?;
        // The size of the file is only a hint; it may change while the file is read.
        let hint = file.metadata().map_or(0, |metadata| metadata.len());
        let mut bytes = Vec::new();
        crate::storage::memory::try_reserve(
            &mut bytes,
            usize::try_from(hint).unwrap_or(usize::MAX),
        )?;
        std::io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(Self::copy_of(&bytes)?)
    }

    /// Copies `bytes` into an aligned buffer.
    pub(crate) fn copy_of(bytes: &[u8]) -> Result<Self, OutOfMemory> {
        let mut copy = Self::allocate(bytes.len())?;
        copy.as_mut().copy_from_slice(bytes);
        Ok(copy)
    }

    /// The bytes in a vector of their own.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build(["ada"], 0.01)?;
    /// assert_eq!(filter.as_bytes(), filter.clone().into_inner().to_vec());
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn to_vec(&self) -> Vec<u8> {
        self.as_ref().to_vec()
    }
}

impl Clone for OwnedBytes {
    fn clone(&self) -> Self {
        let copy = Self::copy_of(self.as_ref());
        copy.unwrap_or_else(|_| Self { lines: self.lines.clone(), len: self.len })
    }
}

/// Copies the bytes into an aligned buffer.
///
/// ```
/// use ribbonfilter_next::{Filter, OwnedBytes};
///
/// let bytes: Vec<u8> = Filter::build(["ada"], 0.01)?.as_bytes().to_vec();
/// assert!(Filter::open(OwnedBytes::from(bytes))?.contains("ada"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl From<Vec<u8>> for OwnedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let lines = vec![Line([0; 64]); bytes.len().div_ceil(64)];
        let mut owned = Self { lines, len: bytes.len() };
        owned.as_mut().copy_from_slice(&bytes);
        owned
    }
}

impl AsRef<[u8]> for OwnedBytes {
    #[inline]
    #[expect(unsafe_code, reason = "the lines are seen as bytes")]
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `lines` holds at least `len` initialised, contiguous bytes, and a `Line` is 64
        // bytes without padding. The borrow of `self` keeps them alive and unchanged.
        unsafe { core::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl AsMut<[u8]> for OwnedBytes {
    #[expect(unsafe_code, reason = "the lines are seen as bytes")]
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: `lines` holds at least `len` initialised, contiguous bytes, and a `Line` is 64
        // bytes without padding. The borrow of `self` is unique, and any bytes are a valid `Line`.
        unsafe { core::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl fmt::Debug for OwnedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedBytes").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_zeroed_and_of_the_requested_length() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let mut bytes = OwnedBytes::zeroed(len).expect("memory");
            assert_eq!(bytes.as_ref(), alloc::vec![0; len]);
            assert!(bytes.as_ref().as_ptr().addr().is_multiple_of(64));
            bytes.as_mut().fill(7);
            assert_eq!(bytes.to_vec(), alloc::vec![7; len]);
        }
    }
}
