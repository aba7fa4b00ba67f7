//! Shards become a container: their data one after another, and a directory.
//!
//! A build in one process goes this way too, so the bytes are the same wherever the shards
//! were built.

use super::Shard;
use crate::error::{JoinError, Kind};
use crate::format::{Container, Directory, Filling, MAX_CONTAINER_BYTES, MAX_KEYS, Padded, pieces};
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
    pub(super) fn new<D: AsRef<[u8]>>(shards: &'a [Shard<D>]) -> Result<Self, JoinError> {
        let container = common_container(shards)?;
        let numbers = shards.iter().map(Shard::number);
        let mut directory = Directory::new(container);
        let mut data = Vec::new();
        try_reserve(&mut data, shards.len())?;
        let (mut keys, mut rates) = (0_u64, 0.0);
        for position in pieces::in_order(Kind::Shard, container.shards(), numbers)? {
            let shard = &shards[position];
            if shard.verify().is_err() {
                let number = shard.number();
                return Err(JoinError::Corrupt { kind: Kind::Shard, number, position });
            }
            let too_large = JoinError::TooLarge { max: MAX_CONTAINER_BYTES };
            data.push(directory.list(shard.as_bytes()).ok_or(too_large)?);
            let more = keys.checked_add(shard.len()).filter(|&more| more <= MAX_KEYS);
            keys = more.ok_or(JoinError::TooManyKeys { max: MAX_KEYS })?;
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
    pub(super) fn into_bytes(self) -> Result<OwnedBytes, JoinError> {
        let mut bytes = OwnedBytes::zeroed(usize::try_from(self.len).unwrap_or(usize::MAX))?;
        let mut rest = bytes.as_mut();
        self.pour(|piece| {
            let (place, behind) = core::mem::take(&mut rest).split_at_mut(piece.len());
            place.copy_from_slice(piece);
            rest = behind;
            Ok::<_, JoinError>(())
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

/// The container that all shards belong to.
fn common_container<D: AsRef<[u8]>>(shards: &[Shard<D>]) -> Result<Container, JoinError> {
    let container = shards.first().ok_or(JoinError::Empty)?.container.of_shard();
    for (position, shard) in shards.iter().enumerate() {
        if let Some(field) = difference(&container, &shard.container.of_shard()) {
            let number = shard.number();
            return Err(JoinError::Mismatch { kind: Kind::Shard, number, position, field });
        }
    }
    Ok(container)
}

/// The first setting in which two containers differ.
fn difference(one: &Container, other: &Container) -> Option<&'static str> {
    let split = |container: &Container| {
        (core::mem::discriminant(&container.filling), container.filling.bits())
    };
    let size = |container: &Container| match container.filling {
        Filling::FixedSize { bytes, .. } => Some(bytes),
        _ => None,
    };
    let settings = [
        ("split", split(one) == split(other)),
        ("key seed", one.key_seed == other.key_seed),
        ("variant", one.variant == other.variant),
        ("width", one.width == other.width),
        ("size of shards", size(one) == size(other)),
        ("rate or number of columns", one == other),
    ];
    settings.into_iter().find(|&(_, same)| !same).map(|(setting, _)| setting)
}
