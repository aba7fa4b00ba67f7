//! Test support: keys, an extractor, a database and its `tracing` events.

#![allow(dead_code, reason = "no test uses all items")]

pub mod observed;

use ribbonfilter_slatedb::RibbonFilterPolicy;
use slatedb::config::{
    CompactorOptions, FlushOptions, FlushType, Settings, SizeTieredCompactionSchedulerOptions,
};
use slatedb::object_store::ObjectStore;
use slatedb::{Db, FilterPolicy, PrefixExtractor, PrefixTarget};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

/// A key with a prefix of eight bytes; sixteen keys have the same prefix.
pub fn key(number: u64) -> Vec<u8> {
    format!("{:08}/{:02}", number / 16, number % 16).into_bytes()
}

/// Extracts the first bytes of a key: their number, and the name of the extractor.
pub struct First(pub usize, pub &'static str);

impl PrefixExtractor for First {
    fn name(&self) -> &str {
        self.1
    }

    fn prefix_len(&self, of: &PrefixTarget) -> Option<usize> {
        let (PrefixTarget::Point(bytes) | PrefixTarget::Prefix(bytes)) = of;
        (bytes.len() >= self.0).then_some(self.0)
    }
}

/// A policy for whole keys and the prefixes of [`key`].
pub fn with_prefixes() -> RibbonFilterPolicy {
    let policy = RibbonFilterPolicy::with_rate(0.01).expect("a valid rate");
    policy.with_prefix_extractor(Arc::new(First(8, "first-eight")))
}

/// Opens a database whose tables are compacted soon, or never. Even the smallest table has a
/// filter.
pub async fn open(
    store: &Arc<dyn ObjectStore>,
    policy: impl FilterPolicy + 'static,
    compact: bool,
) -> Db {
    let scheduler = SizeTieredCompactionSchedulerOptions {
        min_compaction_sources: 2,
        ..SizeTieredCompactionSchedulerOptions::default()
    };
    let compactor = CompactorOptions {
        poll_interval: Duration::from_millis(20),
        commit_compacted_interval: Duration::from_millis(20),
        scheduler_options: scheduler.into(),
        ..CompactorOptions::default()
    };
    let settings = Settings {
        flush_interval: Some(Duration::from_millis(2)),
        manifest_poll_interval: Duration::from_millis(20),
        min_filter_keys: 0,
        compactor_options: compact.then_some(compactor),
        garbage_collector_options: None,
        ..Settings::default()
    };
    Db::builder("db", Arc::clone(store))
        .with_settings(settings)
        .with_filter_policies(vec![Arc::new(policy)])
        .build()
        .await
        .expect("the database opens")
}

/// Flushes the memtable to a table.
pub async fn flush(db: &Db) {
    db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable })
        .await
        .expect("the table is written");
}

/// Counts the events of the crate on this thread until it is dropped.
pub struct Events {
    seen: Arc<AtomicUsize>,
    _guard: DefaultGuard,
}

impl Events {
    pub fn listen() -> Self {
        let seen = Arc::new(AtomicUsize::new(0));
        let guard = tracing::subscriber::set_default(Counter(Arc::clone(&seen)));
        Self { seen, _guard: guard }
    }

    /// The number of events since the last call.
    pub fn take(&self) -> usize {
        self.seen.swap(0, Ordering::Relaxed)
    }
}

struct Counter(Arc<AtomicUsize>);

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("ribbonfilter_slatedb")
    }

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
