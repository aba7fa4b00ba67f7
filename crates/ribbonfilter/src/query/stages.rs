//! Queries of an exact set: a filter, and a function of one bit for the keys that pass it.
//!
//! ```text
//! Stages::query      compares the length of the bytes
//!   query            compiled for the CPU's instructions: both stages in one function
//!   Stages::in_turn  one stage after the other, for rare shapes and rare keys
//! ```
//!
//! A query of both stages is one function because that takes two thirds of the instructions of two:
//! the stages share the mixed hash, in large sets even the seeded hash and the coefficients, and
//! nothing is saved and restored between them.
//!
//! *No branch on the group.* In a set with groups, the group of a key decides which filter is
//! queried, if any. That cannot be predicted, and it is known late, after the group was looked up in
//! its table: a mispredicted branch would cost more than a filter. So every key takes the same way:
//! the filter is an index, and a group without a filter queries any filter and ignores the result.
#![expect(unsafe_code, reason = "kernels read through pointers, and need the CPU's features")]

use super::single::{Fingerprints, Opened, QueryKind};
use super::solution::{Assumptions, FewWhole, One, SMALL_BYTES, Small};
use super::{Fuse, Membership, Probe, Retrieval};
use crate::format::Footer;
use crate::format::exact;
use crate::kernel::{GROUP, Instructions, Kernel, cold_path, compile};
use crate::ribbon::equation::{FINGERPRINT_BITS, Seeded, seeded};
use crate::ribbon::layers::Buckets;
use crate::ribbon::width::{Band, COMPACT};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Keys of a batch that are queried in one stage before the next.
pub(crate) const BATCH: usize = 1 << 9;

/// The width of the stages that are queried in one function.
type Wide = u128;

/// A filter or the function: its probe, and where its bytes begin.
#[derive(Clone)]
struct Stage<K: QueryKind> {
    probe: Probe<K>,
    start: usize,
    /// Whether the next stage has further columns of the same filter.
    has_rest: bool,
}

impl<K: Fuse> Stage<K> {
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn new(stage: &exact::Stage, has_rest: bool, bytes: &[u8], kernel: Kernel) -> Self {
        let range = stage.with_what_follows();
        let start = range.start;
        Self { probe: Probe::of_filter(&stage.footer, &bytes[range], kernel), start, has_rest }
    }

    fn query_batch(&self, bytes: &[u8], key_hashes: &[u64], results: &mut [K::Result]) {
        let bytes = bytes.get(self.start..).and_then(|bytes| bytes.get(..self.probe.bytes()));
        match bytes {
            Some(bytes) => self.probe.query_hashes(bytes, key_hashes, results),
            None => results.fill(K::UNKNOWN),
        }
    }
}

/// All stages of an exact set.
#[derive(Clone)]
pub(crate) struct Stages {
    filters: Vec<Stage<Membership>>,
    function: Option<Stage<Retrieval>>,
    /// The length of the bytes in which all stages are. Invariant: `start + probe.bytes() <= len`
    /// for each of them.
    len: usize,
    fused: Option<Fused>,
}

/// The way of a key through the stages: a filter, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(usize);

impl Path {
    /// The key is in no stage.
    pub(crate) const NOWHERE: Self = Self(0);

    /// The filter with this number, counted from 1, and the function; just the function if it is 0.
    pub(crate) fn through(filter: usize) -> Self {
        Self(filter + 1)
    }

    /// The path with a number from 0 on: nowhere, the function alone, and then the filters.
    #[inline(always)]
    pub(crate) fn new(number: u8) -> Self {
        Self(number.into())
    }

    /// The index of the filter; 0 if there is none.
    #[inline(always)]
    fn index(self) -> usize {
        self.0.saturating_sub(2)
    }

    #[inline(always)]
    fn has_filter(self) -> bool {
        self.0 >= 2
    }

    /// Whether a key gets to the function, given whether it passes the filter with the
    /// [`index`](Self::index). No branch: see the module.
    #[inline(always)]
    fn reaches_function(self, passes: bool) -> bool {
        (passes | !self.has_filter()) & (self.0 != 0)
    }
}

/// [`Stages`] and bytes of the length that they were made for.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    stages: &'a Stages,
    /// Invariant: points to `stages.len` bytes, readable for `'a`.
    base: *const u8,
}

/// A query compiled for an instruction set that this CPU has.
type Fused = for<'a> unsafe fn(Reading<'a>, Path, u64) -> bool;

