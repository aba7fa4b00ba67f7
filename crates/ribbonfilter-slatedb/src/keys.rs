//! Decides which parts of a key are hashed into a filter, and which hash a query looks up.
//!
//! Builder and filter must agree on this, or keys are lost. Both therefore use this module, and all
//! settings that matter are part of the policy's name. Whole keys and prefixes are hashed under
//! different seeds, so that a prefix does not match a key of the same bytes.

use ribbonfilter::Key;
use slatedb::bytes::Bytes;
use slatedb::{FilterTarget, PrefixExtractor, PrefixTarget};
use std::sync::Arc;

const WHOLE_KEY: u64 = 0;
const PREFIX: u64 = 1;

/// Hashes whole keys, prefixes, or both.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) whole: bool,
    pub(crate) extractor: Option<Arc<dyn PrefixExtractor>>,
}

/// The extractor returned a prefix that is longer than its key: it is broken.
#[derive(Debug)]
pub(crate) struct PrefixTooLong;

impl Keys {
    /// The hash of a whole key, if the filter contains whole keys.
    pub(crate) fn whole_hash(&self, key: &Bytes) -> Option<u64> {
        self.whole.then(|| key.as_ref().key_hash(WHOLE_KEY))
    }

    /// The hash of the prefix of a key, or of a prefix in a query, if there is one.
    pub(crate) fn prefix_hash(&self, of: &PrefixTarget) -> Result<Option<u64>, PrefixTooLong> {
        let Some(len) = self.extractor.as_ref().and_then(|extractor| extractor.prefix_len(of))
        else {
            return Ok(None);
        };
        let (PrefixTarget::Point(bytes) | PrefixTarget::Prefix(bytes)) = of;
        let prefix = bytes.get(..len).ok_or(PrefixTooLong)?;
        Ok(Some(prefix.key_hash(PREFIX)))
    }

    /// The hash to look up for a query, or `None` if the filter cannot decide it.
    pub(crate) fn query_hash(&self, target: &FilterTarget) -> Option<u64> {
        if let FilterTarget::Point(key) = target
            && let Some(hash) = self.whole_hash(key)
        {
            return Some(hash);
        }
        self.prefix_hash(&target.as_prefix_target()?).ok()?
    }
}
