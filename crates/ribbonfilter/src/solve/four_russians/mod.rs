//! Gaussian elimination by tables: many equations at once, eight rows at a time, on any CPU.
//!
//! What [`byte_sliced`](super::byte_sliced) does with vectors of bytes, for where there are
//! none. Coefficients are kept *cyclically* as there: bit `slot mod w` stands for the slot, so
//! that nothing is ever shifted, and a byte of them is what an equation has to say about a
//! *panel* of eight rows.
//!
//! The equations that go in together are *lanes*, in the order of their starts. They pass
//! over the panels side by side, all that have started and are no rows yet:
//!
//! ```text
//!   lanes    [ rows by now | under way ............... | yet to start ]
//!                            head          before   tail
//!   panel    8 rows                        ^ these start in it
//! ```
//!
//! As long as a panel has empty rows, one lane after another takes the rows that it needs and
//! fills an empty one if it comes upon it. Soon the panel is full, often it was so before.
//! Then all sums of its rows that a lane may need are put into tables, [`Sums`], and each
//! further lane takes one sum for the first four rows and one for the others (the "method of
//! four Russians").
//!
//! Invariants: a filled row `i` has the coefficient of slot `i` and others of the slots up to
//! `i + w - 1` only; an empty row is zero. The lanes under way have no coefficients before
//! their panel. Which rows are filled and the solution are those of Algorithm 1; the
//! equations in the rows may be others. This module knows nothing of keys.

mod back_substitution;
mod sums;

use self::sums::Sums;
use crate::error::OutOfMemory;
use crate::ribbon::width::Band;
use crate::solve::banding::RightSide;
use crate::storage::memory::{try_filled, try_filled_huge, try_reserve};
use alloc::vec::Vec;

/// Rows of a panel.
const PANEL: usize = 8;

/// A system in panels, and the lanes that are to go in.
pub(crate) struct FourRussians<B, R> {
    /// Cyclic, and zero where the row is empty.
    coefficients: Vec<B>,
    right_sides: Vec<R>,
    /// For each panel the rows that are filled.
    filled: Vec<u8>,
    lanes: Vec<Row<B, R>>,
    starts: Vec<u32>,
    /// Rows that lanes have filled.
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

/// Lanes on their way through a panel: those from `head` to `tail`, of which the ones from
/// `before` on start in it.
#[derive(Clone, Copy, Default)]
struct UnderWay {
    panel: usize,
    head: usize,
    before: usize,
    tail: usize,
}

impl UnderWay {
    fn is_empty(self) -> bool {
        self.head == self.tail
    }
}

impl<B: Band, R: RightSide> FourRussians<B, R> {
    /// Bytes of coefficients, and panels that they can tell apart.
    const BYTES: usize = B::WIDTH.bits() as usize / 8;

    /// A system of so many empty rows, a multiple of 64.
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

    /// Empties every row.
    pub(crate) fn clear(&mut self) {
        self.coefficients.fill(B::ZERO);
        self.right_sides.fill(R::ZERO);
        self.filled.fill(0);
    }

    /// Gives every empty row, whose slot is a free variable, a value.
    pub(crate) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        for (row, coefficients) in self.coefficients.iter().enumerate() {
            if *coefficients == B::ZERO {
                self.right_sides[row] = R::from_bits(free(row as u64));
            }
        }
    }

    /// Takes so many equations as lanes, in the order of their starts: start, cyclic
    /// coefficients and right-hand side of each.
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

    /// Makes rows of all lanes. If they are not independent of each other and of the rows
    /// that are there, nothing changes.
    pub(crate) fn eliminate(&mut self) -> bool {
        let independent = self.sweep();
        if !independent {
            self.undo();
        }
        independent
    }

    /// Passes over the panels from the first start on until every lane has become a row, or
    /// one has nothing left.
    fn sweep(&mut self) -> bool {
        let mut at = UnderWay::default();
        loop {
            if at.is_empty() {
                let Some(&start) = self.starts.get(at.tail) else { return true };
                at.panel = start as usize / PANEL;
            }
            at.before = at.tail;
            at.tail += self.starting(at);
            at.head = self.pass(at);
            // The last panel of a system, too, is one after which this is looked for.
            if at.panel % 4 == 3 && self.has_dependent(at) {
                return false;
            }
            at.panel += 1;
        }
    }

    /// How many of the lanes that have yet to start do so in the panel.
    #[inline(always)]
    fn starting(&self, at: UnderWay) -> usize {
        let here = |&&start: &&u32| start as usize / PANEL == at.panel;
        self.starts[at.tail..].iter().take_while(here).count()
    }

    /// Whether a lane under way has nothing left, so that it depends on others.
    #[inline(always)]
    fn has_dependent(&self, at: UnderWay) -> bool {
        self.lanes[at.head..at.tail].iter().any(|lane| lane.coefficients == B::ZERO)
    }

    /// Takes the lanes under way past a panel: where those begin that are no rows.
    #[inline(always)]
    fn pass(&mut self, at: UnderWay) -> usize {
        let UnderWay { panel, mut head, before, tail } = at;
        let mut lane = head;
        while self.filled[panel] != u8::MAX && lane < tail {
            if self.pass_open(panel, lane, self.first_bits(at, lane)) {
                // The first of the others takes its place; it has passed the panel.
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

    /// Which columns of the panel are not before a lane's start.
    #[inline(always)]
    fn first_bits(&self, at: UnderWay, lane: usize) -> u8 {
        match lane < at.before {
            true => u8::MAX,
            false => u8::MAX << (self.starts[lane] as usize % PANEL),
        }
    }

    /// Takes a lane past a panel that has empty rows, looking at some of its columns only;
    /// whether it has become a row.
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

    /// Empties the rows that lanes have filled. Later rows were reduced by earlier ones, never
    /// the other way round.
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
