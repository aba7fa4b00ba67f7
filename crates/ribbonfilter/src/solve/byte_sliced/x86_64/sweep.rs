//! The sweep of a pool over the panels: full panels are eliminated, and in open ones lanes become
//! rows.
//!
//! A lane that becomes a row is added to itself in the same pass, so it is zero in all planes from
//! then on. It can therefore stay in the pool: it adds no rows and never becomes a pivot again.
//! Lanes are not moved, which keeps the planes aligned with `starts` and `first_bits`.
//!
//! Why panel by panel over all lanes, and not lane by lane over the panels: the rows of a panel are
//! then loaded and prepared once for all lanes, and what a lane adds is independent of what other
//! lanes add, so that a vector of lanes advances without a branch. Algorithm 1 has a branch and a
//! chain of dependent loads in every step of every lane.
//!
//! What the invariants protect:
//!
//! - *A lane under way has no coefficients before its panel.* So the byte of a plane that belongs to
//!   the panel holds these eight columns and, cyclically, those of the panel `w` rows later. Which
//!   bits are which is known from the start alone (`first_bits`); in all later panels the whole byte
//!   is the panel's: the lane and all rows that it has added begin before the panel, and reach only
//!   `w` slots.
//! - *A full panel never changes*, but for `undo` and `clear`. So its tables can be cached
//!   (`ByteSliced::cached`) over the sweeps of many pools, and both reset the entry.
//! - *Rows of earlier pools never change during a sweep.* New rows are reduced by old ones, never
//!   the other way round. So a pool that is not independent is undone by clearing the rows that it
//!   filled.
//!
//! Vectors may extend beyond the last lane under way. The mask of [`UnderWay::mask`] clears the
//! panel bits of all lanes past `tail`, so these add no rows and are stored unchanged.

use super::vectors::{NO_LANE, Vectors};
use super::{ByteSliced, CACHED, DIAGONAL, MAX_LANES, STRIDE};
use crate::solve::UnderWay;
use crate::solve::bit_matrix::{ABOVE, ONES, transposed};

/// See [`ByteSliced::eliminate`]. If the result is `false`, the caller must undo the filled rows.
#[inline(always)]
pub(super) fn eliminate<V: Vectors>(cpu: V, system: &mut ByteSliced) -> bool {
    match system.coefficient_planes {
        4 => cpu.apart(|| sweep::<V, 4>(cpu, system)),
        8 => cpu.apart(|| sweep::<V, 8>(cpu, system)),
        _ => cpu.apart(|| sweep::<V, 16>(cpu, system)),
    }
}

/// Passes over the panels from the first start on, until every lane has become a row or one has no
/// coefficients left.
///
/// Of the lanes below `tail`, which have started, `placed` have become rows. `head` is the first
/// lane that vectors cover, and all lanes below `rows` are rows. Lanes from `before` on start in
/// the current panel.
#[inline(always)]
fn sweep<V: Vectors, const COEFFICIENTS: usize>(cpu: V, system: &mut ByteSliced) -> bool {
    cpu.transpose(&mut system.pool);
    let lanes = system.pool.starts.len();
    let (mut head, mut before, mut placed) = (0, 0, 0);
    // All lanes below this one are rows.
    let mut rows = 0;
    let mut panel = system.pool.starts[0] as usize / 8;
    loop {
        let tail = system.pool.tail(panel);
        if placed == tail {
            if tail == lanes {
                return true;
            }
            panel = system.pool.starts[tail] as usize / 8;
            (head, before) = (tail, tail);
            continue;
        }
        rows = rows.max(head);
        rows += system.pool.placed_from(rows);
        // `head` stays where it was in the preceding panel unless a later one saves a vector. The
        // planes just stored are loaded again, and store forwarding is fast only if loads begin
        // where the stores did.
        let vectors = |from: usize| (tail - from + 8).div_ceil(V::LANES);
        if vectors(rows) < vectors(head) {
            head = rows;
        }
        placed += system.pass::<V, COEFFICIENTS>(cpu, UnderWay { panel, head, before, tail });
        // A lane that has no coefficients left and is not a row depends on others. The check reads
        // all planes of coefficients, so it follows only every fourth panel. Slots are a multiple
        // of 64, so it also follows the last panel of a system, and no sweep runs past the end.
        if panel % 4 == 3 && system.live::<V, COEFFICIENTS>(cpu, head, tail) != tail - placed {
            return false;
        }
        before = tail;
        panel += 1;
    }
}

