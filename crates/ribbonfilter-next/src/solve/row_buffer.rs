//! The rows of one block, on their way from the equations to an engine.

use super::{Failure, reserve};
use alloc::vec::Vec;
use core::array;

/// The rows that start at a block, as a structure of arrays: a loop over them is vectorized.
///
/// The memory is that of the [`Workspace`](super::Workspace). Array `j < K` holds word `j` of all
/// rows, array `K` the right sides; each has `stride` elements, of which `len` are used.
pub(crate) struct RowBuffer<'m, const K: usize> {
    memory: &'m mut Vec<u64>,
    stride: usize,
    len: usize,
}

impl<'m, const K: usize> RowBuffer<'m, K> {
    pub(super) fn new(memory: &'m mut Vec<u64>) -> Self {
        let stride = memory.len() / (K + 1);
        Self { memory, stride, len: 0 }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends `count` rows. Returns the words of their coefficients and their right sides, to be
    /// overwritten: they have any value. Bits of a right side beyond those of the system must be
    /// zero.
    #[inline(always)]
    pub(crate) fn append(
        &mut self,
        count: usize,
    ) -> Result<([&mut [u64]; K], &mut [u64]), Failure> {
        let first = self.len;
        if count > self.stride - first {
            self.grow(first + count)?;
        }
        self.len = first + count;
        let (words, right) = self.memory.split_at_mut(K * self.stride);
        let mut arrays = words.chunks_exact_mut(self.stride.max(1));
        let words = array::from_fn(|_| match arrays.next() {
            Some(array) => &mut array[first..first + count],
            None => Default::default(),
        });
        Ok((words, &mut right[first..first + count]))
    }

    /// The words of the coefficients, and the right sides.
    #[inline(always)]
    pub(super) fn arrays(&self) -> ([&[u64]; K], &[u64]) {
        let array = |index| &self.memory[index * self.stride..][..self.len];
        (array::from_fn(array), array(K))
    }

    /// Makes the arrays long enough for `len` rows, and keeps the rows.
    #[cold]
    fn grow(&mut self, len: usize) -> Result<(), Failure> {
        let old = self.stride;
        let stride = len.max(2 * old).next_multiple_of(64);
        let additional = (K + 1).saturating_mul(stride).saturating_sub(self.memory.len());
        reserve(self.memory, additional)?;
        self.memory.resize((K + 1) * stride, 0);
        for index in (1..=K).rev() {
            self.memory.copy_within(index * old..index * old + self.len, index * stride);
        }
        self.stride = stride;
        Ok(())
    }

    /// Replaces the rows by independent ones with the same span, at most `64 * K`. It fails if a
    /// row without coefficients has a right side.
    ///
    /// Row after row is reduced by those that were kept: each of them has the first coefficient at a
    /// column where no other one has its first.
    #[cold]
    pub(super) fn condense(&mut self) -> Result<(), Failure> {
        const NONE: usize = usize::MAX;
        let stride = self.stride;
        let mut first_at = [[NONE; 64]; K];
        let mut kept = 0;
        for row in 0..self.len {
            let mut words: [u64; K] = array::from_fn(|j| self.memory[j * stride + row]);
            let mut right = self.memory[K * stride + row];
            loop {
                let Some(j) = words.iter().position(|&word| word != 0) else {
                    match right {
                        0 => break,
                        _ => return Err(Failure::NoSolution),
                    }
                };
                let with = &mut first_at[j][words[j].trailing_zeros() as usize];
                if *with == NONE {
                    *with = kept;
                    for (j, word) in words.into_iter().enumerate() {
                        self.memory[j * stride + kept] = word;
                    }
                    self.memory[K * stride + kept] = right;
                    kept += 1;
                    break;
                }
                for (j, word) in words.iter_mut().enumerate() {
                    *word ^= self.memory[j * stride + *with];
                }
                right ^= self.memory[K * stride + *with];
            }
        }
        self.len = kept;
        Ok(())
    }
}
