//! AVX-512: eight columns in one vector, their parities by VPOPCNTDQ.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::avx512_batch;
use super::evaluate::{Evaluate, Factors};
use super::sixty_four::{Geometry, Located};
use super::tokens::Avx512;
use core::arch::x86_64::*;

/// Ternary operation `a ^ (b & c)`.
pub(super) const XOR_AND: i32 = 0x78;

impl Evaluate for Avx512 {
    type Words<const W: usize> = [__m512i; W];

    #[inline(always)]
    fn words<const W: usize>(self, mixed: u64) -> [__m512i; W] {
        // SAFETY: `self` proves that the CPU has the features.
        unsafe { words(mixed) }
    }

    #[inline(always)]
    unsafe fn row<const W: usize, const PADDED: bool>(
        self,
        words: [__m512i; W],
        blocks: [*const u8; W],
        columns: u32,
    ) -> u64 {
        // SAFETY: `self` proves that the CPU has the features, and the caller guarantees that the
        // blocks are readable.
        unsafe { row::<W, PADDED>(words, blocks, columns) }
    }

    const TOGETHER: bool = true;

    #[inline(always)]
    unsafe fn locate<const W: usize, const WHOLE: bool, const BUMPED: bool>(
        self,
        geometry: &Geometry,
        bytes: *const u8,
        keys: &[u64; 64],
        located: &mut Located,
    ) {
        // SAFETY: `self` proves that the CPU has the features; the caller guarantees the rest.
        unsafe { avx512_batch::locate::<W, WHOLE, BUMPED>(geometry, bytes, keys, located) }
    }

    #[inline(always)]
    unsafe fn evaluate<const W: usize, const WHOLE: bool>(
        self,
        bytes: *const u8,
        columns: u32,
        located: &Located,
    ) -> u64 {
        // SAFETY: `self` proves that the CPU has the features; the caller guarantees the rest.
        unsafe { avx512_batch::evaluate::<W, WHOLE>(bytes, columns, located) }
    }
}

/// All words in one product; then each is broadcast.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn words<const W: usize>(mixed: u64) -> [__m512i; W] {
    let mixed = _mm256_set1_epi64x(mixed as i64);
    // SAFETY: the factors are 64 bytes each.
    let (low, high) = unsafe {
        let [low, high] = [Factors::LOW, Factors::HIGH].map(|factors| factors.0.as_ptr().cast());
        (_mm256_load_si256(low), _mm256_load_si256(high))
    };
    let low = _mm256_mul_epu32(mixed, low);
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(mixed), high);
    let words = _mm256_xor_si256(low, _mm256_rol_epi64::<32>(high));
    let mut each = [_mm512_broadcastq_epi64(_mm256_castsi256_si128(words)); W];
    let words = _mm512_castsi256_si512(words);
    for (index, word) in each.iter_mut().enumerate().skip(1) {
        *word = _mm512_permutexvar_epi64(_mm512_set1_epi64(index as i64), words);
    }
    each
}

/// # Safety
/// As for [`Evaluate::row`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vpopcntdq,bmi2")]
unsafe fn row<const W: usize, const PADDED: bool>(
    words: [__m512i; W],
    blocks: [*const u8; W],
    columns: u32,
) -> u64 {
    let stored = !(u32::MAX << columns) as __mmask8;
    let mut sum = _mm512_setzero_si512();
    for i in 0..W {
        let block = blocks[i];
        let block = match PADDED {
            // SAFETY: the caller guarantees that 64 bytes are readable.
            true => unsafe { _mm512_loadu_si512(block.cast()) },
            // SAFETY: the caller guarantees that the columns are readable.
            false => unsafe { _mm512_maskz_loadu_epi64(stored, block.cast()) },
        };
        sum = match i {
            0 => _mm512_and_si512(block, words[i]),
            _ => _mm512_ternarylogic_epi64::<XOR_AND>(sum, block, words[i]),
        };
    }
    _mm512_test_epi64_mask(_mm512_popcnt_epi64(sum), _mm512_set1_epi64(1)).into()
}
