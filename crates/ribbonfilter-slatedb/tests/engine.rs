//! The policy in the engine: a database is written, flushed, compacted, reopened and corrupted, and
//! compared with a model.

mod common;

use common::observed::{Counts, Observed};
use common::{Events, flush, key, open, with_prefixes};
use ribbonfilter_slatedb::RibbonFilterPolicy;
use slatedb::manifest::SortedRun;
use slatedb::object_store::local::LocalFileSystem;
use slatedb::object_store::memory::InMemory;
use slatedb::object_store::path::Path;
use slatedb::object_store::{ObjectStore, ObjectStoreExt};
use slatedb::{BloomFilterPolicy, Db, FilterPolicy};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Keys below this number are looked up; about half of them are present.
const KEYS: u64 = 4000;

/// The expected contents of the database.
#[derive(Default)]
struct Model(BTreeMap<Vec<u8>, Vec<u8>>);

impl Model {
    async fn put(&mut self, db: &Db, number: u64, value: &str) {
        db.put(key(number), value).await.expect("put");
        self.0.insert(key(number), value.into());
    }

    async fn delete(&mut self, db: &Db, number: u64) {
        db.delete(key(number)).await.expect("delete");
        self.0.remove(&key(number));
    }

    /// Looks up every key and scans every second prefix.
    async fn check(&self, db: &Db) {
        for number in 0..KEYS {
            let value = db.get(key(number)).await.expect("get").map(|value| value.to_vec());
            assert_eq!(value.as_ref(), self.0.get(&key(number)), "key {number}");
        }
        for number in (0..KEYS + 320).step_by(32) {
            let prefix = key(number)[..8].to_vec();
            let mut found = db.scan_prefix(&prefix, ..).await.expect("scan");
            for (key, value) in
                self.0.range(prefix.clone()..).take_while(|(k, _)| k.starts_with(&prefix))
            {
                let entry = found.next().await.expect("scan").expect("an entry");
                assert_eq!((entry.key.as_ref(), entry.value.as_ref()), (&key[..], &value[..]));
            }
            assert!(found.next().await.expect("scan").is_none(), "prefix of {number}");
        }
    }
}

/// Writes three tables: keys, then some of these keys and some new ones, then deletions.
async fn three_tables(db: &Db) -> Model {
    let mut model = Model::default();
    for number in (0..KEYS).step_by(2) {
        model.put(db, number, "first").await;
    }
    flush(db).await;
    for number in (0..KEYS).step_by(3) {
        model.put(db, number, "second").await;
    }
    flush(db).await;
    for number in (0..KEYS).step_by(5) {
        model.delete(db, number).await;
    }
    // All keys of some prefixes.
    for number in 800..960 {
        model.delete(db, number).await;
    }
    flush(db).await;
    model
}

/// Whether each table has a filter.
fn filters(db: &Db) -> Vec<bool> {
    let manifest = db.manifest();
    let runs = manifest.compacted().iter().flat_map(SortedRun::sst_views);
    let tables = manifest.l0().iter().chain(runs);
    tables.map(|table| table.sst.info.filter_len > 0).collect()
}

