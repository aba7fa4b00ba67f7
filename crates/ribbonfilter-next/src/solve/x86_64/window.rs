//! The search for pivots among 32 rows with AVX2, for rows as rows.

use crate::kernel::Avx2;
use crate::solve::four_russians::{Pivots, Row, Search};
use core::arch::x86_64::*;
use core::array;

impl Search for Avx2 {
    const WINDOW: usize = 32;

    #[inline(always)]
    fn search(self, bytes: &[u8]) -> Pivots {
        let mut window = [0; 32];
        match bytes.first_chunk() {
            Some(full) => window = *full,
            None => window[..bytes.len()].copy_from_slice(bytes),
        }
        // SAFETY: the token is proof of the target features.
        unsafe { search_window(window) }
    }

    /// The compiler takes general registers for rows of four words in all: 27 instead of 19.5 ns per row.
    #[inline(always)]
    fn sum<const K: usize>(self, a: &Row<K>, b: &Row<K>) -> Row<K> {
        if K != 3 {
            return Row {
                words: array::from_fn(|j| a.words[j] ^ b.words[j]),
                right: a.right ^ b.right,
            };
        }
        // SAFETY: the token is proof of the target features. A row of three words and the right side
        // is 32 bytes, without padding, and any bytes are one.
        unsafe {
            const { assert!(size_of::<Row<3>>() == size_of::<__m256i>()) };
            let [a, b] = [a, b].map(|row| _mm256_loadu_si256((&raw const *row).cast()));
            core::mem::transmute_copy::<__m256i, Row<K>>(&_mm256_xor_si256(a, b))
        }
    }
}

/// `x`, plus `y` where the mask is zero.
#[inline]
#[target_feature(enable = "avx2")]
fn add_unless(x: __m256i, mask: __m256i, y: __m256i) -> __m256i {
    _mm256_xor_si256(x, _mm256_andnot_si256(mask, y))
}

/// The pivots, by [`search`](super::search). Bit i of a column is row i.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn search_window(window: [u8; 32]) -> Pivots {
    // SAFETY: 32 bytes, and any are a vector.
    let x = unsafe { core::mem::transmute::<[u8; 32], __m256i>(window) };
    // The first bits of the bytes, for the last column first: then each byte is doubled.
    let (mut x, mut words) = (x, [0; 8]);
    for (word, column) in words.iter_mut().enumerate() {
        let rows = _mm256_movemask_epi8(x).cast_unsigned();
        *column = (u64::from(rows) | 1 << (56 + 7 - word)).cast_signed();
        x = _mm256_add_epi8(x, x);
    }
    let [a, b, c, d, e, f, g, h] = words;
    let columns = [_mm256_set_epi64x(d, c, b, a), _mm256_set_epi64x(h, g, f, e)];
    let (columns, pivots) = search!(columns, add_unless, _STEP => {});
    // SAFETY: 64 bytes each, and any are words.
    let [columns, pivots] =
        unsafe { core::mem::transmute::<[[__m256i; 2]; 2], [[u64; 8]; 2]>([columns, pivots]) };
    let mut result = Pivots { found: 0, rows: [0; 8], used: 0, reduced: [0; 8] };
    // Row t of the inverse is bit t of the columns' upper bytes.
    let mut inverse = 0u64;
    for t in 0..8 {
        let (column, pivot) = (columns[7 - t], pivots[7 - t]);
        let found = u8::from(pivot != 0);
        result.found |= found << t;
        result.rows[t] = pivot.trailing_zeros() as u8 & 31;
        result.used |= pivot as u32;
        inverse |= ((column >> 56) * u64::from(found)) << (8 * t);
    }
    result.reduced = crate::solve::substitution::transposed(inverse).to_le_bytes();
    result
}
