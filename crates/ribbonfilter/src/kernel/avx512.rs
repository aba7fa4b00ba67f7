//! AVX-512 with VPOPCNTDQ: eight columns in one vector.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::{Coefficients, Columns, Instructions, Rows, Work, portable};
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

    /// The token in a function that is compiled for the features: its caller has proved them.
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(crate) fn here() -> Self {
        Self(())
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

/// Ternary operation `a ? b : c`, bit by bit.
const SELECT: i32 = 0xca;
/// Ternary operation `a ^ (b & c)`.
const XOR_AND: i32 = 0x78;
/// Ternary operation `a | (b & c)`.
const OR_AND: i32 = 0xf8;

impl Instructions for Avx512 {
    #[inline(always)]
    unsafe fn parities<B: Band>(
        self,
        parts: [*const u8; 3],
        coefficients: Coefficients,
        _: u8,
    ) -> u8 {
        // SAFETY: `self` proves that the CPU has the features, and the caller guarantees that eight
        // words can be read from each part on.
        unsafe {
            match B::WIDTH {
                Width::W64 | Width::W128 => parities_of_64::<B>(parts, coefficients),
                Width::W16 | Width::W32 => parities_of_32::<B>(parts, coefficients),
            }
        }
    }

    #[inline(always)]
    fn sum_rows<B: Band, const SIZE: usize>(self, rows: &[u8], coefficients: B) -> u64 {
        // SAFETY: `self` proves that the CPU has the features.
        portable::folded::<SIZE>(unsafe { sum_rows::<SIZE>(rows, coefficients.to_words()) })
    }

    #[inline(always)]
    fn solve_rows<B: Band>(self, rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
        // SAFETY: `self` proves that the CPU has the features.
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

/// See [`Instructions::parities`], for words of 64 bits.
///
/// An equation covers the slots from its start on in the first block, and those before that
/// position in the last block. One selection combines both into one block.
///
/// # Safety
/// Eight words of 64 bits must be readable from each of the first [`Band::PARTS`] parts on.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
unsafe fn parities_of_64<B: Band>(parts: [*const u8; 3], coefficients: Coefficients) -> u8 {
    let Coefficients { words, slot } = coefficients;
    let from_start = _mm512_set1_epi64(u64::MAX.wrapping_shl(slot as u32) as i64);
    // SAFETY: the caller guarantees that 64 bytes can be read from the first part on.
    let first = unsafe { _mm512_loadu_epi64(parts[0].cast()) };
    // SAFETY: the caller guarantees that 64 bytes can be read from the last part on.
    let last = unsafe { _mm512_loadu_epi64(parts[B::PARTS - 1].cast()) };
    let ends = _mm512_ternarylogic_epi64::<SELECT>(from_start, first, last);
    let chosen = _mm512_set1_epi64((words[0] | 1u64.wrapping_shl(slot as u32)) as i64);
    let mut sum = _mm512_and_si512(ends, chosen);
    if B::WIDTH == Width::W128 {
        // SAFETY: with w = 128 there are three parts, and the caller guarantees that 64 bytes can
        // be read from the second on.
        let middle = unsafe { _mm512_loadu_epi64(parts[1].cast()) };
        let chosen = _mm512_set1_epi64(words[1] as i64);
        sum = _mm512_ternarylogic_epi64::<XOR_AND>(sum, middle, chosen);
    }
    _mm512_test_epi64_mask(_mm512_popcnt_epi64(sum), _mm512_set1_epi64(1))
}

/// See [`Instructions::parities`], for words of 16 or 32 bits.
///
/// # Safety
/// Eight words of the width must be readable from each of the first [`Band::PARTS`] parts on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
unsafe fn parities_of_32<B: Band>(parts: [*const u8; 3], coefficients: Coefficients) -> u8 {
    let masks = coefficients.over_blocks::<B>();
    let mut sum = _mm256_setzero_si256();
    for part in 0..B::PARTS {
        let words = if B::WIDTH == Width::W32 {
            // SAFETY: the caller guarantees that eight words of 32 bits can be read here.
            unsafe { _mm256_loadu_epi32(parts[part].cast()) }
        } else {
            // SAFETY: the caller guarantees that eight words of 16 bits can be read here.
            _mm256_cvtepu16_epi32(unsafe { _mm_loadu_epi16(parts[part].cast()) })
        };
        let chosen = _mm256_set1_epi32(masks[part] as i32);
        sum = _mm256_ternarylogic_epi32::<XOR_AND>(sum, words, chosen);
    }
    _mm256_test_epi32_mask(_mm256_popcnt_epi32(sum), _mm256_set1_epi32(1))
}

/// See [`Instructions::sum_rows`]. The rows in a word of the result have yet to be added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
fn sum_rows<const SIZE: usize>(rows: &[u8], [low, high]: [u64; 2]) -> u64 {
    let coefficients = u128::from(high) << 64 | u128::from(low);
    let mut sum = _mm512_setzero_si512();
    for (number, rows) in rows.chunks(64).enumerate() {
        let chosen = coefficients >> (number * 64 / SIZE);
        let source = rows.as_ptr();
        // SAFETY: the loads read only the rows that the mask selects, and the chunk has a row for
        // every coefficient that may be set. They need no alignment.
        let rows = unsafe {
            match SIZE {
                2 => _mm512_maskz_loadu_epi16(chosen as u32, source.cast()),
                4 => _mm512_maskz_loadu_epi32(chosen as u16, source.cast()),
                _ => _mm512_maskz_loadu_epi64(chosen as u8, source.cast()),
            }
        };
        sum = _mm512_xor_si512(sum, rows);
    }
    let half = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    super::avx2::lanes_added(half)
}

/// Solves rows for `8 * VECTORS` columns. Each vector holds the states of eight columns, one per
/// 64-bit lane. For w = 128 a second vector holds their later halves.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn solve_vectors<B: Band, const VECTORS: usize>(rows: Rows<'_, B>, columns: &mut Columns<B>) {
    let one = _mm512_set1_epi64(1);
    let mut near = [_mm512_setzero_si512(); VECTORS];
    let mut far = near;
    for (vector, states) in columns.as_chunks::<8>().0[..VECTORS].iter().enumerate() {
        near[vector] = load(&states.map(|state| state.to_words()[0]));
        far[vector] = load(&states.map(|state| state.to_words()[1]));
    }
    for (&coefficients, &value) in rows.coefficients.iter().zip(rows.values).rev() {
        let [first, second] = coefficients.to_words();
        let first = _mm512_set1_epi64(first as i64);
        let second = _mm512_set1_epi64(second as i64);
        for vector in 0..VECTORS {
            let following = _mm512_add_epi64(near[vector], near[vector]);
            let mut sum = _mm512_and_si512(following, first);
            if B::WIDTH == Width::W128 {
                let carry = _mm512_srli_epi64::<63>(near[vector]);
                far[vector] = _mm512_add_epi64(far[vector], far[vector]);
                far[vector] = _mm512_or_si512(far[vector], carry);
                sum = _mm512_ternarylogic_epi64::<XOR_AND>(sum, far[vector], second);
            }
            let count = _mm512_popcnt_epi64(sum);
            let bits = (value >> (8 * vector)) as u8;
            let count = _mm512_mask_xor_epi64(count, bits, count, one);
            near[vector] = _mm512_ternarylogic_epi64::<OR_AND>(following, count, one);
        }
    }
    for (vector, states) in columns.as_chunks_mut::<8>().0[..VECTORS].iter_mut().enumerate() {
        let (near, far) = (words_of(near[vector]), words_of(far[vector]));
        for (lane, state) in states.iter_mut().enumerate() {
            *state = B::from_words(near[lane], far[lane]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference covers 64 bytes that can be read, and the load needs no alignment.
    unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words_of(vector: __m512i) -> [u64; 8] {
    let mut words = [0; 8];
    // SAFETY: the array has 64 bytes that can be written, and the store needs no alignment.
    unsafe { _mm512_storeu_epi64(words.as_mut_ptr().cast(), vector) };
    words
}
