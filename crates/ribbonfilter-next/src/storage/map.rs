//! Memory maps: bytes that stay in their file.
//!
//! The operating system reads the pages that queries access, caches them while memory is
//! available, and shares them between processes. Opening a filter accesses only the last page.

use core::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

/// The bytes of a file that is mapped by [`Filter::map_file`](crate::Filter::map_file) and its like.
pub struct MappedBytes(memmap2::Mmap);

impl AsRef<[u8]> for MappedBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for MappedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedBytes").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

impl MappedBytes {
    /// Maps a file into memory, with any content.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read.
    ///
    /// # Safety
    /// As for [`Filter::map_file`](crate::Filter::map_file).
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        // Mapping anything but a regular file fails with an unhelpful message.
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // SAFETY: the caller guarantees that the file is not modified while it is mapped.
        Ok(Self(unsafe { memmap2::Mmap::map(&file)? }))
    }
}
