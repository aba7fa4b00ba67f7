//! AVX-512 with VPOPCNTDQ: eight columns in one vector.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::{Coefficients, Columns, Instructions, Rows, Work, row_major};
use crate::Width;
use crate::ribbon::width::Band;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX-512 F, BW, DQ, VL and VPOPCNTDQ, and all that
/// [`Avx2`](super::avx2::Avx2) proves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx512 {
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        super::avx2::Avx2::detect()?;
        has_features!("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vpopcntdq")
            .then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has these features.
        unsafe { self.run_with_features(work) }
    }

    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    fn run_with_features<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
}

entries!(
    Avx512(()),
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
);

/// Ternary operation `a ? b : c`, bit by bit.
const SELECT: i32 = 0xca;
/// Ternary operation `a ^ (b & c)`.
const XOR_AND: i32 = 0x78;

impl Instructions for Avx512 {
    #[inline(always)]
    unsafe fn parities<B: Band>(
        self,
        parts: [*const u8; 3],
        coefficients: Coefficients,
        _: u8,
    ) -> u8 {
        let Coefficients { words, slot } = coefficients;
        // SAFETY: the token proves the features, and the caller guarantees that eight words can be
        // read from each part on.
        unsafe {
            match B::WIDTH {
                Width::W64 | Width::W128 => {
                    // An equation covers the slots from its start on in the first block, and those
                    // before that position in the last block. One selection combines both into one
                    // block.
                    let from_start = _mm512_set1_epi64(u64::MAX.wrapping_shl(slot as u32) as i64);
                    let first = _mm512_loadu_epi64(parts[0].cast());
                    let last = _mm512_loadu_epi64(parts[B::PARTS - 1].cast());
                    let ends = _mm512_ternarylogic_epi64::<SELECT>(from_start, first, last);
                    let chosen =
                        _mm512_set1_epi64((words[0] | 1u64.wrapping_shl(slot as u32)) as i64);
                    let mut sum = _mm512_and_si512(ends, chosen);
                    if B::WIDTH == Width::W128 {
                        let middle = _mm512_loadu_epi64(parts[1].cast());
                        let chosen = _mm512_set1_epi64(words[1] as i64);
                        sum = _mm512_ternarylogic_epi64::<XOR_AND>(sum, middle, chosen);
                    }
                    let counts = _mm512_popcnt_epi64(sum);
                    _mm512_test_epi64_mask(counts, _mm512_set1_epi64(1))
                }
                Width::W16 | Width::W32 => {
                    let masks = coefficients.over_blocks::<B>();
                    let mut sum = _mm256_setzero_si256();
                    for part in 0..B::PARTS {
                        let words = match B::WIDTH {
                            Width::W32 => _mm256_loadu_epi32(parts[part].cast()),
                            _ => _mm256_cvtepu16_epi32(_mm_loadu_epi16(parts[part].cast())),
                        };
                        let chosen = _mm256_set1_epi32(masks[part] as i32);
                        sum = _mm256_ternarylogic_epi32::<XOR_AND>(sum, words, chosen);
                    }
                    let counts = _mm256_popcnt_epi32(sum);
                    _mm256_test_epi32_mask(counts, _mm256_set1_epi32(1))
                }
            }
        }
    }

    #[inline(always)]
    fn sum_rows<B: Band, const SIZE: usize>(self, rows: &[u8], coefficients: B) -> u64 {
        let [low, high] = coefficients.to_words();
        let coefficients = u128::from(high) << 64 | u128::from(low);
        // SAFETY: the token proves the features. The coefficients mask the loads, and there is a
        // row for every coefficient that may be set, so no byte outside `rows` is read.
        unsafe {
            let mut sum = _mm512_setzero_si512();
            for (number, rows) in rows.chunks(64).enumerate() {
                let chosen = coefficients >> (number * 64 / SIZE);
                let source = rows.as_ptr();
                let rows = match SIZE {
                    2 => _mm512_maskz_loadu_epi16(chosen as u32, source.cast()),
                    4 => _mm512_maskz_loadu_epi32(chosen as u16, source.cast()),
                    _ => _mm512_maskz_loadu_epi64(chosen as u8, source.cast()),
                };
                sum = _mm512_xor_si512(sum, rows);
            }
            let half =
                _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
            row_major::folded::<SIZE>(super::avx2::lanes_added(half))
        }
    }

