//! Elimination by planes with AVX2: 32 lanes in a vector, tables by byte shuffles.
#![expect(unsafe_code, reason = "code that needs the CPU's features, and vector loads")]

use super::{CACHED, Planes, STRIDE};
use crate::layout::{Layout, MAX_COLUMNS};
use crate::square::{ABOVE, ONES, solved_upwards, transposed};
use core::arch::x86_64::*;

/// Proof that the CPU has the instructions.
pub(super) type Token = crate::arch::avx2::Avx2;

/// Bit `j` of byte `j`: row `j` of a panel begins with the panel's column `j`.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;
/// The bits before it, which belong to the panel `w` rows behind.
const BELOW: u64 = !(DIAGONAL | ABOVE);
/// What no lane is: a row that none becomes.
const NO_LANE: u64 = u64::MAX;

/// See [`Planes::eliminate`]; the system must then undo what was filled.
pub(super) fn eliminate(_: Token, planes: &mut Planes) -> bool {
    // SAFETY: the token proves the features.
    unsafe {
        match planes.coefficient_planes {
            4 => sweep::<4>(planes),
            8 => sweep::<8>(planes),
            _ => sweep::<16>(planes),
        }
    }
}

/// Passes over the panels from the first start on until every lane has become a row, or one
/// has nothing left.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn sweep<const COEFFICIENTS: usize>(planes: &mut Planes) -> bool {
    transpose(planes);
    let lanes = planes.pool.starts.len();
    let (mut head, mut before, mut placed) = (0, 0, 0);
    let mut panel = planes.pool.starts[0] as usize / 8;
    loop {
        let tail = planes.pool.tail(panel);
        if placed == tail {
            if tail == lanes {
                return true;
            }
            panel = planes.pool.starts[tail] as usize / 8;
            (head, before) = (tail, tail);
            continue;
        }
        head += planes.pool.placed_from(head);
        let under_way = UnderWay { panel, head, before, tail };
        placed += match (planes.filled[panel], tail - head) {
            (0xff, 0..=32) => planes.full::<COEFFICIENTS, 1>(under_way),
            (0xff, 33..=64) => planes.full::<COEFFICIENTS, 2>(under_way),
            (0xff, 65..=96) => planes.full::<COEFFICIENTS, 3>(under_way),
            (0xff, 97..=128) => planes.full::<COEFFICIENTS, 4>(under_way),
            (0xff, _) => planes.full::<COEFFICIENTS, 20>(under_way),
            (_, 0..=32) => planes.open::<COEFFICIENTS, 1, 1>(under_way),
            (_, 33..=56) => planes.open::<COEFFICIENTS, 2, 1>(under_way),
            (_, 57..=96) => planes.open::<COEFFICIENTS, 3, 2>(under_way),
            (_, 97..=120) => planes.open::<COEFFICIENTS, 4, 2>(under_way),
            (_, _) => planes.open::<COEFFICIENTS, 20, 10>(under_way),
        };
        // A lane that has nothing left and is no row depends on others. The last panel of a
        // system, too, is one after which that is looked for.
        if panel % 4 == 3 && planes.live::<COEFFICIENTS>(head, tail) != tail - placed {
            return false;
        }
        before = tail;
        panel += 1;
    }
}

/// Lanes on their way through a panel: those from `head` to `tail`, of which the ones from
/// `before` on start in it.
#[derive(Clone, Copy)]
struct UnderWay {
    panel: usize,
    head: usize,
    before: usize,
    tail: usize,
}

impl UnderWay {
    /// All bits for lanes that started earlier, the given ones for those that start here,
    /// none for others.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(self, first_bits: __m256i, vector: usize) -> __m256i {
        let first = self.head + 32 * vector;
        let lane = _mm256_setr_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
            24, 25, 26, 27, 28, 29, 30, 31,
        );
        let up_to = |end: usize| {
            let count = end.saturating_sub(first).min(32) as i8;
            _mm256_cmpgt_epi8(_mm256_set1_epi8(count), lane)
        };
        _mm256_and_si256(up_to(self.tail), _mm256_or_si256(up_to(self.before), first_bits))
    }
}

