//! What every filter must be able to do here.

use std::hint::black_box;

/// A filter that can be built from 64-bit keys.
pub trait Peer {
    fn name(&self) -> String;
    fn is_ours(&self) -> bool {
        false
    }
    fn build(&self, keys: &[u64]) -> Box<dyn Contender>;
}

/// A built filter. The loops are compiled into each, so that no call goes through a table.
pub trait Contender {
    fn bytes(&self) -> usize;
    /// How many keys are found, one query after another.
    fn count(&self, keys: &[u64]) -> usize;
    /// Answers all at once, if the filter can.
    fn batch(&self, keys: &[u64], hits: &mut [bool]) -> bool;
    /// A chain of queries in which each key depends on the last answer.
    fn chain(&self, keys: &[u64]) -> u64;
}

/// A peer made of a function that builds and one that asks.
pub struct Described<S, B, Q, A> {
    pub name: String,
    pub ours: bool,
    /// Builds the structure and tells its bytes.
    pub build: B,
    pub contains: Q,
    /// Answers a batch, or says that it cannot.
    pub batch: A,
    pub structure: std::marker::PhantomData<S>,
}

impl<S, B, Q, A> Peer for Described<S, B, Q, A>
where
    S: 'static,
    B: Fn(&[u64]) -> (S, usize),
    Q: Fn(&S, u64) -> bool + Copy + 'static,
    A: Fn(&S, &[u64], &mut [bool]) -> bool + Copy + 'static,
{
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_ours(&self) -> bool {
        self.ours
    }

    fn build(&self, keys: &[u64]) -> Box<dyn Contender> {
        let (structure, bytes) = (self.build)(keys);
        Box::new(Built { structure, bytes, contains: self.contains, batch: self.batch })
    }
}

struct Built<S, Q, A> {
    structure: S,
    bytes: usize,
    contains: Q,
    batch: A,
}

impl<S, Q, A> Contender for Built<S, Q, A>
where
    Q: Fn(&S, u64) -> bool,
    A: Fn(&S, &[u64], &mut [bool]) -> bool,
{
    fn bytes(&self) -> usize {
        self.bytes
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

/// A peer without batches.
pub fn single<S: 'static>(
    name: impl Into<String>,
    build: impl Fn(&[u64]) -> (S, usize) + 'static,
    contains: impl Fn(&S, u64) -> bool + Copy + 'static,
) -> Box<dyn Peer> {
    Box::new(Described {
        name: name.into(),
        ours: false,
        build,
        contains,
        batch: |_: &S, _: &[u64], _: &mut [bool]| false,
        structure: std::marker::PhantomData,
    })
}

/// The value of a key in a function, 8 bits. A function is asked whether a key has it: always, if
/// the key was put in, and else by chance, as a filter of 8 bits would find it.
#[inline]
pub fn value_of(key: u64) -> u8 {
    (key.wrapping_mul(0x9fb2_1c65_1e98_df25) >> 56) as u8
}
