//! Elimination of byte planes with AVX-512 and GFNI.
//!
//! Plane 8 * j + i holds byte i of word j of all rows, a byte per row ("lane"), 64 lanes to a
//! vector; R more planes hold the bytes of the right sides. Rows lie in the order of their age.
//!
//! # A group of eight columns
//!
//! The columns are the bits of one plane. Eight rows are its pivots; say their bytes are the rows of
//! the 8x8 matrix B, and C = B^-1. For a row with byte x, the bits of y = x C say which pivots must
//! be added so that its byte becomes zero. If P is the matrix of the pivots' bytes in another plane,
//! then y P is to be added to that plane. So a group is
//!
//! 1. the search for pivots in one vector of the plane, which yields C (see [`search`](super::search));
//! 2. y for all lanes, one affine product per vector;
//! 3. for every later plane: gather the eight bytes (vpermb), transpose them (affine) to P, and add
//!    y P, an affine product and an addition per vector.
//!
//! The pivots themselves become zero by that. P as it is, and C once per group, are what the back
//! substitution needs ([`matrices`](super::matrices)).
//!
//! A column without pivot is zero in C, as row and as column. Then the gathered byte, of any row,
//! does not matter.
//!
//! # Two halves
//!
//! The search is one long chain of scalar instructions; all other work should fill its gaps, and
//! should be little. The four groups of planes 0 to 3 are the first *half*, those of 4 to 7 the
//! second. Within a half only its own planes are updated group by group, because the searches need
//! them. Every other plane is updated for the four groups of a half together, in registers, and
//! *compacted* then: the pivots' lanes are dropped. So a plane is loaded and stored twice per block
//! and not ten times (a store of 64 bytes takes two cycles on Zen 4). In the first half the words after
//! the first are inserted between the steps of the searches, in the second half they are updated
//! there. Inserting them before the first half took 4 % longer (10.6 instead of 10.2 ns per row, Zen
//! 4, K = 3, one byte of right sides). Tried without gain: updating two or four planes together,
//! against the chain of four groups in each.
//!
//! Compaction after each half, not after both, makes the rows of the last groups fit into one vector.
//! Without it the search failed in one or two groups per block.
//!
//! # Where the search looks
//!
//! In one vector with enough rows, lanes 0 to 55 (the upper bytes of the columns hold C). If
//! it finds eight pivots, or there are no other rows, that is it. Otherwise [`search_all`] searches
//! all vectors; with random rows once in some hundred blocks.
//!
//! The first vector is preferred: it has the oldest rows. With the newest
//! as pivots, redundant rows would be mixed into newer and newer ones and never become zero.

use super::matrices::{Solved, substitute};
use super::vectors::*;
use crate::kernel::Avx512;
use crate::solve::{CAPACITY, Engine, Failure, Memory, RowBuffer, reserve};
use alloc::vec::Vec;
use core::arch::x86_64::*;
use core::array;

/// The vectors of a plane: those of the rows, and what `insert` and `compact` write after them.
const VECTORS: usize = CAPACITY / 64 + 2;
type Plane = [Line; VECTORS];

/// Pivots of a group.
#[derive(Clone, Copy)]
struct Group<const V: usize> {
    /// Byte 7 - t of every word: the lane of the pivot of column t in a pair of vectors, 0 to 127.
    lanes: __m512i,
    /// For each pair of vectors a mask of the bytes in `lanes` that are of this pair.
    pairs: [u64; V],
    /// y for every lane.
    sums: [__m512i; V],
}

/// The pivots of four groups, and the rows that are left then.
struct Half<const V: usize> {
    groups: [Group<V>; 4],
    /// For each vector, bit by bit: the lanes with rows that are no pivots.
    left: [u64; V],
}

/// Where compaction moves the lanes of each vector.
struct Moves<const V: usize> {
    from: [__m512i; V],
    keep: [u64; V],
    /// The byte at which the lanes of a vector are stored.
    to: [usize; V],
    rows: usize,
}

/// What the search in one vector finds.
#[derive(Clone, Copy)]
struct Pivots {
    /// Byte 7 - t of every word: the lane of the pivot of column t.
    lanes: __m512i,
    /// C, in every word.
    reduce: __m512i,
    /// The lanes of the pivots.
    used: u64,
}

