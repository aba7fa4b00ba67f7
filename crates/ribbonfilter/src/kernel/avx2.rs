//! AVX2: four columns in a vector, and the parities of eight looked up by nibbles.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::{Coefficients, Instructions, Work, portable};
use crate::Width;
use crate::ribbon::width::Band;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl From<super::avx512::Avx512> for Avx2 {
    /// The token of AVX-512 proves the features of AVX2, too.
    fn from(_: super::avx512::Avx512) -> Self {
        Self(())
    }
}

impl Avx2 {
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        has_features!("avx2", "bmi1", "bmi2", "lzcnt", "popcnt").then_some(Self(()))
    }

    /// The token in a function that is compiled for the features: its caller has proved them.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn here() -> Self {
        Self(())
    }

    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has these features.
        unsafe { self.run_with_features(work) }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run_with_features<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
}

impl Instructions for Avx2 {
    #[inline(always)]
    unsafe fn parities<B: Band>(
        self,
        parts: [*const u8; 3],
        coefficients: Coefficients,
        _: u8,
    ) -> u8 {
        // SAFETY: `self` proves that the CPU has AVX2, and the caller guarantees that eight words
        // can be read from each part on.
        unsafe { parities::<B>(parts, coefficients.over_blocks::<B>()) }
    }

    #[inline(always)]
    fn sum_rows<B: Band, const SIZE: usize>(self, rows: &[u8], coefficients: B) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        let sum = unsafe {
            match SIZE {
                2 => sum_of_16(rows, coefficients.to_words()),
                4 => sum_of_32(rows, coefficients.to_words()),
                _ => sum_of_64(rows, coefficients.to_words()),
            }
        };
        portable::folded::<SIZE>(sum)
    }
}

/// See [`Instructions::parities`].
///
/// # Safety
/// Eight words of a block must be readable from each of the first [`Band::PARTS`] parts on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn parities<B: Band>(parts: [*const u8; 3], masks: [u64; 3]) -> u8 {
    let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for part in 0..B::PARTS {
        let source = parts[part];
        match B::WIDTH {
            Width::W64 | Width::W128 => {
                let mask = _mm256_set1_epi64x(masks[part] as i64);
                // SAFETY: the caller guarantees that eight words of 64 bits can be read here; these
                // are the first four.
                let words = unsafe { _mm256_loadu_si256(source.cast()) };
                low = _mm256_xor_si256(low, _mm256_and_si256(words, mask));
                // SAFETY: as the caller guarantees eight words of 64 bits, four more follow these
                // 32 bytes.
                let words = unsafe { _mm256_loadu_si256(source.wrapping_add(32).cast()) };
                high = _mm256_xor_si256(high, _mm256_and_si256(words, mask));
            }
            Width::W32 => {
                // SAFETY: the caller guarantees that eight words of 32 bits can be read here.
                let words = unsafe { _mm256_loadu_si256(source.cast()) };
                let mask = _mm256_set1_epi32(masks[part] as i32);
                low = _mm256_xor_si256(low, _mm256_and_si256(words, mask));
            }
            Width::W16 => {
                // SAFETY: the caller guarantees that eight words of 16 bits can be read here.
                let words = unsafe { _mm_loadu_si128(source.cast()) };
                let mask = _mm256_set1_epi32(masks[part] as i32);
                low = _mm256_xor_si256(low, _mm256_and_si256(_mm256_cvtepu16_epi32(words), mask));
            }
        }
    }
    if matches!(B::WIDTH, Width::W16 | Width::W32) {
        return parities_of_32(low);
    }
    // Add the 32-bit halves of every word. Columns are now in the order 0, 1, 4, 5, 2, 3, 6, 7.
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    let near = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
    let far = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
    let halves = _mm256_xor_si256(near, far);
    parities_of_32(_mm256_permute4x64_epi64::<0b11_01_10_00>(halves))
}

