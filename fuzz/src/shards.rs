//! Containers of any hashes. Every key is found. Shards that are built separately give the same
//! bytes as one build of all shards, and so does every kernel.

use crate::{Hashes, all, variant, width};
use ribbonfilter::{Kernel, Shards, ShardsBuilder, Split};

/// Split and its bits, bytes per shard, variant, width, columns in eighths; the keys.
pub type Input = (u8, u8, u16, u8, u8, u8, Vec<Hashes>);

/// Runs the target.
pub fn run(input: Input) {
    let (split, bits, bytes, kind, narrow, columns, runs) = input;
    let bits = u32::from(bits % 6);
    let split = match split % 3 {
        0 => Split::ByHash { bits },
        1 => Split::FixedSize { bits, bytes: bytes.into() },
        _ => Split::UntilFull,
    };
    let builder = || -> ShardsBuilder<'static> {
        let builder = Shards::builder(split).width(width(narrow)).key_seed(columns.into());
        let builder = if kind < 200 { builder.variant(variant(kind)) } else { builder };
        if kind % 2 == 0 && matches!(split, Split::FixedSize { .. }) {
            return builder;
        }
        builder.columns(f64::from(columns) / 8.0)
    };
    let hashes = all(&runs);
    let build = |builder: ShardsBuilder<'static>| {
        let mut builder = builder;
        builder.extend_hashes(hashes.iter().copied());
        builder.finish()
    };
    let built = build(builder().threads(1));
    let again = build(builder().threads(2).kernel(Kernel::by_name("portable").expect("there")));
    let (Ok(shards), Ok(again)) = (&built, &again) else {
        assert!(built.is_err() && again.is_err(), "{built:?}, but {again:?}");
        return;
    };
    assert!(shards.as_bytes() == again.as_bytes());
    shards.verify().expect("just built");
    assert!(hashes.iter().all(|&hash| shards.contains_hash(hash)));
    assert!(shards.contains_hash_batch(&hashes).into_iter().all(|hit| hit));
    if matches!(split, Split::UntilFull) {
        return;
    }
    let alone = (0..1 << bits).map(|number| {
        let mut shard = builder().only(number).expect("a shard of the split");
        shard.extend_hashes(hashes.iter().copied());
        shard.finish().expect("built with the others")
    });
    let assembled = Shards::assemble(alone).expect("all shards");
    assert!(assembled.as_bytes() == shards.as_bytes());
}
