//! Gaussian elimination by tables: a batch of equations against eight rows at a time, on any CPU.
//!
//! The portable counterpart of [`byte_sliced`](super::byte_sliced), for CPUs without its
//! instructions. Coefficients are *cyclic* as there: bit `slot mod w` stands for the slot, so that
//! coefficients are never shifted. One byte of them holds the coefficients of a *panel* of eight
//! rows.
//!
//! The equations of a batch are *lanes*, in the order of their starts. All lanes that have started
//! and are not yet rows pass over the panels together:
//!
//! ```text
//!   lanes    [ rows by now | under way ............... | yet to start ]
//!                            head          before   tail
//!   panel    8 rows                        ^ these start in it
//! ```
//!
//! While a panel has empty rows, one lane after another adds the rows that it needs, and fills an
//! empty row if it reaches one. The panel is soon full, and often was full already. Then all sums
//! of its rows that a lane may need are stored in tables, [`Sums`]. Each further lane adds one sum
//! for the first four rows and one for the other four (the "method of four Russians").
//!
//! Invariants: a filled row `i` has the coefficient of slot `i`, and otherwise only coefficients of
//! slots up to `i + w - 1`; an empty row is zero. A lane under way has no coefficients before its
//! panel. The filled rows and the solution are those of Algorithm 1; the equations in the rows may
//! differ. This module is independent of keys.

mod back_substitution;
mod sums;

use self::sums::Sums;
use crate::error::OutOfMemory;
use crate::ribbon::width::Band;
use crate::solve::UnderWay;
use crate::solve::right_side::RightSide;
use crate::storage::memory::{try_filled, try_filled_huge, try_reserve};
use alloc::vec::Vec;

/// Number of rows in a panel.
const PANEL: usize = 8;

/// A system in panels, and the lanes to be inserted.
pub(crate) struct FourRussians<B, R> {
    /// Cyclic coefficients, zero where the row is empty.
    coefficients: Vec<B>,
    right_sides: Vec<R>,
    /// For each panel, a bit for every filled row.
    filled: Vec<u8>,
    lanes: Vec<Row<B, R>>,
    starts: Vec<u32>,
    /// The rows that the lanes of this batch have filled.
    latest: Vec<u32>,
    sums: Sums<B, R>,
}

/// An equation: cyclic coefficients and right-hand side.
#[derive(Clone, Copy)]
struct Row<B, R> {
    coefficients: B,
    right_side: R,
}

impl<B: Band, R: RightSide> Row<B, R> {
    const ZERO: Self = Self { coefficients: B::ZERO, right_side: R::ZERO };

    /// The sum of two equations.
    #[inline(always)]
    fn plus(self, other: &Self) -> Self {
        Self {
            coefficients: self.coefficients ^ other.coefficients,
            right_side: self.right_side.xor(other.right_side),
        }
    }
}

impl<B: Band, R: RightSide> FourRussians<B, R> {
    /// Number of bytes of coefficients, which is also the number of panels that they distinguish.
    const BYTES: usize = B::WIDTH.bits() as usize / 8;

    /// A system of `slots` empty rows, a multiple of 64.
    pub(crate) fn new(slots: usize) -> Result<Self, OutOfMemory> {
        Ok(Self {
            coefficients: try_filled_huge(B::ZERO, slots)?,
            right_sides: try_filled_huge(R::ZERO, slots)?,
            filled: try_filled(0, slots / PANEL)?,
            lanes: Vec::new(),
            starts: Vec::new(),
            latest: Vec::new(),
            sums: Sums::NONE,
        })
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.coefficients.fill(B::ZERO);
        self.right_sides.fill(R::ZERO);
        self.filled.fill(0);
    }

