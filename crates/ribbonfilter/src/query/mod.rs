//! From a key hash to a result, one key at a time or in batches.
//!
//! A query has two steps. A *locator* turns a key hash into a [`Located`] equation: its first
//! slot, and the hash that determines its coefficients and fingerprint. The first slot depends
//! on the variant ([`Locator`]), on the part of a cut filter ([`InPart`]) or on the shard of a
//! container ([`Ranges`]). The second step *evaluates* the equation over the solution
//! ([`QueryKind::evaluate`]): it tests for the expected row, or returns the row.
//!
//! ```text
//! contains_hash -> Probe::query --+--> Fused: locate and evaluate, compiled as one function
//!                                 +--> by_steps: for rare shapes and rare keys
//! contains_hash_batch -> batch::run: locate 32, prefetch, evaluate the preceding 32
//! ```
//!
//! [`Probe`] is one flat record of all numbers that a query needs, computed when bytes are
//! opened. A query that misses the nearest cache is bound by its number of instructions: the
//! fewer it has, the more queries the CPU keeps in flight. So the usual shapes have functions of
//! their own ([`dispatch`]). The work that few keys need (the ends of the system, the last block,
//! bumped keys) costs all other keys one comparison each.

mod balanced;
mod batch;
mod bumped;
mod dispatch;
mod locator;
pub(crate) mod once;
mod part;
mod ranges;
mod system;

pub(crate) use locator::Locator;
pub(crate) use part::InPart;
pub(crate) use ranges::Ranges;

use dispatch::Rows;

use crate::format::Footer;
use crate::kernel::{
    Assumptions, HasSolution, Instructions, Kernel, ManyFn, Readable, Single, SingleFn, Solution,
};
use crate::ribbon::equation::{FINGERPRINT_BITS, Multipliers, Seeded};
use crate::ribbon::layout::{Layout, Order};
use crate::ribbon::width::Band;
use crate::{Key, Variant, Width};
use core::marker::PhantomData;

/// The equation of a key: its first slot, and the hash under the seed that applies there.
#[derive(Clone, Copy)]
pub(crate) struct Located {
    slot: u64,
    hash: Seeded,
}

impl Located {
    /// The equation of a key that has no known location. No slot has this number, so every
    /// kernel declines to evaluate it.
    const NOWHERE: Self = Self { slot: u64::MAX, hash: Seeded::ZERO };
}

/// Turns key hashes into equations.
pub(crate) trait Locate: Copy + 'static {
    /// Locates a key. `bytes` must have the same length as the bytes that were opened.
    fn locate(&self, bytes: &[u8], key_hash: u64) -> Located;

    /// Locates keys until `key_hashes` or `located` ends.
    #[inline(always)]
    fn locate_many(&self, bytes: &[u8], key_hashes: &[u64], located: &mut [Located]) {
        for (&key_hash, located) in key_hashes.iter().zip(located) {
            *located = self.locate(bytes, key_hash);
        }
    }
}

/// The kind of a query: membership or retrieval.
pub(crate) trait QueryKind: Copy + Sized + 'static {
    type Result: Copy + 'static;
    /// The result if the bytes have a different length than the bytes that were opened.
    const UNKNOWN: Self::Result;

    /// Evaluates an equation; `None` for the few equations that no kernel can read, for example
    /// in a system narrower than the ribbon. [`by_steps`] evaluates these.
    fn evaluate<I: Instructions, B: Band, A: Assumptions, R: Rows>(
        instructions: I,
        target: &Target,
        readable: Readable<'_>,
        located: Located,
    ) -> Option<Self::Result>;

    /// The result for an equation that evaluates to `row`.
    fn conclude(target: &Target, located: Located, row: u64) -> Self::Result;

    /// The functions compiled for the shape of a filter of `len` bytes, if there are any.
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>>;
}

/// A function that evaluates located equations to rows, for any shape.
pub(crate) type Evaluation = ManyFn<Target, Located, u64>;

/// Queries that locate and evaluate in one compiled function.
#[derive(Clone, Copy)]
pub(crate) struct Fused<K: QueryKind> {
    single: SingleFn<Probe<K>, K::Result>,
    batch: Option<ManyFn<Probe<K>, u64, K::Result>>,
}

