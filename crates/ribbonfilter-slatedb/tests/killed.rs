//! A writer is killed repeatedly; no acknowledged write is lost.

mod common;

use common::{key, open, with_prefixes};
use slatedb::object_store::ObjectStore;
use slatedb::object_store::local::LocalFileSystem;
use slatedb::{Db, WriteBatch};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

const FOLDER: &str = "RIBBONFILTER_SLATEDB_FOLDER";
const FIRST: &str = "RIBBONFILTER_SLATEDB_FIRST";
const BATCH: u64 = 100;

async fn database(folder: &Path) -> Db {
    let store: Arc<dyn ObjectStore> =
        Arc::new(LocalFileSystem::new_with_prefix(folder).expect("a store"));
    open(&store, with_prefixes(), true).await
}

/// Not a test but the process that is killed: writes batches and prints which ones are stored.
/// After every fourth batch it flushes a table, and tables are compacted in the background.
#[tokio::test]
async fn writer() {
    let (Ok(folder), Ok(first)) = (std::env::var(FOLDER), std::env::var(FIRST)) else { return };
    let db = database(folder.as_ref()).await;
    for number in first.parse::<u64>().expect("a number").. {
        let mut batch = WriteBatch::new();
        for key in (number * BATCH..(number + 1) * BATCH).map(key) {
            batch.put(&key, number.to_le_bytes());
        }
        db.write(batch).await.expect("write").await_durable().await.expect("durable");
        println!("\nstored {number}");
        if number % 4 == 3 {
            common::flush(&db).await;
        }
    }
}

/// Starts the writer and kills it when it has stored `batches` more batches. Returns the number of
/// the first batch that it has not reported.
fn killed_writer(folder: &Path, first: u64, batches: u64) -> u64 {
    let mut writer = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "writer", "--nocapture"])
        .env(FOLDER, folder)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the writer runs");
    let output = BufReader::new(writer.stdout.take().expect("its output"));
    let mut next = first;
    for line in output.lines() {
        let line = line.expect("a line");
        if let Some(stored) = line.strip_prefix("stored ") {
            next = stored.parse::<u64>().expect("a number") + 1;
        }
        if next == first + batches {
            writer.kill().expect("it is killed");
        }
    }
    assert!(!writer.wait().expect("the writer ends").success());
    next
}

#[tokio::test]
async fn every_acknowledged_key_is_found() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut first = 0;
    for batches in [3, 9, 17, 26] {
        first = killed_writer(folder.path(), first, batches);
        let db = database(folder.path()).await;
        for number in 0..first * BATCH {
            let value = db.get(key(number)).await.expect("get").expect("an acknowledged key");
            assert_eq!(value.as_ref(), (number / BATCH).to_le_bytes());
        }
        assert!(db.get(key(1 << 40)).await.expect("get").is_none());
        db.close().await.expect("close");
        // The next writer rewrites batches that were stored but not reported.
    }
    assert!(first >= 55);
}
