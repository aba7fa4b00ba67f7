//! One query, from the key hash to the instructions of a kernel.
//!
//! ```text
//! Probe::query           compares the length of the bytes
//!   query                compiled for the CPU's instructions and the shape of the filter
//!     Find::find         the key's equation: its first slot and its seeded hash
//!     QueryKind::evaluate   its coefficients and the expected row
//!       Opened::parts    the bounds check, and the addresses of the blocks
//!       parities         eight columns in one step: the instructions, in kernel/
//! ```
//!
//! Below `query` everything is inlined into one function. The rest of `query/` is aside from this
//! path: what is computed when bytes are opened, and the keys and shapes that are rare.
//!
//! An [`Opened`] is a probe with the bytes that it was made for. Its lifetime is invariant, and
//! [`Probe::query`] and [`Probe::open`] make a new one for each use, so the lifetime stands for
//! that one probe and its bytes. A [`Located`] equation has the same lifetime: the compiler rejects
//! code that locates a key in one filter and evaluates the equation in another. (The two stages of
//! an exact set have one lifetime; an equation of one would be checked against the bounds of the
//! other, too.)
//!
//! Every pointer is derived from the bytes of the current call, after their length was compared. So
//! the bytes may change between two calls.
#![expect(unsafe_code, reason = "kernels read through pointers, and need the CPU's features")]

use super::solution::Assumptions;
use super::{Locate, Locator, Membership, Probe, Retrieval, Target};
use crate::kernel::cold_path;
use crate::kernel::portable::parity;
use crate::kernel::{Coefficients, GROUP, Instructions, compile, prefetch};
use crate::ribbon::equation::{Seed, Seeded, Segments, Starts, seeded};
use crate::ribbon::layout::{Order, first_bits};
use crate::ribbon::width::Band;
use core::hint::select_unpredictable;
use core::marker::PhantomData;

/// Number of groups of columns that are compared regardless of the preceding results. If half of
/// the keys are present, a branch after the first group would be mispredicted for every other key.
const UNCONDITIONAL: usize = 2;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Ties a value to one [`Opened`]: a lifetime that neither grows nor shrinks.
type Brand<'a> = PhantomData<fn(&'a ()) -> &'a ()>;

/// The equation of a key: its first slot, and the hash under the seed that applies there.
#[derive(Clone, Copy)]
pub(crate) struct Located<'a> {
    pub(super) slot: u64,
    pub(super) hash: Seeded,
    solution: Brand<'a>,
}

impl Located<'_> {
    /// The equation of a key that has no known location. No slot has this number, so every
    /// kernel declines to evaluate it.
    pub(super) const UNKNOWN: Self =
        Self { slot: u64::MAX, hash: Seeded::ZERO, solution: PhantomData };
}

/// A probe, or its target alone, with bytes of the length that it was made for.
pub(crate) struct Opened<'a, P = Target> {
    pub(super) probe: &'a P,
    /// Invariant: points to as many bytes as the solution is made for, readable for `'a`.
    base: *const u8,
    solution: Brand<'a>,
}

impl<P> Clone for Opened<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Opened<'_, P> {}

/// A query compiled for an instruction set that this CPU has.
pub(super) type Single<K, L> =
    for<'a> unsafe fn(Opened<'a, Probe<K, L>>, u64) -> <K as QueryKind>::Result;

/// A batch of queries compiled for an instruction set that this CPU has.
pub(super) type Batch<K, L> =
    for<'a> unsafe fn(Opened<'a, Probe<K, L>>, &[u64], &mut [<K as QueryKind>::Result]);

impl<K: QueryKind, L: Locate> Probe<K, L> {
    /// The result for the key with the hash `key_hash`.
    ///
    /// The length of the bytes is compared before the call of the compiled function, where a loop
    /// of queries compares it only once, and only their address is passed on.
    #[inline(always)]
    pub(crate) fn query(&self, bytes: &[u8], key_hash: u64) -> K::Result {
        if bytes.len() != self.target.solution.len {
            return K::UNKNOWN;
        }
        Opened { probe: self, base: bytes.as_ptr(), solution: PhantomData }.query(key_hash)
    }

    /// Queries hashes with the fused function. Returns whether there is one and the bytes have the
    /// length that the probe was made for.
    #[inline(always)]
    pub(super) fn query_fused(
        &self,
        bytes: &[u8],
        key_hashes: &[u64],
        results: &mut [K::Result],
    ) -> bool {
        let Some(batch) = self.batch else { return false };
        // SAFETY: `batch` was chosen for a kernel, which exists only where the CPU has its features.
        self.open(bytes, |opened| unsafe { batch(opened, key_hashes, results) }).is_some()
    }

