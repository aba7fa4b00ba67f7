//! Cutting a filter into parts (paper, section 5.1): each part has the slots of a range of starts,
//! and every key is in one part. At each cut, `(w-1) r` bits are stored twice; here it is the block
//! in which these bits lie.
//!
//! Keys of Balanced and Bumped filters have second locations elsewhere, so only filters of one
//! system are cut.

use crate::filter::Header;
use crate::hash::key_hash;
use crate::ribbon::{Ribbon, single::Single};
use crate::width::with_word;
use crate::{Error, Filter, Layout, Solution, Starts};
use std::ops::Range;

/// A part of a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub(crate) header: Header,
    pub(crate) seed: u8,
    pub(crate) smash: u64,
    /// The layout of the whole solution.
    pub(crate) whole: Layout,
    /// The starts of this part.
    pub(crate) starts: Range<u64>,
    /// The blocks that these starts need.
    pub(crate) solution: Solution,
}

impl Part {
    /// Whether a key may be in the set; `None` if it belongs to another part.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Option<bool> {
        self.contains_hash(key_hash(key.as_ref(), self.header.key_seed))
    }

    /// Whether the key of a hash may be in the set; `None` if it belongs to another part.
    pub fn contains_hash(&self, hash: u64) -> Option<bool> {
        let seeded = crate::hash::Seeded::new(hash, self.seed);
        let width = self.whole.width();
        let start = Starts::new(self.whole.slots(), width, self.smash).of(seeded.0);
        self.starts.contains(&start).then(|| {
            let start = start - self.blocks().start * width.slots();
            let expected = self.header.expected(hash);
            with_word!(width, W => {
                self.solution.matches(start, seeded.coefficients::<W>(), expected)
            })
        })
    }

    /// The starts of this part.
    pub fn starts(&self) -> Range<u64> {
        self.starts.clone()
    }

    /// The number of columns.
    pub fn columns(&self) -> f64 {
        self.solution.layout().columns()
    }

    /// What a query must know besides the solution.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The blocks that the starts need.
    pub(crate) fn blocks(&self) -> Range<u64> {
        blocks(&self.starts, &self.whole)
    }

    /// Whether the fields are those of a part.
    pub(crate) fn is_valid(&self) -> bool {
        let Self { starts, whole, .. } = self;
        whole.slots() > 0
            && starts.start < starts.end
            && starts.end <= Starts::new(whole.slots(), whole.width(), 0).count()
            && *self.solution.layout() == whole.part(self.blocks().start, self.blocks().end)
    }
}

/// The blocks that a range of starts needs.
fn blocks(starts: &Range<u64>, whole: &Layout) -> Range<u64> {
    let w = whole.width().slots();
    starts.start / w..(starts.end + w - 2) / w + 1
}

impl Filter {
    /// Cuts the filter into parts at the given starts, which must be in ascending order.
    pub fn cut_at(&self, starts: &[u64]) -> Result<Vec<Part>, Error> {
        let Ribbon::Single(single) = &self.ribbon else {
            return Err(Error::Unsupported(
                "keys of this variant have two locations: cut standard or homogeneous filters",
            ));
        };
        if self.keys() == 0 {
            return Err(Error::Unsupported("an empty filter cannot be cut"));
        }
        let bounds: Vec<u64> = [&[0], starts, &[single.starts().count()]].concat();
        if !bounds.is_sorted_by(|one, other| one < other) {
            return Err(Error::Parts("every part must have a start: cut into fewer parts"));
        }
        Ok(bounds.windows(2).map(|pair| self.part(single, pair[0]..pair[1])).collect())
    }

    /// Cuts the filter into equal parts, up to one block.
    pub fn cut(&self, parts: u64) -> Result<Vec<Part>, Error> {
        let layout = self.ribbon.solutions()[0].layout();
        let w = layout.width().slots();
        if parts == 0 || parts > layout.blocks() {
            return Err(Error::Parts("there must be a block for each part: cut into fewer parts"));
        }
        let bounds = (1..parts).map(|part| layout.blocks() * part / parts * w);
        self.cut_at(&bounds.collect::<Vec<_>>())
    }

    fn part(&self, single: &Single, starts: Range<u64>) -> Part {
        let whole = *single.solution().layout();
        let blocks = blocks(&starts, &whole);
        let solution = single.solution().part(blocks.start, blocks.end);
        let (header, seed, smash) = (self.header, single.seed(), single.smash());
        Part { header, seed, smash, whole, starts, solution }
    }