impl Stages {
    /// The stages of the set in `bytes`. `only` is the path of all keys, if these have no groups.
    pub(crate) fn new(
        filters: &[exact::Stage],
        function: Option<&exact::Stage>,
        bytes: &[u8],
        only: Option<Path>,
        kernel: Kernel,
    ) -> Self {
        let fused = function.and_then(|function| fused(filters, function, only, kernel));
        let has_rest = |index: usize| filters.get(index + 1).is_some_and(exact::Stage::continues);
        let filter = |(index, stage)| Stage::new(stage, has_rest(index), bytes, kernel);
        Self {
            filters: filters.iter().enumerate().map(filter).collect(),
            function: function.map(|function| Stage::new(function, false, bytes, kernel)),
            len: bytes.len(),
            fused,
        }
    }

    /// Whether the function has the bit 1 for a key that passes its filter. False if the bytes have
    /// another length than those that were opened.
    #[inline(always)]
    pub(crate) fn query(&self, bytes: &[u8], path: Path, key_hash: u64) -> bool {
        if bytes.len() != self.len {
            return false;
        }
        let reading = Reading { stages: self, base: bytes.as_ptr() };
        match self.fused {
            // SAFETY: `fused` was chosen for a kernel, which exists only where the CPU has its
            // features.
            Some(fused) => unsafe { fused(reading, path, key_hash) },
            None => reading.stage_by_stage(path, key_hash),
        }
    }

    /// Queries at most [`BATCH`] keys: the filter with all, the function with those that pass.
    pub(crate) fn query_batch(
        &self,
        bytes: &[u8],
        path: Path,
        key_hashes: &[u64],
        hits: &mut [bool],
    ) {
        let count = key_hashes.len().min(hits.len()).min(BATCH);
        let (key_hashes, hits) = (&key_hashes[..count], &mut hits[..count]);
        if bytes.len() != self.len || path == Path::NOWHERE {
            return hits.fill(false);
        }
        match self.filters.get(path.index()).filter(|_| path != Path::through(0)) {
            Some(filter) => {
                filter.query_batch(bytes, key_hashes, hits);
                if filter.has_rest {
                    let reading = Reading { stages: self, base: bytes.as_ptr() };
                    for (&hash, hit) in key_hashes.iter().zip(&mut *hits) {
                        *hit = *hit && reading.rest_passes(path, hash);
                    }
                }
            }
            None => hits.fill(true),
        }
        let (mut passing, mut passed) = ([0; BATCH], 0);
        for (&hash, &hit) in key_hashes.iter().zip(&*hits) {
            // Written in any case and counted if it passes, so that there is no branch.
            passing[passed] = hash;
            passed += usize::from(hit);
        }
        let mut values = [0; BATCH];
        if let Some(function) = &self.function {
            function.query_batch(bytes, &passing[..passed], &mut values[..passed]);
        }
        let mut values = values.into_iter();
        for hit in hits {
            *hit = *hit && values.next() == Some(1);
        }
    }
}

impl<'a> Reading<'a> {
    /// A stage with its bytes.
    #[inline(always)]
    fn open<K: QueryKind>(self, stage: &'a Stage<K>) -> Opened<'a, Probe<K>> {
        // SAFETY: stages come from `self.stages`. By the invariant of `Stages::len` the bytes of
        // one are within `len` bytes, and by that of `base` as many can be read there.
        unsafe { Opened::at(&stage.probe, self.base.add(stage.start)) }
    }

    /// One stage after the other, for any shape.
    #[inline(always)]
    fn stage_by_stage(self, path: Path, key_hash: u64) -> bool {
        let passes = match self.stages.filters.get(path.index()) {
            Some(filter) if path.has_filter() => self.open(filter).query(key_hash),
            _ => path != Path::NOWHERE,
        };
        passes && self.rest_passes(path, key_hash) && self.is_one(key_hash)
    }

    // The following are not inlined, and take what their callers were given: so the compiled queries
    // end with a jump to them, and save no registers.

    /// [`stage_by_stage`](Self::stage_by_stage) for the keys that a compiled query declines.
    #[inline(never)]
    fn in_turn(self, path: Path, key_hash: u64) -> bool {
        self.stage_by_stage(path, key_hash)
    }

    /// What follows the first stage of a filter: the rest of it, if there is one, and the function.
    #[inline(never)]
    fn after_first(self, path: Path, key_hash: u64) -> bool {
        self.rest_passes(path, key_hash) && self.is_one(key_hash)
    }

    /// The function, for the keys that a compiled query declines there.
    #[inline(never)]
    fn in_function(self, _: Path, key_hash: u64) -> bool {
        self.is_one(key_hash)
    }

    /// Whether a key passes the stage that continues the filter of its path, if there is one.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn rest_passes(self, path: Path, key_hash: u64) -> bool {
        let filters = &self.stages.filters;
        let first = filters.get(path.index()).filter(|_| path.has_filter());
        match filters.get(path.index() + 1) {
            Some(rest) if first.is_some_and(|first| first.has_rest) => {
                self.open(rest).query(key_hash)
            }
            _ => true,
        }
    }

