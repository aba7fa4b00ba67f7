//! The kernel for every target, without a branch per column. Other kernels use its code where they
//! have no faster instructions.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::{Coefficients, Columns, GROUP, Instructions, Rows, Work};
use crate::ribbon::width::Band;

#[derive(Clone, Copy)]
pub(crate) struct Portable;

#[inline]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    work.run(Portable)
}

impl Instructions for Portable {
    #[inline(always)]
    unsafe fn parities<B: Band>(
        self,
        parts: [*const u8; 3],
        coefficients: Coefficients,
        columns: u8,
    ) -> u8 {
        let masks = coefficients.over_blocks::<B>();
        if cfg!(target_arch = "wasm32") {
            // SAFETY: as the caller guarantees.
            return unsafe { parities_by_counting::<B>(parts, masks, columns) };
        }
        // SAFETY: the caller guarantees that eight words can be read from each part on, and `column`
        // is below eight.
        let word = |column: usize| unsafe { selected::<B>(parts, masks, column) };
        let [a, b, c, d] = [0, 1, 2, 3].map(word);
        // Skip the second half of the columns if none of them exists.
        let [e, f, g, h] = if columns > 0xf { [4, 5, 6, 7].map(word) } else { [0; 4] };
        parities_of([a, b, c, d, e, f, g, h]) as u8
    }
}

/// The sum of the words of a column, one of each block, under the masks of the coefficients.
///
/// # Safety
/// `column + 1` words of a block must be readable from each of the first [`Band::PARTS`] parts on.
#[inline(always)]
unsafe fn selected<B: Band>(parts: [*const u8; 3], masks: [u64; 3], column: usize) -> u64 {
    // No loop: code that is optimised for size would not unroll it, and would keep the masks in memory.
    // SAFETY: the caller guarantees that these words can be read.
    let word = |part: usize| unsafe {
        masks[part] & word_at::<B>(parts[part].add(column * B::WORD_BYTES))
    };
    let sum = word(0) ^ word(1);
    if B::PARTS > 2 { sum ^ word(2) } else { sum }
}

/// The little-endian word of a block at an address, of any alignment.
///
/// # Safety
/// A word of a block must be readable there.
#[inline(always)]
unsafe fn word_at<B: Band>(address: *const u8) -> u64 {
    // SAFETY: as the caller guarantees.
    unsafe {
        match B::WORD_BYTES {
            8 => u64::from_le(address.cast::<u64>().read_unaligned()),
            4 => u32::from_le(address.cast::<u32>().read_unaligned()).into(),
            _ => u16::from_le(address.cast::<u16>().read_unaligned()).into(),
        }
    }
}

/// The parities of eight words, one bit each. One population count per column is the shortest code, and
/// WebAssembly always has the instruction.
///
/// A loop up to the last column takes 2 ns per key more: how often it runs cannot be predicted if the
/// number of columns is fractional.
///
/// # Safety
/// As for [`Instructions::parities`].
#[inline(always)]
unsafe fn parities_by_counting<B: Band>(parts: [*const u8; 3], masks: [u64; 3], columns: u8) -> u8 {
    // SAFETY: the caller guarantees that eight words can be read from each part on, and `column`
    // is below eight.
    let parity = |column| unsafe { selected::<B>(parts, masks, column).count_ones() & 1 };
    let four = |first| {
        parity(first) | parity(first + 1) << 1 | parity(first + 2) << 2 | parity(first + 3) << 3
    };
    let low = four(0);
    (if columns > 0xf { low | four(4) << 4 } else { low }) as u8
}

/// The parity of a solution's only column. No vector instruction is faster for one word.
///
/// # Safety
/// A word of a block must be readable from each of the first [`Band::PARTS`] parts on.
#[inline(always)]
pub(crate) unsafe fn parity<B: Band>(parts: [*const u8; 3], coefficients: Coefficients) -> u64 {
    // SAFETY: as the caller guarantees.
    let sum = unsafe { selected::<B>(parts, coefficients.over_blocks::<B>(), 0) };
    u64::from(sum.count_ones() & 1)
}