/// The search in a vector, with other work between its steps.
macro_rules! search_vector {
    ($x:expr, $step:ident => $work:block) => {{
        let (columns, pivots) = search!(columns($x), add_unless, $step => $work);
        pivots_found(columns, pivots)
    }};
}

super::avx512! {
    /// The columns of the lanes 0 to 55 as [`search`](super::search) needs them. Bit i of the byte of
    /// eight lanes is lane 7 - i, as the affine product has it.
    #[inline]
    fn columns(x: __m512i) -> [__m256i; 2] {
        const NOT_LAST_BYTES: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let identity = bytes!(|word, byte| if byte == 7 { 0x80 >> word } else { 0 });
        let from = bytes!(|word, byte| byte * 8 + 7 - word);
        let x = _mm512_permutexvar_epi8(from, affine(_mm512_set1_epi64(COLUMNS), x));
        let x = _mm512_mask_blend_epi8(NOT_LAST_BYTES, identity, x);
        [_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x)]
    }

    /// x, plus y where the mask is zero: `x ^ (!mask & y)`. The compiler would compare into a mask
    /// register for a XOR of an AND: 3 % of the elimination.
    #[inline]
    fn add_unless(x: __m256i, mask: __m256i, y: __m256i) -> __m256i {
        _mm256_ternarylogic_epi64::<0xd2>(x, mask, y)
    }

    /// The result of a search.
    #[inline]
    fn pivots_found(columns: [__m256i; 2], pivots: [__m256i; 2]) -> Pivots {
        let join = |x: [__m256i; 2]| {
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(x[0]), x[1])
        };
        let (columns, pivots) = (join(columns), join(pivots));
        let found = _mm512_test_epi64_mask(pivots, pivots);
        let places = _mm512_popcnt_epi64(_mm512_sub_epi64(pivots, _mm512_set1_epi64(1)));
        let places = _mm512_broadcastq_epi64(_mm512_cvtepi64_epi8(places));
        let sums = _mm512_maskz_srli_epi64::<56>(found, columns);
        Pivots {
            lanes: _mm512_xor_si512(places, _mm512_set1_epi8(7)),
            reduce: _mm512_broadcastq_epi64(_mm512_cvtepi64_epi8(sums)),
            used: in_order(_mm512_reduce_or_epi64(pivots).cast_unsigned()),
        }
    }

    /// A mask of lanes from one with the bits of each byte reversed.
    #[inline]
    fn in_order(mask: u64) -> u64 {
        let reversal = _mm_set1_epi64x(COLUMNS);
        let bits = _mm_cvtsi64_si128(mask.cast_signed());
        _mm_cvtsi128_si64(_mm_gf2p8affine_epi64_epi8::<0>(bits, reversal)).cast_unsigned()
    }

    /// The first V vectors of a plane.
    #[inline]
    fn vectors<const V: usize>(plane: &Plane) -> [__m512i; V] {
        let mut x = [_mm512_setzero_si512(); V];
        for v in 0..V {
            x[v] = load(&plane[v]);
        }
        x
    }

    /// Adds the pivots of a group to all rows in a plane. Returns P.
    #[inline]
    fn add<const V: usize>(x: &mut [__m512i; V], group: &Group<V>) -> __m512i {
        let bytes = match V {
            1 => _mm512_permutexvar_epi8(group.lanes, x[0]),
            2 => _mm512_permutex2var_epi8(x[0], group.lanes, x[1]),
            _ => {
                let mut bytes = _mm512_setzero_si512();
                for pair in 0..V.div_ceil(2) {
                    let [low, high] = [x[2 * pair], x[(2 * pair + 1).min(V - 1)]];
                    let of_pair = _mm512_permutex2var_epi8(low, group.lanes, high);
                    bytes = _mm512_mask_blend_epi8(group.pairs[pair], bytes, of_pair);
                }
                bytes
            }
        };
        let p = transposed(bytes);
        for v in 0..V {
            x[v] = _mm512_xor_si512(x[v], affine(group.sums[v], p));
        }
        p
    }

    /// Adds the pivots of a group to all rows in a plane, and leaves P. Returns it.
    #[inline]
    fn update<const V: usize>(
        plane: &mut Plane,
        group: &Group<V>,
        line: &mut Line,
        g: usize,
    ) -> __m512i {
        let mut x = vectors::<V>(plane);
        let p = add(&mut x, group);
        line.0[g] = first_word(p);
        for v in 0..V {
            store(&mut plane[v], x[v]);
        }
        p
    }

    /// The same for the four groups of a half, from group `g` on. Returns the plane.
    #[inline]
    fn update_half<const V: usize>(
        plane: &Plane,
        half: &Half<V>,
        line: &mut Line,
        g: usize,
    ) -> [__m512i; V] {
        let mut x = vectors::<V>(plane);
        for (word, group) in line.0[g..g + 4].iter_mut().zip(&half.groups) {
            *word = first_word(add(&mut x, group));
        }
        x
    }

    /// Stores the lanes that are kept. At least the rest of their last vector becomes zero.
    #[inline]
    fn compact<const V: usize>(plane: &mut Plane, x: &[__m512i; V], moves: &Moves<V>) {
        for v in 0..V {
            let kept = _mm512_maskz_permutexvar_epi8(moves.keep[v], moves.from[v], x[v]);
            store_at(plane, moves.to[v], kept);
        }
        if V > 1 {
            store_at(plane, moves.to[V - 1] + 64, _mm512_setzero_si512());
        }
    }

    /// The moves that keep these lanes, in their order.
    #[inline]
    fn moves<const V: usize>(left: &[u64; V]) -> Moves<V> {
        let lanes = bytes!(|word, byte| 8 * word + byte);
        let mut moves = Moves { from: [lanes; V], keep: [0; V], to: [0; V], rows: 0 };
        for v in 0..V {
            moves.from[v] = _mm512_maskz_compress_epi8(left[v], lanes);
            moves.keep[v] = _bzhi_u64(u64::MAX, left[v].count_ones());
            moves.to[v] = moves.rows;
            moves.rows += left[v].count_ones() as usize;
        }
        moves
    }

    /// Eliminates the planes `first` to `first + 3` of word 0 of `rows` rows. `work` is called eight
    /// times in each search. Returns the half, and the number of pivots.
    #[inline]
    fn eliminate_half<const V: usize>(
        planes: &mut [Plane; 8],
        output: &mut [Line; 8],
        rows: usize,
        first: usize,
        mut work: impl FnMut(usize),
    ) -> (Half<V>, usize) {
        let mut left: [u64; V] = array::from_fn(|v| mask(rows.saturating_sub(64 * v)));
        let none = Group {
            lanes: _mm512_setzero_si512(),
            pairs: [0; V],
            sums: [_mm512_setzero_si512(); V],
        };
        let mut groups = [none; 4];
        let mut total = 0;
        let mut v = if left[0].count_ones() < ENOUGH { fullest(&left) } else { 0 };
        let mut found = search_vector!(load(&planes[first][v]), STEP => { work(STEP) });
        for i in 0..4 {
            let g = first + i;
            let group = &mut groups[i];
            let mut reduce = found.reduce;
            if found.used.count_ones() == 8 || rows <= 56 {
                group.lanes = _mm512_or_si512(found.lanes, _mm512_set1_epi8((v as i8 & 1) << 6));
                if V > 2 {
                    group.pairs[v / 2] = u64::MAX;
                }
                left[v] &= !found.used;
                total += found.used.count_ones() as usize;
            } else {
                let all = search_all(&planes[g], rows);
                reduce = splat(all.reduce);
                group.lanes = splat(all.lanes);
                for pair in 0..V.div_ceil(2) {
                    group.pairs[pair] = all.pairs[pair];
                }
                for v in 0..V {
                    left[v] &= !all.used[v];
                }
                total += all.count;
            }
            output[0].0[g] = first_word(reduce);
            for v in 0..V {
                group.sums[v] = affine(load(&planes[g][v]), reduce);
            }
            if i == 3 {
                break;
            }
            // The next plane first, for the next search. What it searches is computed again: a vector
            // that was just stored takes long to load.
            if V > 1 && left[v].count_ones() < ENOUGH {
                v = fullest(&left);
            }
            let before = load(&planes[g + 1][v]);
            let sums = affine(load(&planes[g][v]), reduce);
            let p = update(&mut planes[g + 1], group, &mut output[g + 1], g);
            let x = _mm512_xor_si512(before, affine(sums, p));
            found = search_vector!(x, STEP => {
                if STEP == 0 {
                    for k in g + 2..first + 4 {
                        update(&mut planes[k], group, &mut output[k], g);
                    }
                }
                work(8 * (i + 1) + STEP);
            });
        }
        (Half { groups, left }, total)
    }
}