    /// Sets the value of every empty row, whose slot is a free variable.
    pub(crate) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        for (row, coefficients) in self.coefficients.iter().enumerate() {
            if *coefficients == B::ZERO {
                self.right_sides[row] = R::from_bits(free(row as u64));
            }
        }
    }

    /// Sets `lanes` equations as lanes. They are given in the order of their starts, each as start,
    /// cyclic coefficients and right-hand side.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = (u32, B, R)>,
    ) -> Result<(), OutOfMemory> {
        let Self { lanes: rows, starts, latest, .. } = self;
        rows.clear();
        starts.clear();
        latest.clear();
        try_reserve(rows, lanes)?;
        try_reserve(starts, lanes)?;
        try_reserve(latest, lanes)?;
        for (start, coefficients, right_side) in equations {
            starts.push(start);
            rows.push(Row { coefficients, right_side });
        }
        Ok(())
    }

    /// Turns all lanes into rows. If they are not independent of each other and of the existing
    /// rows, nothing changes and the result is `false`.
    pub(crate) fn eliminate(&mut self) -> bool {
        let independent = self.sweep();
        if !independent {
            self.undo();
        }
        independent
    }

    /// Passes over the panels from the first start on, until every lane has become a row or one has
    /// no coefficients left.
    fn sweep(&mut self) -> bool {
        let mut at = UnderWay::default();
        loop {
            if at.head == at.tail {
                let Some(&start) = self.starts.get(at.tail) else { return true };
                at.panel = start as usize / PANEL;
            }
            at.before = at.tail;
            at.tail += self.starting(at);
            at.head = self.pass(at);
            // Slots are a multiple of 64, so this check also follows the last panel of a system.
            if at.panel % 4 == 3 && self.has_dependent(at) {
                return false;
            }
            at.panel += 1;
        }
    }

    /// The number of lanes that start in the panel.
    #[inline(always)]
    fn starting(&self, at: UnderWay) -> usize {
        let here = |&&start: &&u32| start as usize / PANEL == at.panel;
        self.starts[at.tail..].iter().take_while(here).count()
    }

    /// Whether a lane under way has no coefficients left, so that it depends on others.
    #[inline(always)]
    fn has_dependent(&self, at: UnderWay) -> bool {
        self.lanes[at.head..at.tail].iter().any(|lane| lane.coefficients == B::ZERO)
    }

    /// Eliminates a panel from the lanes under way. Returns the new `head`, the first lane that is
    /// not a row.
    #[inline(always)]
    fn pass(&mut self, at: UnderWay) -> usize {
        let UnderWay { panel, mut head, before, tail } = at;
        let mut lane = head;
        while self.filled[panel] != u8::MAX && lane < tail {
            if self.pass_open(panel, lane, self.first_bits(at, lane)) {
                // Fill the gap with the first lane, which has already passed the panel.
                self.lanes[lane] = self.lanes[head];
                head += 1;
            }
            lane += 1;
        }
        if lane < tail {
            let rows = PANEL * panel..PANEL * (panel + 1);
            let byte = panel % Self::BYTES;
            let Self { sums, coefficients, right_sides, .. } = self;
            sums.make(&coefficients[rows.clone()], &right_sides[rows], byte);
            let started = lane.max(before);
            for lane in &mut self.lanes[lane..started] {
                *lane = self.sums.eliminated(*lane, byte, u8::MAX);
            }
            for (lane, start) in self.lanes[started..tail].iter_mut().zip(&self.starts[started..]) {
                *lane = self.sums.eliminated(*lane, byte, u8::MAX << (*start as usize % PANEL));
            }
        }
        head
    }

    /// The columns of the panel that are not before a lane's start.
    #[inline(always)]
    fn first_bits(&self, at: UnderWay, lane: usize) -> u8 {
        match lane < at.before {
            true => u8::MAX,
            false => u8::MAX << (self.starts[lane] as usize % PANEL),
        }
    }

    /// Eliminates a panel with empty rows from a lane, in the given columns only. Returns whether
    /// the lane has become a row.
    #[inline(always)]
    fn pass_open(&mut self, panel: usize, lane: usize, columns: u8) -> bool {
        let byte = panel % Self::BYTES;
        let mut this = self.lanes[lane];
        let mut columns = this.coefficients.byte(byte) & columns;
        while columns != 0 {
            let column = columns.trailing_zeros() as usize;
            let row = PANEL * panel + column;
            if self.filled[panel] >> column & 1 == 0 {
                self.filled[panel] |= 1 << column;
                self.coefficients[row] = this.coefficients;
                self.right_sides[row] = this.right_side;
                self.latest.push(row as u32);
                return true;
            }
            this = this.plus(&self.row(row));
            columns = this.coefficients.byte(byte) & u8::MAX << 1 << column;
        }
        self.lanes[lane] = this;
        false
    }

    #[inline(always)]
    fn row(&self, row: usize) -> Row<B, R> {
        Row { coefficients: self.coefficients[row], right_side: self.right_sides[row] }
    }

    /// Removes the rows that the lanes have filled. That is safe: later rows were reduced by
    /// earlier ones, never the other way round.
    #[cold]
    fn undo(&mut self) {
        for &row in &self.latest {
            let row = row as usize;
            self.coefficients[row] = B::ZERO;
            self.right_sides[row] = R::ZERO;
            self.filled[row / PANEL] &= !(1 << (row % PANEL));
        }
    }
}
