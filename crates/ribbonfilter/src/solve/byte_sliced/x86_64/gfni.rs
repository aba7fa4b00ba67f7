//! Byte-sliced elimination with AVX-512 and GFNI: 64 lanes in a vector, a product in one
//! instruction.
//!
//! `vgf2p8affineqb` multiplies bytes by a bit matrix whose byte `7 - i` determines bit `i` of the
//! result. That is a matrix of [`Vectors`] transposed, with its bytes in reverse order. The same
//! instruction transposes matrices.
#![expect(unsafe_code, reason = "code that needs the CPU's features, and vector loads")]

use super::transpose::transpose;
use super::vectors::{NO_LANE, Vectors};
use super::{DIAGONAL, Pool};
use crate::kernel::avx512::Avx512;
use crate::kernel::has_features;
use core::arch::x86_64::*;

/// Proof that the CPU has GFNI and AVX-512 VBMI, and what [`Avx512`] proves.
#[derive(Clone, Copy)]
pub(in crate::solve::byte_sliced) struct Gfni(Avx512);

impl Gfni {
    #[inline]
    pub(super) fn detect(avx512: Avx512) -> Option<Self> {
        has_features!("gfni", "avx512vbmi").then_some(Self(avx512))
    }

    /// The proof of AVX-512.
    pub(super) fn avx512(self) -> Avx512 {
        self.0
    }
}

/// Bit `7 - k` of byte `k`.
const ANTIDIAGONAL: u64 = DIAGONAL.swap_bytes();

/// Indices that reverse the bytes of each of eight words.
static REVERSED: [u8; 64] = bytes_from(false, true);
/// Indices that transpose 8 × 8 bytes: byte `j` of word `i` is taken from byte `i` of word `j`.
static TURNED: [u8; 64] = bytes_from(true, false);
/// Indices that transpose 8 × 8 bytes and take the bytes of each word in reverse.
static TURNED_AND_REVERSED: [u8; 64] = bytes_from(true, true);

/// For each byte of eight words, the index of the byte that it is taken from.
const fn bytes_from(turned: bool, reversed: bool) -> [u8; 64] {
    let mut from = [0; 64];
    let mut at = 0;
    while at < 64 {
        let (word, byte) = (at / 8, if reversed { 7 - at % 8 } else { at % 8 });
        from[at] = (if turned { 8 * byte + word } else { 8 * word + byte }) as u8;
        at += 1;
    }
    from
}

impl Vectors for Gfni {
    const LANES: usize = 64;
    type Vector = __m512i;
    type Table = __m512i;
    type Kept = u64;
    const KEPT_WORDS: usize = 1;
    type Factors = __m512i;
    type Gather<const VECTORS: usize> = Gather;

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn load(self, lanes: &[u8]) -> __m512i {
        let lanes = lanes.try_into().expect("a vector's lanes");
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { load(lanes) }
    }

    #[inline(always)]
    fn store(self, lanes: &mut [u8], vector: __m512i) {
        let lanes = lanes.try_into().expect("a vector's lanes");
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { store(lanes, vector) }
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn up_to(self, count: usize) -> __m512i {
        // SAFETY: `self` proves that the CPU has AVX-512 BW and BMI2.
        unsafe { _mm512_movm_epi8(_bzhi_u64(u64::MAX, count.min(64) as u32)) }
    }

    #[inline(always)]
    fn nonzero(self, vector: __m512i) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX-512 F and BW.
        unsafe { _mm512_test_epi8_mask(vector, vector) }
    }

    #[inline(always)]
    fn columns(self, vector: __m512i) -> [u64; 8] {
        // SAFETY: `self` proves that the CPU has GFNI, AVX-512 F, BW and VBMI.
        unsafe { bit_columns(vector) }
    }

    #[inline(always)]
    fn lanes(self, columns: [u64; 8]) -> __m512i {
        // SAFETY: `self` proves that the CPU has GFNI, AVX-512 F and VBMI.
        unsafe { lanes_of(columns) }
    }

    #[inline(always)]
    fn table(self, matrix: u64) -> __m512i {
        // SAFETY: `self` proves that the CPU has GFNI and AVX-512 F.
        unsafe { table(matrix) }
    }

