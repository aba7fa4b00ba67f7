//! Gaussian elimination by byte planes: many equations at once, eight rows at a time.
//!
//! Coefficients are kept *cyclically*: bit `slot mod w` stands for the slot, so that nothing
//! is ever shifted. Eight rows whose numbers agree but for the last three bits are a *panel*,
//! and a byte of cyclic coefficients is what an equation has to say about one panel. The
//! equations that go in together are the *pool*, each a *lane* of it, and their bytes lie in
//! *planes*: plane `b` holds byte `b` of all lanes. So the plane `panel mod (w / 8)` is the
//! next eight columns of the pool's matrix.
//!
//! ```text
//!              lane 0  lane 1  lane 2 ...            panel q of the system, 8 rows:
//!   plane 0    [byte]  [byte]  [byte]                  word 0    8 bytes, one a row
//!   plane 1    [byte]  [byte]  [byte]   ^=  word 1  *  word 1    8 bytes, one a row
//!   ...                                                ...
//!   right-hand sides, 1 to 8 planes                    1 to 8 words
//! ```
//!
//! Eliminating a panel's rows from the pool is one linear map a plane: a byte `m` says which
//! of the eight rows a lane takes, and `plane[lane] ^= word * m`, a product of a vector of
//! eight bits and a matrix. With 16-entry tables, one for each half of `m`, that is two byte
//! shuffles for 32 lanes, with GFNI one instruction for 64. Where rows are empty, lanes become
//! rows; which ones is found on the eight bit columns in general registers.
//!
//! The rows that are filled, and the solution, are those of Algorithm 1; the equations in the
//! rows may be others. This module knows nothing of keys.

#[cfg(not(target_arch = "x86_64"))]
mod unsupported;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
use unsupported::Means;
#[cfg(target_arch = "x86_64")]
use x86_64::Means;

use crate::Width;
use crate::error::OutOfMemory;
use crate::kernel::Kernel;
use crate::ribbon::layout::Layout;
use crate::storage::memory::{try_filled, try_filled_huge};
use alloc::vec::Vec;

/// The most equations that go in together: eight lanes of 64-bit columns are for rows.
pub(crate) const MAX_LANES: usize = 64 * 10 - 8;
/// Bytes of a plane: the most vectors may be read from the last lane on. An odd number of
/// cache lines, so that planes do not compete for the same places of the cache.
const STRIDE: usize = 21 * 64;
/// Full panels whose tables are kept.
const CACHED: usize = 128;

/// Proof that the CPU can eliminate by planes.
#[derive(Clone, Copy)]
pub(crate) struct Eliminator(Means);

impl Eliminator {
    /// The way of a kernel, if it has one.
    pub(crate) fn of(kernel: Kernel) -> Option<Self> {
        Means::of(kernel).map(Self)
    }
}

/// A system in panels, and the pool that is to go in.
pub(crate) struct ByteSliced {
    means: Means,
    /// ByteSliced of coefficients, and of all.
    coefficient_planes: usize,
    all_planes: usize,
    /// For each panel a word for each plane: byte `j` is of row `j`, zero if it is empty.
    words: Vec<u64>,
    /// For each panel the rows that are filled.
    filled: Vec<u8>,
    pool: Pool,
    /// Tables of full panels, the panel that each entry is for, and none if it is stale.
    tables: Vec<u64>,
    cached: Vec<u32>,
}

/// A byte of every lane. It begins on a cache line: vectors that cross lines take twice as long.
#[derive(Clone)]
#[repr(C, align(64))]
struct Plane([u8; STRIDE]);

/// The equations that are to go in together, in the order of their starts.
struct Pool {
    /// The lanes as they were given: cyclic coefficients and right-hand side, word by word.
    rows: Vec<u64>,
    starts: Vec<u32>,
    /// For each lane the bits of its first panel that are not before its start.
    first_bits: [u8; STRIDE],
    planes: Vec<Plane>,
    /// Lanes whose panel is the first of the pool, the second, and so on, and all before.
    tails: Vec<u16>,
    /// Which lanes have become rows.
    placed: [u64; STRIDE / 64],
    /// FourRussians that got rows, and which.
    filled: Vec<(u32, u8)>,
}

impl ByteSliced {
    /// A system of so many empty rows, a multiple of 64. Of right-hand sides of some bytes,
    /// 4 or 8, so many columns are wanted.
    pub(crate) fn new(
        Eliminator(means): Eliminator,
        width: Width,
        right_side: usize,
        slots: u64,
        columns: usize,
    ) -> Result<Self, OutOfMemory> {
        let coefficient_planes = width.bits() as usize / 8;
        let all_planes = coefficient_planes + columns.div_ceil(8);
        let panels = slots as usize / 8;
        Ok(Self {
            means,
            coefficient_planes,
            all_planes,
            words: try_filled_huge(0, panels * all_planes)?,
            filled: try_filled(0, panels)?,
            // All planes of the right-hand sides are made, whether they are needed or not.
            pool: Pool::new(coefficient_planes + right_side)?,
            tables: try_filled(0, CACHED * (all_planes + 1) * means.table_words())?,
            cached: try_filled(u32::MAX, CACHED)?,
        })
    }