    /// The filter of which these are all parts, in any order.
    pub fn join(parts: &[Part]) -> Result<Self, Error> {
        let mut parts: Vec<&Part> = parts.iter().collect();
        parts.sort_by_key(|part| part.starts.start);
        let first = *parts.first().ok_or(Error::Parts("there is none"))?;
        let (mut bytes, mut next, mut blocks) = (Vec::new(), 0, 0);
        for part in parts {
            let identity = |part: &Part| (part.header, part.seed, part.smash, part.whole);
            if identity(part) != identity(first) {
                return Err(Error::Parts("they are of different filters"));
            }
            if part.starts.start != next {
                return Err(Error::Parts("one is missing, or there twice"));
            }
            // The blocks at the cut are in both parts.
            let begin = first.whole.offset(part.blocks().start);
            let shared = first.whole.offset(blocks).saturating_sub(begin);
            let (own, bytes_of_part) = (part.solution.bytes().split_at(shared), &mut bytes);
            if bytes_of_part.get(begin..) != Some(own.0) {
                return Err(Error::Parts("they differ where they overlap"));
            }
            bytes_of_part.extend_from_slice(own.1);
            (next, blocks) = (part.starts.end, part.blocks().end);
        }
        if next != Starts::new(first.whole.slots(), first.whole.width(), 0).count() {
            return Err(Error::Parts("the last one is missing"));
        }
        let solution = Solution::from_bytes(first.whole, bytes);
        let solution = solution.ok_or(Error::Parts("they have other sizes"))?;
        let single = Single::from_fields(first.seed, first.smash, solution);
        Ok(Self { header: first.header, ribbon: Ribbon::Single(single) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;
    use crate::{Settings, Variant, Width};

    fn filter(variant: Variant, width: Width, columns: f64, keys: usize) -> Filter {
        let settings = Settings::new(variant, width, columns);
        Filter::from_hashes(&settings, &hashes(keys, 1)).expect("a filter")
    }

    /// Every key is in one part, which answers as the whole filter; all parts give the filter.
    fn check(filter: &Filter, parts: &[Part]) {
        for hash in hashes(2000, 1).into_iter().chain(hashes(2000, 2)) {
            let results: Vec<bool> =
                parts.iter().filter_map(|part| part.contains_hash(hash)).collect();
            assert_eq!(results, [filter.contains_hash(hash)]);
        }
        assert!(parts.iter().all(Part::is_valid));
        assert_eq!(Filter::join(parts).as_ref(), Ok(filter));
    }

    #[test]
    fn parts_answer_as_the_filter() {
        for variant in [Variant::Standard, Variant::Homogeneous] {
            for width in Width::ALL {
                for columns in [3.0, 7.7] {
                    let filter = filter(variant, width, columns, 3000);
                    for parts in [1, 2, 3, 7] {
                        let mut parts = filter.cut(parts).expect("a block for each");
                        parts.reverse();
                        check(&filter, &parts);
                    }
                    // At arbitrary starts, also inside of one block.
                    check(&filter, &filter.cut_at(&[1, 5, 777, 1500]).expect("ascending"));
                }
            }
        }
    }

    /// A cut between blocks stores one block twice: the `(w-1) r` bits of the paper, and one slot.
    #[test]
    fn parts_cost_one_block_per_cut() {
        let filter = filter(Variant::Standard, Width::W64, 8.0, 5000);
        let bytes = |parts: &[Part]| parts.iter().map(|p| p.solution.bytes().len()).sum::<usize>();
        let whole = bytes(&filter.cut(1).expect("one part"));
        for parts in 2..10 {
            let cut = filter.cut(parts).expect("parts");
            assert_eq!(bytes(&cut), whole + (parts as usize - 1) * 64 * 8 / 8);
        }
    }

    #[test]
    fn only_all_parts_of_one_cut_are_joined() {
        let filter = filter(Variant::Standard, Width::W32, 5.0, 3000);
        let parts = filter.cut(4).expect("parts");
        let refused = |parts: &[Part]| matches!(Filter::join(parts), Err(Error::Parts(_)));
        assert!(refused(&[]) && refused(&parts[1..]) && refused(&parts[..3]));
        assert!(refused(&[&parts[..], &parts[2..3]].concat()));
        let shrunk = filter.shrink(4.0).expect("columns").cut(4).expect("parts");
        assert!(refused(&[&parts[..3], &shrunk[3..]].concat()));
        let mut other = parts.clone();
        other[1].solution = other[2].solution.clone();
        assert!(refused(&other));
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        for variant in [Variant::Balanced, Variant::Bumped, Variant::Soft] {
            let cut = filter(variant, Width::W32, 5.0, 20_000).cut(2);
            assert!(matches!(cut, Err(Error::Unsupported(_))), "{variant}");
        }
        let single = filter(Variant::Standard, Width::W64, 5.0, 100);
        assert!(single.cut(0).is_err() && single.cut(100).is_err());
        assert!(single.cut_at(&[3, 2]).is_err() && single.cut_at(&[1 << 40]).is_err());
        assert!(filter(Variant::Standard, Width::W64, 5.0, 0).cut(1).is_err());
    }
}
