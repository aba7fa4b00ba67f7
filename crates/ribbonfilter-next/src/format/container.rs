//! The bytes of a container of shards, and of a shard that stands alone.
//!
//! ```text
//! container  | filter 0 | filter 1 | ... | ends of the filters | footer |
//! shard      | filter | footer |
//! ```
//!
//! Each filter is complete, with its own footer, so a shard is opened as any filter is. The first
//! one begins at offset 0, each other one where the preceding one ends; if the filters are large, at
//! the next multiple of 64 bytes, so that their blocks lie on cache lines. Shards of a fixed size
//! begin at multiples of it. Zeros fill the gaps.
//!
//! Opening reads the footer and the last end. Ends are checked whenever they are read, so that a
//! query cannot leave the buffer for any content. The checksum of the footer covers what
//! follows the filters, which have their own.

use super::checks::{check_data, check_length, ensure, seal, split_footer};
use super::fields::{Raw, at, get, put, shards};
use super::{FOOTER_BYTES, Footer, verify};
use crate::Key;
use crate::error::{Kind, OpenError};
use alloc::vec::Vec;
use core::ops::Range;

/// log2 of the maximum number of shards.
pub(crate) const MAX_BITS: u32 = 24;
/// The maximum number of bytes that precede the directory.
pub(crate) const MAX_BYTES: u64 = (1 << 40) - 1;

/// The bytes of an end.
const END: usize = 5;
/// Where filters begin if they are large: on a cache line.
const ALIGNMENT: u64 = 64;
/// The mean size in bytes from which on filters are large. Padding for smaller ones would cost more
/// than it gains.
const LARGE: u64 = 1 << 16;

/// What the shards of a container have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub(crate) key_seed: u64,
    /// The number of top bits of the hash that select the shard.
    pub(crate) bits: u32,
    /// The bytes of each shard if their size is fixed; else 0.
    pub(crate) bytes: u64,
    /// A digest of all other settings that have an influence on the bytes.
    pub(crate) settings: u64,
}

impl Common {
    pub(crate) fn shards(&self) -> u64 {
        1 << self.bits
    }

    fn decode(raw: &Raw) -> Result<Self, OpenError> {
        let common = Self {
            key_seed: get(raw, at::KEY_SEED),
            bits: raw[shards::BITS].into(),
            bytes: get(raw, shards::BYTES),
            settings: get(raw, shards::SETTINGS),
        };
        ensure(common.bits <= MAX_BITS, "number of shards")?;
        ensure(common.bytes <= MAX_BYTES >> common.bits, "size of shards")?;
        Ok(common)
    }

    fn encode(&self) -> Raw {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, shards::BYTES, self.bytes);
        put(&mut raw, shards::SETTINGS, self.settings);
        raw[shards::BITS] = self.bits as u8;
        raw
    }

    /// Where the next filter begins, if the one that precedes it ends here.
    fn begin(&self, shard: u64, end: u64, aligned: bool) -> u64 {
        match (self.bytes, aligned) {
            (0, false) => end,
            (0, true) => end.next_multiple_of(ALIGNMENT),
            (bytes, _) => shard * bytes,
        }
    }
}

/// A digest that distinguishes settings.
pub(crate) fn digest(settings: &[u64]) -> u64 {
    let bytes: Vec<u8> = settings.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.key_hash(0) & ((1 << (8 * shards::SETTINGS.len())) - 1)
}

/// Rejects a footer that is not the canonical one of what it was decoded to.
fn ensure_canonical(raw: &Raw, mut canonical: Raw) -> Result<(), OpenError> {
    canonical[at::KIND] = raw[at::KIND];
    let checks = at::DATA_CHECK.start;
    ensure(canonical[..checks] == raw[..checks], "reserved part")
}

/// The footers of a shard that stands alone, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alone {
    pub(crate) common: Common,
    pub(crate) number: u64,
    pub(crate) filter: Footer,
}

impl Alone {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        let (filter, raw) = split_footer(bytes, Kind::Shard)?;
        let (common, number) = (Common::decode(raw)?, get(raw, shards::NUMBER));
        ensure_canonical(raw, alone(&common, number))?;
        ensure(number < common.shards(), "number of the shard")?;
        ensure(common.bytes == 0 || filter.len() as u64 <= common.bytes, "size of shards")?;
        let filter = Footer::read(filter, Kind::Filter)?;
        // As in a container: what is assembled of intact shards is intact.
        ensure(filter.key_seed == common.key_seed, "key seed")?;
        ensure(filter.first_column() == 0, "first column")?;
        Ok(Self { common, number, filter })
    }

    /// Checks that all bytes are intact.
    pub(crate) fn verify(bytes: &[u8]) -> Result<(), OpenError> {
        Self::read(bytes)?;
        let (filter, footer) = bytes.split_at(bytes.len() - FOOTER_BYTES);
        if check_data(footer) { verify(filter, Kind::Filter) } else { Err(OpenError::CorruptData) }
    }
}

/// The filter of a shard that stands alone.
pub(crate) fn filter_alone(shard: &[u8]) -> &[u8] {
    &shard[..shard.len() - FOOTER_BYTES]
}

/// Writes the footer of a shard after its filter.
pub(crate) fn write_alone(shard: &mut [u8], common: &Common, number: u64) {
    let end = shard.len() - FOOTER_BYTES;
    seal(&mut shard[end..], alone(common, number), Kind::Shard);
}