    /// Whether the function has the bit 1 for a key.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn is_one(self, key_hash: u64) -> bool {
        let function = self.stages.function.as_ref();
        function.is_some_and(|function| self.open(function).query(key_hash) == 1)
    }
}

compile! {
    query as with_vectors, portable:
    <'a, A: Assumptions, T: Assumptions>(
        reading: Reading<'a>, path: Path, key_hash: u64
    ) -> bool
}

/// A query of both stages. What it declines, such as bumped keys, is queried in turn.
///
/// [`Assumptions::SMALL`] stands for any number of filters and seeds. Without it there is one
/// filter, which is one stage, and all keys pass through it; and both stages bump keys, so that
/// their first layers have seed 0 and a key has the same hash in both.
#[inline(always)]
fn query<I: Instructions, A: Assumptions, T: Assumptions>(
    instructions: I,
    reading: Reading<'_>,
    path: Path,
    key_hash: u64,
) -> bool {
    let Stages { filters, function, .. } = reading.stages;
    let filter = filters.get(if A::SMALL { path.index() } else { 0 });
    let (Some(filter), Some(function)) = (filter, function) else {
        cold_path();
        return reading.in_turn(path, key_hash);
    };
    let (first, second) = (reading.open(filter), reading.open(function));
    let mixed = first.probe.locator.multipliers.mix(key_hash);
    let hash = seeded(mixed, first.probe.locator.system.seed);
    let Some(passes) = evaluate::<_, _, A>(instructions, first, mixed, hash) else {
        cold_path();
        return reading.in_turn(path, key_hash);
    };
    if !(if A::SMALL { path.reaches_function(passes) } else { passes }) {
        return false;
    }
    if A::SMALL && filter.has_rest {
        return reading.after_first(path, key_hash);
    }
    let hash = match A::SMALL {
        true => seeded(mixed, second.probe.locator.system.seed),
        false => hash,
    };
    match evaluate::<_, _, T>(instructions, second, mixed, hash) {
        Some(bit) => bit == 1,
        None => {
            cold_path();
            reading.in_function(path, key_hash)
        }
    }
}

/// Evaluates a key in one stage, in its only system or its first layer. `None` for keys that are
/// bumped or seem to be, and for those that no kernel can read.
#[inline(always)]
fn evaluate<I: Instructions, K: QueryKind, A: Assumptions>(
    instructions: I,
    opened: Opened<'_, Probe<K>>,
    mixed: u64,
    hash: Seeded,
) -> Option<K::Result> {
    let locator = &opened.probe.locator;
    let slot = locator.system.slot::<A>(mixed, hash)?;
    let target = opened.target();
    let log = Buckets::of(Wide::WIDTH).log;
    let (_, seems_bumped) = locator.bumps.code(target.bytes(), slot, log)?;
    if seems_bumped {
        return None;
    }
    K::evaluate::<I, Wide, A, Fingerprints>(instructions, target, target.located(slot, hash))
}

/// The function for these stages, if there is one.
///
/// Its assumptions must hold for all stages that it is used for: [`has_shape`] ensures the width,
/// whole columns and one seed. That includes a filter's second stage. It is queried on its own,
/// since no path begins there, but memory safety does not depend on that.
fn fused(
    filters: &[exact::Stage],
    function: &exact::Stage,
    only: Option<Path>,
    kernel: Kernel,
) -> Option<Fused> {
    if COMPACT || filters.is_empty() {
        return None;
    }
    let columns = |filter: &exact::Stage| match filter.continues() {
        true => 1..=FINGERPRINT_BITS,
        false => 1..=GROUP as u32,
    };
    let fits = filters.iter().all(|filter| has_shape(&filter.footer, columns(filter)))
        && has_shape(&function.footer, 1..=1);
    if !fits {
        return None;
    }
    let Some(only) = only else {
        let small = with_vectors::<Small<FewWhole>, Small<One>>(kernel);
        return Some(small.unwrap_or(portable::<Small<FewWhole>, Small<One>>()));
    };
    let is_layered = |stage: &exact::Stage| {
        !stage.footer.shape.further.layers().is_empty()
            && stage.with_what_follows().len() > SMALL_BYTES
    };
    // Stages of other shapes have faster functions of their own.
    let is_simple = filters.len() == 1
        && only == Path::through(1)
        && is_layered(function)
        && filters.iter().all(is_layered);
    is_simple.then(|| with_vectors::<FewWhole, One>(kernel).unwrap_or(portable::<FewWhole, One>()))
}

