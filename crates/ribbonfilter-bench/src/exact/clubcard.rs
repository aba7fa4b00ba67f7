//! clubcard: the exact sets of `CRLite`.

use super::universe::Key;
use clubcard::builder::{ApproximateRibbon, ClubcardBuilder, ExactRibbon};
use clubcard::{AsQuery, Clubcard, Equation, Filterable, Queryable};

/// Words of 64 bits in a row, as `CRLite` has them.
const WORDS: usize = 4;

pub type Card = Clubcard<WORDS, (), ()>;

impl AsQuery<WORDS> for Key {
    /// As in its examples: the digest is the row, and its last word decides where the row begins.
    fn as_query(&self, slots: usize) -> Equation<WORDS> {
        let mut row: [u64; WORDS] = std::array::from_fn(|index| self.word(index));
        let start = row[WORDS - 1] as usize % slots.max(1);
        row[0] |= 1;
        Equation::homogeneous(start, row)
    }

    fn block(&self) -> &[u8] {
        &self.group
    }

    fn discriminant(&self) -> &[u8] {
        &self.digest[..8]
    }
}

impl Filterable<WORDS> for Key {
    fn included(&self) -> bool {
        self.is_member
    }
}

impl Queryable<WORDS> for Key {
    type UniverseMetadata = ();
    type PartitionMetadata = ();

    fn in_universe(&self, (): &()) -> bool {
        true
    }
}

type Builder = ClubcardBuilder<WORDS, Key>;

/// Builds from the keys of each group.
pub fn build(blocks: &[&[Key]]) -> Card {
    let mut builder = Builder::new();
    let ribbons = blocks.iter().map(|block| approximate_ribbon(&builder, block)).collect();
    builder.collect_approx_ribbons(ribbons);
    let ribbons = blocks.iter().map(|block| exact_ribbon(&builder, block)).collect();
    builder.collect_exact_ribbons(ribbons);
    builder.build::<Key>((), ())
}

/// The first stage of a group, of its smaller side.
fn approximate_ribbon(builder: &Builder, block: &[Key]) -> ApproximateRibbon<WORDS, Key> {
    let members = block.iter().filter(|key| key.is_member).count();
    let inverted = 2 * members > block.len();
    let mut ribbon = builder.new_approx_builder(&block[0].group);
    ribbon.set_universe_size(block.len());
    ribbon.set_inverted(inverted);
    let stored = block.iter().filter(|key| key.is_member != inverted);
    stored.for_each(|key| ribbon.insert(*key));
    ApproximateRibbon::from(ribbon)
}

/// The second stage of a group; the builder removes the keys that do not pass the first.
fn exact_ribbon(builder: &Builder, block: &[Key]) -> ExactRibbon<WORDS, Key> {
    let mut ribbon = builder.new_exact_builder(&block[0].group);
    block.iter().for_each(|key| ribbon.insert(*key));
    ExactRibbon::from(ribbon)
}

/// The bytes of both matrices alone.
pub fn matrix_bytes(card: &Card) -> usize {
    let words: usize = card.approx_filter.iter().map(Vec::len).sum();
    8 * (words + card.exact_filter.len())
}

/// The bytes in the encoding that `CRLite` uses (bincode): a number takes 8 bytes, a flag one, and a
/// list has its length in front.
pub fn size_in_bytes(card: &Card) -> usize {
    let lists = 3 + card.approx_filter.len();
    let list = |bytes: usize| 8 + bytes;
    let entries = card.index.iter().map(|(block, entry)| {
        let exceptions: usize = entry.exceptions.iter().map(|key| list(key.len())).sum();
        list(block.len()) + 5 * 8 + 1 + list(exceptions)
    });
    matrix_bytes(card) + 8 * lists + entries.sum::<usize>()
}
