//! Vectors of 64 bytes, and 8x8 matrices of bits in their words.
//!
//! `affine(x, A)` (gf2p8affineqb) multiplies each byte of x, a vector of eight bits, by the matrix
//! in the same word of A. Row i of the matrix is byte 7 - i of the word, and bit i of a product is
//! the parity of row i and the byte.
//!
//! So `affine(ONES, A)`, where each byte of the constant is one bit, transposes: byte j of the
//! result is the column of A that the constant's byte j selects, with row i at bit i.

use core::arch::x86_64::*;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(in crate::solve) struct Line(pub(super) [u64; 8]);

impl Line {
    pub(super) const ZERO: Self = Self([0; 8]);
}

/// Byte j is `1 << j`: byte j of the transposed is column j.
pub(super) const COLUMNS: i64 = 0x8040_2010_0804_0201_u64.cast_signed();
/// Byte j is `1 << (7 - j)`: the transposed is a matrix for [`affine`] again.
pub(super) const TRANSPOSE: i64 = 0x0102_0408_1020_4080;

/// A constant whose byte p is `f(p / 8, p % 8)`.
macro_rules! bytes {
    (|$word:ident, $byte:ident| $value:expr) => {{
        const BYTES: [u8; 64] = {
            let mut bytes = [0; 64];
            let mut p = 0;
            while p < 64 {
                let ($word, $byte) = (p / 8, p % 8);
                bytes[p] = $value as u8;
                p += 1;
            }
            bytes
        };
        // SAFETY: 64 bytes, and any are a vector.
        unsafe { core::mem::transmute::<[u8; 64], __m512i>(BYTES) }
    }};
}
pub(super) use bytes;

super::avx512! {
    #[inline]
    pub(super) fn load(line: &Line) -> __m512i {
        // SAFETY: a line has 64 bytes, and their alignment is 64.
        unsafe { _mm512_load_si512((&raw const line.0).cast()) }
    }

    #[inline]
    pub(super) fn store(line: &mut Line, x: __m512i) {
        // SAFETY: a line has 64 bytes, and their alignment is 64.
        unsafe { _mm512_store_si512((&raw mut line.0).cast(), x) }
    }

    /// Stores at a byte that need not be the first of a line.
    #[inline]
    pub(super) fn store_at<const N: usize>(lines: &mut [Line; N], byte: usize, x: __m512i) {
        assert!(N > 0 && byte <= 64 * (N - 1));
        // SAFETY: at least 64 of the 64 * N bytes are left from `byte` on.
        unsafe { _mm512_storeu_si512(lines.as_mut_ptr().byte_add(byte).cast(), x) }
    }

    #[inline]
    pub(super) fn affine(x: __m512i, matrix: __m512i) -> __m512i {
        _mm512_gf2p8affine_epi64_epi8::<0>(x, matrix)
    }

    #[inline]
    pub(super) fn splat(word: u64) -> __m512i {
        _mm512_set1_epi64(word.cast_signed())
    }

    /// The matrices of all words, transposed.
    #[inline]
    pub(super) fn transposed(matrices: __m512i) -> __m512i {
        affine(_mm512_set1_epi64(TRANSPOSE), matrices)
    }

    #[inline]
    pub(super) fn first_word(x: __m512i) -> u64 {
        _mm_cvtsi128_si64(_mm512_castsi512_si128(x)).cast_unsigned()
    }

    /// Exchanges words and bytes: byte u of word q goes to byte q of word u.
    #[inline]
    pub(super) fn exchange(x: __m512i) -> __m512i {
        _mm512_permutexvar_epi8(bytes!(|word, byte| byte * 8 + word), x)
    }

    /// Transposes a matrix of 8x8 words: word p of `x[i]` goes to word i of `x[p]`.
    #[inline]
    pub(super) fn transpose_words(x: [__m512i; 8]) -> [__m512i; 8] {
        // pairs[2 * i + e]: of the rows 2i and 2i + 1 the words e, 2 + e, 4 + e, 6 + e.
        let mut pairs = x;
        for i in 0..4 {
            pairs[2 * i] = _mm512_unpacklo_epi64(x[2 * i], x[2 * i + 1]);
            pairs[2 * i + 1] = _mm512_unpackhi_epi64(x[2 * i], x[2 * i + 1]);
        }
        let mut words = x;
        for e in 0..2 {
            let [a, b, c, d] = [pairs[e], pairs[2 + e], pairs[4 + e], pairs[6 + e]];
            let low = [_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d)];
            let high = [_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d)];
            words[e] = _mm512_shuffle_i64x2::<0x88>(low[0], low[1]);
            words[2 + e] = _mm512_shuffle_i64x2::<0xdd>(low[0], low[1]);
            words[4 + e] = _mm512_shuffle_i64x2::<0x88>(high[0], high[1]);
            words[6 + e] = _mm512_shuffle_i64x2::<0xdd>(high[0], high[1]);
        }
        words
    }
}