/// The query of a filter: does the equation hold?
#[derive(Clone, Copy)]
pub(crate) struct Membership;

/// The query of a static function: which row does the equation evaluate to?
#[derive(Clone, Copy)]
pub(crate) struct Retrieval;

impl QueryKind for Membership {
    type Result = bool;
    /// Any key might be in the set: a filter has no false negatives.
    const UNKNOWN: bool = true;

    #[inline(always)]
    fn evaluate<I: Instructions, B: Band, A: Assumptions, R: Rows>(
        instructions: I,
        target: &Target,
        readable: Readable<'_>,
        located: Located,
    ) -> Option<bool> {
        let (words, fingerprint) = target.multipliers.expand(located.hash);
        let row = if R::ZERO { 0 } else { target.row(fingerprint) };
        readable.matches::<I, B, A>(instructions, located.slot, words, row)
    }

    #[inline(always)]
    fn conclude(target: &Target, located: Located, row: u64) -> bool {
        match target.solution.columns_at(located.slot) {
            Some(columns) => {
                let (_, fingerprint) = target.multipliers.expand(located.hash);
                (row ^ target.row(fingerprint)) & columns == 0
            }
            // No key is in the empty set. A key without a location might be in the filter.
            None => !target.solution.is_empty(),
        }
    }

    #[inline(always)]
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>> {
        Some(dispatch::membership(footer, len, kernel))
    }
}

impl QueryKind for Retrieval {
    type Result = u64;
    const UNKNOWN: u64 = 0;

    #[inline(always)]
    fn evaluate<I: Instructions, B: Band, A: Assumptions, R: Rows>(
        instructions: I,
        target: &Target,
        readable: Readable<'_>,
        located: Located,
    ) -> Option<u64> {
        let words = target.multipliers.expand(located.hash).0;
        // Only rows of 16, 32 or 64 bits are stored row-major, so `FEW` implies columns.
        if A::FEW || readable.layout().order() == Order::Columns {
            return readable.row::<I, B, A>(instructions, located.slot, words);
        }
        readable.sum_of_rows::<I, B>(instructions, located.slot, words)
    }

    #[inline(always)]
    fn conclude(_: &Target, _: Located, row: u64) -> u64 {
        row
    }

    #[inline(always)]
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>> {
        dispatch::retrieval(footer, len, kernel)
    }
}

/// The solution over which located equations are evaluated, and how to expand their hashes.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    solution: Solution,
    /// Low bits of a fingerprint that are not stored. For a Homogeneous ribbon these are all
    /// bits, so that [`Target::row`] is zero.
    skipped: u32,
    multipliers: Multipliers,
}

impl Target {
    /// The row that the slots of a key must sum to.
    #[inline(always)]
    fn row(&self, fingerprint: u32) -> u64 {
        u64::from(fingerprint) >> self.skipped
    }
}

/// Everything that a query needs in addition to the bytes, computed once.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Probe<K: QueryKind, L: 'static = Locator> {
    single: SingleFn<Self, K::Result>,
    target: Target,
    locator: L,
    batch: Option<ManyFn<Self, u64, K::Result>>,
    evaluation: Evaluation,
}

impl<K: QueryKind, L> HasSolution for Probe<K, L> {
    #[inline(always)]
    fn solution(&self) -> &Solution {
        &self.target.solution
    }
}

impl HasSolution for Target {
    #[inline(always)]
    fn solution(&self) -> &Solution {
        &self.solution
    }
}

impl<K: QueryKind> Probe<K> {
    /// A probe of the filter or the function in `bytes`.
    #[inline(always)]
    pub(crate) fn of_filter(footer: &Footer, bytes: &[u8], kernel: Kernel) -> Self {
        let solution = Solution::new(footer.shape.layout(), footer.shape.width, bytes);
        Self::with_solution(footer, solution, bytes.len(), kernel)
    }

    /// A probe of `len` bytes that are queried once: it has no copy of the last block.
    #[inline(always)]
    pub(crate) fn of_filter_once(footer: &Footer, len: usize, kernel: Kernel) -> Self {
        let solution = Solution::once(footer.shape.layout(), footer.shape.width, len);
        Self::with_solution(footer, solution, len, kernel)
    }

