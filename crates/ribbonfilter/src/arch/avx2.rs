//! AVX2: four columns in a vector, folded to single bits by shifts.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::{Group, Instructions, Path, Query, Work};
use crate::Width;
use crate::width::Band;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx2(());

impl From<super::avx512::Avx512> for Avx2 {
    /// What proves AVX-512 proves this, too.
    fn from(_: super::avx512::Avx512) -> Self {
        Self(())
    }
}

impl Avx2 {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        if std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt")
        {
            return Some(Self(()));
        }
        None
    }

    #[inline(always)]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has these features.
        unsafe { self.run_with_features(work) }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run_with_features<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn contains<Q: Query, B: Band, P: Path>(query: &Q, bytes: &[u8], mixed: u64) -> bool {
    query.contains::<Avx2, B, P>(Avx2(()), bytes, mixed)
}

impl Instructions for Avx2 {
    #[inline(always)]
    fn parities<B: Band>(self, group: Group<'_>) -> u64 {
        // SAFETY: the token proves the features. Loads of 32 bytes (16 for w = 16) begin at
        // each part's offset, and for more than four 64-bit words also 32 bytes behind it:
        // they end less than 32 bytes beyond the group's words, which its invariant allows.
        unsafe {
            match B::WIDTH {
                Width::W64 | Width::W128 => {
                    let low = sum_of_words::<B>(&group, 0);
                    let low = _mm256_xor_si256(low, _mm256_srli_epi64::<32>(low));
                    let mut folded = low;
                    if group.columns > 0xf {
                        let high = sum_of_words::<B>(&group, 32);
                        let high = _mm256_xor_si256(high, _mm256_slli_epi64::<32>(high));
                        folded = _mm256_blend_epi32::<0b1010_1010>(low, high);
                    }
                    // Columns 0, 4, 1, 5, 2, 6, 3, 7, brought into order.
                    let order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
                    parities_of_32(_mm256_permutevar8x32_epi32(folded, order))
                }
                Width::W16 | Width::W32 => {
                    let mut sum = _mm256_setzero_si256();
                    for part in 0..B::PARTS {
                        let source = group.parts[part];
                        let words = match B::WIDTH {
                            Width::W32 => _mm256_loadu_si256(source.cast()),
                            _ => _mm256_cvtepu16_epi32(_mm_loadu_si128(source.cast())),
                        };
                        let coefficients = _mm256_set1_epi32(group.masks[part] as i32);
                        sum = _mm256_xor_si256(sum, _mm256_and_si256(words, coefficients));
                    }
                    parities_of_32(sum)
                }
            }
        }
    }

    #[inline(always)]
    fn prefetch(self, bytes: &[u8], offset: usize) {
        prefetch(bytes, offset);
    }
}

/// Four columns' words under the coefficients, summed over the parts.
///
/// # Safety
/// AVX2, and 32 bytes to read from each part's offset and `ahead` on.
#[inline(always)]
unsafe fn sum_of_words<B: Band>(group: &Group<'_>, ahead: usize) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let mut sum = _mm256_setzero_si256();
        for part in 0..B::PARTS {
            let words = _mm256_loadu_si256(group.parts[part].add(ahead).cast());
            let coefficients = _mm256_set1_epi64x(group.masks[part] as i64);
            sum = _mm256_xor_si256(sum, _mm256_and_si256(words, coefficients));
        }
        sum
    }
}

/// The parity of each of eight 32-bit words.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn parities_of_32(words: __m256i) -> u64 {
    // SAFETY: as above.
    unsafe {
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<16>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<8>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<4>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<2>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<1>(words));
        // The top bit of each word is now the parity of all its bits.
        _mm256_movemask_ps(_mm256_castsi256_ps(words)) as u64
    }
}

#[inline(always)]
pub(super) fn prefetch(bytes: &[u8], offset: usize) {
    if let Some(byte) = bytes.get(offset) {
        // SAFETY: a prefetch reads nothing that the program could see; SSE is part of
        // every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(byte).cast()) };
    }
}
