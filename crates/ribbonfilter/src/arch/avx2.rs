//! AVX2: four columns in a vector, folded to single bits by shifts.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::{Group, Instructions, Work};
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

entries!(Avx2(()), "avx2,bmi1,bmi2,lzcnt,popcnt");

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
                    let high = match group.columns > 0xf {
                        true => sum_of_words::<B>(&group, 32),
                        false => low,
                    };
                    // The halves of every word, 32 bits each, added: columns 0, 1, 4, 5, 2, 3,
                    // 6, 7, which the permutation brings into order.
                    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
                    let near = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
                    let far = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
                    let folded = _mm256_xor_si256(near, far);
                    parities_of_32(_mm256_permute4x64_epi64::<0b11_01_10_00>(folded))
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
