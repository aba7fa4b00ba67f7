//! The bytes of a container of shards: their data, the directory, and one footer for all shards.
//!
//! ```text
//! by hash:     data of shard 0, 1, …, each padded | an entry for each | footer
//! until full:  one solution of all shards | a border for each | tail  | footer
//! ```
//!
//! Opening reads the footer and at most 32 bytes that precede it. Entries and borders are checked
//! whenever they are read, so that a query cannot leave the buffer for any content. A shard that
//! *stands alone*, before it is assembled with others, is a container of its data and its entry;
//! its footer stores the number of the shard.

mod ranges;

pub(crate) use ranges::{MAX_CELL_BITS, Ranges};

use super::{
    FOOTER_BYTES, Footer, at, check_kind, check_length, data_check, decode_rate, encode_rate,
    ensure, get, little_endian, put, seal_footer, split_footer,
};
use crate::error::{Kind, OpenError};
use crate::{Key, Variant, Width};
use alloc::vec::Vec;
use core::ops::Range;

/// The maximum number of shards by hash, as a power of two.
pub(crate) const MAX_CONTAINER_BITS: u32 = 24;
/// The data of a large shard by hash begin at a multiple of this: on a cache line. The data of a
/// smaller shard begin at any offset, because padding would cost more than it gains.
const ALIGNMENT: u64 = 64;
const LARGE: u64 = 1 << 16;
/// The maximum number of bytes preceding the directory: what an entry can address.
pub(crate) const MAX_CONTAINER_BYTES: u64 = (1 << 40) - 1;

/// Bytes of an entry: the end of the data, the fields of the filter's footer that the container's
/// footer does not have, and a checksum of the data.
const ENTRY: usize = 32;
/// The fields of a filter's footer that an entry repeats.
const REPEATED: Range<usize> = at::KEYS.start..at::VERSIONS;
/// The location of these fields in the entry: after the end of the data, followed by the checksum.
const IN_ENTRY: Range<usize> = 5..5 + REPEATED.end - REPEATED.start;
const _: () = assert!(IN_ENTRY.end + 4 == ENTRY);

/// How a container was filled, as stored in bits 5 and 6 of the footer's byte 29.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Filling {
    /// By the top bits of the hash, each shard planned for its own keys. `target` is a digest of
    /// the target, which distinguishes shards of different targets.
    ByHash { bits: u32, target: u64 },
    /// By the top bits of the hash, every shard in the same number of bytes.
    FixedSize { bits: u32, bytes: u64 },
    /// In ranges of hashes, each shard filled until its first failure.
    UntilFull(Ranges),
}

impl Filling {
    const fn code(&self) -> u8 {
        match self {
            Self::ByHash { .. } => 0,
            Self::FixedSize { .. } => 1,
            Self::UntilFull(_) => 2,
        }
    }

    /// The number of top bits of the hash that select the shard; 0 for ranges.
    pub(crate) fn bits(&self) -> u32 {
        match *self {
            Self::ByHash { bits, .. } | Self::FixedSize { bits, .. } => bits,
            Self::UntilFull(_) => 0,
        }
    }

    /// The range of the next shard's data, given that `before` bytes precede it, and the end of
    /// the shard with its padding.
    fn locate(&self, before: u64, size: u64) -> (Range<u64>, u64) {
        let begin = match self {
            Self::ByHash { .. } if size >= LARGE => before.next_multiple_of(ALIGNMENT),
            _ => before,
        };
        let end = begin.saturating_add(size);
        match *self {
            Self::FixedSize { bytes, .. } => (begin..end, begin.saturating_add(bytes)),
            _ => (begin..end, end),
        }
    }
}

/// The footer of a container, decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Container {
    pub(crate) key_seed: u64,
    pub(crate) keys: u64,
    pub(crate) variant: Variant,
    pub(crate) width: Width,
    pub(crate) filling: Filling,
    /// The rate in its stored form; 0 if there are no keys.
    rate: u32,
    /// The number of the shard, if it stands alone.
    alone: Option<u64>,
}

impl Container {
    /// A container without keys; see [`with_keys`](Self::with_keys).
    pub(crate) fn new(key_seed: u64, variant: Variant, width: Width, filling: Filling) -> Self {
        Self { key_seed, keys: 0, variant, width, filling, rate: 0, alone: None }
    }