    /// Uses the probe with its bytes. `None` if they do not have the length that it was made for.
    #[inline(always)]
    pub(super) fn open<R>(
        &self,
        bytes: &[u8],
        work: impl for<'a> FnOnce(Opened<'a, Self>) -> R,
    ) -> Option<R> {
        let is_right = bytes.len() == self.target.solution.len;
        is_right.then(|| work(Opened { probe: self, base: bytes.as_ptr(), solution: PhantomData }))
    }
}

compile! {
    query as pub(super) with_vectors, portable:
    <'a, K: QueryKind, B: Band, A: Assumptions, F: Find>(
        opened: Opened<'a, Probe<K>>, key_hash: u64
    ) -> K::Result
}

/// A query of one key, located and evaluated in one function.
#[inline(always)]
pub(super) fn query<I: Instructions, K: QueryKind, B: Band, A: Assumptions, F: Find>(
    instructions: I,
    opened: Opened<'_, Probe<K>>,
    key_hash: u64,
) -> K::Result {
    let located = F::find::<B, A>(&opened.probe.locator, opened.target(), key_hash);
    let result = match located {
        Some(located) => K::evaluate::<I, B, A, F>(instructions, opened.target(), located),
        None => None,
    };
    match result {
        Some(result) => result,
        None => {
            cold_path();
            by_steps(opened, key_hash)
        }
    }
}

/// Locates and evaluates one key in two calls: for shapes without a fused function, and for the
/// few keys that the fused functions decline. It is not inlined, so that these stay small.
#[inline(never)]
pub(super) fn by_steps<K: QueryKind, L: Locate>(
    opened: Opened<'_, Probe<K, L>>,
    key_hash: u64,
) -> K::Result {
    let located = opened.probe.locator.locate(opened.target(), key_hash);
    let mut row = [0];
    opened.evaluate(&[located], &mut row);
    K::conclude(opened.target(), located, row[0])
}

/// A way to locate keys that is compiled into one function with the evaluation.
///
/// `find` may decline a key. [`by_steps`] then locates the key again with [`Locate`], which never
/// declines. So an implementation handles only the frequent cases and stays short, and a declined
/// key costs time but never correctness.
pub(crate) trait Find {
    /// Every row is expected to be zero.
    const ZERO_ROWS: bool = false;

    /// The equation of a key; `None` for the few keys that are left to [`Locate`].
    fn find<'a, B: Band, A: Assumptions>(
        locator: &Locator,
        opened: Opened<'a>,
        key_hash: u64,
    ) -> Option<Located<'a>>;
}

/// Finds keys of a ribbon of one system. In a Homogeneous ribbon all expected rows are zero, and all
/// segments have one seed, so that the seed bytes are not read.
pub(super) struct OneSystem<const HOMOGENEOUS: bool>;

/// Finds keys of systems whose expected rows are all zero.
pub(super) type Zero = OneSystem<true>;
/// Finds keys of systems whose rows are fingerprints or values.
pub(super) type Fingerprints = OneSystem<false>;

impl<const HOMOGENEOUS: bool> Find for OneSystem<HOMOGENEOUS> {
    const ZERO_ROWS: bool = HOMOGENEOUS;

    #[inline(always)]
    fn find<'a, B: Band, A: Assumptions>(
        locator: &Locator,
        opened: Opened<'a>,
        key_hash: u64,
    ) -> Option<Located<'a>> {
        let (system, mixed) = (&locator.system, locator.multipliers.mix(key_hash));
        let hash = match HOMOGENEOUS {
            true => seeded(mixed, system.seed),
            false => system.hash(opened.bytes(), mixed),
        };
        Some(opened.located(system.slot::<A>(mixed, hash)?, hash))
    }
}

/// A system of segments, each an independent band matrix: Standard and Homogeneous ribbons, and
/// each layer of a Bumped one.
#[derive(Clone, Copy)]
pub(crate) struct System {
    /// The first slot of the system; not 0 in a layer after the first.
    pub(super) first_slot: u64,
    pub(super) segments: Segments,
    pub(super) starts: Starts,
    pub(super) seed: Seed,
    /// The offset of the segments' seeds, one byte each, if every segment has its own seed.
    pub(super) seeds: Option<usize>,
}

