//! One filter from many processes: each process builds one shard from its keys, and the shards are
//! assembled into one file.
//!
//! ```text
//! cargo run --release --example shards
//! ```

use ribbonfilter::{Shard, Shards, Split};
use std::error::Error;
use std::path::Path;
use std::process::Command;

const SPLIT: Split = Split::ByHash { bits: 3 };

/// The work of one process. Here it reads all keys and keeps those of its shard. If the keys were
/// distributed by `SPLIT.shard_of_hash`, each process would read only its own keys.
fn build_one(number: u64, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut builder = Shards::builder(SPLIT).false_positive_rate(0.001).only(number)?;
    builder.extend(0..1_000_000);
    std::fs::write(path, builder.finish()?.as_bytes())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, number, path] = arguments.as_slice() {
        return build_one(number.parse()?, path.as_ref());
    }
    let folder = std::env::temp_dir().join(format!("ribbon-shards-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let paths: Vec<_> = (0..8).map(|number| folder.join(format!("{number}.shard"))).collect();
    let mut processes = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let program = std::env::current_exe()?;
        processes.push(Command::new(program).arg(number.to_string()).arg(path).spawn()?);
    }
    for mut process in processes {
        assert!(process.wait()?.success());
    }
    let shards = paths.iter().map(Shard::open_file).collect::<Result<Vec<_>, _>>()?;
    let set = Shards::assemble(shards)?;
    std::fs::remove_dir_all(&folder)?;
    println!(
        "{} keys in {} shards: {} bytes, {:.3} bits per key, expected rate {:.6}",
        set.len(),
        set.shard_count(),
        set.size_in_bytes(),
        set.bits_per_key(),
        set.expected_rate(),
    );
    assert!((0..1_000_000).all(|key| set.contains(key)));

    // Small shards, each filled until the next key does not fit.
    let mut builder = Shards::builder(Split::UntilFull).false_positive_rate(0.001);
    builder.extend(0..1_000_000);
    let small = builder.finish()?;
    println!(
        "{} shards until full: {} bytes, of which {} tell where they are",
        small.shard_count(),
        small.size_in_bytes(),
        small.directory_bytes(),
    );
    Ok(())
}
