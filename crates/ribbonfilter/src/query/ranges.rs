//! Locating in shards that were filled one after another, each until its first failure.
//!
//! The range of mixed hashes is divided into cells of equal width, and a shard is a run of
//! cells. All shards have about the same width, so the number of a cell predicts its shard; the
//! directory corrects the prediction. No fixed number of top bits identifies a shard, so the
//! equation depends on all bits of the mixed hash.

use super::Locate;
use super::single::{Located, Opened};
use crate::format::Ranges as Directory;
use crate::ribbon::equation::{Seed, Starts, mix, seeded, segment};

/// The locator of a container whose shards were filled until full; see the module.
#[derive(Clone, Copy)]
pub(crate) struct Ranges {
    directory: Directory,
    starts: Starts,
    seed: Seed,
    last_starts: Starts,
    last_seed: Seed,
}

impl Ranges {
    pub(crate) fn new(directory: Directory) -> Self {
        Self {
            directory,
            starts: directory.starts(0),
            seed: Seed::new(directory.seed),
            last_starts: directory.starts(directory.last()),
            last_seed: Seed::new(directory.last_seed),
        }
    }

    /// The shard of a key.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn shard(&self, bytes: &[u8], mixed: u64) -> u64 {
        self.directory.find(bytes, segment(mixed, self.directory.cell_bits))
    }
}

impl Locate for Ranges {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn locate<'a>(&self, opened: Opened<'a>, key_hash: u64) -> Located<'a> {
        let mixed = mix(key_hash);
        let shard = self.shard(opened.bytes(), mixed);
        let (starts, seed) = match shard == self.directory.last() {
            true => (self.last_starts, self.last_seed),
            false => (self.starts, self.seed),
        };
        let hash = seeded(mixed, seed);
        opened.located(shard * self.directory.slots + starts.start(hash), hash)
    }
}