    #[inline(always)]
    fn keep(self, matrix: u64) -> u64 {
        // SAFETY: `self` proves that the CPU has GFNI and AVX-512 F.
        unsafe { low_word(table(matrix)) }
    }

    #[inline(always)]
    fn kept(self, kept: &u64) -> __m512i {
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { _mm512_set1_epi64(*kept as i64) }
    }

    #[inline(always)]
    fn as_tables(words: &mut [u64]) -> &mut [u64] {
        words
    }

    #[inline(always)]
    fn factors(self, bytes: __m512i) -> __m512i {
        bytes
    }

    #[inline(always)]
    fn times(self, table: __m512i, factors: __m512i) -> __m512i {
        // SAFETY: `self` proves that the CPU has GFNI and AVX-512 F.
        unsafe { times(table, factors) }
    }

    #[inline(always)]
    fn word_times(self, table: __m512i, bytes: u64) -> u64 {
        // SAFETY: `self` proves that the CPU has GFNI and AVX-512 F.
        unsafe { low_word(times(table, _mm512_set1_epi64(bytes as i64))) }
    }

    #[inline(always)]
    fn product(self, matrix: u64, bytes: u64) -> u64 {
        self.word_times(self.table(matrix), bytes)
    }

    #[inline(always)]
    fn sums<const WORDS: usize, const GROUPS: usize>(
        self,
        words: &[u64; WORDS],
        masked: (usize, u64),
        matrices: &[[u64; WORDS]; GROUPS],
    ) -> [u64; GROUPS] {
        // SAFETY: `self` proves that the CPU has GFNI and AVX-512 F.
        unsafe { sums(words, masked, matrices) }
    }

    #[inline(always)]
    fn gather<const VECTORS: usize>(self, lanes: [u64; 8]) -> Gather {
        // SAFETY: `self` proves that the CPU has AVX-512 F.
        unsafe { Gather::new(lanes) }
    }

    #[inline(always)]
    fn gathered<const VECTORS: usize>(self, gather: &Gather, vectors: &[__m512i; VECTORS]) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX-512 F and VBMI.
        unsafe { gather.word(vectors) }
    }

    #[inline(always)]
    fn apart<T>(self, work: impl FnOnce() -> T) -> T {
        #[inline(never)]
        #[target_feature(
            enable = "gfni,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,lzcnt,popcnt"
        )]
        fn with_features<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: `self` proves that the CPU has these features.
        unsafe { with_features(work) }
    }

    #[inline(always)]
    fn transpose(self, pool: &mut Pool) {
        // SAFETY: `self` has the token of AVX-512, which proves AVX2, too.
        unsafe { transpose(pool) }
    }
}

/// Eight lanes, and a mask whose low bits mark those that are not [`NO_LANE`].
#[derive(Clone, Copy)]
pub(super) struct Gather {
    lanes: [u64; 8],
    index: __m512i,
    present: u64,
}

impl Gather {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(lanes: [u64; 8]) -> Self {
        let (mut index, mut present) = (0, 0);
        for (row, lane) in lanes.into_iter().enumerate() {
            index |= (lane & 0xff) << (8 * row);
            present |= u64::from(lane != NO_LANE) << row;
        }
        Self { lanes, index: _mm512_set1_epi64(index as i64), present }
    }

    /// The bytes of the lanes in one plane, zero where no lane becomes the row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi")]
    fn word(&self, vectors: &[__m512i]) -> u64 {
        let Self { lanes, index, present } = *self;
        match *vectors {
            [one] => low_word(_mm512_maskz_permutexvar_epi8(present, index, one)),
            [near, far] => low_word(_mm512_maskz_permutex2var_epi8(present, near, index, far)),
            // Lane numbers of more vectors do not fit the index, so the lanes are read one by one.
            _ => {
                let mut word = 0;
                for (row, lane) in
                    lanes.into_iter().enumerate().filter(|(_, lane)| *lane != NO_LANE)
                {
                    let mut bytes = [0; 64];
                    store(&mut bytes, vectors[lane as usize / 64]);
                    word |= u64::from(bytes[lane as usize % 64]) << (8 * row);
                }
                word
            }
        }
    }
}