impl Planes {
    /// The columns of a panel for the lanes under way, a byte a lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn panel_bits<const COEFFICIENTS: usize, const VECTORS: usize>(
        &self,
        at: UnderWay,
    ) -> [__m256i; VECTORS] {
        let plane = vectors::<VECTORS>(&self.pool.planes[at.panel % COEFFICIENTS], at.head);
        let first_bits = vectors::<VECTORS>(&self.pool.first_bits, at.head);
        let mut bits = [_mm256_setzero_si256(); VECTORS];
        for vector in 0..VECTORS {
            let mask = at.mask(load(&first_bits[vector]), vector);
            bits[vector] = _mm256_and_si256(load(&plane[vector]), mask);
        }
        bits
    }

    /// Eliminates the eight rows of a full panel. No lane becomes a row.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn full<const COEFFICIENTS: usize, const VECTORS: usize>(&mut self, at: UnderWay) -> usize {
        self.cache_tables::<COEFFICIENTS>(at.panel);
        let bits = self.panel_bits::<COEFFICIENTS, VECTORS>(at);
        let count = self.all_planes;
        let tables = &self.tables[at.panel % CACHED * (count + 1)..][..count + 1];
        let taken = Table::load(&tables[count]);
        let mut rows = [Nibbles::of(_mm256_setzero_si256()); VECTORS];
        for vector in 0..VECTORS {
            rows[vector] = Nibbles::of(taken.times(Nibbles::of(bits[vector])));
        }
        for (plane, table) in self.pool.planes.iter_mut().zip(&tables[..count]) {
            let table = Table::load(table);
            let lanes = vectors_mut::<VECTORS>(plane, at.head);
            for vector in 0..VECTORS {
                let sum = _mm256_xor_si256(load(&lanes[vector]), table.times(rows[vector]));
                store(&mut lanes[vector], sum);
            }
        }
        0
    }

    /// Makes the tables of a full panel unless they are there: one for each plane, and one
    /// from the columns of a lane to the rows that it takes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn cache_tables<const COEFFICIENTS: usize>(&mut self, panel: usize) {
        if self.cached[panel % CACHED] != panel as u32 {
            self.make_tables::<COEFFICIENTS>(panel);
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn make_tables<const COEFFICIENTS: usize>(&mut self, panel: usize) {
        self.cached[panel % CACHED] = panel as u32;
        let count = self.all_planes;
        let words = &self.words[panel * count..][..count];
        let tables = &mut self.tables[panel % CACHED * (count + 1)..][..count + 1];
        for (table, &word) in tables.iter_mut().zip(words) {
            store(table, Table::both(word));
        }
        // Which rows a lane takes that has column `i` alone: byte `i`.
        let own = words[panel % COEFFICIENTS] & ABOVE;
        let mut rows = DIAGONAL;
        for row in 0..7 {
            rows ^= (rows >> row & ONES).wrapping_mul(own >> (8 * row) & 0xff);
        }
        store(&mut tables[count], Table::both(rows));
    }

    /// Eliminates the rows of a panel, and where one is empty makes a row of the first lane
    /// that has its column. How many lanes became rows.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn open<const COEFFICIENTS: usize, const VECTORS: usize, const WORDS: usize>(
        &mut self,
        at: UnderWay,
    ) -> usize {
        let count = self.all_planes;
        let bits = self.panel_bits::<COEFFICIENTS, VECTORS>(at);
        let words = &mut self.words[at.panel * count..][..count];
        let own = words[at.panel % COEFFICIENTS] & (DIAGONAL | ABOVE);
        let mut columns = Columns::<WORDS>::new(own, &bits);
        let (filled, pivots) = columns.eliminate();
        let mut rows = [_mm256_setzero_si256(); VECTORS];
        for (vector, rows) in rows.iter_mut().enumerate() {
            *rows = columns.rows(vector);
        }
        let becoming = Gather::new(pivots);
        // How the new rows are made of the old rows and the lanes as they are.
        let mut made_of = DIAGONAL;
        if filled != 0 {
            let taken = becoming.word(&rows) & !DIAGONAL;
            for row in 0..7 {
                let this = made_of >> (8 * row) & 0xff;
                made_of ^= (taken >> row & ONES).wrapping_mul(this);
            }
            let table = Table::new(made_of);
            for rows in &mut rows {
                *rows = table.times(Nibbles::of(*rows));
            }
        }
        let made_of = Nibbles::of(_mm256_set1_epi64x(made_of as i64));
        let mut nibbles = [made_of; VECTORS];
        for vector in 0..VECTORS {
            nibbles[vector] = Nibbles::of(rows[vector]);
        }
        for (plane, word) in self.pool.planes.iter_mut().zip(words) {
            let lanes = vectors_mut::<VECTORS>(plane, at.head);
            let mut before = [_mm256_setzero_si256(); VECTORS];
            for vector in 0..VECTORS {
                before[vector] = load(&lanes[vector]);
            }
            let mut sources = *word;
            if filled != 0 {
                sources |= becoming.word(&before);
            }
            let table = Table::new(sources);
            if filled != 0 {
                *word = low_word(table.times(made_of));
            }
            for vector in 0..VECTORS {
                let sum = _mm256_xor_si256(before[vector], table.times(nibbles[vector]));
                store(&mut lanes[vector], sum);
            }
        }
        if filled == 0 {
            return 0;
        }
        self.filled[at.panel] |= filled;
        self.pool.filled.push((at.panel as u32, filled));
        for pivot in pivots.into_iter().filter(|&pivot| pivot != NO_LANE) {
            let lane = at.head + pivot as usize;
            self.pool.placed[lane / 64] |= 1 << (lane % 64);
        }
        filled.count_ones() as usize
    }

    /// How many lanes have coefficients left.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn live<const COEFFICIENTS: usize>(&self, head: usize, tail: usize) -> usize {
        let mut live = 0;
        for first in (head..tail).step_by(32) {
            let mut any = _mm256_setzero_si256();
            for plane in &self.pool.planes[..COEFFICIENTS] {
                let [lanes] = vectors(plane, first);
                any = _mm256_or_si256(any, load(lanes));
            }
            let none = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
            let there = u32::MAX >> (32 - (tail - first).min(32));
            live += (!_mm256_movemask_epi8(none) as u32 & there).count_ones() as usize;
        }
        live
    }
}