/// Whether a stage has what [`query`] assumes of all.
fn has_shape(footer: &Footer, columns: RangeInclusive<u32>) -> bool {
    let shape = &footer.shape;
    shape.width == Wide::WIDTH
        && shape.boundary == 0
        && columns.contains(&shape.columns)
        && !shape.segment_seeds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::ExactSet;
    use crate::testing::Random;

    /// A set of `keys` keys, of which 1/16 are members, in `groups` groups, the first of them unnamed.
    /// Some groups have fewer others, so that their filters differ.
    fn set(keys: u64, groups: u64) -> ExactSet {
        let mut builder = ExactSet::builder();
        for key in 0..keys {
            match (key % groups, key / groups % 16) {
                (0, 0) => builder.push_member(key),
                (0, _) => builder.push_other(key),
                (group, 0) => builder.push_member_in(group, key),
                (group, part) if group % 4 == 0 || part < 2 * (group % 4) => {
                    builder.push_other_in(group, key);
                }
                _ => {}
            }
        }
        builder.finish().expect("ordinary keys build")
    }

    /// All stages of a set, its filters as well as the function, for one kernel.
    fn stages(bytes: &[u8], has_groups: bool, kernel: Kernel) -> Stages {
        let exact = exact::Exact::read(bytes).expect("just built");
        let (function, filters) = exact.stages.split_last().expect("a set with a function");
        let only = (!has_groups).then_some(Path::through(1));
        Stages::new(filters, Some(function), bytes, only, kernel)
    }

    /// Results for any keys, not only those of the universe, are those of one stage after the
    /// other: on every path, with every kernel, in sets around the sizes at which shapes change.
    #[test]
    fn compiled_queries_agree_with_stages_in_turn() {
        let mut compiled = [0; 2];
        let plain = [40, 300, 5000, 60_000, 200_000, 1_000_000].map(|keys| (keys, 1));
        let grouped = [(50, 2), (1000, 5), (20_000, 8), (100_000, 8), (200_000, 40)];
        for (keys, groups) in plain.into_iter().chain(grouped) {
            let set = set(keys, groups);
            let bytes = set.as_bytes();
            for kernel in Kernel::available() {
                let stages = stages(bytes, groups > 1, kernel);
                let Some(fused) = stages.fused else { continue };
                compiled[usize::from(groups > 1)] += 1;
                let reading = Reading { stages: &stages, base: bytes.as_ptr() };
                let paths = match groups {
                    1 => 2..=2,
                    _ => 0..=stages.filters.len() as u8 + 1,
                };
                let mut random = Random(keys);
                for path in paths.map(Path::new) {
                    let mut hits = 0;
                    for _ in 0..20_000 {
                        let hash = random.next();
                        // SAFETY: `fused` was chosen for a kernel of this CPU.
                        let hit = unsafe { fused(reading, path, hash) };
                        let name = kernel.name();
                        assert_eq!(hit, reading.stage_by_stage(path, hash), "{name}, {path:?}");
                        hits += u32::from(hit);
                    }
                    assert_eq!(hits == 0, path == Path::NOWHERE, "{keys} keys, {path:?}");
                }
            }
        }
        assert!(compiled[0] > 0 && compiled[1] > 0, "{compiled:?}");
    }

    #[test]
    fn bytes_of_another_length_have_no_members() {
        for groups in [1, 8] {
            let set = set(100_000, groups);
            let bytes = set.as_bytes();
            let stages = stages(bytes, groups > 1, Kernel::best());
            let mut longer = bytes.to_vec();
            longer.push(0);
            for other in [&bytes[..0], &bytes[..bytes.len() - 1], &longer] {
                let mut hits = [true; BATCH];
                stages.query_batch(other, Path::new(2), &[17; BATCH], &mut hits);
                assert_eq!(hits, [false; BATCH]);
                assert!((0..1000).all(|hash| !stages.query(other, Path::new(2), hash)));
            }
        }
    }
}
