//! The solution matrix `Z`: back substitution (paper, section 3) and queries (section 2,
//! equation 1), both on interleaved columns (section 5.2).

use crate::Layout;
use crate::banding::{Banding, RightSide};
use crate::width::{Word, with_word};

/// Up to this number of columns a query does not stop at the first column that differs: the branch
/// would cost more than the remaining columns.
const UNCONDITIONAL: usize = 4;

/// A solution matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    layout: Layout,
    bytes: Vec<u8>,
}

impl Solution {
    /// Back substitution: solves a system, from the last row to the first.
    ///
    /// A filled row determines its row of `Z` from the following `w - 1` rows; an empty row is a
    /// free variable. For each column a word holds the rows that were solved last: bit `k` is the
    /// row `k` after the current one. Whenever a block is complete, these words are the block.
    pub fn of<W: Word, R: RightSide>(
        banding: &Banding<W, R>,
        columns: f64,
        free: impl Fn(u64) -> u64,
    ) -> Self {
        let layout = Layout::new(W::WIDTH, banding.slots(), columns);
        let mut bytes = vec![0; layout.size()];
        let mut state = vec![W::ZERO; layout.max_columns() as usize];
        let w = W::WIDTH.slots();
        for block in (0..layout.blocks()).rev() {
            // Blocks in front of the boundary lack the last column, and so do all before them.
            let state = &mut state[..layout.columns_of(block)];
            for row in (block * w..(block + 1) * w).rev() {
                let (c, b) = banding.row(row);
                let mut bits = if c == W::ZERO { free(row) } else { b.bits() };
                for column in state.iter_mut() {
                    let following = column.put_zeros(1);
                    let bit = (c & following).parity() ^ (bits & 1 == 1);
                    *column = following ^ if bit { W::ONE } else { W::ZERO };
                    bits >>= 1;
                }
            }
            let begin = layout.offset(block);
            for (word, bytes) in state.iter().zip(bytes[begin..].chunks_exact_mut(W::WIDTH.bytes()))
            {
                word.write(bytes);
            }
        }
        Self { layout, bytes }
    }

    /// A solution from its bytes, if they have the size that the layout needs.
    pub fn from_bytes(layout: Layout, bytes: Vec<u8>) -> Option<Self> {
        (layout.checked_size()? == bytes.len()).then_some(Self { layout, bytes })
    }

    /// The number of rows and columns.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The blocks.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The columns of the two blocks that `w` slots from `start` on touch, with the coefficients
    /// that belong to each. A start at the beginning of a block touches only that one, which is
    /// then read twice, the second time without coefficients.
    fn columns<W: Word>(&self, start: u64, c: W) -> impl Iterator<Item = bool> {
        let (w, size) = (W::WIDTH.slots(), W::WIDTH.bytes());
        let (block, shift) = (start / w, (start % w) as u32);
        let near = &self.bytes[self.layout.offset(block)..];
        let far = &self.bytes[self.layout.offset(start.div_ceil(w))..];
        let (c_near, c_far) = (c.put_zeros(shift), c.drop_first(w as u32 - shift));
        let words = near.chunks_exact(size).zip(far.chunks_exact(size));
        words
            .take(self.layout.columns_of(block))
            .map(move |(near, far)| ((c_near & W::read(near)) ^ (c_far & W::read(far))).parity())
    }

    /// Equation (1): the exclusive or of the rows that the coefficients select, one bit per column
    /// of the block in which the equation starts.
    pub fn query<W: Word>(&self, start: u64, coefficients: W) -> u64 {
        let bits = self.columns(start, coefficients);
        bits.enumerate().fold(0, |sum, (column, bit)| sum | u64::from(bit) << column)
    }

    /// Whether the result of a query begins with the bits of `expected`.
    pub fn matches<W: Word>(&self, start: u64, coefficients: W, mut expected: u64) -> bool {
        if self.layout.max_columns() as usize <= UNCONDITIONAL {
            let columns = self.layout.columns_of(start / W::WIDTH.slots());
            return (self.query(start, coefficients) ^ expected) & ((1 << columns) - 1) == 0;
        }
        self.columns(start, coefficients).all(|bit| {
            let equal = bit == (expected & 1 == 1);
            expected >>= 1;
            equal
        })
    }

    /// One row of the solution, bit by bit: column `j` is bit `j`.
    pub fn row(&self, slot: u64) -> u64 {
        fn read<W: Word>(solution: &Solution, slot: u64) -> u64 {
            let (w, size) = (W::WIDTH.slots(), W::WIDTH.bytes());
            let block = slot / w;
            let words = solution.bytes[solution.layout.offset(block)..].chunks_exact(size);
            let columns = words.take(solution.layout.columns_of(block)).enumerate();
            columns.fold(0, |row, (column, word)| {
                let bit = W::read(word).to_bits() >> (slot % w) & 1;
                row | (bit as u64) << column
            })
        }
        with_word!(self.layout.width(), W => read::<W>(self, slot))
    }

