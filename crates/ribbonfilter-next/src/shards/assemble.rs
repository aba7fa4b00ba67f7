//! Shards become a container: their filters one after another, and a directory.
//!
//! A build in one process goes this way too, so the bytes are the same wherever the shards were
//! built.

use super::Shard;
use crate::error::JoinError;
use crate::format::MAX_KEYS;
use crate::format::container::{Alone, Common, Directory, MAX_BYTES, filter_alone};
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::{try_filled, try_reserve};
use alloc::vec::Vec;

/// A container that is ready to be written.
pub(super) struct Assembly<'a> {
    /// All filters, with their offsets. Zeros fill the gaps between them.
    filters: Vec<(u64, &'a [u8])>,
    /// The directory and the footer, with their offset.
    ending: (u64, Vec<u8>),
}

impl<'a> Assembly<'a> {
    /// Brings shards into their order and checks that they make a container.
    pub(super) fn new<D: AsRef<[u8]>>(shards: &'a [Shard<D>]) -> Result<Self, JoinError> {
        let common = common_settings(shards)?;
        let positions = in_order(common.shards(), shards.iter().map(Shard::number))?;
        let mut filters = Vec::new();
        try_reserve(&mut filters, shards.len())?;
        for &position in &positions {
            let (shard, bytes) = (&shards[position], shards[position].as_bytes());
            // A foreign `AsRef` may have other bytes by now.
            let is_same = Alone::read(bytes).is_ok_and(|alone| alone == shard.alone);
            if !is_same || Alone::verify(bytes).is_err() {
                return Err(JoinError::Corrupt { number: shard.number(), position });
            }
            filters.push((0, filter_alone(bytes)));
        }
        let keys = shards.iter().map(Shard::len).fold(0, u64::saturating_add);
        if keys > MAX_KEYS {
            return Err(JoinError::TooManyKeys { max: MAX_KEYS });
        }
        let size = filters.iter().map(|(_, filter)| filter.len() as u64).sum();
        let mut directory = Directory::new(common, keys, size);
        for (offset, filter) in &mut filters {
            *offset = directory.list(filter).ok_or(JoinError::TooLarge { max: MAX_BYTES })?;
        }
        Ok(Self { filters, ending: directory.finish() })
    }

    /// All pieces with their offsets, in order.
    fn pieces(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.filters.iter().copied().chain([(self.ending.0, &self.ending.1[..])])
    }

    /// All bytes in memory.
    pub(super) fn into_bytes(self) -> Result<OwnedBytes, JoinError> {
        let mut bytes = OwnedBytes::allocate(self.ending.0 + self.ending.1.len() as u64)?;
        for (offset, piece) in self.pieces() {
            bytes.as_mut()[offset as usize..][..piece.len()].copy_from_slice(piece);
        }
        Ok(bytes)
    }

    /// Writes all bytes. Returns their number.
    #[cfg(feature = "std")]
    pub(super) fn write(&self, mut writer: impl std::io::Write) -> std::io::Result<u64> {
        let mut written = 0;
        for (offset, piece) in self.pieces() {
            let padding = &mut std::io::Read::take(std::io::repeat(0), offset - written);
            std::io::copy(padding, &mut writer)?;
            writer.write_all(piece)?;
            written = offset + piece.len() as u64;
        }
        writer.flush()?;
        Ok(written)
    }
}

/// What all shards have in common.
fn common_settings<D>(shards: &[Shard<D>]) -> Result<Common, JoinError> {
    let common = shards.first().ok_or(JoinError::Empty)?.alone.common;
    for (position, shard) in shards.iter().enumerate() {
        if let Some(field) = difference(&common, &shard.alone.common) {
            return Err(JoinError::Mismatch { number: shard.alone.number, position, field });
        }
    }
    Ok(common)
}

/// The first setting in which two shards differ.
fn difference(one: &Common, other: &Common) -> Option<&'static str> {
    let split = |common: &Common| (common.bits, common.bytes > 0);
    let settings = [
        ("split", split(one) == split(other)),
        ("key seed", one.key_seed == other.key_seed),
        ("size of shards", one.bytes == other.bytes),
        ("target, variant, width or effort", one.settings == other.settings),
    ];
    settings.into_iter().find(|&(_, same)| !same).map(|(setting, _)| setting)
}

/// Stands for the position of a shard that was not found.
const ABSENT: usize = usize::MAX;

/// The position of each shard among those given, in the order of their numbers. Every one of `count`
/// shards must be given once.
fn in_order(
    count: u64,
    numbers: impl ExactSizeIterator<Item = u64>,
) -> Result<Vec<usize>, JoinError> {
    // Untrusted input may claim any count, so memory is bounded by the shards that were given.
    let mut positions = try_filled(ABSENT, numbers.len().min(count as usize))?;
    for (position, number) in numbers.enumerate() {
        // If a number is greater than there are shards, a lower one is missing.
        if let Some(known) = positions.get_mut(number as usize)
            && core::mem::replace(known, position) != ABSENT
        {
            return Err(JoinError::Duplicate { number, position });
        }
    }
    let found = positions.iter().position(|&position| position == ABSENT);
    match found.unwrap_or(positions.len()) as u64 {
        number if number < count => Err(JoinError::Missing { number, count }),
        _ => Ok(positions),
    }
}
