//! Shards become a container: their data one after another, and a directory.
//!
//! A build in one process goes this way too, so the bytes are the same wherever the shards
//! were built.

use super::Shard;
use crate::error::{JoinError, Kind};
use crate::format::{Container, Directory, Filling, MAX_CONTAINER_BYTES, MAX_KEYS, pieces};
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// A container that is ready to be written.
pub(super) struct Assembly<'a> {
    /// The data of all shards, with their offsets. Zeros fill the gaps between them.
    data: Vec<(u64, &'a [u8])>,
    /// The directory and the footer, with their offset.
    ending: (u64, Vec<u8>),
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
        let offset = directory.data_bytes();
        // Each shard is queried as often as any other.
        let ending = directory.finish(keys, rates / shards.len() as f64);
        Ok(Self { data, ending: (offset, ending) })
    }

    /// All pieces with their offsets, in order.
    fn pieces(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.data.iter().copied().chain([(self.ending.0, &self.ending.1[..])])
    }

    /// All bytes in memory.
    pub(super) fn into_bytes(self) -> Result<OwnedBytes, JoinError> {
        let len = self.ending.0 + self.ending.1.len() as u64;
        let mut bytes = OwnedBytes::allocate(len)?;
        for (offset, piece) in self.pieces() {
            bytes.as_mut()[offset as usize..][..piece.len()].copy_from_slice(piece);
        }
        Ok(bytes)
    }

    /// Writes all bytes, and returns how many they are.
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
