//! The filter of one table.

use crate::keys::Keys;
use ribbonfilter::{Filter, OpenError};
use slatedb::FilterQuery;
use slatedb::bytes::{BufMut, Bytes};
use std::sync::Arc;

/// A ribbon filter, or for a table without one, a filter that every key passes.
#[derive(Clone)]
pub(crate) struct RibbonFilter {
    pub(crate) keys: Arc<Keys>,
    /// `None` for a table without a filter, which is encoded as zero bytes.
    pub(crate) ribbon: Option<Filter<Bytes>>,
}

impl RibbonFilter {
    /// Decodes a filter. If the bytes are corrupt, returns a filter that every key passes.
    pub(crate) fn decode(keys: Arc<Keys>, data: &[u8]) -> Self {
        let ribbon = (!data.is_empty()).then(|| open(data)).transpose();
        if let Err(error) = &ribbon {
            tracing::warn!(bytes = data.len(), %error, "the table's ribbon filter is ignored");
        }
        Self { keys, ribbon: ribbon.unwrap_or(None) }
    }

    fn bytes(&self) -> &[u8] {
        self.ribbon.as_ref().map_or(&[], Filter::as_bytes)
    }
}

fn open(data: &[u8]) -> Result<Filter<Bytes>, OpenError> {
    let filter = Filter::open(Bytes::copy_from_slice(data))?;
    filter.verify()?;
    Ok(filter)
}

impl slatedb::Filter for RibbonFilter {
    fn might_match(&self, query: &FilterQuery) -> bool {
        let Some(ribbon) = &self.ribbon else { return true };
        self.keys.query_hash(&query.target).is_none_or(|hash| ribbon.contains_hash(hash))
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        writer.put_slice(self.bytes());
    }

    fn size(&self) -> usize {
        self.bytes().len()
    }

    /// The buffer already has the length of the filter.
    fn clamp_allocated_size(&self) -> Arc<dyn slatedb::Filter> {
        Arc::new(self.clone())
    }
}