    pub(crate) fn with_keys(self, keys: u64, rate: f64) -> Self {
        Self { keys, rate: if rate > 0.0 { encode_rate(rate) } else { 0 }, ..self }
    }

    pub(crate) fn rate(&self) -> f64 {
        if self.rate == 0 { 0.0 } else { decode_rate(self.rate) }
    }

    pub(crate) fn number(&self) -> u64 {
        self.alone.unwrap_or(0)
    }

    pub(crate) fn shards(&self) -> u64 {
        match self.filling {
            Filling::UntilFull(ranges) => ranges.count,
            _ => 1 << self.filling.bits(),
        }
    }

    /// The number of stored entries.
    fn entries(&self) -> u64 {
        if self.alone.is_some() { 1 } else { self.shards() }
    }

    /// Reads the footer of a container at the end of `bytes`, and checks the length.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        Self::read_either(bytes, false)
    }

    /// Reads the footer of a shard that stands alone, and checks the length.
    pub(crate) fn read_alone(bytes: &[u8]) -> Result<Self, OpenError> {
        Self::read_either(bytes, true)
    }

    fn read_either(bytes: &[u8], alone: bool) -> Result<Self, OpenError> {
        let (data, raw) = split_footer(bytes)?;
        check_kind(raw, if alone { Kind::Shard } else { Kind::Container })?;
        let container = Self::decode(data, raw, alone)?;
        check_length(bytes, container.data_bytes(bytes))?;
        Ok(container)
    }

    fn decode(data: &[u8], raw: &[u8; FOOTER_BYTES], alone: bool) -> Result<Self, OpenError> {
        let [variant, width] = [2, 4].map(|bit| usize::from(raw[at::WHAT] >> bit & 3));
        let bits = u32::from(raw[at::SEGMENTS] & 31);
        let (variant, width) = (Variant::ALL[variant], Width::ALL[width]);
        let filling = match raw[at::SEGMENTS] >> 5 & 3 {
            0 => Filling::ByHash { bits, target: get(raw, at::BOUNDARY) },
            1 => Filling::FixedSize { bits, bytes: get(raw, at::BOUNDARY) },
            2 if bits == 0 && !alone => Filling::UntilFull(Ranges::decode(data, raw, width)?),
            _ => return Err(OpenError::Inconsistent { field: "kind of shards" }),
        };
        let by_hash = !matches!(filling, Filling::UntilFull(_));
        let unused = get(raw, at::COLUMNS) == 0 && raw[at::SEED] == 0;
        ensure(raw[at::WHAT] >> 6 == 0 && (unused || !by_hash), "reserved part")?;
        ensure(bits <= MAX_CONTAINER_BITS, "number of shards")?;
        let number = get(raw, at::SHARDS);
        let container = Self {
            key_seed: get(raw, at::KEY_SEED),
            keys: get(raw, at::KEYS),
            variant,
            width,
            filling,
            rate: get(raw, at::RATE) as u32,
            alone: alone.then_some(number),
        };
        let shards = container.shards();
        ensure(if alone { number < shards } else { number == shards }, "number of shards")?;
        ensure((0.0..=1.0).contains(&container.rate()), "rate")?;
        ensure(by_hash || variant == Variant::Standard, "variant")?;
        Ok(container)
    }

    /// The number of bytes that must precede the footer.
    fn data_bytes(&self, bytes: &[u8]) -> u64 {
        let data = match self.filling {
            Filling::UntilFull(ranges) => return ranges.data_bytes(),
            Filling::FixedSize { bytes, .. } if self.alone.is_none() => {
                bytes.saturating_mul(self.shards())
            }
            _ => self.entry(bytes, self.entries() - 1).map_or(0, end_of),
        };
        data.saturating_add(self.entries() * ENTRY as u64)
    }

    /// The offset of the directory; `None` if the bytes are too short for it.
    fn directory(&self, bytes: &[u8]) -> Option<usize> {
        let size = match self.filling {
            Filling::UntilFull(ranges) => ranges.directory_len(),
            _ => self.entries() * ENTRY as u64,
        };
        bytes.len().checked_sub(usize::try_from(size).ok()?.checked_add(FOOTER_BYTES)?)
    }

    /// The size of directory and footer in bytes.
    pub(crate) fn directory_bytes(&self, bytes: &[u8]) -> usize {
        self.directory(bytes).map_or(0, |begin| bytes.len() - begin)
    }

    /// The entry with this index in the directory.
    #[cfg_attr(not(target_arch = "wasm32"), inline)]
    fn entry<'a>(&self, bytes: &'a [u8], index: u64) -> Option<&'a [u8; ENTRY]> {
        let begin = self.directory(bytes)? + index as usize * ENTRY;
        bytes.get(begin..)?.first_chunk()
    }

    /// The entry with this index, decoded and checked.
    #[cfg_attr(not(target_arch = "wasm32"), inline)]
    pub(crate) fn shard(&self, bytes: &[u8], index: u64) -> Result<Listed, OpenError> {
        const WRONG: OpenError = OpenError::Inconsistent { field: "directory" };
        let entry = self.entry(bytes, index).ok_or(WRONG)?;
        let end = end_of(entry) as usize;
        // A filter's data are followed by a footer, so a query may read that far beyond them. The
        // same number of bytes must follow the data of a shard.
        let data = match end.checked_add(FOOTER_BYTES) {
            Some(readable) if readable <= bytes.len() => &bytes[..end],
            _ => return Err(WRONG),
        };
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        raw[REPEATED].copy_from_slice(&entry[IN_ENTRY]);
        let mut footer = Footer::EMPTY;
        footer.decode(data, &raw, Kind::Filter)?;
        let same = (footer.shape.variant, footer.shape.width) == (self.variant, self.width);
        ensure(same, "variant or width of a shard")?;
        let size = usize::try_from(footer.shape.data_bytes()).map_err(|_| WRONG)?;
        let start = end.checked_sub(size).ok_or(WRONG)?;
        Ok(Listed { footer, data: start..end, check: little_endian(&entry[IN_ENTRY.end..]) })
    }

    /// Checks that all bytes are intact.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), OpenError> {
        let begin = self.directory(bytes).ok_or(OpenError::CorruptDirectory)?;
        let (data, directory) = bytes.split_at(begin);
        let stored = directory.last_chunk::<FOOTER_BYTES>().map(|raw| get(raw, at::DATA_CHECK));
        if stored != Some(data_check(directory)) {
            return Err(OpenError::CorruptDirectory);
        }
        match self.filling {
            Filling::UntilFull(ranges) => ranges.verify(data, directory),
            _ => self.verify_entries(bytes, data),
        }
    }

    fn verify_entries(&self, bytes: &[u8], data: &[u8]) -> Result<(), OpenError> {
        let mut begin = 0;
        for index in 0..self.entries() {
            // The directory is intact, so if the two contradict each other, the shard is corrupt.
            let corrupt = OpenError::CorruptShard { shard: index + self.number() };
            begin = self.verify_entry(bytes, data, index, begin).ok_or(corrupt)?;
        }
        Ok(())
    }

    /// Checks one shard, which with its padding begins at `begin`, and returns where it ends.
    fn verify_entry(&self, bytes: &[u8], data: &[u8], index: u64, begin: usize) -> Option<usize> {
        let Listed { footer, data: found, check: expected } = self.shard(bytes, index).ok()?;
        let (located, padded_end) = self.filling.locate(begin as u64, found.len() as u64);
        let end = if self.alone.is_some() { located.end } else { padded_end };
        // The footer of a shard that stands alone has the keys and the rate of its only filter.
        let described = self.alone.is_none() || *self == self.with_keys(footer.keys, footer.rate());
        if (found.start as u64, found.end as u64) != (located.start, located.end)
            || padded_end < located.end
            || !described
        {
            return None;
        }
        // Every byte belongs to a shard or is padding.
        let end = usize::try_from(end).ok()?;
        data.get(begin..end)?;
        let mut padding = data[begin..found.start].iter().chain(&data[found.end..end]);
        (padding.all(|&byte| byte == 0) && check(&data[found]) == expected).then_some(end)
    }

    fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::KEYS, self.keys);
        put(&mut raw, at::SHARDS, self.alone.unwrap_or(self.shards()));
        put(&mut raw, at::RATE, self.rate.into());
        raw[at::WHAT] = Kind::Container as u8 | (self.variant as u8) << 2 | (self.width as u8) << 4;
        raw[at::SEGMENTS] = self.filling.bits() as u8
            | self.filling.code() << 5
            | u8::from(self.alone.is_some()) << 7;
        raw[at::VERSIONS] = super::VERSIONS;
        match self.filling {
            Filling::ByHash { target, .. } => put(&mut raw, at::BOUNDARY, target),
            Filling::FixedSize { bytes, .. } => put(&mut raw, at::BOUNDARY, bytes),
            Filling::UntilFull(ranges) => {
                put(&mut raw, at::BOUNDARY, ranges.boundary);
                put(&mut raw, at::COLUMNS, ranges.columns.into());
                raw[at::SEED] = ranges.last_seed;
            }
        }
        raw[at::MAGIC].copy_from_slice(&super::MAGIC);
        raw
    }

    /// Writes the footer and the checksums at the end of a directory.
    pub(crate) fn seal(&self, directory: &mut [u8]) {
        seal_footer(directory, self.encode());
    }

    /// The entry and footer that follow the data of a filter in a shard that stands alone.
    pub(crate) fn ending(&self, number: u64, filter: &[u8]) -> Option<[u8; ENTRY + FOOTER_BYTES]> {
        let (data, raw) = filter.split_last_chunk::<FOOTER_BYTES>()?;
        let mut ending = [0; ENTRY + FOOTER_BYTES];
        write_end(&mut ending, data.len() as u64);
        ending[IN_ENTRY].copy_from_slice(&raw[REPEATED]);
        ending[IN_ENTRY.end..ENTRY].copy_from_slice(&check(data).to_le_bytes()[..4]);
        Self { alone: Some(number), ..*self }.seal(&mut ending);
        Some(ending)
    }

    /// The container to which a shard that stands alone belongs, without keys and rate.
    pub(crate) fn of_shard(&self) -> Self {
        Self { keys: 0, rate: 0, alone: None, ..*self }
    }
}

