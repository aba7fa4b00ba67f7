//! NEON: bits are counted per byte, and adjacent counts are added until each column has one.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::{Coefficients, Instructions, Work, portable};
use crate::Width;
use crate::ribbon::width::Band;
use core::arch::aarch64::*;

/// Proof that the CPU has NEON, which every 64-bit Arm with an operating system has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neon(());

impl Neon {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        cfg!(target_feature = "neon").then_some(Self(()))
    }

    /// The token in a function that is compiled for the features: its caller has proved them.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn here() -> Self {
        Self(())
    }

    #[inline(always)]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
}

impl Instructions for Neon {
    #[inline(always)]
    unsafe fn parities<B: Band>(
        self,
        parts: [*const u8; 3],
        coefficients: Coefficients,
        columns: u8,
    ) -> u8 {
        let masks = coefficients.over_blocks::<B>();
        let present = columns.count_ones() as usize * B::WORD_BYTES;
        // SAFETY: `self` proves that the CPU has NEON. The caller guarantees that eight words can
        // be read from each part on, which covers the 16 bytes of every load of `counts`; the last
        // load is of a constant array of eight bytes.
        unsafe {
            let counts_of = |load: usize| match load * 16 < present {
                true => counts::<B>(parts, masks, load),
                false => vdupq_n_u8(0),
            };
            let counts = match B::WIDTH {
                Width::W64 | Width::W128 => {
                    let [a, b, c, d] = [0, 1, 2, 3].map(counts_of);
                    let quarters = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
                    vpaddq_u8(quarters, quarters)
                }
                Width::W32 => {
                    let halves = vpaddq_u8(counts_of(0), counts_of(1));
                    vpaddq_u8(halves, halves)
                }
                Width::W16 => {
                    let whole = counts_of(0);
                    vpaddq_u8(whole, whole)
                }
            };
            const POSITIONS: [i8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
            let parities = vand_u8(vget_low_u8(counts), vdup_n_u8(1));
            vaddv_u8(vshl_u8(parities, vld1_s8(POSITIONS.as_ptr())))
        }
    }

    #[inline(always)]
    fn sum_rows<B: Band, const SIZE: usize>(self, rows: &[u8], coefficients: B) -> u64 {
        // SAFETY: `self` proves that the CPU has NEON, and a chunk has the 16 bytes that
        // `chosen_rows` reads.
        unsafe {
            let mut sum = vdupq_n_u64(0);
            for (rows, word) in rows.chunks(64 * SIZE).zip(coefficients.to_words()) {
                for (number, rows) in rows.chunks_exact(16).enumerate() {
                    let chosen = word >> (number * 16 / SIZE);
                    sum = veorq_u64(sum, chosen_rows::<SIZE>(rows.as_ptr(), chosen));
                }
            }
            portable::folded::<SIZE>(vgetq_lane_u64::<0>(sum) ^ vgetq_lane_u64::<1>(sum))
        }
    }
}

/// The rows in 16 bytes that the lowest bits of `coefficients` select, as two words.
///
/// # Safety
/// The CPU must have NEON, and 16 bytes must be readable from `source` on.
#[inline(always)]
unsafe fn chosen_rows<const SIZE: usize>(source: *const u8, coefficients: u64) -> uint64x2_t {
    const OWN_16: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    const OWN_32: [u32; 4] = [1, 2, 4, 8];
    const OWN_64: [u64; 2] = [1, 2];
    // SAFETY: the caller guarantees NEON, and that the 16 bytes of the last load can be read from
    // `source` on. The other loads are of constant arrays of 16 bytes.
    unsafe {
        let chosen = match SIZE {
            2 => vreinterpretq_u64_u16(vtstq_u16(
                vdupq_n_u16(coefficients as u16),
                vld1q_u16(OWN_16.as_ptr()),
            )),
            4 => vreinterpretq_u64_u32(vtstq_u32(
                vdupq_n_u32(coefficients as u32),
                vld1q_u32(OWN_32.as_ptr()),
            )),
            _ => vtstq_u64(vdupq_n_u64(coefficients), vld1q_u64(OWN_64.as_ptr())),
        };
        vandq_u64(vreinterpretq_u64_u8(vld1q_u8(source)), chosen)
    }
}

/// The number of set bits in each byte of the `load`-th 16 bytes of words, masked by the
/// coefficients and summed over the parts.
///
/// # Safety
/// The CPU must have NEON, and 16 bytes must be readable at `16 * load` bytes after each part.
#[inline(always)]
unsafe fn counts<B: Band>(parts: [*const u8; 3], masks: [u64; 3], load: usize) -> uint8x16_t {
    // SAFETY: the caller guarantees NEON, and that 16 bytes can be read at `16 * load` bytes after
    // each part.
    unsafe {
        let mut sum = vdupq_n_u8(0);
        for part in 0..B::PARTS {
            let source = parts[part].add(load * 16);
            let chosen = match B::WIDTH {
                Width::W64 | Width::W128 => vreinterpretq_u8_u64(vdupq_n_u64(masks[part])),
                Width::W32 => vreinterpretq_u8_u32(vdupq_n_u32(masks[part] as u32)),
                Width::W16 => vreinterpretq_u8_u16(vdupq_n_u16(masks[part] as u16)),
            };
            sum = veorq_u8(sum, vandq_u8(vld1q_u8(source), chosen));
        }
        vcntq_u8(sum)
    }
}
