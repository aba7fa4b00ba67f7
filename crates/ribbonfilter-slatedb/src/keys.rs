//! What of a key is hashed into a filter, and what a query asks for.
//!
//! Builder and filter must agree on this or keys are lost: so both ask here, and whatever
//! decides it is part of the policy's name. Whole keys and prefixes are hashed under different
//! seeds, so that a prefix is not taken for a key of the same bytes.

use ribbonfilter::Key;
use slatedb::bytes::Bytes;
use slatedb::{FilterTarget, PrefixExtractor, PrefixTarget};
use std::sync::Arc;

const WHOLE_KEY: u64 = 0;
const PREFIX: u64 = 1;

/// Whole keys, prefixes, or both.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) whole: bool,
    pub(crate) extractor: Option<Arc<dyn PrefixExtractor>>,
}

/// A prefix that is longer than what it was taken from: the extractor is broken.
#[derive(Debug)]
pub(crate) struct PrefixTooLong;

impl Keys {
    /// The hash of a whole key in a table, if it is to be in the filter.
    pub(crate) fn whole_hash(&self, key: &Bytes) -> Option<u64> {
        self.whole.then(|| key.as_ref().key_hash(WHOLE_KEY))
    }

    /// The hash of the prefix of a key in a table or of a prefix asked for, if there is one.
    pub(crate) fn prefix_hash(&self, of: &PrefixTarget) -> Result<Option<u64>, PrefixTooLong> {
        let Some(len) = self.extractor.as_ref().and_then(|extractor| extractor.prefix_len(of))
        else {
            return Ok(None);
        };
        let (PrefixTarget::Point(bytes) | PrefixTarget::Prefix(bytes)) = of;
        let prefix = bytes.get(..len).ok_or(PrefixTooLong)?;
        Ok(Some(prefix.key_hash(PREFIX)))
    }

    /// The hash that tells whether a table can be skipped; none if no hash can.
    pub(crate) fn asked_hash(&self, target: &FilterTarget) -> Option<u64> {
        if let FilterTarget::Point(key) = target
            && let Some(hash) = self.whole_hash(key)
        {
            return Some(hash);
        }
        self.prefix_hash(&target.as_prefix_target()?).ok()?
    }
}