    #[inline(always)]
    fn solve_rows<B: Band>(self, rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
        // SAFETY: the token proves the features.
        unsafe {
            match stored {
                0..=8 => solve_vectors::<B, 1>(rows, columns),
                9..=16 => solve_vectors::<B, 2>(rows, columns),
                17..=32 => solve_vectors::<B, 4>(rows, columns),
                _ => solve_vectors::<B, 8>(rows, columns),
            }
        }
    }
}

/// Solves rows for `8 * VECTORS` columns. Each vector holds the states of eight columns, one per
/// 64-bit lane. For w = 128 a second vector holds their later halves.
///
/// # Safety
/// The CPU must have the features of [`Avx512`].
#[inline(always)]
unsafe fn solve_vectors<B: Band, const VECTORS: usize>(
    rows: Rows<'_, B>,
    columns: &mut Columns<B>,
) {
    // SAFETY: the caller guarantees the features of [`Avx512`], and all loads and stores through
    // pointers are of local arrays.
    unsafe {
        let one = _mm512_set1_epi64(1);
        let mut near = [_mm512_setzero_si512(); VECTORS];
        let mut far = near;
        for vector in 0..VECTORS {
            let lane = |lane: usize| columns[8 * vector + lane].to_words();
            near[vector] = from_lanes(core::array::from_fn(|index| lane(index)[0]));
            far[vector] = from_lanes(core::array::from_fn(|index| lane(index)[1]));
        }
        for (&coefficients, &value) in rows.coefficients.iter().zip(rows.values).rev() {
            let [first, second] = coefficients.to_words();
            let first = _mm512_set1_epi64(first as i64);
            let second = _mm512_set1_epi64(second as i64);
            for vector in 0..VECTORS {
                let behind = _mm512_add_epi64(near[vector], near[vector]);
                let mut sum = _mm512_and_si512(behind, first);
                if B::WIDTH == Width::W128 {
                    let carry = _mm512_srli_epi64::<63>(near[vector]);
                    far[vector] = _mm512_add_epi64(far[vector], far[vector]);
                    far[vector] = _mm512_or_si512(far[vector], carry);
                    // sum ^ (far & second)
                    sum = _mm512_ternarylogic_epi64::<0x78>(sum, far[vector], second);
                }
                let count = _mm512_popcnt_epi64(sum);
                let bits = (value >> (8 * vector)) as u8;
                let count = _mm512_mask_xor_epi64(count, bits, count, one);
                // behind | (count & one)
                near[vector] = _mm512_ternarylogic_epi64::<0xf8>(behind, count, one);
            }
        }
        for vector in 0..VECTORS {
            let (near, far) = (to_lanes(near[vector]), to_lanes(far[vector]));
            for lane in 0..8 {
                columns[8 * vector + lane] = B::from_words(near[lane], far[lane]);
            }
        }
    }
}

/// # Safety
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn from_lanes(lanes: [u64; 8]) -> __m512i {
    // SAFETY: the caller guarantees AVX-512 F, and the array of eight words has the 64 bytes to
    // load.
    unsafe { _mm512_loadu_epi64(lanes.as_ptr().cast()) }
}

/// # Safety
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn to_lanes(vector: __m512i) -> [u64; 8] {
    let mut lanes = [0; 8];
    // SAFETY: the caller guarantees AVX-512 F, and the array of eight words has the 64 bytes to
    // store.
    unsafe { _mm512_storeu_epi64(lanes.as_mut_ptr().cast(), vector) };
    lanes
}
