//! Collects the hashes of a table's keys while the table is written.

use crate::filter::RibbonFilter;
use crate::keys::Keys;
use ribbonfilter::{BuildError, Filter, FilterBuilder};
use slatedb::bytes::Bytes;
use slatedb::{PrefixTarget, RowEntry};
use std::sync::Arc;

/// Collects 8 bytes per key.
///
/// The engine adds entries in key order. Versions of the same key, and keys with the same prefix,
/// are therefore adjacent, and comparing each hash with the last one removes all duplicates.
pub(crate) struct RibbonFilterBuilder {
    keys: Arc<Keys>,
    /// Taken when the filter is built.
    hashes: Option<FilterBuilder<'static>>,
    last_key: Option<u64>,
    last_prefix: Option<u64>,
    /// Set if the extractor returned an invalid prefix: the filter would lack this prefix.
    broken_extractor: bool,
}

impl RibbonFilterBuilder {
    pub(crate) fn new(keys: Arc<Keys>, settings: FilterBuilder<'static>) -> Self {
        let (last_key, last_prefix) = (None, None);
        Self { keys, hashes: Some(settings), last_key, last_prefix, broken_extractor: false }
    }

    fn push(
        hashes: &mut Option<FilterBuilder<'static>>,
        last: &mut Option<u64>,
        hash: Option<u64>,
    ) {
        if let (Some(hashes), Some(hash)) = (hashes, hash)
            && last.replace(hash) != Some(hash)
        {
            hashes.push_hash(hash);
        }
    }

    fn ribbon(&mut self) -> Option<Filter<Bytes>> {
        let Some(hashes) = self.hashes.take() else {
            tracing::warn!("the filter builder was used twice: no filter the second time");
            return None;
        };
        let keys = hashes.len();
        if self.broken_extractor {
            tracing::warn!(
                keys,
                "the prefix extractor returned a prefix longer than its key: no filter for this table"
            );
            return None;
        }
        match finish(hashes) {
            Ok(filter) => Some(filter),
            Err(error) => {
                tracing::warn!(keys, %error, "no ribbon filter for this table");
                None
            }
        }
    }
}

impl slatedb::FilterBuilder for RibbonFilterBuilder {
    fn add_entry(&mut self, entry: &RowEntry) {
        let whole = self.keys.whole_hash(&entry.key);
        Self::push(&mut self.hashes, &mut self.last_key, whole);
        match self.keys.prefix_hash(&PrefixTarget::Point(entry.key.clone())) {
            Ok(prefix) => Self::push(&mut self.hashes, &mut self.last_prefix, prefix),
            Err(_) => self.broken_extractor = true,
        }
    }

    fn build(&mut self) -> Arc<dyn slatedb::Filter> {
        Arc::new(RibbonFilter { keys: Arc::clone(&self.keys), ribbon: self.ribbon() })
    }
}

/// Builds the filter. If the chosen width does not suit the number of keys, uses another width:
/// tables differ in size, but the settings are the same for all tables.
fn finish(mut hashes: FilterBuilder<'static>) -> Result<Filter<Bytes>, BuildError> {
    if let Err(BuildError::Unsuitable { instead, .. }) = hashes.plan() {
        hashes = hashes.width(instead);
    }
    let bytes = Bytes::from_owner(hashes.finish()?.into_inner());
    Ok(Filter::open(bytes).expect("a built filter can be opened"))
}