impl System {
    /// The hash of a key under the seed of its segment.
    #[inline(always)]
    fn hash(&self, bytes: &[u8], mixed: u64) -> Seeded {
        let Some(seeds) = self.seeds else {
            return self.seed.hash(mixed);
        };
        let seed = bytes.get(seeds.wrapping_add(self.segments.number(mixed) as usize));
        seeded(mixed, Seed::new(seed.copied().unwrap_or_default()))
    }

    /// The first slot of a key's equation and its hash, without a branch that depends on its start.
    #[inline(always)]
    pub(super) fn slot_and_hash(&self, bytes: &[u8], mixed: u64) -> (u64, Seeded) {
        let hash = self.hash(bytes, mixed);
        let segment = self.first_slot + self.segments.first_slot(mixed);
        (segment + self.starts.start(hash), hash)
    }

    /// The equation of a key.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(super) fn locate<'a>(&self, opened: Opened<'a>, mixed: u64) -> Located<'a> {
        let (slot, hash) = self.slot_and_hash(opened.bytes(), mixed);
        opened.located(slot, hash)
    }

    /// The first slot of a key's equation, in a system that begins at slot 0: the only system or
    /// the first layer. `None` for a key that is clamped to an end of its segment, unless
    /// [`Assumptions::SMALL`]: then such keys are frequent and are clamped without a branch.
    #[inline(always)]
    pub(super) fn slot<A: Assumptions>(&self, mixed: u64, hash: Seeded) -> Option<u64> {
        let start = match A::SMALL {
            true => self.starts.start(hash),
            false => self.starts.unclamped_start(hash)?,
        };
        Some(self.segments.first_slot(mixed) + start)
    }
}

/// The kind of a query: membership or retrieval.
pub(crate) trait QueryKind: Copy + Sized + 'static {
    type Result: Copy + 'static;
    /// The result if the bytes have a different length than the bytes that were opened.
    const UNKNOWN: Self::Result;

    /// Evaluates an equation; `None` for the few equations that no kernel can read, for example
    /// in a system narrower than the ribbon. [`by_steps`] evaluates these.
    fn evaluate<'a, I: Instructions, B: Band, A: Assumptions, F: Find>(
        instructions: I,
        opened: Opened<'a>,
        located: Located<'a>,
    ) -> Option<Self::Result>;

    /// The result for an equation that evaluates to `row`.
    fn conclude<'a>(opened: Opened<'a>, located: Located<'a>, row: u64) -> Self::Result;
}

impl QueryKind for Membership {
    type Result = bool;
    /// Any key might be in the set: a filter has no false negatives.
    const UNKNOWN: bool = true;

    #[inline(always)]
    fn evaluate<'a, I: Instructions, B: Band, A: Assumptions, F: Find>(
        instructions: I,
        opened: Opened<'a>,
        located: Located<'a>,
    ) -> Option<bool> {
        let (words, fingerprint) = opened.probe.multipliers.expand(located.hash);
        let row = if F::ZERO_ROWS { 0 } else { opened.probe.row(fingerprint) };
        let coefficients = Coefficients { words, slot: located.slot };
        Some(opened.parts::<B, A>(located)?.matches::<I, B, A>(instructions, coefficients, row))
    }

    #[inline(always)]
    fn conclude<'a>(opened: Opened<'a>, located: Located<'a>, row: u64) -> bool {
        let target = opened.probe;
        match target.solution.columns_at(located.slot) {
            Some(columns) => {
                let (_, fingerprint) = target.multipliers.expand(located.hash);
                (row ^ target.row(fingerprint)) & columns == 0
            }
            // No key is in the empty set. A key without a location might be in the filter.
            None => !target.solution.is_empty(),
        }
    }
}

impl QueryKind for Retrieval {
    type Result = u64;
    const UNKNOWN: u64 = 0;

    #[inline(always)]
    fn evaluate<'a, I: Instructions, B: Band, A: Assumptions, F: Find>(
        instructions: I,
        opened: Opened<'a>,
        located: Located<'a>,
    ) -> Option<u64> {
        let (words, _) = opened.probe.multipliers.expand(located.hash);
        // Only rows of 16, 32 or 64 bits are stored row-major, so `FEW` implies columns.
        if A::FEW || opened.probe.solution.layout.order() == Order::Columns {
            let coefficients = Coefficients { words, slot: located.slot };
            return Some(opened.parts::<B, A>(located)?.row::<I, B, A>(instructions, coefficients));
        }
        opened.sum_of_rows::<I, B>(instructions, located, words)
    }

    #[inline(always)]
    fn conclude<'a>(_: Opened<'a>, _: Located<'a>, row: u64) -> u64 {
        row
    }
}

