//! Wraps a policy and counts the bytes, the queries and the positive results of its filters.

use slatedb::bytes::BufMut;
use slatedb::{Filter, FilterBuilder, FilterPolicy, FilterQuery, RowEntry};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of all threads.
#[derive(Debug, Default)]
pub struct Counts {
    bytes: AtomicU64,
    queries: AtomicU64,
    passed: AtomicU64,
}

impl Counts {
    /// The total size of all filters that were built since the last call.
    pub fn take_bytes(&self) -> u64 {
        self.bytes.swap(0, Ordering::Relaxed)
    }

    /// The number of queries since the last call, and how many of them passed.
    pub fn take_queries(&self) -> (u64, u64) {
        (self.queries.swap(0, Ordering::Relaxed), self.passed.swap(0, Ordering::Relaxed))
    }
}

/// A policy whose filters are counted.
pub struct Observed {
    policy: Arc<dyn FilterPolicy>,
    counts: Arc<Counts>,
}

impl Observed {
    pub fn new(policy: Arc<dyn FilterPolicy>) -> (Self, Arc<Counts>) {
        let counts = Arc::<Counts>::default();
        (Self { policy, counts: Arc::clone(&counts) }, counts)
    }

    fn filter(&self, filter: Arc<dyn Filter>) -> Arc<dyn Filter> {
        Arc::new(ObservedFilter { filter, counts: Arc::clone(&self.counts) })
    }
}

impl FilterPolicy for Observed {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn builder(&self) -> Box<dyn FilterBuilder> {
        Box::new(ObservedBuilder {
            builder: self.policy.builder(),
            counts: Arc::clone(&self.counts),
        })
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        self.filter(self.policy.decode(data))
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        self.policy.estimate_size(num_keys)
    }

    fn supports_prefix_queries(&self) -> bool {
        self.policy.supports_prefix_queries()
    }
}

struct ObservedBuilder {
    builder: Box<dyn FilterBuilder>,
    counts: Arc<Counts>,
}

impl FilterBuilder for ObservedBuilder {
    fn add_entry(&mut self, entry: &RowEntry) {
        self.builder.add_entry(entry);
    }

    fn build(&mut self) -> Arc<dyn Filter> {
        let filter = self.builder.build();
        self.counts.bytes.fetch_add(filter.size() as u64, Ordering::Relaxed);
        Arc::new(ObservedFilter { filter, counts: Arc::clone(&self.counts) })
    }
}

struct ObservedFilter {
    filter: Arc<dyn Filter>,
    counts: Arc<Counts>,
}

impl Filter for ObservedFilter {
    fn might_match(&self, query: &FilterQuery) -> bool {
        let passed = self.filter.might_match(query);
        self.counts.queries.fetch_add(1, Ordering::Relaxed);
        self.counts.passed.fetch_add(u64::from(passed), Ordering::Relaxed);
        passed
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        self.filter.encode(writer);
    }

    fn size(&self) -> usize {
        self.filter.size()
    }

    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(Self {
            filter: self.filter.clamp_allocated_size(),
            counts: Arc::clone(&self.counts),
        })
    }
}
