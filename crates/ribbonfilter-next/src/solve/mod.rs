//! The solver: systems of equations over GF(2) whose rows start at a block of 64 columns.
//!
//! A row has `K` words of coefficients, the first of them for the block where it starts, and a
//! right side of up to 64 bits. Each bit of the right side is a system of its own with the same
//! coefficients. The solver knows nothing of keys, widths or filters.
//!
//! ```text
//! block        0     1     2     3     4
//! rows of 0 |xxxxx|xxxxx|xxxxx|                  K = 3
//! rows of 1       |xxxxx|xxxxx|xxxxx|
//! rows of 2             |xxxxx|xxxxx|xxxxx|
//! ```
//!
//! *Forward*, from the first block to the last: the rows that wait from earlier blocks and those
//! that start here are eliminated in the block's 64 columns, eight columns (a *group*) after the
//! other. A row that was a *pivot*, one per column at most, goes to the memory of pivot rows. The
//! others have only zeros in the block now; those that are zero everywhere are dropped, the rest
//! wait for the next block, a word shorter. *Back substitution*, from the last block to the first,
//! computes the columns of the solution from the pivot rows.
//!
//! # The solution is canonical
//!
//! A column is a pivot if and only if it is no linear combination of the columns to its left: that
//! depends on the matrix alone. All other columns are *free* and zero in the solution, so the
//! solution is unique. An [`Engine`] may therefore take any row as the pivot of a column, and all
//! kernels return the same bits. Which rows become zero, and where, does depend on the pivots; so
//! the number of redundant rows is returned, which is the number of rows less the rank, but not the
//! block at which a contradiction was found.
//!
//! # Any number of rows
//!
//! Independent rows that wait are fewer than `64 * K`, but rows that depend on others wait, too,
//! until they become zero. If there are more than [`CAPACITY`] rows at a block (a user's keys may
//! all have the same hash), they are first reduced to independent ones, one at a time:
//! [`RowBuffer::condense`]. That is slow, linear in the rows, and keeps every engine's memory
//! fixed.

mod four_russians;
mod row_buffer;
mod substitution;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use row_buffer::RowBuffer;

use crate::kernel::{Kernel, compile};
use crate::storage::memory::try_reserve_huge;
use alloc::vec::Vec;
use four_russians::FourRussians;

/// The rows that an engine can hold. A block of a filter has 64 rows, and 20 to 100 wait.
const CAPACITY: usize = 768;

/// A system of equations, as its user describes it.
///
/// `rows` and `solved` are called in the function that is compiled for the kernel: if they are
/// `#[inline(always)]`, they use its instruction set.
pub(crate) trait Equations<const K: usize> {
    /// The number of blocks, including the `K - 1` last ones in which no row starts.
    fn blocks(&self) -> usize;

    /// Writes the rows that start at `block`. Called once per block, from the first to the last.
    /// Coefficients of columns that do not exist must be zero.
    fn rows(&mut self, block: usize, rows: &mut RowBuffer<K>) -> Result<(), Failure>;

    /// Receives the solution of `block`, one word per bit of the right side. Called once per block,
    /// from the last to the first, only if the system has a solution.
    fn solved(&mut self, block: usize, columns: &[u64]);
}

/// Why a system was not solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Two sums of equations have the same left side and different right sides.
    NoSolution,
    /// This many bytes could not be allocated.
    OutOfMemory { bytes: usize },
}

/// Memory that is reused from system to system. Each thread has its own.
#[derive(Default)]
pub(crate) struct Workspace {
    rows: Vec<u64>,
    memory: Memory,
}

/// What the forward pass leaves for the back substitution. Its layout is the engine's.
#[derive(Default)]
struct Memory {
    pivots: Vec<u64>,
    /// For byte planes: the pivots, and the planes.
    #[cfg(target_arch = "x86_64")]
    lines: Vec<x86_64::Line>,
    #[cfg(target_arch = "x86_64")]
    planes: Vec<x86_64::Line>,
}