impl<'a, K: QueryKind, L: Locate> Opened<'a, Probe<K, L>> {
    /// A probe with bytes that are part of larger ones.
    ///
    /// # Safety
    /// As many bytes as the probe was made for must be readable at `base` for `'a`.
    #[inline(always)]
    pub(super) unsafe fn at(probe: &'a Probe<K, L>, base: *const u8) -> Self {
        Self { probe, base, solution: PhantomData }
    }

    /// The result for the key with the hash `key_hash`.
    #[inline(always)]
    pub(super) fn query(self, key_hash: u64) -> K::Result {
        // SAFETY: `single` was chosen for a kernel, which exists only where the CPU has its
        // features.
        unsafe { (self.probe.single)(self, key_hash) }
    }

    #[inline(always)]
    pub(super) fn target(self) -> Opened<'a> {
        Opened { probe: &self.probe.target, base: self.base, solution: self.solution }
    }

    /// Evaluates equations to rows, for any shape.
    pub(super) fn evaluate(self, located: &[Located<'a>], rows: &mut [u64]) {
        // SAFETY: `evaluation` was chosen for a kernel, which exists only where the CPU has its
        // features.
        unsafe { (self.probe.evaluation)(self.target(), located, rows) }
    }
}

impl<'a> Opened<'a> {
    #[inline(always)]
    pub(super) fn bytes(self) -> &'a [u8] {
        // SAFETY: by the invariant of `base`, `len` bytes can be read there for `'a`.
        unsafe { core::slice::from_raw_parts(self.base, self.probe.solution.len) }
    }

    /// The equation of this solution that starts at `slot`.
    #[inline(always)]
    pub(super) fn located(self, slot: u64, hash: Seeded) -> Located<'a> {
        Located { slot, hash, solution: self.solution }
    }

    /// The locations of an equation's blocks. `None` where only plain code can read them.
    ///
    /// This is the bounds check of a query, and it establishes the invariant of [`Parts`]. Before
    /// `Solution::end`, the blocks are in the solution itself. From there to `tail_end` they are
    /// in the copy of the last blocks. The two cases differ only in the base address: for small
    /// solutions it is selected without a branch, for others by a branch that is nearly always
    /// predicted correctly.
    #[inline(always)]
    pub(super) fn parts<B: Band, A: Assumptions>(self, located: Located<'a>) -> Option<Parts<'a>> {
        let (solution, slot) = (&self.probe.solution, located.slot);
        let is_before_end = slot < solution.end;
        if (A::SMALL || !is_before_end) && slot >= solution.tail_end {
            cold_path();
            return None;
        }
        // The address at which the solution would begin if its last blocks were those of the tail.
        // So addresses in the tail are computed as in the solution.
        let tail_base = solution.tail.blocks.as_ptr().wrapping_sub(solution.tail.offset);
        let base = match A::SMALL {
            true => select_unpredictable(is_before_end, self.base, tail_base),
            false if is_before_end => self.base,
            false => tail_base,
        };
        Some(self.parts_from::<B, A>(base, slot))
    }

    /// The locations of an equation's blocks if the solution begins at `base` and all its blocks
    /// are whole.
    #[inline(always)]
    fn parts_from<B: Band, A: Assumptions>(self, base: *const u8, slot: u64) -> Parts<'a> {
        let solution = &self.probe.solution;
        let block = slot / u64::from(B::WIDTH.block_slots());
        if let Some(columns) = A::COLUMNS {
            let step = columns * B::WORD_BYTES;
            let first = base.wrapping_add((block as usize).wrapping_mul(step));
            return Parts::evenly(first, step, first_bits(columns as u32));
        }
        if A::WHOLE {
            // The boundary is 0, and all blocks are on its second side.
            let step = solution.block_bytes[1];
            let first = base.wrapping_add((block as usize).wrapping_mul(step));
            return Parts::evenly(first, step, solution.columns[1]);
        }
        // The side of the boundary that a query meets cannot be predicted, so the numbers of its
        // side are indexed instead of selected by a branch.
        let side = usize::from(block >= solution.boundary);
        let step = solution.block_bytes[side];
        let offset = (block as usize).wrapping_mul(step).wrapping_add(solution.first_bytes[side]);
        let first = base.wrapping_add(offset);
        let mut parts = Parts::evenly(first, step, solution.columns[side]);
        // If the first block is the last short one, the second block has one word more, and the
        // third block begins one word later.
        if B::PARTS > 2 && block == solution.crossing {
            cold_path();
            parts.pointers[2] = parts.pointers[2].wrapping_add(B::WORD_BYTES);
        }
        parts
    }

    /// Prefetches every cache line that is read for an equation.
    #[inline(always)]
    pub(super) fn prefetch<B: Band, A: Assumptions>(self, located: Located<'a>) {
        let first = self.parts_from::<B, A>(self.base, located.slot).pointers[0];
        let last_byte = self.probe.solution.last_byte;
        // Up to eight columns, in any number: as many lines as parts, and below one more line,
        // which the blocks reach into unless they are aligned to lines.
        for part in 0..B::PARTS {
            prefetch(first.wrapping_add(part * LINE));
        }
        if !A::FEW {
            // More columns: all further lines up to the last.
            let mut ahead = B::PARTS * LINE;
            while ahead < last_byte {
                prefetch(first.wrapping_add(ahead));
                ahead += LINE;
            }
        }
        if A::COLUMNS != Some(GROUP) || !self.base.addr().is_multiple_of(LINE) {
            prefetch(first.wrapping_add(last_byte));
        }
    }
}

