//! A filter, a function, a part or shards that stay in their file: memory maps.
//!
//! The system reads the pages that queries touch, keeps them as long as it has memory to
//! spare, and shares them among processes. Opening reads the last page alone.

use crate::error::OpenError;
use crate::filter::Filter;
use crate::function::Function;
use crate::part::Part;
use crate::shards::{Shard, Shards};
use core::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

/// The bytes of a file that is mapped by [`Filter::map_file`] and its like.
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

impl Filter<MappedBytes> {
    /// Maps a filter's file into memory: nothing is read but what queries touch.
    ///
    /// ```
    /// use ribbonfilter::Filter;
    ///
    /// # let dir = std::env::temp_dir().join(format!("ribbon-map-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let path = dir.join("names.ribbon");
    /// std::fs::write(&path, Filter::build(["ada"], 0.01)?.as_bytes())?;
    /// // SAFETY: nobody else knows the file.
    /// let filter = unsafe { Filter::map_file(&path)? };
    /// assert!(filter.contains("ada"));
    /// # drop(filter);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the path is not a regular file that can be read, or as in [`open`](Filter::open).
    ///
    /// # Safety
    /// Nobody may change or shorten the file, in this process or another, as long as the
    /// filter lives: the bytes would change under a shared reference. A file that is *replaced*
    /// by renaming another one onto it is not changed, so that is the way to update one.
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        // SAFETY: the caller promises that nobody changes the file.
        Self::open(unsafe { MappedBytes::map_file(path)? })
    }
}

impl Function<MappedBytes> {
    /// Maps a function's file into memory: nothing is read but what queries touch.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read, or as in [`open`](Function::open).
    ///
    /// # Safety
    /// As for [`Filter::map_file`].
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        // SAFETY: the caller promises that nobody changes the file.
        Self::open(unsafe { MappedBytes::map_file(path)? })
    }
}

impl Part<MappedBytes> {
    /// Maps the file of a part into memory: nothing is read but what queries touch.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read, or as in [`open`](Part::open).
    ///
    /// # Safety
    /// As for [`Filter::map_file`].
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        // SAFETY: the caller promises that nobody changes the file.
        Self::open(unsafe { MappedBytes::map_file(path)? })
    }
}

impl Shards<MappedBytes> {
    /// Maps a container's file into memory: nothing is read but the directory and what queries
    /// touch.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read, or as in [`open`](Shards::open).
    ///
    /// # Safety
    /// As for [`Filter::map_file`].
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        // SAFETY: the caller promises that nobody changes the file.
        Self::open(unsafe { MappedBytes::map_file(path)? })
    }
}

impl Shard<MappedBytes> {
    /// Maps a shard's file into memory, to be assembled with others without being read in.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read, or as in [`open`](Shard::open).
    ///
    /// # Safety
    /// As for [`Filter::map_file`].
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        // SAFETY: the caller promises that nobody changes the file.
        Self::open(unsafe { MappedBytes::map_file(path)? })
    }
}

impl MappedBytes {
    /// Maps a file into memory, whatever it holds.
    ///
    /// # Errors
    /// If the path is not a regular file that can be read.
    ///
    /// # Safety
    /// As for [`Filter::map_file`].
    #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        // What is not a file fails to map with a message that helps nobody.
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // SAFETY: the caller promises that nobody changes the file.
        Ok(Self(unsafe { memmap2::Mmap::map(&file)? }))
    }
}
