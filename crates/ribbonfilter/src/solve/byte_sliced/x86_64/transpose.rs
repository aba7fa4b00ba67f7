//! The transposition of a pool, from lanes of words to planes of bytes, for both instruction sets.

use super::avx2::store;
use super::{Pool, STRIDE};
use core::arch::x86_64::*;

/// Transposes the lanes of a pool into planes.
#[target_feature(enable = "avx2")]
pub(super) fn transpose(pool: &mut Pool) {
    let lanes = pool.starts.len();
    for (word, rows) in pool.rows.chunks_exact(STRIDE).enumerate() {
        for first in (0..lanes).step_by(32) {
            let rows: &[u64; 32] = rows[first..][..32].try_into().expect("32 lanes");
            let planes = &mut pool.planes[8 * word..][..8];
            for (plane, lanes) in planes.iter_mut().zip(transposed_lanes(rows)) {
                store(plane.0[first..].first_chunk_mut().expect("32 lanes"), lanes);
            }
        }
    }
}

/// Transposes the bytes of 32 words: all first bytes, then all second ones, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed_lanes(rows: &[u64; 32]) -> [__m256i; 8] {
    // Two words per half of a vector, their bytes interleaved.
    let by_turns = _mm256_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5,
        13, 6, 14, 7, 15,
    );
    let mut pairs = [_mm256_setzero_si256(); 8];
    for (pair, vector) in pairs.iter_mut().enumerate() {
        let [a, b] = [2 * pair, 2 * pair + 1].map(|lane| rows[lane] as i64);
        let [c, d] = [2 * pair + 16, 2 * pair + 17].map(|lane| rows[lane] as i64);
        *vector = _mm256_shuffle_epi8(_mm256_setr_epi64x(a, b, c, d), by_turns);
    }
    let mut quads = [[_mm256_setzero_si256(); 4]; 2];
    for quad in 0..4 {
        let (first, second) = (pairs[2 * quad], pairs[2 * quad + 1]);
        quads[0][quad] = _mm256_unpacklo_epi16(first, second);
        quads[1][quad] = _mm256_unpackhi_epi16(first, second);
    }
    let mut planes = [_mm256_setzero_si256(); 8];
    for (half, quads) in quads.into_iter().enumerate() {
        let near =
            [_mm256_unpacklo_epi32(quads[0], quads[1]), _mm256_unpacklo_epi32(quads[2], quads[3])];
        let far =
            [_mm256_unpackhi_epi32(quads[0], quads[1]), _mm256_unpackhi_epi32(quads[2], quads[3])];
        planes[4 * half] = _mm256_unpacklo_epi64(near[0], near[1]);
        planes[4 * half + 1] = _mm256_unpackhi_epi64(near[0], near[1]);
        planes[4 * half + 2] = _mm256_unpacklo_epi64(far[0], far[1]);
        planes[4 * half + 3] = _mm256_unpackhi_epi64(far[0], far[1]);
    }
    planes
}
