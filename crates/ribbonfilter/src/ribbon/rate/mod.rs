//! The exact false-positive rate of a homogeneous solution, and the screening of seeds.
//!
//! # The rate
//! A homogeneous filter returns "yes" if `c * Z = 0`. For a start `s` the first coefficient is 1
//! and the `w - 1` others are random, so the probability of "yes", over all keys that start at
//! `s`, is
//!
//! ```text
//! 2^-rank(Z[s+1 .. s+w))   if Z[s] lies in the span of those rows, else 0,
//! ```
//!
//! and the rate is its average over the starts, weighted by their probabilities. It is computed as
//! a sum of integers over the finished solution, so a filter has an exact rate. The paper leaves
//! this open (sections 4 and 8: "no obvious way to detect this").
//!
//! Nearly all windows have full rank. Let the rows be divided into halves of `w / 2` rows. Every
//! window that starts in one half contains all rows of the next half, so if the next half has full
//! rank, all these windows have. Stored by columns, a half is one word per column, and it has full
//! rank if these words are linearly independent: a small elimination without data-dependent
//! branches, done for several halves in parallel lanes ([`Halves`]). If the half does not have full
//! rank, [`full_rank_run`] reads rows backwards from the end of a window until they span all
//! columns. If they never do, [`deficient_run`] slides a basis that prefers late rows from start
//! to start.
//!
//! # The screen
//! A system, homogeneous or not, fails at a range with more keys than slots. [`longest_queue`]
//! finds such ranges from the starts alone: keys queue up at their start and each slot serves one
//! key. A queue whose length approaches the width predicts a failure. Counting the queue costs a
//! fraction of a banding.

use crate::ribbon::equation::Starts;

/// A false-positive rate as a fraction: `positives` of `total` queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate {
    positives: u128,
    total: u128,
}

impl Rate {
    pub(crate) fn new(positives: u128, total: u128) -> Self {
        Self { positives, total }
    }

    /// The rate of two sets of queries together, weighted by their totals.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { positives: self.positives + other.positives, total: self.total + other.total }
    }

    pub(crate) fn value(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.positives as f64 / self.total as f64 }
    }
}

/// The rate of a filter of `keys` keys, given the rate of its solution: an absent key is also found
/// if its 64-bit hash is that of one of the keys, which has the probability `keys / 2^64`.
///
/// A millionth of the rate is less than the rounding of the stored rate. Below that nothing is
/// added, so that `r` columns have a rate of exactly `2^-r` but for very large or precise filters.
pub(crate) fn with_collisions(rate: f64, keys: u64) -> f64 {
    let collision = keys as f64 / 18_446_744_073_709_551_616.0; // 2^64
    if collision < rate / 1e6 { rate } else { rate + (1.0 - rate) * collision }
}

/// The exact rate over the starts `first .. end` of a homogeneous solution of `columns` columns.
///
/// `row` returns a row of the segment's solution, masked to those columns. `half` writes the
/// column words of half a window of rows that begins at a slot. The total of the result is the
/// weight of these starts times `2^64`; for all starts the weight is [`Starts::total_weight`].
#[inline(always)]
pub(crate) fn homogeneous_rate(
    row: impl Fn(u64) -> u64,
    half: impl Fn(u64, &mut [u64]),
    starts: Starts,
    window: u64,
    columns: usize,
    first: u64,
    end: u64,
) -> Rate {
    let weight = starts.weight_before(end) - starts.weight_before(first);
    let total = u128::from(weight) << 64;
    if columns == 0 {
        return Rate::new(total, total);
    }
    let mut halves = Halves::new(starts, window);
    let mut positives = 0;
    let mut start = first;
    while start < end {
        let run = halves
            .run_from(start, columns, &half)
            .unwrap_or_else(|| full_rank_run(&row, start, window, columns))
            .min(end - start);
        if run > 0 {
            let weight = starts.weight_before(start + run) - starts.weight_before(start);
            positives += u128::from(weight) << (64 - columns);
            start += run;
        } else {
            start = deficient_run(&row, start, end, window, columns, |start, probability| {
                positives += u128::from(starts.weight(start)) * probability;
            });
        }
    }
    Rate::new(positives, total)
}

/// Adjacent halves of windows, and which of them have full rank; computed for [`LANES`] halves
/// together.
struct Halves {
    /// Rows of a half, 0 if windows have no halves, and the number of complete halves.
    rows: u64,
    count: u64,
    /// The first half of the current group, and a bit for each of its halves that has full rank.
    first: u64,
    proven: u32,
}

/// Halves per group: as many words as two or four vectors hold.
const LANES: usize = 8;

impl Halves {
    fn new(starts: Starts, window: u64) -> Self {
        // In a system smaller than `w` the window is shorter, and may not be a power of two.
        let rows = if window.is_power_of_two() { window / 2 } else { 0 };
        let slots = starts.count() + window - 1;
        Self { rows, count: slots.checked_div(rows).unwrap_or(0), first: 0, proven: 0 }
    }

    /// The number of starts, from `start` on, whose windows contain the next half, if that half
    /// has full rank; else `None`.
    #[inline(always)]
    fn run_from(
        &mut self,
        start: u64,
        columns: usize,
        half: impl Fn(u64, &mut [u64]),
    ) -> Option<u64> {
        let number = start.checked_div(self.rows)? + 1;
        if number >= self.count {
            return None;
        }
        // `first` is 0 only before the first group, because `number` is at least 1.
        if self.first == 0 || number - self.first >= LANES as u64 {
            self.look_at(number, columns, half);
        }
        let proven = self.proven >> (number - self.first) & 1 == 1;
        proven.then(|| number * self.rows - start)
    }

