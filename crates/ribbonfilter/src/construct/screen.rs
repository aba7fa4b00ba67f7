//! Tells from the starts alone how crowded a seed makes a segment.

use crate::equation::{Seed, Starts, below_segment, seeded};
use crate::error::{OutOfMemory, try_filled};
use crate::rate;
use crate::shape::Shape;
use alloc::vec::Vec;

/// Counts keys a start, for one segment and seed after another.
pub(crate) struct Screen {
    starts: Starts,
    segment_bits: u32,
    starts_at: Vec<u8>,
}

impl Screen {
    pub(crate) fn new(shape: &Shape) -> Result<Self, OutOfMemory> {
        let starts = shape.starts();
        let starts_at = try_filled(0, starts.count() as usize)?;
        Ok(Self { starts, segment_bits: shape.segment_bits, starts_at })
    }

    /// The longest queue of a segment's keys under a seed.
    pub(crate) fn longest_queue(&mut self, keys: &[u64], seed: u8) -> u32 {
        let seed = Seed::new(seed);
        self.starts_at.fill(0);
        for &key in keys {
            let start = self.starts.start(seeded(below_segment(key, self.segment_bits), seed));
            let count = &mut self.starts_at[start as usize];
            *count = count.saturating_add(1);
        }
        rate::longest_queue(&self.starts_at)
    }
}
