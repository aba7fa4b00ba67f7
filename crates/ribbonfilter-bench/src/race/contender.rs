//! The interface that every measured filter implements.

use super::Family;
use std::hint::black_box;
use std::marker::PhantomData;

/// A filter that can be built from 64-bit keys.
pub trait Peer {
    fn name(&self) -> &str;
    fn family(&self) -> Family;
    fn build(&self, keys: &[u64]) -> Box<dyn Contender>;
    /// The maximum number of keys from which it can be built.
    fn max_keys(&self) -> usize {
        usize::MAX
    }
}

/// A built filter. The loops over keys are compiled for each filter, so that no query is a virtual
/// call.
pub trait Contender {
    fn size(&self) -> Size;
    /// Looks up the keys one by one. Returns how many are found.
    fn count(&self, keys: &[u64]) -> usize;
    /// Looks up the keys in a batch. Returns false if the filter has no batch queries.
    fn batch(&self, keys: &[u64], hits: &mut [bool]) -> bool;
    /// Runs a chain of queries: each result chooses the next key, one of a pair. With a fence, a
    /// query does not begin before the preceding result is known; without one, the CPU may guess
    /// the result of a query that branches and run ahead. Returns how many keys are found.
    fn chain(&self, pairs: &[[u64; 2]], fence: bool) -> usize;
}

/// The size of a filter, and its rate if the filter reports it exactly.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub bytes: usize,
    pub rate: Option<f64>,
}

impl From<usize> for Size {
    fn from(bytes: usize) -> Self {
        Self { bytes, rate: None }
    }
}

/// A peer without batch queries, from a build function and a query function.
pub fn peer<S: 'static>(
    name: impl Into<String>,
    family: Family,
    build: impl Fn(&[u64]) -> (S, Size) + 'static,
    contains: impl Fn(&S, u64) -> bool + Copy + 'static,
) -> Box<dyn Peer> {
    batched(name, family, build, contains, |_, _, _| false)
}

/// A peer with batch queries.
pub fn batched<S: 'static>(
    name: impl Into<String>,
    family: Family,
    build: impl Fn(&[u64]) -> (S, Size) + 'static,
    contains: impl Fn(&S, u64) -> bool + Copy + 'static,
    batch: impl Fn(&S, &[u64], &mut [bool]) -> bool + Copy + 'static,
) -> Box<dyn Peer> {
    let name = name.into();
    Box::new(Described { name, family, build, contains, batch, structure: PhantomData })
}

/// A peer that cannot be built from more than `max_keys` keys.
pub fn at_most(max_keys: usize, peer: Box<dyn Peer>) -> Box<dyn Peer> {
    Box::new(AtMost { max_keys, peer })
}

struct AtMost {
    max_keys: usize,
    peer: Box<dyn Peer>,
}

impl Peer for AtMost {
    fn name(&self) -> &str {
        self.peer.name()
    }

    fn family(&self) -> Family {
        self.peer.family()
    }

    fn build(&self, keys: &[u64]) -> Box<dyn Contender> {
        self.peer.build(keys)
    }

    fn max_keys(&self) -> usize {
        self.max_keys
    }
}

struct Described<S, B, Q, A> {
    name: String,
    family: Family,
    build: B,
    contains: Q,
    batch: A,
    structure: PhantomData<S>,
}

impl<S, B, Q, A> Peer for Described<S, B, Q, A>
where
    S: 'static,
    B: Fn(&[u64]) -> (S, Size),
    Q: Fn(&S, u64) -> bool + Copy + 'static,
    A: Fn(&S, &[u64], &mut [bool]) -> bool + Copy + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn family(&self) -> Family {
        self.family
    }

    fn build(&self, keys: &[u64]) -> Box<dyn Contender> {
        let (structure, size) = (self.build)(keys);
        Box::new(Built { structure, size, contains: self.contains, batch: self.batch })
    }
}

struct Built<S, Q, A> {
    structure: S,
    size: Size,
    contains: Q,
    batch: A,
}

impl<S, Q, A> Contender for Built<S, Q, A>
where
    Q: Fn(&S, u64) -> bool,
    A: Fn(&S, &[u64], &mut [bool]) -> bool,
{
    fn size(&self) -> Size {
        self.size
    }

    #[inline(never)]
    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| (self.contains)(&self.structure, key)).count()
    }

    #[inline(never)]
    fn batch(&self, keys: &[u64], hits: &mut [bool]) -> bool {
        (self.batch)(&self.structure, keys, hits)
    }

    #[inline(never)]
    fn chain(&self, pairs: &[[u64; 2]], fence: bool) -> usize {
        match fence {
            true => self.links(pairs, wait),
            false => self.links(pairs, || ()),
        }
    }
}

impl<S, Q: Fn(&S, u64) -> bool, A> Built<S, Q, A> {
    #[inline(always)]
    fn links(&self, pairs: &[[u64; 2]], between: impl Fn()) -> usize {
        let (mut found, mut last) = (0, 0);
        for pair in pairs {
            last = usize::from(black_box((self.contains)(&self.structure, pair[last & 1])));
            found += last;
            between();
        }
        found
    }
}

/// Waits until all earlier instructions are finished, before any later one begins.
#[inline(always)]
fn wait() {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "an instruction that every CPU of this architecture has")]
    // SAFETY: LFENCE is part of SSE2, which every x86-64 CPU has.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    #[expect(unsafe_code, reason = "there is no function for this instruction")]
    // SAFETY: the barrier changes neither registers nor memory.
    unsafe {
        std::arch::asm!("isb sy", options(nostack, preserves_flags));
    }
}

/// The value of a key in a function, of `bits` bits. A function is measured like a filter: a key is
/// found if it has this value. This is always true for keys of the function, and true for other
/// keys with a probability of 2^-`bits`, as in a filter with this number of columns.
#[inline]
pub fn value_of(key: u64, bits: u32) -> u64 {
    key.wrapping_mul(0x9fb2_1c65_1e98_df25) >> (64 - bits)
}