/// With this many rows left in a vector the next search is in the same one. The address is then
/// predicted; the fullest vector is known only long after the search (1 %).
const ENOUGH: u32 = 24;

/// The vector with the most lanes, the first one of several.
#[cold]
fn fullest<const V: usize>(left: &[u64; V]) -> usize {
    let (mut most, mut fullest) = (left[0].count_ones(), 0);
    for v in 1..V {
        if left[v].count_ones() > most {
            (most, fullest) = (left[v].count_ones(), v);
        }
    }
    fullest
}

/// The lowest `count` bits.
#[inline(always)]
fn mask(count: usize) -> u64 {
    match count {
        64.. => u64::MAX,
        _ => (1 << count) - 1,
    }
}

/// What [`search_all`] finds.
struct Found {
    lanes: u64,
    pairs: [u64; VECTORS],
    used: [u64; VECTORS],
    reduce: u64,
    count: usize,
}

super::avx512! {
    /// The pivots among all rows of a plane, the oldest first: vector after vector, by the same steps
    /// as [`search`](super::search), on columns that have been multiplied by C as it is so far.
    #[cold]
    #[inline(never)]
    fn search_all(plane: &Plane, rows: usize) -> Found {
        let mut found =
            Found { lanes: 0, pairs: [0; VECTORS], used: [0; VECTORS], reduce: 0, count: 0 };
        let mut c: [u8; 8] = array::from_fn(|t| 1 << t);
        let mut have = [false; 8];
        for (v, line) in plane.iter().enumerate().take(rows.div_ceil(64)) {
            let x = affine(load(line), splat(u64::from_be_bytes(c)));
            let mut columns = Line::ZERO;
            store(&mut columns, exchange(affine(_mm512_set1_epi64(COLUMNS), x)));
            let mut columns = columns.0.map(|column| in_order(column));
            for t in 0..8 {
                if have[t] || columns[t] == 0 {
                    continue;
                }
                let lane = columns[t].trailing_zeros() as usize;
                for u in 0..8 {
                    if u != t && columns[u] >> lane & 1 != 0 {
                        columns[u] ^= columns[t];
                        c[u] ^= c[t];
                    }
                }
                have[t] = true;
                found.lanes |= (lane as u64 | (v as u64 & 1) << 6) << (8 * (7 - t));
                found.pairs[v / 2] |= 0x0101_0101_0101_0101 << (7 - t);
                found.used[v] |= 1 << lane;
                found.count += 1;
            }
        }
        for t in 0..8 {
            if !have[t] {
                c[t] = 0;
            }
        }
        found.reduce = u64::from_be_bytes(c);
        found
    }

    /// Appends one word of rows to the `first` rows in its planes. At least the rest of their last
    /// vector becomes zero.
    #[inline]
    fn insert_word(planes: &mut [Plane], first: usize, words: &[u64]) {
        let mut done = 0;
        loop {
            let left = &words[done..];
            let last = left.len() <= 64;
            let mut rows = [_mm512_setzero_si512(); 8];
            for (i, row) in rows.iter_mut().enumerate() {
                let begin = (8 * i).min(left.len());
                let lanes = mask((left.len() - begin).min(8)) as u8;
                // SAFETY: only words are loaded that the slice has from `begin` on.
                *row = unsafe { _mm512_maskz_loadu_epi64(lanes, left.as_ptr().add(begin).cast()) };
                *row = exchange(*row);
            }
            for (plane, x) in planes.iter_mut().zip(transpose_words(rows)) {
                store_at(plane, first + done, x);
                if last {
                    store_at(plane, first + done + 64, _mm512_setzero_si512());
                }
            }
            done += 64;
            if last {
                break;
            }
        }
    }

    /// Eliminates word 0 of `rows` rows in V vectors, and moves the others one word ahead. Returns
    /// the number of pivots, of rows left, and whether one of these is zero.
    #[inline(never)]
    fn eliminate<const K: usize, const V: usize>(
        planes: &mut [Plane],
        lines: &mut [Line],
        waiting: usize,
        rows: &RowBuffer<K>,
    ) -> (usize, usize, bool) {
        let (word, planes_after) = planes.split_first_chunk_mut::<8>().expect("words");
        let (line, _) = lines.split_first_chunk_mut::<8>().expect("words");
        let (words, right) = rows.arrays();
        insert_word(word, waiting, words[0]);
        // The other words are inserted during the searches, one in each.
        let arrays = words.into_iter().skip(1).chain([right]);
        let mut after = planes_after.chunks_mut(8).zip(arrays);
        let mut insert_next = |step: usize| {
            if step.is_multiple_of(8)
                && let Some((planes, words)) = after.next()
            {
                insert_word(planes, waiting, words);
            }
        };
        let all = waiting + rows.len();
        let (first, pivots) = eliminate_half::<V>(word, line, all, 0, &mut insert_next);
        for (planes, words) in after {
            insert_word(planes, waiting, words);
        }
        let kept = moves(&first.left);
        for k in 4..8 {
            let x = update_half(&word[k], &first, &mut line[k], 0);
            compact(&mut word[k], &x, &kept);
        }
        let (more, rows, zero) = match kept.rows {
            ..=64 => eliminate_second_half::<K, V, 1>(planes, lines, &first, &kept),
            _ => eliminate_second_half::<K, V, V>(planes, lines, &first, &kept),
        };
        (pivots + more, rows, zero)
    }

    /// The second half of a block, now that the first was in V vectors and the rows that it left fit
    /// into U. The rest of the first half is done during the second.
    #[inline(never)]
    fn eliminate_second_half<const K: usize, const V: usize, const U: usize>(
        planes: &mut [Plane],
        lines: &mut [Line],
        first: &Half<V>,
        kept: &Moves<V>,
    ) -> (usize, usize, bool) {
        let (word, planes_after) = planes.split_first_chunk_mut::<8>().expect("words");
        let (line, lines_after) = lines.split_first_chunk_mut::<8>().expect("words");
        let mut after = planes_after.iter_mut().zip(lines_after);
        let mut work = |step: usize| {
            if (K > 3 || step.is_multiple_of(2))
                && let Some((plane, line)) = after.next()
            {
                let x = update_half(plane, first, line, 0);
                compact(plane, &x, kept);
            }
        };
        let (second, pivots) = eliminate_half::<U>(word, line, kept.rows, 4, &mut work);
        for (plane, line) in after {
            let x = update_half(plane, first, line, 0);
            compact(plane, &x, kept);
        }
        let (rows, zero) = finish::<K, U>(planes, lines, &second);
        (pivots, rows, zero)
    }

    /// Updates all words after the first for the second half, and moves them one word ahead. Returns
    /// the number of rows left, and whether one of them is zero.
    #[inline]
    fn finish<const K: usize, const V: usize>(
        planes: &mut [Plane],
        lines: &mut [Line],
        half: &Half<V>,
    ) -> (usize, bool) {
        let kept = moves(&half.left);
        let mut any = [_mm512_setzero_si512(); V];
        for k in 8..8 * K {
            let x = update_half(&planes[k], half, &mut lines[k], 4);
            for v in 0..V {
                any[v] = _mm512_or_si512(any[v], x[v]);
            }
            compact(&mut planes[k - 8], &x, &kept);
        }
        for plane in &mut planes[8 * K - 8..8 * K] {
            for line in &mut plane[..kept.rows.div_ceil(64)] {
                store(line, _mm512_setzero_si512());
            }
        }
        for (plane, line) in planes[8 * K..].iter_mut().zip(&mut lines[8 * K..]) {
            let x = update_half(plane, half, line, 4);
            compact(plane, &x, &kept);
        }
        let mut zero = 0;
        for v in 0..V {
            zero |= half.left[v] & !_mm512_test_epi8_mask(any[v], any[v]);
        }
        (kept.rows, zero != 0)
    }

    /// Drops the rows that are zero. Returns the number of rows left, unless a zero row has a right
    /// side. Rarely needed: redundant rows are few.
    #[cold]
    #[inline(never)]
    fn drop_zero_rows<const K: usize>(planes: &mut [Plane], rows: usize) -> Result<usize, Failure> {
        let mut left = 0;
        for v in 0..rows.div_ceil(64) {
            let or = |planes: &[Plane]| {
                planes.iter().fold(_mm512_setzero_si512(), |any, plane| {
                    _mm512_or_si512(any, load(&plane[v]))
                })
            };
            let [words, right] = [or(&planes[..8 * K]), or(&planes[8 * K..])];
            let nonzero = _mm512_test_epi8_mask(words, words);
            if _mm512_test_epi8_mask(right, right) & !nonzero & mask(rows - 64 * v) != 0 {
                return Err(Failure::NoSolution);
            }
            let moves = moves(&[nonzero & mask(rows - 64 * v)]);
            for plane in &mut *planes {
                let x = load(&plane[v]);
                let kept = _mm512_maskz_permutexvar_epi8(moves.keep[0], moves.from[0], x);
                store_at(plane, left, kept);
            }
            left += moves.rows;
        }
        Ok(left)
    }

    /// A block: inserts its rows and eliminates them with those that wait. Returns the number of
    /// pivots and of rows left.
    fn block<const K: usize>(
        planes: &mut [Plane],
        lines: &mut [Line],
        waiting: usize,
        rows: &RowBuffer<K>,
    ) -> Result<(usize, usize), Failure> {
        let (pivots, left, zero) = match (waiting + rows.len()).div_ceil(64) {
            0 | 1 => eliminate::<K, 1>(planes, lines, waiting, rows),
            2 => eliminate::<K, 2>(planes, lines, waiting, rows),
            3 => eliminate::<K, 3>(planes, lines, waiting, rows),
            4 => eliminate::<K, 4>(planes, lines, waiting, rows),
            5 | 6 => eliminate::<K, 6>(planes, lines, waiting, rows),
            _ => eliminate::<K, 12>(planes, lines, waiting, rows),
        };
        let left = match zero {
            true => drop_zero_rows::<K>(planes, left)?,
            false => left,
        };
        Ok((pivots, left))
    }
}