/// The eight bit columns of a panel: for each, its rows in the first eight bits, then the
/// lanes.
struct Columns<const WORDS: usize>([[u64; WORDS]; 8]);

impl<const WORDS: usize> Columns<WORDS> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new<const VECTORS: usize>(own: u64, bits: &[__m256i; VECTORS]) -> Self {
        let mut columns = [[0; WORDS]; 8];
        let rows = transposed(own);
        for (column, words) in columns.iter_mut().enumerate() {
            words[0] = rows >> (8 * column) & 0xff;
        }
        for (vector, &bits) in bits.iter().enumerate() {
            let place = 8 + 32 * vector;
            let mut bits = bits;
            for words in columns.iter_mut().rev() {
                let lanes = u64::from(_mm256_movemask_epi8(bits) as u32);
                words[place / 64] |= lanes << (place % 64);
                if place % 64 > 32 && place / 64 + 1 < WORDS {
                    words[place / 64 + 1] |= lanes >> (64 - place % 64);
                }
                // The next lower bit of every byte.
                bits = _mm256_add_epi8(bits, bits);
            }
        }
        Self(columns)
    }

    /// Eight steps of elimination. Afterwards column `j` tells which lanes take row `j`. Which
    /// rows were filled, and by which lanes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,lzcnt")]
    fn eliminate(&mut self) -> (u8, [u64; 8]) {
        let mut filled = 0;
        let mut pivots = [NO_LANE; 8];
        for (row, pivot_of_row) in pivots.iter_mut().enumerate() {
            // Rows before this one are done with.
            self.0[row][0] &= !0 << row;
            let lanes = self.0[row];
            let first = lanes.iter().position(|&word| word != 0).unwrap_or(0);
            let pivot = lanes[first].trailing_zeros();
            for column in row + 1..8 {
                let has = (self.0[column][first] >> (pivot & 63) & 1).wrapping_neg();
                for (word, lanes) in self.0[column].iter_mut().zip(lanes) {
                    *word ^= lanes & has;
                }
            }
            let place = 64 * first as u64 + u64::from(pivot);
            let is_lane = pivot < 64 && place >= 8;
            filled |= u8::from(is_lane) << row;
            *pivot_of_row = if is_lane { place - 8 } else { NO_LANE };
        }
        (filled, pivots)
    }

    /// Which rows the lanes of a vector take, a byte a lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rows(&self, vector: usize) -> __m256i {
        let spread = _mm256_setr_epi8(
            0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3,
            3, 3, 3,
        );
        let select = _mm256_set1_epi64x(DIAGONAL as i64);
        let place = 8 + 32 * vector;
        let mut rows = _mm256_setzero_si256();
        for (row, words) in self.0.iter().enumerate() {
            let mut lanes = words[place / 64] >> (place % 64);
            if place % 64 > 32 && place / 64 + 1 < WORDS {
                lanes |= words[place / 64 + 1] << (64 - place % 64);
            }
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(lanes as i32), spread);
            let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, select), select);
            let bit = _mm256_set1_epi8((1u8 << row) as i8);
            rows = _mm256_or_si256(rows, _mm256_and_si256(set, bit));
        }
        rows
    }
}