/// The filter of one shard, as listed in the directory.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) footer: Footer,
    pub(crate) data: Range<usize>,
    check: u64,
}

impl Listed {
    /// The data, followed by as many bytes as follow the data of a filter: a footer's size.
    #[inline]
    pub(crate) fn with_what_follows(&self) -> Range<usize> {
        self.data.start..self.data.end + FOOTER_BYTES
    }
}

/// The directory of a container that is being assembled.
pub(crate) struct Directory {
    container: Container,
    entries: Vec<u8>,
    /// Bytes of data and padding so far.
    len: u64,
}

impl Directory {
    pub(crate) fn new(container: Container) -> Self {
        Self { container, entries: Vec::new(), len: 0 }
    }

    /// Lists the next shard, given in the form in which it stands alone, and returns the offset of
    /// its data and the data; `None` if they are too large.
    pub(crate) fn list<'a>(&mut self, shard: &'a [u8]) -> Option<(u64, &'a [u8])> {
        let (data, ending) = shard.split_last_chunk::<{ ENTRY + FOOTER_BYTES }>()?;
        let (located, end) = self.container.filling.locate(self.len, data.len() as u64);
        let listed = self.entries.len();
        self.entries.extend_from_slice(&ending[..ENTRY]);
        write_end(&mut self.entries[listed..], located.end);
        self.len = end;
        (located.end <= end && end <= MAX_CONTAINER_BYTES).then_some((located.start, data))
    }

    /// Bytes of data and padding so far.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.len
    }

    /// Completes the directory and appends the footer.
    pub(crate) fn finish(mut self, keys: u64, rate: f64) -> Vec<u8> {
        self.entries.resize(self.entries.len() + FOOTER_BYTES, 0);
        self.container.with_keys(keys, rate).seal(&mut self.entries);
        self.entries
    }
}

/// The end of the data of an entry's shard.
fn end_of(entry: &[u8; ENTRY]) -> u64 {
    little_endian(&entry[..IN_ENTRY.start])
}

fn write_end(entry: &mut [u8], end: u64) {
    let size = IN_ENTRY.start;
    entry[..size].copy_from_slice(&end.to_le_bytes()[..size]);
}

/// A checksum of 32 bits over the data of a shard.
fn check(data: &[u8]) -> u64 {
    data.key_hash(0) & 0xffff_ffff
}

/// A digest of 40 bits that distinguishes targets.
pub(crate) fn target_digest(code: u8, value: f64) -> u64 {
    let mut bytes = [code; 9];
    bytes[1..].copy_from_slice(&value.to_bits().to_le_bytes());
    bytes.key_hash(0) & MAX_CONTAINER_BYTES
}

#[cfg(test)]
mod tests;
