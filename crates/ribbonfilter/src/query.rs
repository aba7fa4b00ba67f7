//! From a key hash to an answer: single queries, and batches that fetch ahead.
//!
//! A query finds the *place* of its key, an equation laid over the solution, and a kernel
//! tells whether the equation holds there. How a key finds its place is the variant's
//! affair ([`Places`]): [`OneSystem`] for a single system of segments, [`Layers`] for a
//! Bumped ribbon. All else is here, once.

mod layered;
mod one_system;

use layered::Layers;
use one_system::OneSystem;

use crate::arch::{Compiled, Instructions, Kernel, Knows, Laid, Path, Query, Readable, Solution};
use crate::format::Header;
use crate::width::Band;
use crate::{Key, Variant};

/// Queries under way in a batch: while one is answered, the memory of so many behind it is
/// on its way.
const AHEAD: usize = 16;

/// Filters up to this size live in the core's own cache, where fetching ahead only costs.
/// (Unit tests see all three ways with small filters.)
const CACHED_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };

/// Larger filters lie in memory that is so far away that a mispredicted branch, which loses
/// what was asked for behind it, is dearer than to look for a second place in vain.
const FAR_BYTES: usize = if cfg!(test) { 1 << 12 } else { 1 << 25 };

/// Keys of a batch that are hashed at a time.
const HASHED: usize = 256;

/// How the keys of a variant find their places.
pub(crate) trait Places: Copy {
    /// Where the key with this hash is, if it is in the set.
    ///
    /// Coefficients need not be cut to the slots: few systems are so narrow, and queries of
    /// those are answered slowly, where it is done.
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B>;

    /// The same where memory is far and a branch that is not foreseen is dear.
    #[inline(always)]
    fn find_far<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        self.find::<B, P>(readable, key_hash)
    }
}

/// All that a query needs besides the bytes, worked out once.
#[derive(Clone, Copy)]
pub(crate) struct Probe<L> {
    compiled: Compiled<Self>,
    solution: Solution,
    places: L,
}

impl<L: Places> Probe<L> {
    /// `plain` is what [`Path::PLAIN`] means to these places.
    #[inline(always)]
    fn new(header: &Header, len: usize, kernel: Kernel, places: L, plain: bool) -> Self {
        let (layout, width) = (header.shape.layout(), header.shape.width);
        Self {
            compiled: kernel.compiled(width, layout.is_fractional(), plain),
            solution: Solution::new(layout, width, len),
            places,
        }
    }

    #[inline(always)]
    fn answer<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        readable: Readable<'_>,
        key_hash: u64,
        laid: Laid<B>,
    ) -> bool {
        match readable.matches::<I, B, P>(instructions, laid) {
            Some(matches) => matches,
            None => self.contains_slowly::<B>(readable.bytes(), key_hash),
        }
    }

    /// Near the end of the solution. It takes what [`contains`](Query::contains) takes, so
    /// that the call is a jump and nothing need be saved before it.
    #[cold]
    #[inline(never)]
    fn contains_slowly<B: Band>(&self, bytes: &[u8], key_hash: u64) -> bool {
        let Some(readable) = self.solution.over(bytes) else {
            return true;
        };
        // What may be known of any filter.
        readable.matches_slowly(self.places.find::<B, Knows<true, false>>(readable, key_hash))
    }
}

impl<L: Places> Query for Probe<L> {
    #[inline(always)]
    fn contains<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hash: u64,
    ) -> bool {
        let Some(readable) = self.solution.over(bytes) else {
            return true;
        };
        let laid = self.places.find::<B, P>(readable, key_hash);
        self.answer::<I, B, P>(instructions, readable, key_hash, laid)
    }

    #[inline(always)]
    fn contains_all<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hashes: &[u64],
        hits: &mut [bool],
    ) {
        // A copy, which the compiler knows that no answer changes.
        let probe = { *self };
        let Some(readable) = probe.solution.over(bytes) else {
            hits.fill(true);
            return;
        };
        if bytes.len() <= CACHED_BYTES {
            for (&key_hash, hit) in key_hashes.iter().zip(hits) {
                let laid = probe.places.find::<B, P>(readable, key_hash);
                *hit = probe.answer::<I, B, P>(instructions, readable, key_hash, laid);
            }
            return;
        }
        match bytes.len() <= FAR_BYTES {
            true => probe.pipeline::<I, B, P, false>(instructions, readable, key_hashes, hits),
            false => probe.pipeline::<I, B, P, true>(instructions, readable, key_hashes, hits),
        }
    }
}

