//! From a key hash to an answer: single queries, and batches that fetch ahead.
//!
//! A query finds the *place* of its key, an equation laid over the solution, and a kernel
//! tells whether the equation holds there, or what its slots sum to ([`Question`]). How a key finds its place is the variant's
//! affair ([`Places`]): [`OneSystem`] for a single system of segments, [`Layers`] for a
//! Bumped ribbon, [`InPart`] for a part of a filter, [`Ranges`] for shards of a container that
//! were filled one after another. All else is here, once.

mod in_part;
mod layered;
mod one_system;
mod ranges;

pub(crate) use in_part::InPart;
use layered::Layers;
use one_system::OneSystem;
pub(crate) use ranges::Ranges;

use crate::arch::{
    Answer, Compiled, GROUP, Instructions, Kernel, Knows, Laid, Path, Query, Readable, Solution,
};
use crate::format::Header;
use crate::layers::Further;
use crate::layout::{Layout, Order};
use crate::width::Band;
use crate::{Key, Variant, Width};

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
pub(crate) trait Places: Copy + 'static {
    /// What is known, and of use to them, of what might be known.
    type Known<const FRACTIONAL: bool, const PLAIN: bool>: Path;

    /// Where the key with this hash is, if it is in the set.
    ///
    /// Coefficients need not be cut to the slots: few systems are so narrow, and queries of
    /// those are answered slowly, where it is done.
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B>;

    /// The same for nearly all keys, as fast as can be; nothing for the few whose place is to
    /// be looked for by [`find`](Self::find).
    #[inline(always)]
    fn find_at_once<B: Band, P: Path>(
        &self,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> Option<Laid<B>> {
        Some(self.find::<B, P>(readable, key_hash))
    }

    /// What [`Path::PLAIN`] means to these places holds for them.
    #[inline]
    fn is_plain(&self) -> bool {
        false
    }

    /// Whether no key has a second place in the same system.
    #[inline]
    fn are_unique(&self) -> bool {
        true
    }

    /// The same places, found in a way that suits a memory so far away that a branch that is not
    /// foreseen is dear.
    type Far: Places;
    fn far(self) -> Self::Far;
}

/// What is asked at the place of a key.
pub(crate) trait Question: Copy + 'static {
    type Answer: Copy + 'static;
    /// What is known, and of use to it, of what the places know.
    type Known<P: Path>: Path;
    /// What is told where the bytes have another length than those that were opened.
    const UNKNOWN: Self::Answer;

    /// Nothing so near to the end that only [`ask_slowly`](Self::ask_slowly) can tell.
    fn ask<I: Instructions, B: Band, P: Path>(
        instructions: I,
        readable: Readable<'_>,
        laid: Laid<B>,
    ) -> Option<Self::Answer>;

    fn ask_slowly<B: Band>(readable: Readable<'_>, laid: Laid<B>) -> Self::Answer;

    /// Asks for the memory that [`ask`](Self::ask) will read.
    #[inline(always)]
    fn fetch<B: Band>(readable: Readable<'_>, laid: &Laid<B>) {
        readable.fetch(laid);
    }
}

/// Asks whether the equation of a key holds: a filter's question.
#[derive(Clone, Copy)]
pub(crate) struct Holds;

impl Question for Holds {
    type Answer = bool;
    type Known<P: Path> = P;
    /// Any key might be there.
    const UNKNOWN: bool = true;

    #[inline(always)]
    fn ask<I: Instructions, B: Band, P: Path>(
        instructions: I,
        readable: Readable<'_>,
        laid: Laid<B>,
    ) -> Option<bool> {
        readable.matches::<I, B, P>(instructions, laid)
    }

    #[inline(always)]
    fn ask_slowly<B: Band>(readable: Readable<'_>, laid: Laid<B>) -> bool {
        readable.matches_slowly(laid)
    }
}

/// Asks what the slots of a key sum to: a function's question.
#[derive(Clone, Copy)]
pub(crate) struct SumsTo;

impl Question for SumsTo {
    type Answer = u64;
    /// The columns of a function are whole, and its rows are no fingerprints.
    type Known<P: Path> = Knows<false, false>;
    const UNKNOWN: u64 = 0;

    #[inline(always)]
    fn ask<I: Instructions, B: Band, P: Path>(
        instructions: I,
        readable: Readable<'_>,
        laid: Laid<B>,
    ) -> Option<u64> {
        match readable.order() {
            _ if P::SHORT => readable.row::<I, B, P>(instructions, laid),
            Order::Columns => readable.row::<I, B, P>(instructions, laid),
            Order::Rows => readable.sum_of_rows::<I, B>(instructions, laid),
        }
    }

