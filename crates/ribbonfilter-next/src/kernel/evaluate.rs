//! Evaluating an equation in up to eight columns, on every instruction set.
//!
//! A block is its columns one after the other, a word of 64 slots each. The row of a key is, in each
//! column, the parity of the slots that its coefficients select:
//!
//! ```text
//!              column 0   column 1         column 7
//! block 0    [  word   |   word   |  ...  |  word  ]  &  coefficients 0
//! block 1    [  word   |   word   |  ...  |  word  ]  &  coefficients 1
//!   ...
//!            ^  all of them; the parity of each word is one bit of the row
//! ```
//!
//! All words of a block are combined with the same coefficients, so a block of eight columns is one
//! vector of AVX-512 or two of AVX2.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::Portable;
use super::sixty_four::{Geometry, Located};
use crate::ribbon::equation;

/// What an instruction set provides to evaluate an equation over `W` blocks.
pub(crate) trait Evaluate: Copy {
    /// The coefficients in the form in which blocks are combined with them.
    type Words<const W: usize>: Copy;

    /// The coefficients of a mixed hash: [`equation::coefficients`].
    fn words<const W: usize>(self, mixed: u64) -> Self::Words<W>;

    /// Bit `j` of the result is column `j` of the row, for the first `columns` columns; other bits
    /// have any value.
    ///
    /// # Safety
    /// The first `columns` words of each block must be readable; if `PADDED`, 64 bytes.
    unsafe fn row<const W: usize, const PADDED: bool>(
        self,
        words: Self::Words<W>,
        blocks: [*const u8; W],
        columns: u32,
    ) -> u64;

    /// Whether 64 keys of a filter can be queried together, by [`locate`](Self::locate) and
    /// [`evaluate`](Self::evaluate). `WHOLE`: exactly eight columns, no boundary.
    const TOGETHER: bool = false;

    /// Locates 64 keys.
    ///
    /// # Safety
    /// The geometry is that of a filter whose bytes are at `bytes`, with codes if `BUMPED`.
    unsafe fn locate<const W: usize, const WHOLE: bool, const BUMPED: bool>(
        self,
        _: &Geometry,
        _: *const u8,
        _: &[u64; 64],
        located: &mut Located,
    ) {
        located.unsure = u64::MAX;
    }

    /// Which of the located keys are in the set, but for those that are unsure.
    ///
    /// # Safety
    /// 64 bytes must be readable from `bytes` and each of the `W` blocks of each offset on.
    unsafe fn evaluate<const W: usize, const WHOLE: bool>(
        self,
        _: *const u8,
        _columns: u32,
        _: &Located,
    ) -> u64 {
        0
    }
}

impl Evaluate for Portable {
    type Words<const W: usize> = [u64; W];

    #[inline(always)]
    fn words<const W: usize>(self, mixed: u64) -> [u64; W] {
        equation::coefficients(mixed)
    }

    #[inline(always)]
    unsafe fn row<const W: usize, const PADDED: bool>(
        self,
        words: [u64; W],
        blocks: [*const u8; W],
        columns: u32,
    ) -> u64 {
        let mut row = 0;
        for column in 0..columns {
            let mut sum = 0;
            for (block, word) in blocks.into_iter().zip(words) {
                // SAFETY: the caller guarantees that the columns of the block are readable.
                sum ^= word
                    & unsafe { block.cast::<u64>().add(column as usize).read_unaligned() }.to_le();
            }
            row |= u64::from(sum.count_ones() & 1) << column;
        }
        row
    }
}

/// As in portable code: NEON counts bits, and the compiler knows how.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
impl Evaluate for super::Neon {
    type Words<const W: usize> = [u64; W];

    #[inline(always)]
    fn words<const W: usize>(self, mixed: u64) -> [u64; W] {
        Portable.words(mixed)
    }

    #[inline(always)]
    unsafe fn row<const W: usize, const PADDED: bool>(
        self,
        words: [u64; W],
        blocks: [*const u8; W],
        columns: u32,
    ) -> u64 {
        // SAFETY: the caller guarantees the same.
        unsafe { Portable.row::<W, PADDED>(words, blocks, columns) }
    }
}

/// The factors of [`equation::coefficients`], each in a lane of 64 bits.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
pub(super) struct Factors(pub(super) [u64; 8]);

#[cfg(target_arch = "x86_64")]
impl Factors {
    pub(super) const LOW: &Self = &Self::of(equation::LOW);
    pub(super) const HIGH: &Self = &Self::of(equation::HIGH);

    /// Twice the factors of four words.
    const fn of(factors: [u32; equation::WORDS]) -> Self {
        let mut lanes = [0; 8];
        let mut lane = 0;
        while lane < 8 {
            lanes[lane] = factors[lane % 4] as u64;
            lane += 1;
        }
        Self(lanes)
    }
}
