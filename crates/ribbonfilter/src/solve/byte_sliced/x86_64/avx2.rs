//! Byte-sliced elimination with AVX2: 32 lanes in a vector, products by byte shuffles from tables.
#![expect(unsafe_code, reason = "code that needs the CPU's features, and vector loads")]

use super::Pool;
use super::transpose::transpose;
use super::vectors::{NO_LANE, Vectors};
use crate::kernel::avx2::Avx2;
use core::arch::x86_64::*;

impl Vectors for Avx2 {
    const LANES: usize = 32;
    type Vector = __m256i;
    type Table = Table;
    type Kept = [u64; 4];
    const KEPT_WORDS: usize = 4;
    type Factors = Nibbles;
    type Gather<const VECTORS: usize> = Gather<VECTORS>;

    #[inline(always)]
    fn zero(self) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn load(self, lanes: &[u8]) -> __m256i {
        let lanes = lanes.try_into().expect("a vector's lanes");
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { load(lanes) }
    }

    #[inline(always)]
    fn store(self, lanes: &mut [u8], vector: __m256i) {
        let lanes = lanes.try_into().expect("a vector's lanes");
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { store(lanes, vector) }
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn up_to(self, count: usize) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { first_lanes(count.min(32) as i8) }
    }

    #[inline(always)]
    fn nonzero(self, vector: __m256i) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { nonzero(vector) }
    }

    #[inline(always)]
    fn columns(self, vector: __m256i) -> [u64; 8] {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { bit_columns(vector) }
    }

    #[inline(always)]
    fn lanes(self, columns: [u64; 8]) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { lanes_of(columns) }
    }

    #[inline(always)]
    fn table(self, matrix: u64) -> Table {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Table::spread(both(matrix)) }
    }

    #[inline(always)]
    fn keep(self, matrix: u64) -> [u64; 4] {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { words_of(both(matrix)) }
    }

    #[inline(always)]
    fn kept(self, kept: &[u64; 4]) -> Table {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Table::spread(load_words(kept)) }
    }

    #[inline(always)]
    fn as_tables(words: &mut [u64]) -> &mut [[u64; 4]] {
        words.as_chunks_mut().0
    }

    #[inline(always)]
    fn factors(self, bytes: __m256i) -> Nibbles {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Nibbles::of(bytes) }
    }

    #[inline(always)]
    fn times(self, table: Table, factors: Nibbles) -> __m256i {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { table.times(factors) }
    }

    #[inline(always)]
    fn word_times(self, table: Table, bytes: u64) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { low_word(table.times(Nibbles::of(_mm256_set1_epi64x(bytes as i64)))) }
    }

    #[inline(always)]
    fn product(self, matrix: u64, bytes: u64) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { folded(_mm256_shuffle_epi8(both(matrix), halves(bytes))) }
    }

    #[inline(always)]
    fn sums<const WORDS: usize, const GROUPS: usize>(
        self,
        words: &[u64; WORDS],
        masked: (usize, u64),
        matrices: &[[[u64; 4]; WORDS]; GROUPS],
    ) -> [u64; GROUPS] {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { sums(words, masked, matrices) }
    }

    #[inline(always)]
    fn gather<const VECTORS: usize>(self, lanes: [u64; 8]) -> Gather<VECTORS> {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Gather::new(lanes) }
    }

    #[inline(always)]
    fn gathered<const VECTORS: usize>(
        self,
        gather: &Gather<VECTORS>,
        vectors: &[__m256i; VECTORS],
    ) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { gather.word(vectors) }
    }

    #[inline(always)]
    fn apart<T>(self, work: impl FnOnce() -> T) -> T {
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn with_features<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: `self` proves that the CPU has these features.
        unsafe { with_features(work) }
    }

    #[inline(always)]
    fn transpose(self, pool: &mut Pool) {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { transpose(pool) }
    }
}

/// All bits of the first `count` lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lanes(count: i8) -> __m256i {
    let lane = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31,
    );
    _mm256_cmpgt_epi8(_mm256_set1_epi8(count), lane)
}

/// See [`Vectors::nonzero`].
#[inline]
#[target_feature(enable = "avx2")]
fn nonzero(vector: __m256i) -> u64 {
    let zeros = _mm256_cmpeq_epi8(vector, _mm256_setzero_si256());
    u64::from(!_mm256_movemask_epi8(zeros) as u32)
}