async fn compacted(db: &Db) {
    for _ in 0..500 {
        if db.manifest().l0().is_empty() && !db.manifest().compacted().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no compaction within ten seconds");
}

/// Asserts that filters were queried and ruled out many tables.
fn assert_ruled_out(counts: &Counts) {
    let (queries, passed) = counts.take_queries();
    assert!(queries > KEYS / 4 && passed < queries * 4 / 5, "{passed} of {queries} passed");
}

async fn life_cycle(store: Arc<dyn ObjectStore>) {
    let events = Events::listen();
    let (policy, counts) = Observed::new(Arc::new(with_prefixes()));
    let db = open(&store, policy, false).await;
    let model = three_tables(&db).await;
    assert_eq!(filters(&db), [true; 3]);
    assert!(counts.take_bytes() > 2000);
    model.check(&db).await;
    assert_ruled_out(&counts);
    db.close().await.expect("close");

    let (policy, counts) = Observed::new(Arc::new(with_prefixes()));
    let db = open(&store, policy, false).await;
    model.check(&db).await;
    assert_ruled_out(&counts);
    db.close().await.expect("close");

    let db = open(&store, with_prefixes(), true).await;
    compacted(&db).await;
    model.check(&db).await;
    db.close().await.expect("close");

    let (policy, counts) = Observed::new(Arc::new(with_prefixes()));
    let db = open(&store, policy, false).await;
    assert!(!filters(&db).is_empty() && filters(&db).iter().all(|&has_filter| has_filter));
    model.check(&db).await;
    assert_ruled_out(&counts);
    db.close().await.expect("close");
    assert_eq!(events.take(), 0);
}

#[tokio::test]
async fn life_cycle_in_memory() {
    life_cycle(Arc::new(InMemory::new())).await;
}

#[tokio::test]
async fn life_cycle_in_files() {
    let folder = tempfile::tempdir().expect("a directory");
    life_cycle(Arc::new(LocalFileSystem::new_with_prefix(folder.path()).expect("a store"))).await;
}

/// A database can change from Bloom filters to ribbon filters and back.
#[tokio::test]
async fn policies_can_be_changed() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let db = open(&store, BloomFilterPolicy::new(10), false).await;
    let mut model = three_tables(&db).await;
    db.close().await.expect("close");

    let db = open(&store, with_prefixes(), false).await;
    for number in 0..100 {
        model.put(&db, number, "third").await;
    }
    flush(&db).await;
    model.check(&db).await;
    db.close().await.expect("close");

    // Another extractor means another policy: the existing filters are not queried.
    let (policy, counts) = Observed::new(Arc::new(
        with_prefixes().with_prefix_extractor(Arc::new(common::First(4, "first-four"))),
    ));
    let db = open(&store, policy, false).await;
    model.check(&db).await;
    assert_eq!(counts.take_queries(), (0, 0));
    db.close().await.expect("close");

    let db = open(&store, BloomFilterPolicy::new(10), true).await;
    compacted(&db).await;
    model.check(&db).await;
    db.close().await.expect("close");
}

/// The filter block of the newest table: where it is stored, and its bytes.
struct Block {
    path: Path,
    table: Vec<u8>,
    start: usize,
    end: usize,
}

impl Block {
    async fn find(db: &Db, store: &Arc<dyn ObjectStore>) -> Self {
        let manifest = db.manifest();
        let sst = &manifest.l0().front().expect("a table").sst;
        let path = Path::from(format!("db/compacted/{}.sst", sst.id.value()));
        let table = store.get(&path).await.expect("the table").bytes().await.expect("its bytes");
        let start = sst.info.filter_offset as usize;
        Self { path, table: table.to_vec(), start, end: start + sst.info.filter_len as usize }
    }

    /// Stores the table with one bit of the filter flipped, with or without updating the engine's
    /// checksum.
    async fn corrupt(&self, store: &Arc<dyn ObjectStore>, position: usize, with_checksum: bool) {
        let mut table = self.table.clone();
        table[self.start + position] ^= 4;
        if with_checksum {
            let (block, checksum) = table[self.start..self.end].split_at_mut(self.len());
            checksum.copy_from_slice(&crc32fast::hash(block).to_be_bytes());
        }
        store.put(&self.path, table.into()).await.expect("put");
    }

    /// The length without the engine's checksum.
    fn len(&self) -> usize {
        self.end - self.start - 4
    }
}

#[tokio::test]
async fn corrupt_filters_never_hide_a_key() {
    let events = Events::listen();
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let policy = || RibbonFilterPolicy::with_rate(0.01).expect("a valid rate");
    let db = open(&store, policy(), false).await;
    let keys = 2000;
    for number in 0..keys {
        db.put(key(number), "value").await.expect("put");
    }
    flush(&db).await;
    let block = Block::find(&db, &store).await;
    db.close().await.expect("close");

    let payload = 2 + 2 + policy().name().len() + 8; // number of filters, name, length
    for position in (payload..block.len()).step_by(61).chain([payload, block.len() - 1]) {
        block.corrupt(&store, position, true).await;
        let db = open(&store, policy(), false).await;
        for number in (0..keys).step_by(7) {
            let value = db.get(key(number)).await.expect("get").expect("a present key");
            assert_eq!(value.as_ref(), b"value");
            assert!(db.get(key(keys + number)).await.expect("get").is_none());
        }
        assert!(events.take() > 0, "byte {position} is corrupt");
        db.close().await.expect("close");
    }

    // The engine's own checksum is wrong: the read fails.
    block.corrupt(&store, payload + 100, false).await;
    let db = open(&store, policy(), false).await;
    assert!(db.get(key(7)).await.is_err());
    db.close().await.expect("close");
}