impl<L: Places> Probe<L> {
    /// Answers many queries, the memory of some always on its way.
    #[inline(always)]
    fn pipeline<I: Instructions, B: Band, P: Path, const FAR: bool>(
        &self,
        instructions: I,
        readable: Readable<'_>,
        key_hashes: &[u64],
        hits: &mut [bool],
    ) {
        // A ring of equations: each takes the place of one that is answered.
        let mut ring = [Laid::<B>::NOWHERE; AHEAD];
        for (laid, &key_hash) in ring.iter_mut().zip(key_hashes) {
            *laid = self.ask::<I, B, P, FAR>(instructions, readable, key_hash);
        }
        let behind = key_hashes.get(AHEAD..).unwrap_or_default();
        for (index, (&key_hash, hit)) in key_hashes.iter().zip(hits).enumerate() {
            let laid = &mut ring[index % AHEAD];
            *hit = self.answer::<I, B, P>(instructions, readable, key_hash, *laid);
            if let Some(&next) = behind.get(index) {
                *laid = self.ask::<I, B, P, FAR>(instructions, readable, next);
            }
        }
    }

    /// Finds the place of a key and asks for its memory.
    #[inline(always)]
    fn ask<I: Instructions, B: Band, P: Path, const FAR: bool>(
        &self,
        instructions: I,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> Laid<B> {
        let laid = match FAR {
            true => self.places.find_far::<B, P>(readable, key_hash),
            false => self.places.find::<B, P>(readable, key_hash),
        };
        readable.fetch(instructions, &laid);
        laid
    }
}

/// The probe of a filter, whatever its variant.
#[derive(Clone, Copy)]
pub(crate) enum AnyProbe {
    OneSystem(Probe<OneSystem>),
    Layers(Probe<Layers>),
}

impl AnyProbe {
    #[inline]
    pub(crate) fn new(header: &Header, len: usize, kernel: Kernel) -> Self {
        match header.shape.variant {
            Variant::Bumped => {
                Self::Layers(Probe::new(header, len, kernel, Layers::new(header), false))
            }
            _ => {
                let places = OneSystem::new(header);
                Self::OneSystem(Probe::new(header, len, kernel, places, places.is_plain()))
            }
        }
    }

    /// Whether the key with this hash might be in the set. If the bytes have another length
    /// than those that were opened, any key might.
    #[inline(always)]
    pub(crate) fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        match self {
            Self::OneSystem(probe) => probe.compiled.contains(probe, bytes, key_hash),
            Self::Layers(probe) => probe.compiled.contains(probe, bytes, key_hash),
        }
    }

    /// The same for as many keys as there are hits.
    pub(crate) fn contains_keys<K: Key>(
        &self,
        bytes: &[u8],
        keys: &[K],
        key_seed: u64,
        hits: &mut [bool],
    ) {
        let mut hashes = [0; HASHED];
        for (keys, hits) in keys.chunks(HASHED).zip(hits.chunks_mut(HASHED)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = key.key_hash(key_seed);
            }
            self.contains_hashes(bytes, &hashes[..keys.len()], hits);
        }
    }

    /// The same for as many hashes as there are hits.
    pub(crate) fn contains_hashes(&self, bytes: &[u8], key_hashes: &[u64], hits: &mut [bool]) {
        match self {
            Self::OneSystem(probe) => probe.compiled.contains_all(probe, bytes, key_hashes, hits),
            Self::Layers(probe) => probe.compiled.contains_all(probe, bytes, key_hashes, hits),
        }
    }
}