/// See [`Vectors::columns`].
#[inline]
#[target_feature(enable = "avx2")]
fn bit_columns(mut vector: __m256i) -> [u64; 8] {
    let mut columns = [0; 8];
    for column in columns.iter_mut().rev() {
        *column = u64::from(_mm256_movemask_epi8(vector) as u32);
        // Move the next lower bit of every byte to the top.
        vector = _mm256_add_epi8(vector, vector);
    }
    columns
}

/// See [`Vectors::lanes`].
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_of(columns: [u64; 8]) -> __m256i {
    let mut lanes = _mm256_setzero_si256();
    for (bit, column) in columns.into_iter().enumerate() {
        lanes = _mm256_or_si256(lanes, bit_of_lanes(column as u32, 1 << bit));
    }
    lanes
}

/// See [`Vectors::sums`].
#[inline]
#[target_feature(enable = "avx2")]
fn sums<const WORDS: usize, const GROUPS: usize>(
    words: &[u64; WORDS],
    masked: (usize, u64),
    matrices: &[[[u64; 4]; WORDS]; GROUPS],
) -> [u64; GROUPS] {
    let mut vectors = [_mm256_setzero_si256(); GROUPS];
    for (index, &word) in words.iter().enumerate() {
        let word = if index == masked.0 { word & masked.1 } else { word };
        let selected = halves(word);
        for (vector, matrices) in vectors.iter_mut().zip(matrices) {
            let products = _mm256_shuffle_epi8(load_words(&matrices[index]), selected);
            *vector = _mm256_xor_si256(*vector, products);
        }
    }
    let mut sums = [0; GROUPS];
    for (sum, vector) in sums.iter_mut().zip(vectors) {
        *sum = folded(vector);
    }
    sums
}

/// Sets `bit` in each lane whose bit of the word `lanes` is set.
#[inline]
#[target_feature(enable = "avx2")]
fn bit_of_lanes(lanes: u32, bit: u8) -> __m256i {
    let spread = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
        3, 3,
    );
    let select = _mm256_set1_epi64x(super::DIAGONAL as i64);
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(lanes as i32), spread);
    let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, select), select);
    _mm256_and_si256(set, _mm256_set1_epi8(bit as i8))
}

/// Gathers the bytes of eight lanes, those that become rows, into one word.
#[derive(Clone, Copy)]
pub(super) struct Gather<const VECTORS: usize> {
    lanes: [u64; 8],
    /// For each vector, the shuffle that selects its bytes. An entry with the top bit set yields
    /// zero.
    shuffles: [__m256i; VECTORS],
}

impl<const VECTORS: usize> Gather<VECTORS> {
    /// With more vectors, lane numbers do not fit seven bits, and the lanes are read one by one.
    const SHUFFLED: bool = VECTORS <= 4;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(lanes: [u64; 8]) -> Self {
        let mut shuffles = [_mm256_setzero_si256(); VECTORS];
        if Self::SHUFFLED {
            let mut word = 0;
            for lane in lanes.into_iter().rev() {
                word = word << 8 | lane & 0xff;
            }
            let lanes = _mm256_set1_epi64x(word as i64);
            for (vector, shuffle) in shuffles.iter_mut().enumerate() {
                // Each half of a vector has 16 lanes. For other lanes, the saturated sum has the
                // top bit set.
                let first = 32 * vector as i8;
                let halves = _mm256_set_m128i(_mm_set1_epi8(first + 16), _mm_set1_epi8(first));
                let within = _mm256_sub_epi8(lanes, halves);
                *shuffle = _mm256_adds_epu8(within, _mm256_set1_epi8(0x70));
            }
        }
        Self { lanes, shuffles }
    }

    /// The bytes of the lanes in one plane, zero where no lane becomes the row.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn word(&self, vectors: &[__m256i; VECTORS]) -> u64 {
        if !Self::SHUFFLED {
            let mut word = 0;
            for (row, &lane) in self.lanes.iter().enumerate() {
                if lane != NO_LANE {
                    word |= u64::from(vector_byte(vectors, lane as usize)) << (8 * row);
                }
            }
            return word;
        }
        let mut taken = _mm256_setzero_si256();
        for (&vector, &shuffle) in vectors.iter().zip(&self.shuffles) {
            taken = _mm256_or_si256(taken, _mm256_shuffle_epi8(vector, shuffle));
        }
        let high = _mm256_castsi128_si256(_mm256_extracti128_si256::<1>(taken));
        low_word(_mm256_or_si256(taken, high))
    }
}