    /// Computes the group of halves that begins with `first`.
    #[inline(always)]
    fn look_at(&mut self, first: u64, columns: usize, half: impl Fn(u64, &mut [u64])) {
        let (mut words, mut lanes) = ([0; 64], [[0; LANES]; 64]);
        let lanes = &mut lanes[..columns];
        for (lane, number) in (first..self.count).take(LANES).enumerate() {
            half(number * self.rows, &mut words[..columns]);
            for (lanes, &word) in lanes.iter_mut().zip(&words) {
                lanes[lane] = word;
            }
        }
        *self = Self { first, proven: independent(lanes), ..*self };
    }
}

/// A bit for each lane whose words are linearly independent.
///
/// Gaussian elimination over GF(2) in all lanes together: the lowest set bit of each word is its
/// pivot, which is cleared in all following words. A word that has become zero depends on the
/// preceding ones. The selections compile to masks, so no branch depends on the data.
#[inline(always)]
fn independent(lanes: &mut [[u64; LANES]]) -> u32 {
    let mut all = [u64::MAX; LANES];
    for index in 0..lanes.len() {
        let (words, following) = (lanes[index], &mut lanes[index + 1..]);
        let pivots = words.map(|word| word & word.wrapping_neg());
        for (all, pivot) in all.iter_mut().zip(pivots) {
            *all &= if pivot == 0 { 0 } else { u64::MAX };
        }
        for others in following {
            for lane in 0..LANES {
                others[lane] ^= if others[lane] & pivots[lane] == 0 { 0 } else { words[lane] };
            }
        }
    }
    all.iter().enumerate().fold(0, |bits, (lane, all)| bits | (*all as u32 & 1) << lane)
}

/// Reads rows backwards from the end of the window of `start` until they have full rank. Returns
/// the number of starts, from `start` on, whose windows contain all rows that were read; 0 if the
/// window does not have full rank.
fn full_rank_run(row: impl Fn(u64) -> u64, start: u64, window: u64, columns: usize) -> u64 {
    let mut basis = [0; 64];
    let mut rank = 0;
    let mut next = start + window;
    while rank < columns {
        next -= 1;
        if next == start {
            return 0;
        }
        rank += usize::from(extend(&mut basis, row(next)));
    }
    next.max(start + 1) - start
}

/// Adds a row to a basis; returns whether it was independent.
fn extend(basis: &mut [u64; 64], mut row: u64) -> bool {
    while row != 0 {
        let lead = row.ilog2() as usize;
        if basis[lead] == 0 {
            basis[lead] = row;
            return true;
        }
        row ^= basis[lead];
    }
    false
}

/// Goes from start to start until the window has full rank or `end` is reached. Calls `tell` with
/// each start and its probability in units of 2^-64, and returns the start at which it stopped.
fn deficient_run(
    row: impl Fn(u64) -> u64,
    first: u64,
    end: u64,
    window: u64,
    columns: usize,
    mut tell: impl FnMut(u64, u128),
) -> u64 {
    let mut basis = SlidingBasis::default();
    for position in first + 1..first + window {
        basis.push(row(position), position);
    }
    let mut start = first;
    loop {
        let rank = basis.rank_after(start);
        if rank == columns {
            return start;
        }
        tell(start, if basis.spans_after(row(start), start) { 1 << (64 - rank) } else { 0 });
        start += 1;
        if start == end {
            return end;
        }
        let entering = start + window - 1;
        basis.push(row(entering), entering);
    }
}

/// A basis of a sliding window of rows.
///
/// Each vector is a sum of rows, and `needs` is the earliest of them. Of two vectors with the same
/// leading bit, the one with the later `needs` stays. So the vectors that need only rows after a
/// given position are a basis of those rows.
struct SlidingBasis {
    vectors: [u64; 64],
    needs: [u64; 64],
}

impl Default for SlidingBasis {
    fn default() -> Self {
        Self { vectors: [0; 64], needs: [0; 64] }
    }
}

impl SlidingBasis {
    fn push(&mut self, mut row: u64, mut needs: u64) {
        while row != 0 {
            let lead = row.ilog2() as usize;
            if self.vectors[lead] == 0 {
                self.vectors[lead] = row;
                self.needs[lead] = needs;
                return;
            }
            if self.needs[lead] < needs {
                core::mem::swap(&mut self.vectors[lead], &mut row);
                core::mem::swap(&mut self.needs[lead], &mut needs);
            }
            row ^= self.vectors[lead];
        }
    }

    fn rank_after(&self, position: u64) -> usize {
        let held = self.vectors.iter().zip(&self.needs);
        held.filter(|&(&vector, &needs)| vector != 0 && needs > position).count()
    }

    fn spans_after(&self, mut row: u64, position: u64) -> bool {
        while row != 0 {
            let lead = row.ilog2() as usize;
            if self.vectors[lead] == 0 || self.needs[lead] <= position {
                return false;
            }
            row ^= self.vectors[lead];
        }
        true
    }
}

/// The maximum length of the queue of keys that wait for a slot, observed at the end of each run
/// of `slots` slots; `starts_in` counts the keys that start in each run. If the maximum exceeds
/// `limit`, the result is any length greater than `limit`.
#[inline(always)]
pub(crate) fn longest_queue<C: Copy + Into<i32>>(starts_in: &[C], slots: i32, limit: u32) -> u32 {
    let (mut queue, mut longest) = (0i32, 0);
    for counts in starts_in.chunks(256) {
        for &count in counts {
            // The maximum of `sum` and 0 without a branch, which would be mispredicted.
            let sum = queue + (count.into() - slots);
            queue = sum & !(sum >> 31);
            longest = longest.max(queue);
        }
        if longest as u32 > limit {
            break;
        }
    }
    longest as u32
}

#[cfg(test)]
mod tests;
