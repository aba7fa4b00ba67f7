//! Shards become a container: their data one after another, and a directory.
//!
//! A build in one process goes this way too, so the bytes are the same wherever the shards
//! were built.

use super::Shard;
use crate::error::AssembleError;
use crate::format::{Container, Directory, Filling, MAX_CONTAINER_BYTES, MAX_KEYS, Padded};
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// A container that is ready to be written.
pub(super) struct Assembly<'a> {
    data: Vec<Padded<'a>>,
    /// The directory and the footer.
    ending: Vec<u8>,
    len: u64,
}

impl<'a> Assembly<'a> {
    /// Brings shards into their order and checks that they make a container.
    pub(super) fn new<D: AsRef<[u8]>>(shards: &'a mut [Shard<D>]) -> Result<Self, AssembleError> {
        shards.sort_by_key(Shard::number);
        let container = check_numbers(shards)?;
        let mut directory = Directory::new(container);
        let mut data = Vec::new();
        try_reserve(&mut data, shards.len())?;
        let (mut keys, mut rates) = (0_u64, 0.0);
        for shard in shards.iter() {
            if shard.verify().is_err() {
                return Err(AssembleError::Corrupt { shard: shard.number() });
            }
            let too_large = AssembleError::TooLarge { max: MAX_CONTAINER_BYTES };
            data.push(directory.list(shard.as_bytes()).ok_or(too_large)?);
            let more = keys.checked_add(shard.len()).filter(|&more| more <= MAX_KEYS);
            keys = more.ok_or(AssembleError::TooManyKeys { max: MAX_KEYS })?;
            rates += shard.container.rate();
        }
        let len = directory.data_bytes();
        // Each shard is queried as often as any other.
        let ending = directory.finish(keys, rates / shards.len() as f64);
        Ok(Self { data, len: len + ending.len() as u64, ending })
    }

    /// Gives all bytes away, piece by piece.
    pub(super) fn pour<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for padded in &self.data {
            pour_zeros(padded.before, &mut take)?;
            take(padded.data)?;
            pour_zeros(padded.behind, &mut take)?;
        }
        take(&self.ending)
    }

    /// All bytes in memory.
    pub(super) fn into_bytes(self) -> Result<OwnedBytes, AssembleError> {
        let mut bytes = OwnedBytes::zeroed(usize::try_from(self.len).unwrap_or(usize::MAX))?;
        let mut rest = bytes.as_mut();
        self.pour(|piece| {
            let (place, behind) = core::mem::take(&mut rest).split_at_mut(piece.len());
            place.copy_from_slice(piece);
            rest = behind;
            Ok::<_, AssembleError>(())
        })?;
        Ok(bytes)
    }
}

fn pour_zeros<E>(mut count: u64, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    const ZEROS: [u8; 4096] = [0; 4096];
    while count > 0 {
        let piece = count.min(ZEROS.len() as u64);
        take(&ZEROS[..piece as usize])?;
        count -= piece;
    }
    Ok(())
}

/// The container of shards that are in the order of their numbers: all of the same settings,
/// none missing, none twice.
fn check_numbers<D: AsRef<[u8]>>(shards: &[Shard<D>]) -> Result<Container, AssembleError> {
    let Some(first) = shards.first() else {
        return Err(AssembleError::Empty);
    };
    let container = first.container.of_shard();
    for shard in shards {
        if let Some(setting) = difference(&container, &shard.container.of_shard()) {
            return Err(AssembleError::DifferentSettings { shard: shard.number(), setting });
        }
    }
    for (expected, shard) in (0..).zip(shards) {
        if shard.number() < expected {
            return Err(AssembleError::Duplicate { shard: shard.number() });
        }
        if shard.number() > expected {
            return Err(AssembleError::Missing { shard: expected, shards: container.shards() });
        }
    }
    match shards.len() as u64 {
        given if given < container.shards() => {
            Err(AssembleError::Missing { shard: given, shards: container.shards() })
        }
        _ => Ok(container),
    }
}

/// The first setting in which two containers differ.
fn difference(one: &Container, other: &Container) -> Option<&'static str> {
    let kind = |container: &Container| core::mem::discriminant(&container.filling);
    let size = |container: &Container| match container.filling {
        Filling::FixedSize { bytes, .. } => Some(bytes),
        _ => None,
    };
    if one.filling.bits() != other.filling.bits() || kind(one) != kind(other) {
        Some("split")
    } else if one.key_seed != other.key_seed {
        Some("key seed")
    } else if one.variant != other.variant {
        Some("variant")
    } else if one.width != other.width {
        Some("width")
    } else if size(one) != size(other) {
        Some("size of shards")
    } else if one != other {
        Some("rate or number of columns")
    } else {
        None
    }
}