/// The locations of an equation's words in each block that it touches.
pub(super) struct Parts<'a> {
    /// Invariant: for `'a`, every group of eight words for which `columns` has bits can be read
    /// from each of the first [`Band::PARTS`] pointers on.
    pointers: [*const u8; 3],
    /// One bit for each column of the first block.
    columns: u64,
    solution: Brand<'a>,
}

impl Parts<'_> {
    /// Parts at equal distances.
    #[inline(always)]
    fn evenly(first: *const u8, step: usize, columns: u64) -> Self {
        let pointers = [first, first.wrapping_add(step), first.wrapping_add(2 * step)];
        Self { pointers, columns, solution: PhantomData }
    }

    /// The parities of the first group of columns.
    #[inline(always)]
    fn parities<I: Instructions, B: Band>(&self, i: I, coefficients: Coefficients) -> u8 {
        // SAFETY: by the invariant of `pointers`, the eight words of the current group can be read
        // from each of them on. Callers advance only to groups that have columns.
        unsafe { i.parities::<B>(self.pointers, coefficients, self.columns as u8) }
    }

    /// Advances to the next group. Returns whether there is one.
    #[inline(always)]
    fn advance<B: Band>(&mut self) -> bool {
        self.columns >>= GROUP;
        self.pointers = self.pointers.map(|part| part.wrapping_add(GROUP * B::WORD_BYTES));
        self.columns != 0
    }

    /// Whether the equation evaluates to `row`, in every column of the first block.
    #[inline(always)]
    pub(super) fn matches<I: Instructions, B: Band, A: Assumptions>(
        mut self,
        instructions: I,
        coefficients: Coefficients,
        row: u64,
    ) -> bool {
        // No branch on a column, see `UNCONDITIONAL`.
        let parities = self.parities::<I, B>(instructions, coefficients);
        if A::COLUMNS == Some(GROUP) {
            return parities == row as u8;
        }
        if A::COLUMNS == Some(2 * GROUP) {
            self.advance::<B>();
            let second = self.parities::<I, B>(instructions, coefficients);
            return u16::from_le_bytes([parities, second]) == row as u16;
        }
        let mut differs = (parities ^ row as u8) & self.columns as u8;
        let (mut row, mut compared) = (row, 1);
        while !A::FEW && self.columns > 0xff && (compared < UNCONDITIONAL || differs == 0) {
            self.advance::<B>();
            row >>= GROUP;
            let parities = self.parities::<I, B>(instructions, coefficients);
            differs |= (parities ^ row as u8) & self.columns as u8;
            compared += 1;
        }
        differs == 0
    }

    /// The row that the equation evaluates to.
    #[inline(always)]
    pub(super) fn row<I: Instructions, B: Band, A: Assumptions>(
        mut self,
        instructions: I,
        coefficients: Coefficients,
    ) -> u64 {
        if A::COLUMNS == Some(1) {
            // SAFETY: by the invariant of `pointers`, a word can be read from each of them on.
            return unsafe { parity::<B>(self.pointers, coefficients) };
        }
        let all = self.columns;
        let mut row = u64::from(self.parities::<I, B>(instructions, coefficients));
        let mut shift = 0;
        while !A::FEW && self.advance::<B>() {
            shift += GROUP;
            row |= u64::from(self.parities::<I, B>(instructions, coefficients)) << shift;
        }
        row & all
    }
}
