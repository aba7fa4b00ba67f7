//! The search for the pivots of eight columns, in vectors: for AVX2 and AVX-512.
//!
//! Word 7 - t of the columns holds column t: a bit for each of up to 56 rows, in any order, and above
//! them the byte `1 << t`. Step t takes the first row with column t as its pivot, and adds column t
//! to every other column in which that row has a one. So the row becomes a unit vector, and the
//! upper bytes record the sums of columns: at the end the byte of column t has bit s if the old
//! column s is part of the new column t. That is the inverse of the matrix of the pivots' rows. If no
//! row is left with column t, then its pivot is zero and nothing is added.
//!
//! The steps are one chain, and the chains of the groups follow one another: their latency is the
//! floor of the elimination. A step is a subtraction, an AND of three, and for the column that is
//! next AND, comparison, and AND with XOR: that column is broadcast before it is updated, in
//! parallel with the step before, and updated on its own.
//!
//! The columns are in two vectors of 32 bytes because only those have a comparison whose result is a
//! vector. Latency of a whole search on Zen 4, with the transposition before and the gathering of the
//! results after (minima, 3.7 GHz):
//!
//! - this: 26 ns, about 120 instructions; without the broadcast ahead 29 ns;
//! - 64 bytes and mask registers: 34 ns with the broadcast ahead, 37 ns without;
//! - a column per general register, in assembly (blsi, bzhi; then test, cmov, xor per column): 29 ns
//!   and about 300 instructions, which compete with the other work. The elimination took 8 % longer.
//!   On Zen 5, where simple vector operations take two cycles, that was measured at 18 ns; this was
//!   not measured there.

/// One step: pivot of column `$t`. `$columns` and `$pivots` are pairs of vectors, the words 0 to 3 and 4
/// to 7; `$column` is column t, then column t + 1, in all words. `$add_unless(x, mask, y)` is x, plus y
/// where the mask is zero.
macro_rules! step {
    ($t:literal, $columns:ident, $pivots:ident, $column:ident, $add_unless:ident) => {{
        const WORD: usize = 7 - $t;
        const NEXT: usize = if $t < 7 { WORD - 1 } else { WORD };
        let zero = _mm256_setzero_si256();
        let rows = _mm256_set1_epi64x((1 << 56) - 1);
        let below = _mm256_sub_epi64(zero, $column);
        let pivot = _mm256_and_si256(_mm256_and_si256($column, below), rows);
        let add = |to| {
            let without = _mm256_cmpeq_epi64(_mm256_and_si256(to, pivot), zero);
            $add_unless(to, without, $column)
        };
        let next = _mm256_permute4x64_epi64::<{ (NEXT % 4 * 0x55) as i32 }>($columns[NEXT / 4]);
        let next = add(next);
        const OWN: i32 = 3 << (WORD % 4 * 2);
        let own = $columns[WORD / 4];
        $columns = [add($columns[0]), add($columns[1])];
        $columns[WORD / 4] = _mm256_blend_epi32::<OWN>($columns[WORD / 4], own);
        $pivots[WORD / 4] = _mm256_blend_epi32::<OWN>($pivots[WORD / 4], pivot);
        $column = next;
        // SAFETY: no instruction. Only the order matters: the compiler cannot move the step after the
        // work that follows, which writes to memory, as it did otherwise.
        unsafe {
            core::arch::asm!("/* {0} */", inout(ymm_reg) $column,
                options(nostack, preserves_flags));
        }
    }};
}

/// All steps, with `$work` after each of them and `$step` as its number. Returns the columns and the
/// pivots: bit by bit as in the columns, in word 7 - t that of column t, or zero.
///
/// A macro, because functions with target features cannot be inlined by force, and because the work
/// must stand between the steps. After them it would enter the scheduler, then full of waiting steps,
/// too late to fill the gaps of the chain.
macro_rules! search {
    ($columns:expr, $add_unless:ident, $step:ident => $work:block) => {{
        let mut columns: [__m256i; 2] = $columns;
        let mut pivots = [_mm256_setzero_si256(); 2];
        let mut column = _mm256_permute4x64_epi64::<0xff>(columns[1]);
        step!(0, columns, pivots, column, $add_unless);
        {
            const $step: usize = 0;
            $work
        }
        step!(1, columns, pivots, column, $add_unless);
        {
            const $step: usize = 1;
            $work
        }
        step!(2, columns, pivots, column, $add_unless);
        {
            const $step: usize = 2;
            $work
        }
        step!(3, columns, pivots, column, $add_unless);
        {
            const $step: usize = 3;
            $work
        }
        step!(4, columns, pivots, column, $add_unless);
        {
            const $step: usize = 4;
            $work
        }
        step!(5, columns, pivots, column, $add_unless);
        {
            const $step: usize = 5;
            $work
        }
        step!(6, columns, pivots, column, $add_unless);
        {
            const $step: usize = 6;
            $work
        }
        step!(7, columns, pivots, column, $add_unless);
        {
            const $step: usize = 7;
            $work
        }
        let _ = column;
        (columns, pivots)
    }};
}