/// See [`Vectors::columns`].
#[inline]
#[target_feature(enable = "gfni,avx512f,avx512bw,avx512vbmi")]
fn bit_columns(vector: __m512i) -> [u64; 8] {
    let reversed = _mm512_shuffle_epi8(vector, load(&REVERSED));
    // For each group of eight lanes: their first bits, their second bits, and so on.
    let bits = times(reversed, _mm512_set1_epi64(DIAGONAL as i64));
    let bits = _mm512_permutexvar_epi8(load(&TURNED), bits);
    let mut columns = [0; 8];
    // SAFETY: the array has 64 bytes that can be written, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(columns.as_mut_ptr().cast(), bits) };
    columns
}

/// See [`Vectors::lanes`].
#[inline]
#[target_feature(enable = "gfni,avx512f,avx512vbmi")]
fn lanes_of(columns: [u64; 8]) -> __m512i {
    let [a, b, c, d, e, f, g, h] = columns.map(|column| column as i64);
    let bits = _mm512_set_epi64(h, g, f, e, d, c, b, a);
    let bits = _mm512_permutexvar_epi8(load(&TURNED_AND_REVERSED), bits);
    times(bits, _mm512_set1_epi64(DIAGONAL as i64))
}

/// See [`Vectors::table`].
#[inline]
#[target_feature(enable = "gfni,avx512f")]
fn table(matrix: u64) -> __m512i {
    let reversed = _mm512_set1_epi64(matrix.swap_bytes() as i64);
    times(reversed, _mm512_set1_epi64(ANTIDIAGONAL as i64))
}

/// See [`Vectors::times`].
#[inline]
#[target_feature(enable = "gfni,avx512f")]
fn times(table: __m512i, factors: __m512i) -> __m512i {
    _mm512_gf2p8affine_epi64_epi8::<0>(factors, table)
}

/// See [`Vectors::sums`].
#[inline]
#[target_feature(enable = "gfni,avx512f")]
fn sums<const WORDS: usize, const GROUPS: usize>(
    words: &[u64; WORDS],
    masked: (usize, u64),
    matrices: &[[u64; WORDS]; GROUPS],
) -> [u64; GROUPS] {
    let mask = _mm512_set1_epi64(masked.1 as i64);
    let mut vectors = [_mm512_setzero_si512(); GROUPS];
    for first in (0..WORDS).step_by(8) {
        let own = (1u32 << masked.0 >> first) as u8;
        let words = load_up_to_eight(&words[first..]);
        let words = _mm512_mask_and_epi64(words, own, words, mask);
        for (vector, matrices) in vectors.iter_mut().zip(matrices) {
            let products = times(load_up_to_eight(&matrices[first..]), words);
            *vector = _mm512_xor_si512(*vector, products);
        }
    }
    let mut sums = [0; GROUPS];
    for (sum, vector) in sums.iter_mut().zip(vectors) {
        *sum = words_added(vector);
    }
    sums
}

/// The first eight words of a slice, or all of them and zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_up_to_eight(words: &[u64]) -> __m512i {
    let present = 0xff >> (8 - words.len().min(8));
    // SAFETY: a masked load reads only the words in the mask, and the mask has as many bits as the
    // slice has words, or eight. It needs no alignment.
    unsafe { _mm512_maskz_loadu_epi64(present, words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference covers 64 bytes that can be read, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; 64], vector: __m512i) {
    // SAFETY: the reference covers 64 bytes that can be written, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// The first word of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn low_word(vector: __m512i) -> u64 {
    _mm_cvtsi128_si64(_mm512_castsi512_si128(vector)) as u64
}

/// The sum of eight words.
#[inline]
#[target_feature(enable = "avx512f")]
fn words_added(words: __m512i) -> u64 {
    let four =
        _mm256_xor_si256(_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64::<1>(words));
    let two = _mm_xor_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
    _mm_cvtsi128_si64(_mm_xor_si128(two, _mm_unpackhi_epi64(two, two))) as u64
}
