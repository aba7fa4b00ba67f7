//! AVX2: eight columns in two vectors, their parities by folding.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::evaluate::{Evaluate, Factors};
use super::tokens::Avx2;
use core::arch::x86_64::*;

impl Evaluate for Avx2 {
    type Words<const W: usize> = [__m256i; W];

    #[inline(always)]
    fn words<const W: usize>(self, mixed: u64) -> [__m256i; W] {
        // SAFETY: `self` proves that the CPU has the features.
        unsafe { words(mixed) }
    }

    #[inline(always)]
    unsafe fn row<const W: usize, const PADDED: bool>(
        self,
        words: [__m256i; W],
        blocks: [*const u8; W],
        columns: u32,
    ) -> u64 {
        // SAFETY: `self` proves that the CPU has the features, and the caller guarantees that the
        // blocks are readable.
        unsafe { row::<W, PADDED>(words, blocks, columns) }
    }
}

/// All words in one product; then each is broadcast.
#[inline]
#[target_feature(enable = "avx2")]
fn words<const W: usize>(mixed: u64) -> [__m256i; W] {
    let mixed = _mm256_set1_epi64x(mixed as i64);
    // SAFETY: the factors are 64 bytes each.
    let (low, high) = unsafe {
        let [low, high] = [Factors::LOW, Factors::HIGH].map(|factors| factors.0.as_ptr().cast());
        (_mm256_load_si256(low), _mm256_load_si256(high))
    };
    let low = _mm256_mul_epu32(mixed, low);
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(mixed), high);
    let words = _mm256_xor_si256(low, _mm256_shuffle_epi32::<0b10_11_00_01>(high));
    let mut each = [words; W];
    for (index, word) in each.iter_mut().enumerate() {
        *word = match index {
            0 => _mm256_permute4x64_epi64::<0b00_00_00_00>(words),
            1 => _mm256_permute4x64_epi64::<0b01_01_01_01>(words),
            2 => _mm256_permute4x64_epi64::<0b10_10_10_10>(words),
            _ => _mm256_permute4x64_epi64::<0b11_11_11_11>(words),
        };
    }
    each
}

/// # Safety
/// As for [`Evaluate::row`].
#[inline]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn row<const W: usize, const PADDED: bool>(
    words: [__m256i; W],
    blocks: [*const u8; W],
    columns: u32,
) -> u64 {
    let mut sums = [_mm256_setzero_si256(); 2];
    for (block, word) in blocks.into_iter().zip(words) {
        for (half, sum) in sums.iter_mut().enumerate() {
            let block = block.wrapping_add(32 * half);
            let block = match PADDED {
                // SAFETY: the caller guarantees that 64 bytes are readable.
                true => unsafe { _mm256_loadu_si256(block.cast()) },
                // SAFETY: the caller guarantees that the columns are readable.
                false => unsafe { _mm256_maskload_epi64(block.cast(), mask(columns, half)) },
            };
            *sum = _mm256_xor_si256(*sum, _mm256_and_si256(block, word));
        }
    }
    parities(sums)
}

/// All ones in the lanes of a half that are columns.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(columns: u32, half: usize) -> __m256i {
    let lanes =
        _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(4 * half as i64));
    _mm256_cmpgt_epi64(_mm256_set1_epi64x(columns.into()), lanes)
}

/// The parities of eight words, as bits.
#[inline]
#[target_feature(enable = "avx2")]
fn parities(words: [__m256i; 2]) -> u64 {
    let [a, b] = words.map(|vector| _mm256_castsi256_ps(vector));
    // The halves of each word are added. Each lane of 32 bits is a column, in the order 0, 1, 4, 5,
    // 2, 3, 6, 7.
    let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
    let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
    let mut sum = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_xor_si256(low, high));
    // The highest bit of a lane becomes its parity.
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32::<16>(sum));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32::<8>(sum));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32::<4>(sum));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32::<2>(sum));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32::<1>(sum));
    _mm256_movemask_ps(_mm256_castsi256_ps(sum)) as u32 as u64
}
