//! What every filter must be able to do here.

use super::Family;
use std::hint::black_box;
use std::marker::PhantomData;

/// A filter that can be built from 64-bit keys.
pub trait Peer {
    fn name(&self) -> &str;
    fn family(&self) -> Family;
    fn build(&self, keys: &[u64]) -> Box<dyn Contender>;
}

/// A built filter. The loops are compiled into each, so that no call goes through a table.
pub trait Contender {
    fn size(&self) -> Size;
    /// How many keys are found, one query after another.
    fn count(&self, keys: &[u64]) -> usize;
    /// Answers all at once, if the filter can.
    fn batch(&self, keys: &[u64], hits: &mut [bool]) -> bool;
    /// A chain of queries in which each key depends on the last answer.
    fn chain(&self, keys: &[u64]) -> u64;
}

/// What a filter takes, and its rate if the filter knows it exactly.
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

/// A peer without batches, made of a function that builds and one that asks.
pub fn peer<S: 'static>(
    name: impl Into<String>,
    family: Family,
    build: impl Fn(&[u64]) -> (S, Size) + 'static,
    contains: impl Fn(&S, u64) -> bool + Copy + 'static,
) -> Box<dyn Peer> {
    batched(name, family, build, contains, |_, _, _| false)
}

/// A peer that answers batches, too.
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
    fn chain(&self, keys: &[u64]) -> u64 {
        let mut link = 0;
        for &key in keys {
            // Absent keys all but always: the next key is the one it would have been.
            link = u64::from(black_box((self.contains)(&self.structure, key ^ link)));
        }
        link
    }
}

/// The value of a key in a function, 8 bits. A function is asked whether a key has it: always, if
/// the key was put in, and else by chance, as a filter of 8 bits would find it.
#[inline]
pub fn value_of(key: u64) -> u8 {
    (key.wrapping_mul(0x9fb2_1c65_1e98_df25) >> 56) as u8
}