    #[inline(always)]
    fn fetch<B: Band>(readable: Readable<'_>, laid: &Laid<B>) {
        match readable.order() {
            Order::Columns => readable.fetch(laid),
            Order::Rows => readable.fetch_rows(laid),
        }
    }

    #[inline(always)]
    fn ask_slowly<B: Band>(readable: Readable<'_>, laid: Laid<B>) -> u64 {
        readable.row_slowly(laid).map_or(Self::UNKNOWN, |(row, _)| row)
    }
}

/// All that a query needs besides the bytes, worked out once.
#[derive(Clone, Copy)]
pub(crate) struct Probe<L: 'static, Q: Question> {
    answer: Answer<Self, Q::Answer>,
    compiled: &'static Compiled<Self, Q::Answer>,
    solution: Solution,
    places: L,
}

impl<L: Places, Q: Question> Probe<L, Q> {
    #[inline(always)]
    fn of_filter(header: &Header, len: usize, kernel: Kernel, places: L) -> Self {
        Self::new(header.shape.layout(), header.shape.width, len, kernel, places)
    }

    /// A probe of the solution with this layout in `len` bytes.
    #[inline(always)]
    pub(crate) fn new(layout: Layout, width: Width, len: usize, kernel: Kernel, places: L) -> Self {
        let compiled = kernel.compiled(width, layout.is_fractional(), places.is_plain());
        let solution = Solution::new(layout, width, len);
        let short = layout.columns() as usize <= GROUP && places.are_unique();
        Self { answer: compiled.answer(short), compiled, solution, places }
    }

    #[inline(always)]
    fn ask<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        readable: Readable<'_>,
        key_hash: u64,
        laid: Option<Laid<B>>,
    ) -> Q::Answer {
        match laid.and_then(|laid| Q::ask::<I, B, P>(instructions, readable, laid)) {
            Some(answer) => answer,
            None => self.compiled.answer_rare(self, readable.bytes(), key_hash),
        }
    }
}

impl<L: Places, Q: Question> Probe<L, Q> {
    /// The answer for the key with this hash.
    #[inline(always)]
    pub(crate) fn answer_one(&self, bytes: &[u8], key_hash: u64) -> Q::Answer {
        self.answer.of(self, bytes, key_hash)
    }

    /// The same for many hashes, or as many as there is room for answers.
    #[inline(always)]
    pub(crate) fn answer_hashes(
        &self,
        bytes: &[u8],
        key_hashes: &[u64],
        answers: &mut [Q::Answer],
    ) {
        let count = key_hashes.len().min(answers.len());
        self.compiled.answer_all(self, bytes, &key_hashes[..count], &mut answers[..count]);
    }
}

impl<L: Places, Q: Question> Query for Probe<L, Q> {
    type Answer = Q::Answer;
    type Path<const FRACTIONAL: bool, const PLAIN: bool> = Q::Known<L::Known<FRACTIONAL, PLAIN>>;

    #[inline(always)]
    fn answer<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hash: u64,
    ) -> Q::Answer {
        let Some(readable) = self.solution.over(bytes) else {
            return Q::UNKNOWN;
        };
        let laid = self.places.find_at_once::<B, P>(readable, key_hash);
        self.ask::<I, B, P>(instructions, readable, key_hash, laid)
    }

    #[inline(always)]
    fn answer_rare<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hash: u64,
    ) -> Q::Answer {
        let Some(readable) = self.solution.over(bytes) else {
            return Q::UNKNOWN;
        };
        let laid = self.places.find::<B, P>(readable, key_hash);
        match Q::ask::<I, B, P>(instructions, readable, laid) {
            Some(answer) => answer,
            None => Q::ask_slowly(readable, laid),
        }
    }

    #[inline(always)]
    fn answer_all<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hashes: &[u64],
        answers: &mut [Q::Answer],
    ) {
        // A copy, which the compiler knows that no answer changes.
        let probe = { *self };
        let Some(readable) = probe.solution.over(bytes) else {
            answers.fill(Q::UNKNOWN);
            return;
        };
        if bytes.len() <= CACHED_BYTES {
            for (&key_hash, answer) in key_hashes.iter().zip(answers) {
                let laid = probe.places.find_at_once::<B, P>(readable, key_hash);
                *answer = probe.ask::<I, B, P>(instructions, readable, key_hash, laid);
            }
            return;
        }
        match bytes.len() <= FAR_BYTES {
            true => {
                let fetch = Fetch { readable, places: probe.places };
                probe.pipeline::<I, B, P, _>(instructions, fetch, key_hashes, answers);
            }
            false => {
                let fetch = Fetch { readable, places: probe.places.far() };
                probe.pipeline::<I, B, P, _>(instructions, fetch, key_hashes, answers);
            }
        }
    }
}