/// The parity of each of eight 32-bit words.
#[inline]
#[target_feature(enable = "avx2")]
fn parities_of_32(words: __m256i) -> u8 {
    // Add the halves of every byte, and look up the parity of the sum.
    let halves = _mm256_xor_si256(words, _mm256_srli_epi32::<4>(words));
    let halves = _mm256_and_si256(halves, _mm256_set1_epi8(0xf));
    let parities =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
    let bytes = _mm256_shuffle_epi8(parities, halves);
    let odd = _mm256_madd_epi16(bytes, _mm256_set1_epi16(0x101));
    // Bits 8 and up of a word now hold the number of its four bytes that are odd. Bit 8, the
    // parity, becomes the top bit.
    _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(odd))) as u8
}

/// The sum of four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn lanes_added(words: __m256i) -> u64 {
    let two = _mm_xor_si128(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
    _mm_cvtsi128_si64(_mm_xor_si128(two, _mm_unpackhi_epi64(two, two))) as u64
}

/// Sums rows of 16 bits, sixteen in a vector: each lane tests its own of sixteen coefficients.
#[inline]
#[target_feature(enable = "avx2")]
fn sum_of_16(rows: &[u8], [low, high]: [u64; 2]) -> u64 {
    let all = _mm256_broadcastsi128_si256(_mm_set_epi64x(high as i64, low as i64));
    let ones = _mm256_set1_epi32(1);
    // Bit `k` in lane `k`.
    let even = _mm256_sllv_epi32(ones, _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    let odd = _mm256_sllv_epi32(ones, _mm256_setr_epi32(17, 19, 21, 23, 25, 27, 29, 31));
    let own = _mm256_or_si256(even, odd);
    let mut sum = _mm256_setzero_si256();
    for (number, rows) in rows.as_chunks::<32>().0.iter().enumerate() {
        let two_bytes = _mm256_set1_epi16(0x0100 + 0x0202 * number as i16);
        let sixteen = _mm256_shuffle_epi8(all, two_bytes);
        let chosen = _mm256_cmpeq_epi16(_mm256_and_si256(sixteen, own), own);
        // SAFETY: the chunk has the 32 bytes of a vector, and the load needs no alignment.
        let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
        sum = _mm256_xor_si256(sum, _mm256_and_si256(rows, chosen));
    }
    lanes_added(sum)
}

/// Sums rows of 32 bits, eight in a vector, from the last to the first: the top bit of each lane is
/// its coefficient, and masks the load.
#[inline]
#[target_feature(enable = "avx2")]
fn sum_of_32(rows: &[u8], [low, high]: [u64; 2]) -> u64 {
    let mut sum = _mm256_setzero_si256();
    for (rows, word) in rows.chunks(32 * 4).zip([low, low >> 32, high, high >> 32]) {
        // If there are fewer than 32 rows, no coefficient is set beyond them.
        let word = (word as u32) << (32 - rows.len() / 4);
        let own = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        let mut chosen = _mm256_sllv_epi32(_mm256_set1_epi32(word as i32), own);
        for rows in rows.rchunks_exact(32) {
            // SAFETY: the chunk has the 32 bytes of a vector, of which the mask selects some.
            let rows = unsafe { _mm256_maskload_epi32(rows.as_ptr().cast(), chosen) };
            sum = _mm256_xor_si256(sum, rows);
            chosen = _mm256_slli_epi32::<8>(chosen);
        }
    }
    lanes_added(sum)
}

/// Sums rows of 64 bits, four in a vector, like [`sum_of_32`].
#[inline]
#[target_feature(enable = "avx2")]
fn sum_of_64(rows: &[u8], coefficients: [u64; 2]) -> u64 {
    let mut sum = _mm256_setzero_si256();
    for (rows, word) in rows.chunks(64 * 8).zip(coefficients) {
        let word = word << (64 - rows.len() / 8);
        let own = _mm256_setr_epi64x(3, 2, 1, 0);
        let mut chosen = _mm256_sllv_epi64(_mm256_set1_epi64x(word as i64), own);
        for rows in rows.rchunks_exact(32) {
            // SAFETY: the chunk has the 32 bytes of a vector, of which the mask selects some.
            let rows = unsafe { _mm256_maskload_epi64(rows.as_ptr().cast(), chosen) };
            sum = _mm256_xor_si256(sum, rows);
            chosen = _mm256_slli_epi64::<4>(chosen);
        }
    }
    lanes_added(sum)
}