    /// The columns `first ..` of a solution, as many as `layout` has. Every block must have them.
    pub fn select_columns(&self, first: usize, layout: Layout) -> Self {
        let word = self.layout.width().bytes();
        let mut bytes = Vec::with_capacity(layout.size());
        for block in 0..layout.blocks() {
            let begin = self.layout.offset(block) + first * word;
            bytes.extend_from_slice(&self.bytes[begin..][..layout.columns_of(block) * word]);
        }
        Self { layout, bytes }
    }

    /// A range of blocks as a solution of its own.
    pub fn part(&self, first: u64, end: u64) -> Self {
        let bytes = self.bytes[self.layout.offset(first)..self.layout.offset(end)].to_vec();
        Self { layout: self.layout.part(first, end), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banding::{Equation, Insertion};
    use crate::hash::free_row;
    use crate::random::Random;

    /// A system of random equations that have a solution, and these equations.
    fn system<W: Word>(slots: u64, seed: u64) -> (Banding<W, u64>, Vec<Equation<W, u64>>) {
        let mut random = Random::new(seed);
        let mut banding = Banding::new(slots);
        let mut equations = Vec::new();
        for _ in 0..slots {
            let start = random.below(slots - W::WIDTH.slots() + 1);
            let bits = u128::from(random.number()) << 64 | u128::from(random.number() | 1);
            let right_side = random.number();
            let equation = Equation { start, coefficients: W::from_bits(bits), right_side };
            if matches!(banding.insert(equation), Insertion::Row(_)) {
                equations.push(equation);
            }
        }
        (banding, equations)
    }

    fn naive<W: Word>(solution: &Solution, start: u64, c: W) -> u64 {
        let columns = solution.layout().columns_of(start / W::WIDTH.slots());
        let selected = (0..W::WIDTH.slots()).filter(|k| c.to_bits() >> k & 1 == 1);
        let sum = selected.fold(0, |sum, k| sum ^ solution.row(start + k));
        sum & ((1u128 << columns) - 1) as u64
    }

    /// Every equation holds, in the columns of the block in which it starts; queries are what
    /// equation (1) says, computed row by row; free variables have the values that were set.
    fn check<W: Word>(slots: u64, columns: f64) {
        let (banding, equations) = system::<W>(slots, slots);
        let solution = Solution::of(&banding, columns, free_row);
        let bits = |start: u64| solution.layout().columns_of(start / W::WIDTH.slots());
        let masked = |value: u64, start| value & ((1u128 << bits(start)) - 1) as u64;
        for Equation { start, coefficients, right_side } in equations {
            let result = solution.query(start, coefficients);
            assert_eq!(result, masked(right_side, start));
            assert!(solution.matches(start, coefficients, right_side));
        }
        for row in (0..slots).filter(|&row| !banding.is_filled(row)) {
            assert_eq!(solution.row(row), masked(free_row(row), row));
        }
        let mut random = Random::new(1);
        for start in (0..=slots - W::WIDTH.slots()).step_by(3) {
            let c = W::from_bits(u128::from(random.number()) << 64 | u128::from(random.number()));
            let (expected, probe) = (naive(&solution, start, c), random.number() & 7);
            assert_eq!(solution.query(start, c), expected);
            let equal = masked(expected ^ probe, start) == 0;
            assert_eq!(solution.matches(start, c, probe), equal);
        }
    }

    #[test]
    fn solutions_satisfy_all_equations() {
        for (blocks, columns) in
            [(1, 1.0), (1, 64.0), (2, 1.5), (7, 0.5), (7, 3.0), (9, 7.7), (20, 31.5)]
        {
            check::<u16>(16 * blocks, columns);
            check::<u32>(32 * blocks, columns);
            check::<u64>(64 * blocks, columns);
            check::<u128>(128 * blocks, columns);
        }
    }

    /// Theorem 3.2: the solution does not depend on the order either.
    #[test]
    fn the_solution_does_not_depend_on_the_order() {
        let (banding, mut equations) = system::<u32>(320, 5);
        let expected = Solution::of(&banding, 7.5, free_row);
        for seed in 0..20 {
            Random::new(seed).shuffle(&mut equations);
            let mut other = Banding::new(320);
            assert!(other.insert_all(equations.iter().copied()));
            assert_eq!(Solution::of(&other, 7.5, free_row), expected);
        }
    }

    /// Columns are independent of each other: fewer columns are the same columns.
    #[test]
    fn columns_are_a_prefix() {
        let (banding, _) = system::<u64>(640, 6);
        let solution = Solution::of(&banding, 8.5, free_row);
        for columns in [8.5, 8.0, 7.3, 1.0, 0.4] {
            let smaller = Solution::of(&banding, columns, free_row);
            assert!(solution.layout().contains(smaller.layout()));
            assert_eq!(solution.select_columns(0, *smaller.layout()), smaller);
        }
        assert!(!solution.layout().contains(Solution::of(&banding, 8.6, free_row).layout()));
    }
}