/// The two halves of every byte.
#[derive(Clone, Copy)]
pub(super) struct Nibbles {
    low: __m256i,
    high: __m256i,
}

impl Nibbles {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(bytes: __m256i) -> Self {
        let nibble = _mm256_set1_epi8(15);
        Self {
            low: _mm256_and_si256(bytes, nibble),
            high: _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble),
        }
    }
}

/// The sums of all subsets of a matrix's eight bytes: `low` is indexed by the low half of the
/// selecting byte, `high` by the high half. Each table is stored twice, once for each half of a
/// vector.
#[derive(Clone, Copy)]
pub(super) struct Table {
    low: __m256i,
    high: __m256i,
}

impl Table {
    /// Spreads the tables that [`both`] computed.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn spread(both: __m256i) -> Self {
        Self {
            low: _mm256_permute2x128_si256::<0x00>(both, both),
            high: _mm256_permute2x128_si256::<0x11>(both, both),
        }
    }

    /// For every byte, the sum of the bytes that it selects.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn times(self, selected: Nibbles) -> __m256i {
        _mm256_xor_si256(
            _mm256_shuffle_epi8(self.low, selected.low),
            _mm256_shuffle_epi8(self.high, selected.high),
        )
    }
}

/// Both tables of a word's bytes in one vector: the one for low halves, then the one for high
/// halves.
#[inline]
#[target_feature(enable = "avx2")]
fn both(word: u64) -> __m256i {
    let word = _mm256_set1_epi64x(word as i64);
    let mut sums = _mm256_setzero_si256();
    for picks in &PICKS {
        sums = _mm256_xor_si256(sums, _mm256_shuffle_epi8(word, load(picks)));
    }
    sums
}

/// For each bit of a nibble, the byte that an entry of a table adds if that bit is set in its
/// index: byte `bit` in the table of low halves, byte `4 + bit` in that of high halves.
static PICKS: [[u8; 32]; 4] = {
    let mut picks = [[0x80; 32]; 4];
    let mut bit = 0;
    while bit < 4 {
        let mut entry = 0;
        while entry < 16 {
            if entry >> bit & 1 == 1 {
                picks[bit][entry] = bit as u8;
                picks[bit][16 + entry] = 4 + bit as u8;
            }
            entry += 1;
        }
        bit += 1;
    }
    picks
};

/// The low halves of a word's bytes in the first half of a vector, the high halves in the second.
/// These are the indices into a pair of tables from [`both`].
#[inline]
#[target_feature(enable = "avx2")]
fn halves(word: u64) -> __m256i {
    let word = _mm256_set1_epi64x(word as i64);
    let shifts = _mm256_setr_epi64x(0, 0, 4, 4);
    _mm256_and_si256(_mm256_srlv_epi64(word, shifts), _mm256_set1_epi8(15))
}

/// The sum of what a pair of tables returned for the low and for the high halves.
#[inline]
#[target_feature(enable = "avx2")]
fn folded(sums: __m256i) -> u64 {
    let high = _mm256_castsi128_si256(_mm256_extracti128_si256::<1>(sums));
    low_word(_mm256_xor_si256(sums, high))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference covers 32 bytes that can be read, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(bytes: &mut [u8; 32], vector: __m256i) {
    // SAFETY: the reference covers 32 bytes that can be written, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_words(words: &[u64; 4]) -> __m256i {
    // SAFETY: the reference covers 32 bytes that can be read, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn words_of(vector: __m256i) -> [u64; 4] {
    let mut words = [0; 4];
    // SAFETY: the array has 32 bytes that can be written, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}

/// The first word of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn low_word(vector: __m256i) -> u64 {
    _mm_cvtsi128_si64(_mm256_castsi256_si128(vector)) as u64
}

/// A byte of some vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn vector_byte<const VECTORS: usize>(vectors: &[__m256i; VECTORS], at: usize) -> u8 {
    let mut bytes = [0; 32];
    store(&mut bytes, vectors[at / 32]);
    bytes[at % 32]
}