/// Solves a system whose right sides have `right_bits` bits, 0 to 64. Returns the number of
/// redundant rows, those that are sums of others.
pub(crate) fn solve<const K: usize, E: Equations<K>>(
    kernel: Kernel,
    workspace: &mut Workspace,
    equations: &mut E,
    right_bits: u32,
) -> Result<u64, Failure> {
    assert!(right_bits <= 64);
    // SAFETY: a kernel is proof that the CPU has its instructions.
    #[expect(unsafe_code, reason = "a function that is compiled for a kernel")]
    unsafe {
        compiled::<K, E>(kernel)(workspace, equations, right_bits)
    }
}

compile! {
    fn compiled[const K: usize, E: Equations<K>][K, E] =
        run(workspace: &mut Workspace, equations: &mut E, right_bits: u32) -> Result<u64, Failure>;
}

/// A kernel's way to eliminate: a token chooses an engine.
trait Elimination: Copy {
    type Engine<'m, const K: usize>: Engine<'m, K, Token = Self>;
}

/// Elimination and back substitution of a system with rows of `K` words.
trait Engine<'m, const K: usize>: Sized {
    /// The proof that the engine can run.
    type Token;

    fn start(
        token: Self::Token,
        memory: &'m mut Memory,
        blocks: usize,
        right_bits: u32,
    ) -> Result<Self, Failure>;

    /// The number of rows that wait.
    fn waiting(&self) -> usize;

    /// Moves the rows that wait to the end of `rows`.
    fn release(&mut self, rows: &mut RowBuffer<K>) -> Result<(), Failure>;

    /// Eliminates the next block: `rows` are those that start there, at most [`CAPACITY`] together
    /// with those that wait. Returns the number of pivots.
    fn eliminate(&mut self, rows: &RowBuffer<K>) -> Result<usize, Failure>;

    /// Computes the solution of `block`. Called for all blocks, from the last to the first.
    fn substitute(&mut self, block: usize, columns: &mut [u64; 64]);
}

#[cfg(target_arch = "x86_64")]
impl Elimination for crate::kernel::Avx512 {
    type Engine<'m, const K: usize> = x86_64::BytePlanes<'m, K>;
}

macro_rules! four_russians {
    ($($(#[$attribute:meta])* $token:ident)+) => {$(
        $(#[$attribute])*
        impl Elimination for crate::kernel::$token {
            type Engine<'m, const K: usize> = FourRussians<'m, Self, K>;
        }
    )+};
}
four_russians! {
    Portable
    #[cfg(target_arch = "x86_64")] Avx2
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))] Neon
}

#[inline(always)]
fn run<T: Elimination, const K: usize, E: Equations<K>>(
    token: T,
    workspace: &mut Workspace,
    equations: &mut E,
    right_bits: u32,
) -> Result<u64, Failure> {
    let blocks = equations.blocks();
    let Workspace { rows, memory } = workspace;
    let mut rows = RowBuffer::new(rows);
    let mut engine = T::Engine::<'_, K>::start(token, memory, blocks, right_bits)?;
    let (mut total, mut rank) = (0, 0);
    for block in 0..blocks {
        rows.clear();
        equations.rows(block, &mut rows)?;
        total += rows.len() as u64;
        if engine.waiting() + rows.len() > CAPACITY {
            engine.release(&mut rows)?;
            rows.condense()?;
        }
        rank += engine.eliminate(&rows)? as u64;
    }
    debug_assert_eq!(engine.waiting(), 0, "no row may reach beyond the last block");
    let mut columns = [0; 64];
    for block in (0..blocks).rev() {
        engine.substitute(block, &mut columns);
        equations.solved(block, &columns[..right_bits as usize]);
    }
    Ok(total - rank)
}

/// Reserves capacity for `additional` more elements, in huge pages if there are many.
fn reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), Failure> {
    let bytes = additional.saturating_mul(size_of::<T>());
    try_reserve_huge(vec, additional).map_err(|_| Failure::OutOfMemory { bytes })
}