impl<L: Places, Q: Question> Probe<L, Q> {
    /// Answers many queries, the memory of some always on its way.
    #[inline(always)]
    fn pipeline<I: Instructions, B: Band, P: Path, F: Places>(
        &self,
        instructions: I,
        fetch: Fetch<'_, F>,
        key_hashes: &[u64],
        answers: &mut [Q::Answer],
    ) {
        // A ring of equations: each takes the place of one that is answered.
        let mut ring = [Laid::<B>::NOWHERE; AHEAD];
        for (laid, &key_hash) in ring.iter_mut().zip(key_hashes) {
            *laid = fetch.find::<B, P, Q>(key_hash);
        }
        let behind = key_hashes.get(AHEAD..).unwrap_or_default();
        for (index, (&key_hash, answer)) in key_hashes.iter().zip(answers).enumerate() {
            let laid = &mut ring[index % AHEAD];
            *answer = self.ask::<I, B, P>(instructions, fetch.readable, key_hash, Some(*laid));
            if let Some(&next) = behind.get(index) {
                *laid = fetch.find::<B, P, Q>(next);
            }
        }
    }
}

/// Places in a solution whose memory is asked for when they are found.
#[derive(Clone, Copy)]
struct Fetch<'a, F> {
    readable: Readable<'a>,
    places: F,
}

impl<F: Places> Fetch<'_, F> {
    #[inline(always)]
    fn find<B: Band, P: Path, Q: Question>(&self, key_hash: u64) -> Laid<B> {
        let laid = self.places.find::<B, P>(self.readable, key_hash);
        Q::fetch(self.readable, &laid);
        laid
    }
}

/// The probe of a filter or a function, whatever its variant.
#[derive(Clone, Copy)]
pub(crate) enum AnyProbe<Q: Question> {
    OneSystem(Probe<OneSystem, Q>),
    Layers(Probe<Layers, Q>),
}

impl<Q: Question> AnyProbe<Q> {
    #[inline]
    pub(crate) fn new(header: &Header, len: usize, kernel: Kernel) -> Self {
        match header.shape.variant {
            Variant::Bumped => {
                Self::Layers(Probe::of_filter(header, len, kernel, Layers::new(header)))
            }
            _ => Self::OneSystem(Probe::of_filter(header, len, kernel, OneSystem::new(header))),
        }
    }

    /// The layers behind the first that it was made of.
    pub(crate) fn further(&self) -> Further {
        match self {
            Self::OneSystem(_) => Further::default(),
            Self::Layers(probe) => probe.places.further(),
        }
    }

    /// The answer for the key with this hash.
    #[inline(always)]
    pub(crate) fn answer(&self, bytes: &[u8], key_hash: u64) -> Q::Answer {
        match self {
            Self::OneSystem(probe) => probe.answer_one(bytes, key_hash),
            Self::Layers(probe) => probe.answer_one(bytes, key_hash),
        }
    }

    /// The same for many keys, or as many as there is room for answers.
    pub(crate) fn answer_keys<K: Key>(
        &self,
        bytes: &[u8],
        keys: &[K],
        key_seed: u64,
        answers: &mut [Q::Answer],
    ) {
        in_hashes(keys, key_seed, &mut [0; HASHED], answers, |hashes, answers| {
            self.answer_hashes(bytes, hashes, answers);
        });
    }

    /// The same for many hashes, or as many as there is room for answers.
    pub(crate) fn answer_hashes(
        &self,
        bytes: &[u8],
        key_hashes: &[u64],
        answers: &mut [Q::Answer],
    ) {
        match self {
            Self::OneSystem(probe) => probe.answer_hashes(bytes, key_hashes, answers),
            Self::Layers(probe) => probe.answer_hashes(bytes, key_hashes, answers),
        }
    }
}

/// Hashes keys, as many at a time as `hashes` has room for, which is not none, for someone to
/// answer; as many as there is room for answers.
pub(crate) fn in_hashes<K: Key, A>(
    keys: &[K],
    key_seed: u64,
    hashes: &mut [u64],
    answers: &mut [A],
    mut answer: impl FnMut(&[u64], &mut [A]),
) {
    for (keys, answers) in keys.chunks(hashes.len()).zip(answers.chunks_mut(hashes.len())) {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = key.key_hash(key_seed);
        }
        answer(&hashes[..keys.len()], answers);
    }
}
