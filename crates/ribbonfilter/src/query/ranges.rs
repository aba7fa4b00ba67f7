//! Places in shards that were filled one after another, each until its first failure.
//!
//! The mixed hashes are cut into cells of equal width, and a shard is a run of cells. Shards
//! are about as wide as each other, so the one of a cell is all but known from its number; the
//! directory corrects the guess. Which bits of the hash tell the shard is not known before, so
//! none is left out of what the equation is made of.

use super::Places;
use crate::arch::{Knows, Laid, Path, Readable};
use crate::equation::{Seed, Starts, mix, seeded, segment};
use crate::format::Ranges as Directory;
use crate::width::Band;

/// See the module.
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
    #[inline(always)]
    pub(crate) fn shard(&self, bytes: &[u8], mixed: u64) -> u64 {
        self.directory.find(bytes, segment(mixed, self.directory.cell_bits))
    }
}

impl Places for Ranges {
    /// What may be known of any filter: finding the shard takes longer than all the rest.
    type Known<const FRACTIONAL: bool, const PLAIN: bool> = Knows<true, false>;
    type Far = Self;

    #[inline(always)]
    fn far(self) -> Self {
        self
    }

    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let mixed = mix(key_hash);
        let shard = self.shard(readable.bytes(), mixed);
        let (starts, seed) = match shard == self.directory.last() {
            true => (self.last_starts, self.last_seed),
            false => (self.starts, self.seed),
        };
        let hash = seeded(mixed, seed);
        let slot = shard * self.directory.slots + starts.start(hash);
        readable.lay::<B, P>(slot, hash.coefficients(), hash.fingerprint().into())
    }
}