/// Brings bytes of eight lanes, those that become rows, into one word.
#[derive(Clone, Copy)]
struct Gather<const VECTORS: usize> {
    lanes: [u64; 8],
    /// For each vector the bytes to take; a byte with its top bit set takes none.
    shuffles: [__m256i; VECTORS],
}

impl<const VECTORS: usize> Gather<VECTORS> {
    /// The lanes of more vectors have no number of seven bits, and are read one by one.
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
                // Each half of a vector has 16 lanes; for others the sum has the top bit.
                let first = 32 * vector as i8;
                let halves = _mm256_set_m128i(_mm_set1_epi8(first + 16), _mm_set1_epi8(first));
                let within = _mm256_sub_epi8(lanes, halves);
                *shuffle = _mm256_adds_epu8(within, _mm256_set1_epi8(0x70));
            }
        }
        Self { lanes, shuffles }
    }

    /// One plane's bytes of the lanes, zero where no lane becomes the row.
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
struct Nibbles {
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

/// The sums of any of eight bytes: by the low half of the byte that selects them, and by the
/// high half. Each is there twice, once for each half of a vector.
#[derive(Clone, Copy)]
struct Table {
    low: __m256i,
    high: __m256i,
}

impl Table {
    /// The table of a word's bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(word: u64) -> Self {
        let both = Self::both(word);
        Self {
            low: _mm256_permute2x128_si256::<0x00>(both, both),
            high: _mm256_permute2x128_si256::<0x11>(both, both),
        }
    }

    /// Both tables of a word's bytes in one vector.
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

    /// A table as [`both`](Self::both) made it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(both: &[u8; 32]) -> Self {
        let both = load(both);
        Self {
            low: _mm256_permute2x128_si256::<0x00>(both, both),
            high: _mm256_permute2x128_si256::<0x11>(both, both),
        }
    }

    /// For every byte the sum of those that it selects.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn times(self, selected: Nibbles) -> __m256i {
        _mm256_xor_si256(
            _mm256_shuffle_epi8(self.low, selected.low),
            _mm256_shuffle_epi8(self.high, selected.high),
        )
    }
}

/// For each bit of a nibble the byte that an entry of a table takes if the bit is set in its
/// number: `bit` in the table of low halves, `4 + bit` in that of high halves.
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

/// Lanes of a plane from `head` on.
#[inline(always)]
fn vectors<const VECTORS: usize>(plane: &[u8; STRIDE], head: usize) -> &[[u8; 32]; VECTORS] {
    plane[head..][..32 * VECTORS].as_chunks().0.try_into().expect("so many vectors")
}

