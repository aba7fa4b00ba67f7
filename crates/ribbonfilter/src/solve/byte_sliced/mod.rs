//! Gaussian elimination in byte-sliced form: a batch of equations against eight rows at a time.
//!
//! Coefficients are *cyclic*: bit `slot mod w` stands for the slot, so that coefficients are never
//! shifted. Eight rows whose numbers differ only in the last three bits are a *panel*, and one byte
//! of cyclic coefficients holds an equation's coefficients in one panel. The equations of a batch
//! are the *pool*, and each is a *lane* of it. Their bytes are stored in *planes*: plane `b` holds
//! byte `b` of all lanes. So plane `panel mod (w / 8)` is the next eight columns of the pool's
//! matrix.
//!
//! ```text
//!              lane 0  lane 1  lane 2 ...            panel q of the system, 8 rows:
//!   plane 0    [byte]  [byte]  [byte]                  word 0    8 bytes, one per row
//!   plane 1    [byte]  [byte]  [byte]   ^=  word 1  *  word 1    8 bytes, one per row
//!   ...                                                ...
//!   right-hand sides, 1 to 8 planes                    1 to 8 words
//! ```
//!
//! Eliminating a panel's rows from the pool is one linear map per plane. A byte `m` says which of
//! the eight rows a lane adds, and `plane[lane] ^= word * m` is the product of a bit matrix and a
//! vector of eight bits. With two 16-entry tables, one for each half of `m`, that takes two byte
//! shuffles for 32 lanes; with GFNI, one instruction for 64. Where rows are empty, lanes become
//! rows; the pivots are found on the eight bit columns in general-purpose registers.
//!
//! The filled rows and the solution are those of Algorithm 1; the equations in the rows may differ.
//! This module is independent of keys.

#[cfg(not(target_arch = "x86_64"))]
mod unsupported;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
use unsupported::InstructionSet;
#[cfg(target_arch = "x86_64")]
use x86_64::InstructionSet;

use crate::Width;
use crate::error::OutOfMemory;
use crate::kernel::{Kernel, Work};
use crate::ribbon::layout::Layout;
use crate::storage::memory::{try_filled, try_filled_huge};
use alloc::vec::Vec;

/// The maximum number of equations in a batch. Bit columns have ten words, of which eight bits are
/// for the panel's rows.
pub(crate) const MAX_LANES: usize = 64 * 10 - 8;
/// Bytes of a plane. The maximum number of vectors may be read starting at the last lane. An odd
/// number of cache lines, so that planes do not compete for the same cache sets.
const STRIDE: usize = 21 * 64;
/// Number of full panels whose tables are cached.
const CACHED: usize = 128;

/// Proof that the CPU has the instructions for byte-sliced elimination.
#[derive(Clone, Copy)]
pub(crate) struct Eliminator(InstructionSet);

impl Eliminator {
    /// The eliminator of a kernel; `None` if it has none.
    pub(crate) fn of(kernel: Kernel) -> Option<Self> {
        InstructionSet::of(kernel).map(Self)
    }

    /// Runs work around this elimination with its instruction set. (With GFNI, compiled for AVX2 instead
    /// of AVX-512, a Bumped build of 2 * 10^7 keys took 1.20 instead of 1.02 seconds.)
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        self.0.run(work)
    }
}

/// A system in panels, and the pool to be inserted.
pub(crate) struct ByteSliced {
    instruction_set: InstructionSet,
    /// Number of planes of coefficients, and of all planes including right-hand sides.
    coefficient_planes: usize,
    all_planes: usize,
    /// For each panel, one word per plane. Byte `j` belongs to row `j`, and is zero if the row is
    /// empty.
    words: Vec<u64>,
    /// For each panel, a bit for every filled row.
    filled: Vec<u8>,
    pool: Pool,
    /// Direct-mapped cache of the tables of full panels. `cached` holds the panel of each entry, or
    /// `u32::MAX` if there is none. A full panel changes only in `undo` and `clear`, which reset
    /// its entry.
    tables: Vec<u64>,
    cached: Vec<u32>,
}

/// One byte of every lane. Aligned to a cache line: loads of vectors that cross lines take twice as
/// long.
#[derive(Clone)]
#[repr(C, align(64))]
struct Plane([u8; STRIDE]);

