//! Algorithm 1 of the paper, one key at a time: for w = 16, and as the oracle for the other
//! systems.

use super::batched::System;
use super::window::Class;
use crate::build::Goal;
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Work};
use crate::ribbon::equation::Starts;
use crate::ribbon::layout::Layout;
use crate::ribbon::width::Band;
use crate::solve::back_substitution::Solve;
use crate::solve::banding::{Banding, Insertion};
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// A system that inserts the keys of a class one by one.
pub(super) struct OneByOne<B, R> {
    starts: Starts,
    banding: Banding<B, R>,
    /// The rows that the current class has filled.
    filled: Vec<usize>,
}

impl<B: Band, R: Goal> System for OneByOne<B, R> {
    type Value = R::Value;
    type Means = ();

    fn new((): (), slots: u64, starts: Starts, _: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { starts, banding: Banding::new(slots as usize)?, filled: Vec::new() })
    }

    fn clear(&mut self) {
        self.banding.clear();
    }

    #[inline(always)]
    fn insert<I: Instructions>(
        &mut self,
        _: I,
        class: Class<'_, R::Value>,
    ) -> Result<Option<usize>, OutOfMemory> {
        self.filled.clear();
        try_reserve(&mut self.filled, class.items.len())?;
        let (mut dependent, mut duplicates) = (0, None);
        for (start, item) in class.keys() {
            let coefficients = self.starts.coefficients(item.hash, start.into());
            match self.banding.insert(start as usize, coefficients, R::of(item)) {
                Insertion::At(row) => self.filled.push(row),
                Insertion::Redundant | Insertion::Inconsistent => dependent += 1,
            }
            if dependent > 0 && dependent > *duplicates.get_or_insert_with(|| class.duplicates()) {
                self.banding.undo(self.filled.drain(..));
                return Ok(None);
            }
        }
        Ok(Some(self.filled.len()))
    }

    #[inline(always)]
    fn solve<I: Instructions>(&self, instructions: I, layout: &Layout, bytes: &mut [u8]) {
        Solve { banding: &self.banding, free: |_| 0, layout, bytes }.run(instructions);
    }
}