#[inline(always)]
fn vectors_mut<const VECTORS: usize>(
    plane: &mut [u8; STRIDE],
    head: usize,
) -> &mut [[u8; 32]; VECTORS] {
    plane[head..][..32 * VECTORS].as_chunks_mut().0.try_into().expect("so many vectors")
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes can be read.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; 32], vector: __m256i) {
    // SAFETY: 32 bytes can be written.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
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

/// Lays the lanes of the pool out in planes.
#[target_feature(enable = "avx2")]
fn transpose(planes: &mut Planes) {
    let pool = &mut planes.pool;
    let lanes = pool.starts.len();
    for (word, rows) in pool.rows.chunks_exact(STRIDE).enumerate() {
        for first in (0..lanes).step_by(32) {
            let rows: &[u64; 32] = rows[first..][..32].try_into().expect("32 lanes");
            let planes = &mut pool.planes[8 * word..][..8];
            for (plane, lanes) in planes.iter_mut().zip(transposed_lanes(rows)) {
                let [target] = vectors_mut(plane, first);
                store(target, lanes);
            }
        }
    }
}

/// The bytes of 32 words: first all first bytes, then all second ones, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed_lanes(rows: &[u64; 32]) -> [__m256i; 8] {
    // Two words to a half, their bytes in turn.
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

/// See [`Planes::solve`].
pub(super) fn solve(_: Token, planes: &Planes, layout: &Layout, bytes: &mut [u8]) {
    // SAFETY: the token proves the features.
    unsafe {
        match (planes.coefficient_planes, planes.all_planes - planes.coefficient_planes) {
            (4, 1) => substitute::<4, 1>(planes, layout, bytes),
            (4, 2..=4) => substitute::<4, 4>(planes, layout, bytes),
            (4, _) => substitute::<4, 8>(planes, layout, bytes),
            (8, 1) => substitute::<8, 1>(planes, layout, bytes),
            (8, 2..=4) => substitute::<8, 4>(planes, layout, bytes),
            (8, _) => substitute::<8, 8>(planes, layout, bytes),
            (_, 1) => substitute::<16, 1>(planes, layout, bytes),
            (_, 2..=4) => substitute::<16, 4>(planes, layout, bytes),
            (_, _) => substitute::<16, 8>(planes, layout, bytes),
        }
    }
}

/// Back substitution, a panel at a time, for up to `BYTES` bytes of a row.
///
/// Of the panels last solved, as many as a row can reach, the sums of any rows are kept in
/// tables, so what a panel's rows ask of another panel is one shuffle.
#[target_feature(enable = "avx2")]
fn substitute<const COEFFICIENTS: usize, const BYTES: usize>(
    planes: &Planes,
    layout: &Layout,
    bytes: &mut [u8],
) {
    let count = planes.all_planes;
    let right_sides = count - COEFFICIENTS;
    let block_slots = layout.first_slot_of(1) as usize;
    let mut tables = [[[0; 32]; COEFFICIENTS]; BYTES];
    // The rows of a block, a byte each.
    let mut solved = [[0u8; 64]; BYTES];
    for (panel, words) in planes.words.chunks_exact(count).enumerate().rev() {
        let near = panel % COEFFICIENTS;
        let inverse = solved_upwards(words[near] & ABOVE, DIAGONAL);
        let mut sums = [_mm256_setzero_si256(); BYTES];
        for plane in 0..COEFFICIENTS {
            // In its own plane a row's bits before its own are for the panel `w` rows behind.
            let asked = if plane == near { words[plane] & BELOW } else { words[plane] };
            let asked = halves(asked);
            for (sum, tables) in sums.iter_mut().zip(&tables) {
                *sum = _mm256_xor_si256(*sum, _mm256_shuffle_epi8(load(&tables[plane]), asked));
            }
        }
        for byte in 0..right_sides.min(BYTES) {
            let demanded = words[COEFFICIENTS + byte] ^ folded(sums[byte]);
            // What is left is among the panel's own rows.
            let rows = folded(_mm256_shuffle_epi8(Table::both(demanded), halves(inverse)));
            store(&mut tables[byte][near], Table::both(rows));
            solved[byte][8 * panel % block_slots..][..8].copy_from_slice(&rows.to_le_bytes());
        }
        if (8 * panel).is_multiple_of(block_slots) {
            let block = (8 * panel / block_slots) as u64;
            let mut columns = [0; MAX_COLUMNS];
            let stored = layout.columns_of(block);
            for (byte, columns) in columns[..stored].chunks_mut(8).enumerate() {
                bit_columns(&solved[byte], columns);
            }
            layout.write_block(bytes, block, &columns[..stored]);
        }
    }
}

/// The low halves of a word's bytes in the first half of a vector, the high halves in the
/// second: as a pair of tables is asked.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(word: u64) -> __m256i {
    let word = _mm256_set1_epi64x(word as i64);
    let shifts = _mm256_setr_epi64x(0, 0, 4, 4);
    _mm256_and_si256(_mm256_srlv_epi64(word, shifts), _mm256_set1_epi8(15))
}

/// What a pair of tables answered, the halves summed.
#[inline]
#[target_feature(enable = "avx2")]
fn folded(answers: __m256i) -> u64 {
    let high = _mm256_castsi128_si256(_mm256_extracti128_si256::<1>(answers));
    low_word(_mm256_xor_si256(answers, high))
}

/// The first bits of 64 bytes in one word, the second ones in another, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn bit_columns(bytes: &[u8; 64], columns: &mut [u64]) {
    let ([near, far], _) = bytes.as_chunks() else { unreachable!("two vectors") };
    let (near, far) = (load(near), load(far));
    for (bit, column) in columns.iter_mut().enumerate() {
        let up = _mm_cvtsi64_si128(7 - bit as i64);
        let near = _mm256_movemask_epi8(_mm256_sll_epi16(near, up)) as u32;
        let far = _mm256_movemask_epi8(_mm256_sll_epi16(far, up)) as u32;
        *column = u64::from(near) | u64::from(far) << 32;
    }
}