    #[inline(always)]
    fn with_solution(footer: &Footer, solution: Solution, len: usize, kernel: Kernel) -> Self {
        let skipped = match footer.shape.variant {
            Variant::Homogeneous => FINGERPRINT_BITS,
            _ => footer.first_column(),
        };
        let (single, batch) = match K::fused(footer, len, kernel) {
            Some(fused) => (fused.single, fused.batch),
            None => (Kernel::portable_single::<BySteps<K, Locator>>(), None),
        };
        Self {
            single,
            target: Target { solution, skipped, multipliers: Multipliers::CONSTANTS },
            locator: Locator::new(footer, &footer.shape.layout()),
            batch,
            evaluation: dispatch::evaluation(footer.shape.width, kernel),
        }
    }
}

impl<K: QueryKind, L: Locate> Probe<K, L> {
    /// A probe of the solution with the given layout in `bytes`, without fused functions.
    #[inline(always)]
    pub(crate) fn new(
        layout: Layout,
        width: Width,
        bytes: &[u8],
        kernel: Kernel,
        locator: L,
        skipped: u32,
    ) -> Self {
        let solution = Solution::new(layout, width, bytes);
        Self {
            single: Kernel::portable_single::<BySteps<K, L>>(),
            batch: None,
            evaluation: dispatch::evaluation(width, kernel),
            target: Target { solution, skipped, multipliers: Multipliers::CONSTANTS },
            locator,
        }
    }

    /// The result for the key with the hash `key_hash`.
    #[inline(always)]
    pub(crate) fn query(&self, bytes: &[u8], key_hash: u64) -> K::Result {
        self.single.call(self, bytes, key_hash).unwrap_or(K::UNKNOWN)
    }

    /// Queries hashes in a batch, until `key_hashes` or `results` ends.
    pub(crate) fn query_hashes(&self, bytes: &[u8], key_hashes: &[u64], results: &mut [K::Result]) {
        batch::run(self, bytes, batch::Hashes(key_hashes), results);
    }

    /// Queries keys in a batch, until `keys` or `results` ends.
    pub(crate) fn query_keys<T: Key>(
        &self,
        bytes: &[u8],
        keys: &[T],
        key_seed: u64,
        results: &mut [K::Result],
    ) {
        batch::run(self, bytes, batch::Keys { keys, key_seed }, results);
    }
}

/// Locates and evaluates one key in two calls: for shapes without a fused function, and for the
/// few keys that the fused functions decline.
struct BySteps<K, L>(PhantomData<(K, L)>);

impl<K: QueryKind, L: Locate> Single for BySteps<K, L> {
    type Probe = Probe<K, L>;
    type Output = K::Result;

    #[inline(always)]
    fn run<I: Instructions>(
        _: I,
        probe: &Probe<K, L>,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> K::Result {
        by_steps(probe, readable, key_hash)
    }
}

/// The implementation of [`BySteps`]. It is not inlined, so that the fused functions which call
/// it for a few keys stay small.
#[inline(never)]
fn by_steps<K: QueryKind, L: Locate>(
    probe: &Probe<K, L>,
    readable: Readable<'_>,
    key_hash: u64,
) -> K::Result {
    let located = probe.locator.locate(readable.bytes(), key_hash);
    let mut row = [0];
    probe.evaluation.call(&probe.target, readable.bytes(), &[located], &mut row);
    K::conclude(&probe.target, located, row[0])
}

/// Hashes keys in chunks of `hashes.len()`, which must not be zero, and passes each chunk to
/// `query`, until `keys` or `results` ends.
pub(crate) fn in_hashes<T: Key, R>(
    keys: &[T],
    key_seed: u64,
    hashes: &mut [u64],
    results: &mut [R],
    mut query: impl FnMut(&[u64], &mut [R]),
) {
    for (keys, results) in keys.chunks(hashes.len()).zip(results.chunks_mut(hashes.len())) {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = key.key_hash(key_seed);
        }
        query(&hashes[..keys.len()], results);
    }
}
