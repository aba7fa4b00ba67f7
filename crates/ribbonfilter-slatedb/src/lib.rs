//! Ribbon filters for [SlateDB](slatedb): smaller filters for its tables.
//!
//! SlateDB keeps its tables on object storage. A read asks the filter of each table that might
//! hold the key and skips the tables that do not; the filters are fetched over the network and
//! kept in a cache. [`RibbonFilterPolicy`] takes seven tenths of the bytes that SlateDB's own
//! Bloom filters take at the same false-positive rate, or gives an eighth of the false positives
//! in the same bytes.
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
//! # Rules of the engine
//!
//! - Every process that opens the database (writer, reader, compactor, compaction worker) needs
//!   the policy: where it is missing, filters are ignored, and a compactor writes others.
//!   To come from another policy, give both: tables keep the filters they were written with.
//! - Tables of fewer keys than `Settings::min_filter_keys` get no filter.
//! - Enable one of SlateDB's caches (features `foyer`, `moka`). Without one, each read fetches
//!   and decodes the filters of the tables it passes.
//!
//! # What can go wrong, and what then
//!
//! SlateDB's trait has no errors for filters. Wherever this crate cannot build a filter or read
//! one, that table gets a filter which rules nothing out, so reads are slower and right, and an
//! event at level `WARN` goes to `tracing`. Filters are checked against their checksum when they
//! are decoded. The policy's [name](RibbonFilterPolicy::NAME), which SlateDB stores with each
//! filter, tells the byte format and what was hashed, so that no filter is ever asked in another
//! way than it was built.

mod builder;
mod filter;
mod keys;
mod policy;

pub use policy::RibbonFilterPolicy;