impl UnderWay {
    /// All bits for lanes that started earlier, `first_bits` for those that start in this panel,
    /// none for others. The bits before a lane's start belong, cyclically, to the panel `w` rows
    /// later.
    #[inline(always)]
    fn mask<V: Vectors>(self, cpu: V, first_bits: V::Vector, vector: usize) -> V::Vector {
        let first = self.head + V::LANES * vector;
        let up_to = |end: usize| cpu.up_to(end.saturating_sub(first));
        cpu.and(up_to(self.tail), cpu.or(up_to(self.before), first_bits))
    }
}

impl ByteSliced {
    /// Eliminates a panel's rows, with code specialised for the number of vectors under way.
    /// Returns the number of lanes that became rows.
    #[inline(always)]
    fn pass<V: Vectors, const C: usize>(&mut self, cpu: V, at: UnderWay) -> usize {
        let wide = V::LANES == 64;
        let lanes = at.tail - at.head;
        if self.filled[at.panel] == 0xff {
            if self.cached[at.panel % CACHED] != at.panel as u32 {
                cpu.apart(|| self.make_tables::<V, C>(cpu, at.panel));
            }
            match (wide, lanes.div_ceil(V::LANES)) {
                (_, 0..=1) => self.full::<V, C, 1>(cpu, at),
                (_, 2) => cpu.apart(|| self.full::<V, C, 2>(cpu, at)),
                (_, 3) => cpu.apart(|| self.full::<V, C, 3>(cpu, at)),
                (_, 4) => cpu.apart(|| self.full::<V, C, 4>(cpu, at)),
                (false, _) => cpu.apart(|| self.full::<V, C, 20>(cpu, at)),
                (true, _) => cpu.apart(|| self.full::<V, C, 10>(cpu, at)),
            }
            return 0;
        }
        // The first eight bits of the columns are for the panel's rows, so 56 lanes fit one word.
        match (wide, lanes) {
            (false, 0..=32) => self.open::<V, C, 1, 1>(cpu, at),
            (false, 33..=56) => cpu.apart(|| self.open::<V, C, 2, 1>(cpu, at)),
            (false, 57..=96) => cpu.apart(|| self.open::<V, C, 3, 2>(cpu, at)),
            (false, 97..=120) => cpu.apart(|| self.open::<V, C, 4, 2>(cpu, at)),
            (false, _) => cpu.apart(|| self.open::<V, C, 20, 10>(cpu, at)),
            (true, 0..=56) => self.open::<V, C, 1, 1>(cpu, at),
            (true, 57..=120) => cpu.apart(|| self.open::<V, C, 2, 2>(cpu, at)),
            (true, 121..=184) => cpu.apart(|| self.open::<V, C, 3, 3>(cpu, at)),
            (true, 185..=248) => cpu.apart(|| self.open::<V, C, 4, 4>(cpu, at)),
            (true, _) => cpu.apart(|| self.open::<V, C, 10, 10>(cpu, at)),
        }
    }

    /// The columns of a panel for the lanes under way, one byte per lane.
    #[inline(always)]
    fn panel_bits<V: Vectors, const COEFFICIENTS: usize, const VECTORS: usize>(
        &self,
        cpu: V,
        at: UnderWay,
    ) -> [V::Vector; VECTORS] {
        let plane = &self.pool.planes[at.panel % COEFFICIENTS].0[at.head..][..V::LANES * VECTORS];
        let first_bits = &self.pool.first_bits[at.head..][..V::LANES * VECTORS];
        let mut bits = [cpu.zero(); VECTORS];
        for (vector, bits) in bits.iter_mut().enumerate() {
            let mask = at.mask(cpu, load(cpu, first_bits, vector), vector);
            *bits = cpu.and(load(cpu, plane, vector), mask);
        }
        bits
    }

    /// Eliminates the eight rows of a full panel. No lane becomes a row.
    #[inline(always)]
    fn full<V: Vectors, const COEFFICIENTS: usize, const VECTORS: usize>(
        &mut self,
        cpu: V,
        at: UnderWay,
    ) {
        let bits = self.panel_bits::<V, COEFFICIENTS, VECTORS>(cpu, at);
        let count = self.all_planes;
        let tables =
            &V::as_tables(&mut self.tables)[at.panel % CACHED * (count + 1)..][..count + 1];
        let taken = cpu.kept(&tables[count]);
        let mut rows = [cpu.factors(cpu.zero()); VECTORS];
        for (rows, &bits) in rows.iter_mut().zip(&bits) {
            *rows = cpu.factors(cpu.times(taken, cpu.factors(bits)));
        }
        for (plane, table) in self.pool.planes.iter_mut().zip(&tables[..count]) {
            let table = cpu.kept(table);
            let lanes = &mut plane.0[at.head..][..V::LANES * VECTORS];
            for (vector, &rows) in rows.iter().enumerate() {
                let sum = cpu.xor(load(cpu, lanes, vector), cpu.times(table, rows));
                store(cpu, lanes, vector, sum);
            }
        }
    }

