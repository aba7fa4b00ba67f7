//! Bumped Ribbon (BuRR): layers that pass the few keys they cannot hold to the next layer.
//!
//! Not in the paper: its section 8 asks for designs "that are better and/or easier to analyze" than
//! Balanced Ribbon. This one is from Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast
//! succinct retrieval and approximate membership using ribbon" (2022), sections 4 and 5.
//!
//! A system with fewer slots than keys is filled almost completely. Where it has too many keys,
//! some are bumped to the next layer, a smaller system of the same kind. The slots of a layer are
//! divided into buckets. Within a bucket, *classes* of keys are inserted, from the last starts to
//! the first, each completely or not at all. The first class that does not fit is bumped, together
//! with all classes of the bucket that have lower starts.
//!
//! ```text
//!   bucket       first slot                          last slot
//!                | class 2 | class 1 | class 0               |
//!   thresholds   0         20        42                    128     (w = 64)
//!
//!   class 0 fits, class 1 does not: all keys below 42 are bumped, code 1
//! ```
//!
//! A code of two bits per bucket says from which start on its keys stay. Equations reach towards
//! higher slots, so rows of the preceding bucket overlap the first slots of a bucket: keys with low
//! starts are the ones that fit least often.
//!
//! The last layer is a Standard system, the only one that can fail. Whether a class fits depends on
//! coefficients and on fingerprints of 32 bits, whatever the number of columns.

use super::{Grouped, Item, Located, Single, starts};
use crate::banding::{Banding, RightSide};
use crate::hash::Seeded;
use crate::width::Word;
use crate::{Error, Solution, Starts, Width, slots};

/// The parameters of a width, from simulations.
struct Parameters {
    /// A bucket has `1 << log` slots.
    log: u32,
    /// The threshold of each code: keys with lower offsets are bumped.
    thresholds: [u64; 4],
    /// Slots of a layer per key.
    load: f64,
    /// A smaller set is a Standard system: it needs fewer bits than codes and another layer.
    min_keys: u64,
}

const fn parameters(width: Width) -> Parameters {
    match width {
        Width::W16 => Parameters { log: 3, thresholds: [8, 4, 2, 0], load: 0.75, min_keys: 1 << 8 },
        Width::W32 => {
            Parameters { log: 5, thresholds: [32, 13, 6, 0], load: 0.88, min_keys: 1 << 10 }
        }
        Width::W64 => {
            Parameters { log: 7, thresholds: [128, 42, 20, 0], load: 0.92, min_keys: 1 << 12 }
        }
        Width::W128 => {
            Parameters { log: 9, thresholds: [512, 85, 42, 0], load: 0.962, min_keys: 1 << 14 }
        }
    }
}

/// Codes per byte.
const PER_BYTE: usize = 4;

/// A layer that bumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    smash: u64,
    /// The codes of all buckets, four in a byte.
    codes: Vec<u8>,
    solution: Solution,
}

/// A Bumped ribbon.
#[derive(Clone, Debug, PartialEq)]
pub struct Bumped {
    layers: Vec<Layer>,
    last: Single,
}

impl Bumped {
    pub(super) fn build<W: Word, R: RightSide>(
        items: &[Item<R>],
        load: Option<f64>,
        smash: u64,
        columns: f64,
    ) -> Result<Self, Error> {
        let Parameters { min_keys, load: usual, .. } = parameters(W::WIDTH);
        let mut layers = Vec::new();
        let mut items = items.to_vec();
        while items.len() as u64 >= min_keys {
            // A requested load is that of the first layer, which holds most keys.
            let load = load.filter(|_| layers.is_empty()).unwrap_or(usual);
            let (layer, bumped) = Layer::build::<W, R>(&items, load, smash, columns);
            // A set of equal hashes, say, is not worth another layer.
            let is_useful = bumped.len() < items.len();
            layers.push(layer);
            items = bumped;
            if !is_useful {
                break;
            }
        }
        let last = match items.len() as u64 {
            0 => Single::empty(W::WIDTH),
            keys => {
                let slots = slots::standard(keys, W::WIDTH);
                Single::standard::<W, R>(&items, slots, smash, columns)?
            }
        };
        Ok(Self { layers, last })
    }