/// The engine.
pub(in crate::solve) struct BytePlanes<'m, const K: usize> {
    /// Proof that the CPU has the instructions.
    _token: Avx512,
    planes: &'m mut [Plane],
    /// The number of rows that wait.
    waiting: usize,
    /// What the blocks leave to the back substitution.
    lines: &'m mut Vec<Line>,
    solved: Solved<K>,
}

impl<'m, const K: usize> Engine<'m, K> for BytePlanes<'m, K> {
    type Token = Avx512;

    fn start(
        token: Avx512,
        memory: &'m mut Memory,
        blocks: usize,
        right_bits: u32,
    ) -> Result<Self, Failure> {
        let planes = 8 * K + right_bits.div_ceil(8) as usize;
        let Memory { lines, planes: memory, .. } = memory;
        lines.clear();
        reserve(lines, blocks.saturating_mul(planes))?;
        if let more @ 1.. = (planes * VECTORS).saturating_sub(memory.len()) {
            reserve(memory, more)?;
            memory.resize(planes * VECTORS, Line::ZERO);
        }
        let planes = &mut memory.as_chunks_mut().0[..planes];
        Ok(Self { _token: token, planes, waiting: 0, lines, solved: [[Line::ZERO; K]; 8] })
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn release(&mut self, rows: &mut RowBuffer<K>) -> Result<(), Failure> {
        let (mut words, right) = rows.append(self.waiting)?;
        let (coefficients, right_planes) = self.planes.split_at(8 * K);
        let word = |planes: &[Plane], row: usize| {
            planes.iter().rev().fold(0, |word, plane| {
                word << 8 | plane[row / 64].0[row % 64 / 8] >> (row % 8 * 8) & 0xff
            })
        };
        for row in 0..self.waiting {
            for (words, planes) in words.iter_mut().zip(coefficients.chunks_exact(8)) {
                words[row] = word(planes, row);
            }
            right[row] = word(right_planes, row);
        }
        self.waiting = 0;
        Ok(())
    }

    #[inline(always)]
    fn eliminate(&mut self, rows: &RowBuffer<K>) -> Result<usize, Failure> {
        let begin = self.lines.len();
        self.lines.resize(begin + self.planes.len(), Line::ZERO);
        let lines = &mut self.lines[begin..];
        // SAFETY: the token is proof of the target features.
        let (pivots, left) = unsafe { block(self.planes, lines, self.waiting, rows) }?;
        self.waiting = left;
        Ok(pivots)
    }

    #[inline(always)]
    fn substitute(&mut self, block: usize, columns: &mut [u64; 64]) {
        let lines = &self.lines[block * self.planes.len()..][..self.planes.len()];
        // SAFETY: the token is proof of the target features.
        unsafe { substitute(block, lines, &mut self.solved, columns) }
    }
}