/// The parities of eight words, one bit each.
///
/// Uses the population-count instruction where there is one. Otherwise the words are folded
/// together, two into one at each step, until each byte of one word holds the remainder of one of
/// them.
#[inline(always)]
fn parities_of(words: [u64; GROUP]) -> u64 {
    if cfg!(any(target_feature = "popcnt", target_arch = "aarch64")) {
        let bits = words.iter().enumerate();
        return bits
            .fold(0, |bits, (column, word)| bits | u64::from(word.count_ones() & 1) << column);
    }
    let [a, b, c, d, e, f, g, h] = words;
    let by_32 = |low, high| merge::<32>(low, high, 0x0000_0000_ffff_ffff);
    let by_16 = |low, high| merge::<16>(low, high, 0x0000_ffff_0000_ffff);
    let by_8 = |low, high| merge::<8>(low, high, 0x00ff_00ff_00ff_00ff);
    let even = by_16(by_32(a, e), by_32(c, g));
    let odd = by_16(by_32(b, f), by_32(d, h));
    let mut bytes = by_8(even, odd);
    bytes ^= bytes >> 4;
    bytes ^= bytes >> 2;
    bytes ^= bytes >> 1;
    // The lowest bit of every byte, gathered in the top byte by one multiplication.
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Folds each of two words by `SHIFT` bits and interleaves the results in one word: pieces of the
/// first where `mask` is set, pieces of the second elsewhere.
#[inline(always)]
fn merge<const SHIFT: u32>(low: u64, high: u64, mask: u64) -> u64 {
    (low ^ low >> SHIFT) & mask | (high ^ high << SHIFT) & !mask
}

/// [`Instructions::sum_rows`]: adds as many rows in one operation as fit into a word, under a mask
/// of the selected ones.
#[inline(always)]
pub(super) fn sum_rows<B: Band, const SIZE: usize>(rows: &[u8], coefficients: B) -> u64 {
    let batched = 8 / SIZE;
    let mut sum = 0;
    let mut halves = coefficients.to_words().into_iter();
    for rows in rows.chunks(64 * SIZE) {
        let mut chosen = halves.next().unwrap_or_default();
        for word in rows.chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            sum ^= word & const { masks::<SIZE>() }[chosen as usize % (1 << batched)];
            chosen >>= batched;
        }
    }
    folded::<SIZE>(sum)
}

/// The sum of the rows in a word, which holds one, two or four.
#[inline(always)]
pub(super) fn folded<const SIZE: usize>(word: u64) -> u64 {
    match SIZE {
        2 => (word ^ word >> 16 ^ word >> 32 ^ word >> 48) & 0xffff,
        4 => (word ^ word >> 32) & 0xffff_ffff,
        _ => word,
    }
}

/// For every selection of the rows in a word, a mask of their bits.
const fn masks<const SIZE: usize>() -> [u64; 16] {
    let mut masks = [0; 16];
    let mut chosen = 0;
    while chosen < 1 << (8 / SIZE) {
        let mut row = 0;
        while row < 8 / SIZE {
            if chosen >> row & 1 == 1 {
                masks[chosen] |= (u64::MAX >> (64 - 8 * SIZE)) << (8 * SIZE * row);
            }
            row += 1;
        }
        chosen += 1;
    }
    masks
}

/// [`Instructions::solve_rows`], one bit after another.
#[inline(always)]
pub(super) fn solve_rows<B: Band>(rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
    for (&coefficients, &value) in rows.coefficients.iter().zip(rows.values).rev() {
        for (column, state) in columns[..stored].iter_mut().enumerate() {
            let following = state.prepend(false);
            let bit = (following & coefficients).parity() ^ (value >> column & 1 == 1);
            *state = state.prepend(bit);
        }
    }
}