    pub(crate) fn from_fields(layers: Vec<Layer>, last: Single) -> Self {
        Self { layers, last }
    }

    pub(super) fn locate(&self, mut hash: u64) -> Option<Located<'_>> {
        for layer in &self.layers {
            let seeded = Seeded::new(hash, 0);
            let start = starts(&layer.solution, layer.smash).of(seeded.0);
            if layer.keeps(start) {
                return Some(Located { solution: &layer.solution, start, seeded });
            }
            hash = seeded.bumped().0;
        }
        self.last.locate(hash)
    }

    /// The layers that bump.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The last layer.
    pub fn last(&self) -> &Single {
        &self.last
    }

    pub(super) fn solutions(&self) -> Vec<&Solution> {
        let layers = self.layers.iter().map(|layer| &layer.solution);
        layers.chain([self.last.solution()]).collect()
    }

    pub(super) fn code_bytes(&self) -> usize {
        self.layers.iter().map(|layer| layer.codes.len()).sum()
    }

    pub(super) fn with_solutions(&self, new: impl Fn(&Solution) -> Solution) -> Self {
        let layer = |layer: &Layer| Layer {
            smash: layer.smash,
            codes: layer.codes.clone(),
            solution: new(&layer.solution),
        };
        Self {
            layers: self.layers.iter().map(layer).collect(),
            last: self.last.with_solution(&new),
        }
    }
}

impl Layer {
    /// Fills a layer; returns also the keys that it bumps.
    fn build<W: Word, R: RightSide>(
        items: &[Item<R>],
        load: f64,
        smash: u64,
        columns: f64,
    ) -> (Self, Vec<Item<R>>) {
        let Parameters { log, .. } = parameters(W::WIDTH);
        let unit = W::WIDTH.slots().max(1 << log);
        let slots = (libm::floor(items.len() as f64 * load) as u64 / unit).max(1) * unit;
        let starts = Starts::new(slots, W::WIDTH, smash);
        let start = |hash| starts.of(Seeded::new(hash, 0).0);
        let buckets = (slots >> log) as usize;
        let mut grouped = Grouped::new(items, buckets, |hash| (start(hash) >> log) as usize);
        let mut banding = Banding::new(slots);
        let mut codes = vec![0; buckets.div_ceil(PER_BYTE)];
        let (mut bumped, mut rows) = (Vec::new(), Vec::new());
        for bucket in 0..buckets {
            let keys = grouped.of_mut(bucket);
            keys.sort_unstable_by_key(|item| (start(item.hash), item.hash));
            let first = (bucket as u64) << log;
            let (code, kept) = fill_bucket::<W, R>(
                &mut banding,
                keys,
                |hash| start(hash) - first,
                &starts,
                &mut rows,
            );
            codes[bucket / PER_BYTE] |= code << (2 * (bucket % PER_BYTE));
            let next = |item: &Item<R>| Seeded::new(item.hash, 0).bumped().0;
            let rest = keys[..kept].iter();
            bumped.extend(rest.map(|item| Item { hash: next(item), value: item.value }));
        }
        (Self { smash, codes, solution: Solution::of(&banding, columns, |_| 0) }, bumped)
    }

    /// The layer with these fields, if they are those of a layer.
    pub(crate) fn from_fields(smash: u64, codes: Vec<u8>, solution: Solution) -> Option<Self> {
        let (slots, log) = (solution.layout().slots(), parameters(solution.layout().width()).log);
        let (buckets, rest) = (slots >> log, slots & ((1 << log) - 1));
        // Whole buckets, or there would be starts in a bucket without a code.
        let valid =
            slots > 0 && rest == 0 && codes.len() as u64 == buckets.div_ceil(PER_BYTE as u64);
        valid.then_some(Self { smash, codes, solution })
    }

    /// Whether a key with this start stays.
    fn keeps(&self, start: u64) -> bool {
        let Parameters { log, thresholds, .. } = parameters(self.solution.layout().width());
        let bucket = (start >> log) as usize;
        let code = self.codes[bucket / PER_BYTE] >> (2 * (bucket % PER_BYTE)) & 3;
        start & ((1 << log) - 1) >= thresholds[usize::from(code)]
    }

