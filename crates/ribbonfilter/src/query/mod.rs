//! From a key hash to a result, one key at a time or in batches.
//!
//! A query has two steps. A *locator* turns a key hash into a [`Located`] equation: its first
//! slot, and the hash that determines its coefficients and fingerprint. The first slot depends
//! on the variant ([`Locator`]), on the part of a cut filter ([`InPart`]) or on the shard of a
//! container ([`Ranges`]). The second step *evaluates* the equation over the solution
//! ([`QueryKind::evaluate`]): it tests for the expected row, or returns the row.
//!
//! ```text
//! contains_hash -> Probe::query --+--> single::query: located and evaluated in one function
//!                                 +--> single::by_steps: for rare shapes and rare keys
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
mod evaluation;
mod locator;
pub(crate) mod once;
mod part;
mod ranges;
mod single;
mod solution;
mod stages;

pub(crate) use dispatch::Fuse;
pub(crate) use locator::Locator;
pub(crate) use part::InPart;
pub(crate) use ranges::Ranges;
pub(crate) use single::QueryKind;
pub(crate) use stages::{BATCH, Path, Stages};

use evaluation::Evaluation;
use single::{Batch, Located, Opened, Single, by_steps};
use solution::Solution;

use crate::format::Footer;
use crate::kernel::Kernel;
use crate::ribbon::equation::{FINGERPRINT_BITS, Multipliers};
use crate::ribbon::layout::Layout;
use crate::{Key, Variant, Width};

/// Turns key hashes into equations.
pub(crate) trait Locate: Copy + 'static {
    /// Locates a key. The locator must be that of the opened probe.
    fn locate<'a>(&self, opened: Opened<'a>, key_hash: u64) -> Located<'a>;

    /// Locates keys until `key_hashes` or `located` ends.
    #[inline(always)]
    fn locate_many<'a>(&self, opened: Opened<'a>, key_hashes: &[u64], located: &mut [Located<'a>]) {
        for (&key_hash, located) in key_hashes.iter().zip(located) {
            *located = self.locate(opened, key_hash);
        }
    }
}

/// The query of a filter: does the equation hold?
#[derive(Clone, Copy)]
pub(crate) struct Membership;

/// The query of a static function: which row does the equation evaluate to?
#[derive(Clone, Copy)]
pub(crate) struct Retrieval;

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
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn new(solution: Solution, skipped: u32) -> Self {
        Self { solution, skipped, multipliers: Multipliers::CONSTANTS }
    }

    /// The row that the slots of a key must sum to.
    #[inline(always)]
    fn row(&self, fingerprint: u32) -> u64 {
        u64::from(fingerprint) >> self.skipped
    }
}

/// Everything that a query needs in addition to the bytes, computed once.
///
/// Invariant: the functions are compiled for instructions that this CPU has, since [`dispatch`]
/// chooses them for a [`Kernel`]; and they assume of the solution only what holds.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Probe<K: QueryKind, L: Locate = Locator> {
    single: Single<K, L>,
    target: Target,
    locator: L,
    batch: Option<Batch<K, L>>,
    evaluation: Evaluation,
}

/// The functions that locate and evaluate together, if there are any for a shape.
#[derive(Clone, Copy)]
pub(crate) struct Fused<K: QueryKind> {
    single: Single<K, Locator>,
    batch: Option<Batch<K, Locator>>,
}

impl<K: Fuse> Probe<K> {
    /// A probe of the filter or the function in `bytes`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn of_filter(footer: &Footer, bytes: &[u8], kernel: Kernel) -> Self {
        let solution = Solution::new(footer.shape.layout(), footer.shape.width, bytes);
        Self::with_solution(footer, solution, bytes.len(), kernel)
    }

    /// A probe of `len` bytes that are queried once: it has no copy of the last block.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn of_filter_once(footer: &Footer, len: usize, kernel: Kernel) -> Self {
        let solution = Solution::once(footer.shape.layout(), footer.shape.width, len);
        Self::with_solution(footer, solution, len, kernel)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn with_solution(footer: &Footer, solution: Solution, len: usize, kernel: Kernel) -> Self {
        let Fused { single, batch } = K::fused(footer, len, kernel)
            .unwrap_or(Fused { single: by_steps::<K, Locator>, batch: None });
        Self {
            single,
            target: Target::new(solution, skipped_bits(footer)),
            locator: Locator::new(footer, &footer.shape.layout()),
            batch,
            evaluation: dispatch::evaluation(footer.shape.width, kernel),
        }
    }
}

/// The low bits of a fingerprint that a filter does not store; see [`Target::skipped`].
#[inline(always)]
fn skipped_bits(footer: &Footer) -> u32 {
    match footer.shape.variant {
        Variant::Homogeneous => FINGERPRINT_BITS,
        _ => footer.first_column(),
    }
}

impl<K: QueryKind, L: Locate> Probe<K, L> {
    /// A probe of the solution with the given layout in `bytes`, without fused functions.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn new(
        layout: Layout,
        width: Width,
        bytes: &[u8],
        kernel: Kernel,
        locator: L,
        skipped: u32,
    ) -> Self {
        Self {
            single: by_steps::<K, L>,
            batch: None,
            evaluation: dispatch::evaluation(width, kernel),
            target: Target::new(Solution::new(layout, width, bytes), skipped),
            locator,
        }
    }

    /// The number of bytes that the probe was made for.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.target.solution.len
    }

    /// Queries hashes in a batch, until `key_hashes` or `results` ends.
    pub(crate) fn query_hashes(&self, bytes: &[u8], key_hashes: &[u64], results: &mut [K::Result]) {
        batch::run(self, bytes, key_hashes, results);
    }

    /// Queries keys in a batch, until `keys` or `results` ends.
    pub(crate) fn query_keys<T: Key>(
        &self,
        bytes: &[u8],
        keys: &[T],
        key_seed: u64,
        results: &mut [K::Result],
    ) {
        in_hashes(keys, key_seed, &mut [0; batch::HASHED], results, |key_hashes, results| {
            self.query_hashes(bytes, key_hashes, results);
        });
    }
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

#[cfg(test)]
mod tests;