    /// Computes the tables of a full panel: one for each plane, and a last one that maps the
    /// columns of a lane to the rows that it adds.
    #[inline(always)]
    fn make_tables<V: Vectors, const COEFFICIENTS: usize>(&mut self, cpu: V, panel: usize) {
        self.cached[panel % CACHED] = panel as u32;
        let count = self.all_planes;
        let words = &self.words[panel * count..][..count];
        let tables =
            &mut V::as_tables(&mut self.tables)[panel % CACHED * (count + 1)..][..count + 1];
        for (table, &word) in tables.iter_mut().zip(words) {
            *table = cpu.keep(word);
        }
        // Byte `i`: the rows that a lane adds if `i` is its only column. This is the inverse of the
        // triangular matrix of the panel.
        let own = words[panel % COEFFICIENTS] & ABOVE;
        let mut rows = DIAGONAL;
        for row in 0..7 {
            rows ^= (rows >> row & ONES).wrapping_mul(own >> (8 * row) & 0xff);
        }
        tables[count] = cpu.keep(rows);
    }

    /// Eliminates the rows of a panel. Where one is empty, the first lane that has its column
    /// becomes the row. Returns the number of lanes that became rows.
    ///
    /// The eight pivots are found on the panel's own columns alone ([`Columns::eliminate`]). That
    /// yields, for every lane, the rows it adds, in terms of the *new* rows. `made_of` expresses
    /// the new rows by the *sources*: the old rows and the unreduced lanes that become rows.
    /// Multiplying by it rewrites every lane in terms of the sources, whose bytes in a plane are at
    /// hand as soon as that plane is loaded. So each plane is loaded, multiplied and stored once,
    /// and no row has to be completed before a lane adds it.
    #[inline(always)]
    fn open<V: Vectors, const COEFFICIENTS: usize, const VECTORS: usize, const WORDS: usize>(
        &mut self,
        cpu: V,
        at: UnderWay,
    ) -> usize {
        let count = self.all_planes;
        let bits = self.panel_bits::<V, COEFFICIENTS, VECTORS>(cpu, at);
        let words = &mut self.words[at.panel * count..][..count];
        let own = words[at.panel % COEFFICIENTS] & (DIAGONAL | ABOVE);
        let mut columns = Columns::<WORDS>::new(cpu, own, &bits);
        let (filled, pivots) = columns.eliminate();
        let mut rows = [cpu.zero(); VECTORS];
        for (vector, rows) in rows.iter_mut().enumerate() {
            *rows = columns.rows(cpu, vector);
        }
        let becoming = cpu.gather::<VECTORS>(pivots);
        // Byte `j`: the sources whose sum is the new row `j`. The lane that becomes row `j` adds
        // only rows before `j`, so these are complete when row `j` is computed.
        let mut made_of = DIAGONAL;
        if filled != 0 {
            let taken = cpu.gathered(&becoming, &rows) & !DIAGONAL;
            for row in 0..7 {
                let this = made_of >> (8 * row) & 0xff;
                made_of ^= (taken >> row & ONES).wrapping_mul(this);
            }
            let table = cpu.table(made_of);
            for rows in &mut rows {
                *rows = cpu.times(table, cpu.factors(*rows));
            }
        }
        let mut factors = [cpu.factors(cpu.zero()); VECTORS];
        for (factors, &rows) in factors.iter_mut().zip(&rows) {
            *factors = cpu.factors(rows);
        }
        for (plane, word) in self.pool.planes.iter_mut().zip(words) {
            let lanes = &mut plane.0[at.head..][..V::LANES * VECTORS];
            let mut before = [cpu.zero(); VECTORS];
            for (vector, before) in before.iter_mut().enumerate() {
                *before = load(cpu, lanes, vector);
            }
            let mut sources = *word;
            if filled != 0 {
                sources |= cpu.gathered(&becoming, &before);
            }
            let table = cpu.table(sources);
            if filled != 0 {
                *word = cpu.word_times(table, made_of);
            }
            for (vector, (&before, &rows)) in before.iter().zip(&factors).enumerate() {
                store(cpu, lanes, vector, cpu.xor(before, cpu.times(table, rows)));
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

    /// The number of lanes that have coefficients left.
    #[inline(always)]
    fn live<V: Vectors, const COEFFICIENTS: usize>(
        &self,
        cpu: V,
        head: usize,
        tail: usize,
    ) -> usize {
        let mut live = 0;
        for first in (head..tail).step_by(V::LANES) {
            let mut any = cpu.zero();
            for plane in &self.pool.planes[..COEFFICIENTS] {
                any = cpu.or(any, load(cpu, &plane.0[first..], 0));
            }
            let there = cpu.and(any, cpu.up_to(tail - first));
            live += cpu.nonzero(there).count_ones() as usize;
        }
        live
    }
}

/// The eight bit columns of a panel. Each has the bits of the panel's rows in its first eight bits,
/// followed by those of the lanes.
///
/// The rows come first so that a search for the lowest set bit finds the pivot: a filled row `j`
/// has column `j`, and rows after it do not, so it precedes all lanes. Where row `j` is empty, the
/// lowest bit is the first lane with that column.
struct Columns<const WORDS: usize>([[u64; WORDS]; 8]);

impl<const WORDS: usize> Columns<WORDS> {
    #[inline(always)]
    fn new<V: Vectors, const VECTORS: usize>(
        cpu: V,
        own: u64,
        bits: &[V::Vector; VECTORS],
    ) -> Self {
        let mut columns = [[0; WORDS]; 8];
        let rows = transposed(own);
        for (column, words) in columns.iter_mut().enumerate() {
            words[0] = rows >> (8 * column) & 0xff;
        }
        for (vector, &bits) in bits.iter().enumerate() {
            let (word, shift) = Self::position::<V>(vector);
            for (words, lanes) in columns.iter_mut().zip(cpu.columns(bits)) {
                words[word] |= lanes << shift;
                if shift + V::LANES > 64 && word + 1 < WORDS {
                    words[word + 1] |= lanes >> (64 - shift);
                }
            }
        }
        Self(columns)
    }

    /// The word, and the bit in it, at which the lanes of a vector begin.
    #[inline(always)]
    fn position<V: Vectors>(vector: usize) -> (usize, usize) {
        let first = 8 + V::LANES * vector;
        (first / 64, first % 64)
    }

    /// Eight steps of elimination. Afterwards column `j` marks the lanes that add row `j`. Returns
    /// the rows that were filled, and the lanes that fill them.
    ///
    /// Each step leaves column `row` as it is and clears the pivot from all later columns, so a
    /// pivot is never chosen twice.
    #[inline(always)]
    fn eliminate(&mut self) -> (u8, [u64; 8]) {
        let mut filled = 0;
        let mut pivots = [NO_LANE; 8];
        for (row, pivot_of_row) in pivots.iter_mut().enumerate() {
            // Rows before this one are complete and must not be pivots again.
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
            let position = 64 * first as u64 + u64::from(pivot);
            let is_lane = pivot < 64 && position >= 8;
            filled |= u8::from(is_lane) << row;
            *pivot_of_row = if is_lane { position - 8 } else { NO_LANE };
        }
        (filled, pivots)
    }

    /// The rows that the lanes of a vector add, one byte per lane.
    #[inline(always)]
    fn rows<V: Vectors>(&self, cpu: V, vector: usize) -> V::Vector {
        let (word, shift) = Self::position::<V>(vector);
        let mut columns = [0; 8];
        for (lanes, words) in columns.iter_mut().zip(&self.0) {
            *lanes = words[word] >> shift;
            if shift + V::LANES > 64 && word + 1 < WORDS {
                *lanes |= words[word + 1] << (64 - shift);
            }
        }
        cpu.lanes(columns)
    }
}

/// Loads vector number `vector` of some lanes.
#[inline(always)]
fn load<V: Vectors>(cpu: V, lanes: &[u8], vector: usize) -> V::Vector {
    cpu.load(&lanes[V::LANES * vector..][..V::LANES])
}

#[inline(always)]
fn store<V: Vectors>(cpu: V, lanes: &mut [u8], vector: usize, value: V::Vector) {
    cpu.store(&mut lanes[V::LANES * vector..][..V::LANES], value);
}

// The maximum number of vectors can be read starting at the last lane.
const _: () = assert!(MAX_LANES + 20 * 32 <= STRIDE);