    /// The smash value.
    pub fn smash(&self) -> u64 {
        self.smash
    }

    /// The codes of all buckets, four in a byte.
    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// The solution.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }
}

/// Inserts the classes of a bucket, whose keys are ordered by their starts, until one does not
/// fit. Returns the code, and the index of the first key that stays.
fn fill_bucket<W: Word, R: RightSide>(
    banding: &mut Banding<W, R>,
    keys: &[Item<R>],
    offset: impl Fn(u64) -> u64,
    starts: &Starts,
    rows: &mut Vec<u64>,
) -> (u8, usize) {
    let (mut code, mut kept) = (0, keys.len());
    for (next, threshold) in (1..).zip(&parameters(W::WIDTH).thresholds[1..]) {
        let first = keys.partition_point(|item| offset(item.hash) < *threshold);
        let equations = keys[first..kept].iter().map(|item| {
            let seeded = Seeded::new(item.hash, 0);
            item.equation(starts.of(seeded.0), seeded)
        });
        if !banding.insert_all_or_none(equations, rows) {
            break;
        }
        (code, kept) = (next, first);
    }
    (code, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;

    fn items(keys: usize, seed: u64) -> Vec<Item<u32>> {
        let item = |hash: u64| Item { hash, value: hash as u32 };
        hashes(keys, seed).into_iter().map(item).collect()
    }

    /// A layer keeps what it says: the bumped keys are those that `keeps` denies, and the others
    /// have their values.
    #[test]
    fn layers_keep_what_they_do_not_bump() {
        fn check<W: Word>(keys: usize) {
            let items = items(keys, 4);
            let load = parameters(W::WIDTH).load;
            let (layer, bumped) = Layer::build::<W, u32>(&items, load, 8, 32.0);
            let starts = starts(&layer.solution, 8);
            let mut denied = 0;
            for item in &items {
                let seeded = Seeded::new(item.hash, 0);
                let start = starts.of(seeded.0);
                if layer.keeps(start) {
                    let bits = layer.solution.query(start, seeded.coefficients::<W>());
                    assert_eq!(bits, u64::from(item.value));
                } else {
                    denied += 1;
                }
            }
            assert_eq!(bumped.len(), denied);
            // It has fewer slots than keys, so it bumps some, but hardly more than it must.
            let slots = layer.solution.layout().slots() as usize;
            let empty = slots - (keys - denied);
            assert!(empty < slots / 100, "{slots} slots, {empty} empty");
        }
        check::<u16>(20_000);
        check::<u32>(20_000);
        check::<u64>(60_000);
        check::<u128>(60_000);
    }

    /// In nine blocks of 64 slots there are four buckets of 128, and starts in a fifth.
    #[test]
    fn layers_without_whole_buckets_are_refused() {
        let solution = |slots| {
            let layout = crate::Layout::new(Width::W64, slots, 1.0);
            Solution::from_bytes(layout, vec![0; layout.size()]).expect("the size of the layout")
        };
        assert!(Layer::from_fields(0, vec![0], solution(8 * 64)).is_some());
        assert!(Layer::from_fields(0, vec![0], solution(9 * 64)).is_none());
        assert!(Layer::from_fields(0, vec![0], solution(10 * 64)).is_none());
        assert!(Layer::from_fields(0, Vec::new(), solution(0)).is_none());
    }

    /// Few layers, each much smaller than the preceding one, also if all hashes are equal.
    #[test]
    fn layers_become_smaller() {
        let ribbon = Bumped::build::<u64, u32>(&items(300_000, 6), None, 16, 8.0).expect("seeds");
        let slots: Vec<u64> =
            ribbon.solutions().iter().map(|solution| solution.layout().slots()).collect();
        assert!(
            slots.len() >= 3 && slots.windows(2).all(|pair| pair[1] * 5 < pair[0]),
            "{slots:?}"
        );
        let equal = vec![Item { hash: 7, value: 1u32 }; 50_000];
        let ribbon = Bumped::build::<u64, u32>(&equal, None, 16, 8.0).expect("one equation");
        assert!(ribbon.locate(7).is_some_and(|located| located.matches(1)));
    }
}
