//! From a key hash to a result, one key at a time or in batches.
//!
//! A query has two steps. A *locator* turns a key hash into a [`Located`] equation: its first
//! slot, and the hash that coefficients and fingerprint come from. Where that is depends on the
//! variant ([`Locator`]), on the part of a cut filter ([`InPart`]) or on the shard of a
//! container ([`Ranges`]). Then the equation is *evaluated* over the solution
//! ([`QueryKind::evaluate`]): does it give the expected row, or which row does it give?
//!
//! ```text
//! contains_hash -> Probe::query --+--> Fused: locate and evaluate, compiled as one function
//!                                 +--> by_steps: for rare shapes and rare keys
//! contains_hash_batch -> batch::run: locate 32, prefetch, evaluate the 32 before
//! ```
//!
//! [`Probe`] is one flat record of all numbers that a query needs, made when bytes are opened.
//! A query that leaves the nearest cache takes as long as its instructions are many, because
//! they decide how many queries are in flight at once; so the usual shapes have functions of
//! their own ([`dispatch`]), and what few keys need (the ends of the system, the last block,
//! bumped keys) costs the others one comparison each.

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

/// Where the equation of a key is, and what it is made of.
#[derive(Clone, Copy)]
pub(crate) struct Located {
    slot: u64,
    hash: Seeded,
}

impl Located {
    /// For a key that could be anywhere: no slot has this number.
    const NOWHERE: Self = Self { slot: u64::MAX, hash: Seeded::ZERO };
}

/// Turns key hashes into equations.
pub(crate) trait Locate: Copy + 'static {
    /// Locates a key. `bytes` have the length of those that were opened.
    fn locate(&self, bytes: &[u8], key_hash: u64) -> Located;

    /// Locates as many keys as there are places for them.
    #[inline(always)]
    fn locate_many(&self, bytes: &[u8], key_hashes: &[u64], located: &mut [Located]) {
        for (&key_hash, located) in key_hashes.iter().zip(located) {
            *located = self.locate(bytes, key_hash);
        }
    }
}

/// What a query is to find out.
pub(crate) trait QueryKind: Copy + Sized + 'static {
    type Result: Copy + 'static;
    /// The result over bytes of another length than those that were opened.
    const UNKNOWN: Self::Result;

    /// Evaluates an equation; nothing for the few that kernels cannot.
    fn evaluate<I: Instructions, B: Band, A: Assumptions, R: Rows>(
        instructions: I,
        target: &Target,
        readable: Readable<'_>,
        located: Located,
    ) -> Option<Self::Result>;

    /// The result for an equation that gives a row.
    fn conclude(target: &Target, located: Located, row: u64) -> Self::Result;

    /// The functions that are compiled for a shape of filter in `len` bytes, if there are any.
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>>;
}

/// The evaluation of located equations to rows, for any shape.
pub(crate) type Evaluation = ManyFn<Target, Located, u64>;

/// Queries whose locating and evaluating are compiled as one function.
#[derive(Clone, Copy)]
pub(crate) struct Fused<K: QueryKind> {
    single: SingleFn<Probe<K>, K::Result>,
    batch: Option<ManyFn<Probe<K>, u64, K::Result>>,
}

/// Does the equation hold? A filter's query.
#[derive(Clone, Copy)]
pub(crate) struct Membership;

/// Which row does the equation give? A function's query.
#[derive(Clone, Copy)]
pub(crate) struct Retrieval;

impl QueryKind for Membership {
    type Result = bool;
    /// Any key might be there.
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
            // No key is in the empty set; what is located unsupported might be anywhere.
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
        // Only rows of 16 bits and more are stored one after another.
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

/// What located equations are evaluated over.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    solution: Solution,
    /// Bits of a fingerprint that are not stored: all where every row is zero.
    skipped: u32,
    multipliers: Multipliers,
}

impl Target {
    /// What the slots of a key must sum to.
    #[inline(always)]
    fn row(&self, fingerprint: u32) -> u64 {
        u64::from(fingerprint) >> self.skipped
    }
}

/// All that a query needs besides the bytes, worked out once.
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
    /// The probe of a filter or a function in these bytes.
    #[inline(always)]
    pub(crate) fn of_filter(footer: &Footer, bytes: &[u8], kernel: Kernel) -> Self {
        let solution = Solution::new(footer.shape.layout(), footer.shape.width, bytes);
        Self::with_solution(footer, solution, bytes.len(), kernel)
    }

    /// The same for bytes that are queried once.
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
            target: Target { solution, skipped, multipliers: Multipliers::FOOTER_BYTES },
            locator: Locator::new(footer, &footer.shape.layout()),
            batch,
            evaluation: dispatch::evaluation(footer.shape.width, kernel),
        }
    }
}

impl<K: QueryKind, L: Locate> Probe<K, L> {
    /// A probe of the solution with this layout in these bytes.
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
            target: Target { solution, skipped, multipliers: Multipliers::FOOTER_BYTES },
            locator,
        }
    }

    /// The result for the key with this hash.
    #[inline(always)]
    pub(crate) fn query(&self, bytes: &[u8], key_hash: u64) -> K::Result {
        self.single.call(self, bytes, key_hash).unwrap_or(K::UNKNOWN)
    }

    /// The same for many hashes, or as many as there are places for results.
    pub(crate) fn query_hashes(&self, bytes: &[u8], key_hashes: &[u64], results: &mut [K::Result]) {
        batch::run(self, bytes, batch::Hashes(key_hashes), results);
    }

    /// The same for many keys.
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

/// Locates and evaluates one key in two calls: for shapes without a function of their own, and
/// for the few keys that those pass on.
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

/// See [`BySteps`].
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

/// Hashes keys, as many at a time as `hashes` holds (at least one), and passes them on; as many
/// as there are places for results.
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