fn alone(common: &Common, number: u64) -> Raw {
    let mut raw = common.encode();
    put(&mut raw, shards::NUMBER, number);
    raw
}

/// What follows the filters of a container, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) common: Common,
    pub(crate) keys: u64,
    aligned: bool,
    /// The offset of the directory.
    directory: usize,
}

impl Container {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        let (data, raw) = split_footer(bytes, Kind::Container)?;
        let (common, keys, aligned) =
            (Common::decode(raw)?, get(raw, at::KEYS), raw[shards::ALIGNED] == 1);
        let size = END * common.shards() as usize;
        let Some(directory) = data.len().checked_sub(size) else {
            return Err(OpenError::TooShort { len: bytes.len(), needed: size + FOOTER_BYTES });
        };
        let container = Self { common, keys, aligned, directory };
        ensure_canonical(raw, container.encode())?;
        ensure(!aligned || common.bytes == 0, "reserved part")?;
        let last = container.end(bytes, common.shards() - 1).unwrap_or(0);
        let filters = common.begin(common.shards(), last, false);
        check_length(bytes, filters + size as u64)?;
        Ok(container)
    }

    fn encode(&self) -> Raw {
        let mut raw = self.common.encode();
        put(&mut raw, at::KEYS, self.keys);
        raw[shards::ALIGNED] = self.aligned.into();
        raw
    }

    /// The size of all but the filters.
    pub(crate) fn directory_bytes(&self) -> usize {
        END * self.common.shards() as usize + FOOTER_BYTES
    }

    /// Where a filter ends.
    #[inline]
    fn end(&self, bytes: &[u8], shard: u64) -> Option<u64> {
        let at = self.directory + END * shard as usize;
        Some(get(bytes.get(at..at + END)?, 0..END))
    }

    /// Where a filter lies; `None` if the directory is corrupt.
    #[inline]
    pub(crate) fn filter(&self, bytes: &[u8], shard: u64) -> Option<Range<usize>> {
        let before = if shard == 0 { 0 } else { self.end(bytes, shard - 1)? };
        let begin = self.common.begin(shard, before, self.aligned);
        let end = self.end(bytes, shard)?;
        (begin <= end && end <= self.directory as u64).then_some(begin as usize..end as usize)
    }

    /// Checks that all bytes are intact.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), OpenError> {
        if !bytes.get(self.directory..).is_some_and(check_data) {
            return Err(OpenError::CorruptDirectory);
        }
        let mut keys = 0_u64;
        for shard in 0..self.common.shards() {
            // The directory is intact, so if the two contradict each other, the shard is corrupt.
            let verified = self.verified(bytes, shard).ok_or(OpenError::CorruptShard { shard })?;
            keys = keys.saturating_add(verified.keys);
        }
        if keys == self.keys { Ok(()) } else { Err(OpenError::CorruptDirectory) }
    }

    /// The footer of a filter, if the bytes are those of a filter.
    #[inline]
    pub(crate) fn footer(&self, bytes: &[u8], shard: u64) -> Option<(Footer, Range<usize>)> {
        let range = self.filter(bytes, shard)?;
        Some((Footer::read(&bytes[range.clone()], Kind::Filter).ok()?, range))
    }

    /// The footer of a filter, if it is intact and followed by zeros.
    fn verified(&self, bytes: &[u8], shard: u64) -> Option<Footer> {
        let (footer, filter) = self.footer(bytes, shard)?;
        let end = match shard + 1 == self.common.shards() {
            true => self.directory,
            false => self.common.begin(shard + 1, filter.end as u64, self.aligned) as usize,
        };
        let padding = bytes.get(filter.end..end)?;
        verify(&bytes[filter], Kind::Filter).ok()?;
        let is_ours = footer.key_seed == self.common.key_seed && footer.first_column() == 0;
        (is_ours && padding.iter().all(|&byte| byte == 0)).then_some(footer)
    }
}

/// The directory of a container that is being assembled.
pub(crate) struct Directory {
    container: Container,
    ends: Vec<u8>,
    /// Where the last filter ends.
    end: u64,
}

impl Directory {
    /// A directory for filters of `keys` keys and `size` bytes in total.
    pub(crate) fn new(common: Common, keys: u64, size: u64) -> Self {
        let aligned = common.bytes == 0 && size >> common.bits >= LARGE;
        let container = Container { common, keys, aligned, directory: 0 };
        Self { container, ends: Vec::new(), end: 0 }
    }

    /// Lists the next filter, and returns its offset; `None` if the container is too large.
    pub(crate) fn list(&mut self, filter: &[u8]) -> Option<u64> {
        let Container { common, aligned, .. } = self.container;
        let begin = common.begin((self.ends.len() / END) as u64, self.end, aligned);
        self.end = begin + filter.len() as u64;
        self.ends.extend_from_slice(&self.end.to_le_bytes()[..END]);
        (self.end <= MAX_BYTES).then_some(begin)
    }

    /// What follows the filters, with its offset.
    pub(crate) fn finish(mut self) -> (u64, Vec<u8>) {
        let common = self.container.common;
        self.ends.extend_from_slice(&[0; FOOTER_BYTES]);
        seal(&mut self.ends, self.container.encode(), Kind::Container);
        (common.begin(common.shards(), self.end, false), self.ends)
    }
}

#[cfg(test)]
mod tests;