    /// Empties every row.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.filled.fill(0);
        self.cached.fill(u32::MAX);
    }

    /// Puts so many equations into the pool, at most [`MAX_LANES`], in the order of their
    /// starts: start, cyclic coefficients and right-hand side of each.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = (u32, [u64; 2], u64)>,
    ) {
        let Pool { rows, starts, first_bits, .. } = &mut self.pool;
        starts.clear();
        starts.resize(lanes, 0);
        let (near, rest) = rows.split_at_mut(STRIDE);
        let (far, last) = rest.split_at_mut(rest.len().min(STRIDE));
        let places = starts.iter_mut().zip(first_bits).zip(near);
        for (lane, (place, (start, cyclic, right_side))) in places.zip(equations).enumerate() {
            let ((place, first_bits), near) = place;
            *place = start;
            *first_bits = 0xff << (start % 8);
            match self.coefficient_planes {
                4 => {
                    *near = cyclic[0] | right_side << 32;
                    if let Some(far) = far.get_mut(lane) {
                        *far = right_side >> 32;
                    }
                }
                8 => (*near, far[lane]) = (cyclic[0], right_side),
                _ => {
                    (*near, far[lane]) = (cyclic[0], cyclic[1]);
                    last[lane] = right_side;
                }
            }
        }
    }

    /// Makes rows of all equations of the pool. If they are not independent of each other and of the rows that are there, nothing changes.
    pub(crate) fn eliminate(&mut self) -> bool {
        if self.pool.starts.is_empty() {
            return true;
        }
        self.pool.begin();
        let independent = self.means.eliminate(self);
        if !independent {
            self.undo();
        }
        independent
    }

    /// Empties the rows that the pool has filled.
    fn undo(&mut self) {
        for &(panel, rows) in &self.pool.filled {
            let panel = panel as usize;
            let bytes = (0..8).filter(|row| rows >> row & 1 == 1).map(|row| 0xff << (8 * row));
            let gone: u64 = bytes.sum();
            for word in &mut self.words[panel * self.all_planes..][..self.all_planes] {
                *word &= !gone;
            }
            self.filled[panel] &= !rows;
            self.cached[panel % CACHED] = u32::MAX;
        }
    }

    /// Gives every empty row, whose slot is a free variable, a value.
    pub(crate) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        let panels = self.words.chunks_exact_mut(self.all_planes).zip(&self.filled);
        for (panel, (words, &filled)) in panels.enumerate() {
            let mut empty = !filled;
            while empty != 0 {
                let row = empty.trailing_zeros();
                let value = free(8 * panel as u64 + u64::from(row));
                let bytes = value.to_le_bytes();
                for (word, byte) in words[self.coefficient_planes..].iter_mut().zip(bytes) {
                    *word = *word & !(0xff << (8 * row)) | u64::from(byte) << (8 * row);
                }
                empty &= empty - 1;
            }
        }
    }

    /// Solves the system into the blocks of a layout; free variables are zero unless they were
    /// set.
    ///
    /// # Panics
    /// If the layout has more columns than the system was made for: they would come out as zeros.
    pub(crate) fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        let made_for = 8 * (self.all_planes - self.coefficient_planes);
        assert!(
            layout.columns() as usize <= made_for,
            "the system has fewer columns than the layout"
        );
        self.means.solve(self, layout, bytes);
    }
}

impl Pool {
    fn new(planes: usize) -> Result<Self, OutOfMemory> {
        let words = planes.div_ceil(8);
        Ok(Self {
            rows: try_filled(0, words * STRIDE)?,
            starts: Vec::with_capacity(MAX_LANES),
            first_bits: [0; STRIDE],
            planes: try_filled(Plane([0; STRIDE]), words * 8)?,
            tails: Vec::new(),
            placed: [0; STRIDE / 64],
            filled: Vec::new(),
        })
    }

    /// Counts the lanes by their panels.
    fn begin(&mut self) {
        self.filled.clear();
        self.placed.fill(0);
        let panel = |start: &u32| *start as usize / 8;
        let (first, last) = (panel(&self.starts[0]), panel(&self.starts[self.starts.len() - 1]));
        self.tails.clear();
        self.tails.resize(last - first + 1, 0);
        for (lane, start) in (1..).zip(&self.starts) {
            self.tails[panel(start) - first] = lane;
        }
        // Where no lane starts.
        let mut before = 0;
        for tail in &mut self.tails {
            before = before.max(*tail);
            *tail = before;
        }
    }

    /// The lanes whose panel is not behind this one.
    #[inline(always)]
    fn tail(&self, panel: usize) -> usize {
        let number = panel - self.starts[0] as usize / 8;
        self.tails.get(number).map_or(self.starts.len(), |&tail| tail.into())
    }

    /// How many lanes from `head` on have become rows, without a gap, as far as one look
    /// tells.
    #[inline(always)]
    fn placed_from(&self, head: usize) -> usize {
        (!(self.placed[head / 64] >> (head % 64))).trailing_zeros() as usize
    }
}
