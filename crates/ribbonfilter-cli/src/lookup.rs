//! Looks up keys in a filter, a container of shards or an exact set.

use crate::filter_file::Set;
use ribbonfilter::{ExactSet, MappedBytes, Membership};

/// Something that reports which keys are in a set.
pub trait Lookup: Sync {
    /// The seed under which keys are hashed.
    fn key_seed(&self) -> u64;

    /// Looks up keys by their hashes and those of their groups, which are empty if keys have none.
    fn look_up(&self, groups: &[u64], hashes: &[u64], hits: &mut Hits);
}

/// The results for several keys. Keys of unknown groups are neither in the set nor outside it.
#[derive(Default)]
pub struct Hits {
    hits: Vec<bool>,
    /// The indices of the keys of unknown groups, ascending.
    pub unknown: Vec<usize>,
}

impl Hits {
    fn reset(&mut self, keys: usize) -> &mut [bool] {
        self.unknown.clear();
        self.hits.resize(keys, false);
        &mut self.hits
    }

    /// The indices of the keys that are in the set or, if `invert`, of those that are not.
    pub fn select(&self, invert: bool) -> impl Iterator<Item = usize> + '_ {
        let mut unknown = self.unknown.iter().peekable();
        self.hits.iter().enumerate().filter_map(move |(index, &hit)| {
            let known = unknown.next_if(|&&next| next == index).is_none();
            (known && hit != invert).then_some(index)
        })
    }
}

impl Lookup for Set {
    fn key_seed(&self) -> u64 {
        match self {
            Self::Filter(filter) => filter.key_seed(),
            Self::Shards(shards) => shards.key_seed(),
        }
    }

    fn look_up(&self, _: &[u64], hashes: &[u64], hits: &mut Hits) {
        let hits = hits.reset(hashes.len());
        match self {
            Self::Filter(filter) => filter.contains_hash_batch_into(hashes, hits),
            Self::Shards(shards) => shards.contains_hash_batch_into(hashes, hits),
        }
    }
}

impl Lookup for ExactSet<MappedBytes> {
    fn key_seed(&self) -> u64 {
        ExactSet::key_seed(self)
    }

    fn look_up(&self, groups: &[u64], hashes: &[u64], hits: &mut Hits) {
        hits.reset(hashes.len());
        if groups.is_empty() {
            return self.contains_hash_batch_into(hashes, &mut hits.hits);
        }
        for (index, (&group, &hash)) in groups.iter().zip(hashes).enumerate() {
            let membership = self.contains_hash_in_group(group, hash);
            hits.hits[index] = membership.is_member();
            if membership == Membership::UnknownGroup {
                hits.unknown.push(index);
            }
        }
    }
}
