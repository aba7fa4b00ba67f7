//! Ribbon filters for [SlateDB](slatedb): smaller filters for its tables.
//!
//! SlateDB stores its tables on object storage. A read queries the filter of each table that might
//! hold the key and skips the tables that do not. The filters are loaded over the network and
//! cached. At the same false-positive rate, the filters of [`RibbonFilterPolicy`] have seven tenths
//! of the size of SlateDB's own Bloom filters. At the same size, they have an eighth of the false
//! positives.
//!
//! ```
//! use ribbonfilter_slatedb::RibbonFilterPolicy;
//! use slatedb::{Db, object_store::memory::InMemory};
//! use std::sync::Arc;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let policy = RibbonFilterPolicy::with_rate(0.01)?;
//! let db = Db::builder("names", Arc::new(InMemory::new()))
//!     .with_filter_policies(vec![Arc::new(policy)])
//!     .build()
//!     .await?;
//! db.put(b"ada", b"36").await?;
//! assert!(db.get(b"alan").await?.is_none());
//! db.close().await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Configuration of the engine
//!
//! - Every process that opens the database (writer, reader, compactor, compaction worker) needs
//!   the policy. A process without it ignores the filters, and a compactor without it writes other
//!   filters. To migrate from another policy, configure both: tables keep the filters that they
//!   were written with.
//! - Tables with fewer keys than `Settings::min_filter_keys` get no filter.
//! - Enable one of SlateDB's caches (features `foyer`, `moka`). Without a cache, each read loads
//!   and decodes the filters of the tables that it visits.
//!
//! # Errors
//!
//! SlateDB's filter trait cannot return errors. If this crate cannot build or read a filter, the
//! table gets a filter that every key passes: reads are slower but correct. The error is logged
//! with `tracing` at level `WARN`. Filters are checked against their checksum when they are
//! decoded. SlateDB stores the policy's [name](RibbonFilterPolicy::NAME) with each filter. The name
//! identifies the byte format and the hashed parts of a key, so that a filter is always queried in
//! the way in which it was built.

mod builder;
mod filter;
mod keys;
mod policy;

pub use policy::RibbonFilterPolicy;