/// The equations of a batch, in the order of their starts.
struct Pool {
    /// The lanes as given: the first word of every lane, then the second, and so on. The words hold
    /// the cyclic coefficients followed by the right-hand side.
    rows: Vec<u64>,
    starts: Vec<u32>,
    /// For each lane, the bits of its first panel that are not before its start.
    first_bits: [u8; STRIDE],
    planes: Vec<Plane>,
    /// For each panel from the first of the pool on, the number of lanes that start in it or before
    /// it.
    tails: Vec<u16>,
    /// A bit for every lane that has become a row.
    placed: [u64; STRIDE / 64],
    /// The panels in which lanes became rows, and which rows.
    filled: Vec<(u32, u8)>,
}

impl ByteSliced {
    /// A system of `slots` empty rows, a multiple of 64. Right-hand sides have `right_side` bytes,
    /// 4 or 8, of which the first `columns` bits are solved for.
    pub(crate) fn new(
        Eliminator(instruction_set): Eliminator,
        width: Width,
        right_side: usize,
        slots: u64,
        columns: usize,
    ) -> Result<Self, OutOfMemory> {
        let coefficient_planes = width.bits() as usize / 8;
        let all_planes = coefficient_planes + columns.div_ceil(8);
        let panels = slots as usize / 8;
        Ok(Self {
            instruction_set,
            coefficient_planes,
            all_planes,
            words: try_filled_huge(0, panels * all_planes)?,
            filled: try_filled(0, panels)?,
            // The pool has all planes of the right-hand sides, even those that are not needed.
            pool: Pool::new(coefficient_planes + right_side)?,
            tables: try_filled(0, CACHED * (all_planes + 1) * instruction_set.table_words())?,
            cached: try_filled(u32::MAX, CACHED)?,
        })
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.filled.fill(0);
        self.cached.fill(u32::MAX);
    }

    /// Puts `lanes` equations, at most [`MAX_LANES`], into the pool. They are given in the order of
    /// their starts, each as start, cyclic coefficients and right-hand side.
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
        let lanes = starts.iter_mut().zip(first_bits).zip(near);
        for (lane, (lane_data, (start, cyclic, right_side))) in lanes.zip(equations).enumerate() {
            let ((lane_start, first_bits), near) = lane_data;
            *lane_start = start;
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

    /// Turns all equations of the pool into rows. If they are not independent of each other and of
    /// the existing rows, nothing changes and the result is `false`.
    pub(crate) fn eliminate(&mut self) -> bool {
        if self.pool.starts.is_empty() {
            return true;
        }
        self.pool.begin();
        let independent = self.instruction_set.eliminate(self);
        if !independent {
            self.undo();
        }
        independent
    }

    /// Removes the rows that the pool has filled. Rows that were there earlier never change during
    /// a sweep, so this restores the system.
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

    /// Sets the value of every empty row, whose slot is a free variable.
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

    /// Solves the system into the blocks of a layout. Free variables are zero unless they were set.
    ///
    /// # Panics
    /// If the layout has more columns than the system was made for: they would come out as zeros.
    pub(crate) fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        let made_for = 8 * (self.all_planes - self.coefficient_planes);
        assert!(
            layout.columns() as usize <= made_for,
            "the system has fewer columns than the layout"
        );
        self.instruction_set.solve(self, layout, bytes);
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

    /// Resets the state of the last sweep and counts the lanes by panel.
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
        // A panel in which no lane starts has the tail of the preceding one.
        let mut before = 0;
        for tail in &mut self.tails {
            before = before.max(*tail);
            *tail = before;
        }
    }

    /// The number of lanes that start in this panel or before it.
    #[inline(always)]
    fn tail(&self, panel: usize) -> usize {
        let number = panel - self.starts[0] as usize / 8;
        self.tails.get(number).map_or(self.starts.len(), |&tail| tail.into())
    }

    /// The number of consecutive lanes from `head` on that have become rows, up to the end of one
    /// word.
    #[inline(always)]
    fn placed_from(&self, head: usize) -> usize {
        (!(self.placed[head / 64] >> (head % 64))).trailing_zeros() as usize
    }
}
