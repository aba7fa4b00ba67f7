//! Ribbon filters in an LSM engine, sketched for the interfaces of fjall's lsm-tree. While a table
//! is written, each key is hashed to 64 bits. When the table is complete, the hashes become a block
//! of bytes. A lookup queries the block in place, in the block cache or in a file.
//!
//! `cargo run --release -p ribbonfilter --example lsm_tree`

use ribbonfilter::{BuildError, Filter, Key, OpenError};

/// Like the `FilterWriter` of lsm-tree: one filter for the whole table, or one filter per range of
/// keys, so that each filter fills a block.
struct FilterWriter {
    rate: f64,
    keys_a_block: usize,
    hashes: Vec<u64>,
    blocks: Vec<(Vec<u8>, FilterBlock)>,
}

impl FilterWriter {
    fn full(rate: f64) -> Self {
        Self { rate, keys_a_block: usize::MAX, hashes: Vec::new(), blocks: Vec::new() }
    }

    /// The number of keys that fit into a block is known before the first key.
    fn partitioned(rate: f64, block_size: u64) -> Result<Self, BuildError> {
        let keys = Filter::builder().false_positive_rate(rate).max_keys(block_size)?;
        let keys_a_block = usize::try_from(keys).unwrap_or(usize::MAX).max(1);
        Ok(Self { keys_a_block, ..Self::full(rate) })
    }

    /// Hashes a key with XXH3-64, as lsm-tree does. Keys arrive in ascending order.
    fn register_key(&mut self, key: &[u8]) -> Result<(), BuildError> {
        self.hashes.push(key.key_hash(0));
        if self.hashes.len() == self.keys_a_block {
            self.finish_block(key)?;
        }
        Ok(())
    }

    fn finish_block(&mut self, last_key: &[u8]) -> Result<(), BuildError> {
        let block = FilterBlock::build(&self.hashes, self.rate)?;
        self.hashes.clear();
        self.blocks.push((last_key.to_vec(), block));
        Ok(())
    }

    /// Returns all blocks, each with its last key, for the index of blocks.
    fn finish(mut self, last_key: &[u8]) -> Result<Vec<(Vec<u8>, FilterBlock)>, BuildError> {
        if !self.hashes.is_empty() {
            self.finish_block(last_key)?;
        }
        Ok(self.blocks)
    }
}

/// Like the `FilterBlock` of lsm-tree: only the bytes.
struct FilterBlock(Vec<u8>);

impl FilterBlock {
    /// Builds the bytes of a filter from hashes.
    fn build(hashes: &[u64], rate: f64) -> Result<Self, BuildError> {
        let mut builder = Filter::builder().false_positive_rate(rate).threads(1);
        builder.extend_hashes(hashes.iter().copied());
        let mut bytes = Vec::new();
        builder.finish_to(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Queries the block in place, without a decoded representation.
    fn maybe_contains_hash(&self, hash: u64) -> Result<bool, OpenError> {
        Filter::contains_hash_in(&self.0, hash)
    }
}

/// Looks up a key in the index of blocks: queries the first block whose last key is not less.
fn maybe_contains(blocks: &[(Vec<u8>, FilterBlock)], key: &[u8]) -> Result<bool, OpenError> {
    let number = blocks.partition_point(|(last_key, _)| last_key.as_slice() < key);
    let Some((_, block)) = blocks.get(number) else { return Ok(false) };
    block.maybe_contains_hash(key.key_hash(0))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = |number: u32| number.to_be_bytes();
    let present = (0..200_000).step_by(2).map(key);
    for (kind, mut writer) in [
        ("one block", FilterWriter::full(0.01)),
        ("blocks of 4 KiB", FilterWriter::partitioned(0.01, 4096)?),
    ] {
        for key in present.clone() {
            writer.register_key(&key)?;
        }
        let blocks = writer.finish(&key(199_998))?;
        for key in present.clone() {
            assert!(maybe_contains(&blocks, &key)?, "a key of the table");
        }
        let mut passed = 0;
        for key in (1..200_000).step_by(2).map(key) {
            passed += u32::from(maybe_contains(&blocks, &key)?);
        }
        let bytes: usize = blocks.iter().map(|(_, block)| block.0.len()).sum();
        println!(
            "{kind}: {} of them, {:.2} bits per key, {passed} of 100000 absent keys pass",
            blocks.len(),
            bytes as f64 * 8.0 / 1e5,
        );
    }
    Ok(())
}
