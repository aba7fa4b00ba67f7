//! Filters that adapt to how often a table is accessed, as in ElasticBF (Li et al., USENIX ATC
//! 2019): the filter of each table is split into parts, and a hot table keeps more parts in memory.
//!
//! ```text
//! cargo run --release --example elastic
//! ```

use ribbonfilter::Filter;
use std::error::Error;

struct Table {
    name: &'static str,
    parts: Vec<Filter>,
    loaded: usize,
}

impl Table {
    fn new(name: &'static str, keys: std::ops::Range<u64>) -> Result<Self, Box<dyn Error>> {
        let mut builder = Filter::builder().columns(12.0);
        builder.extend(keys);
        Ok(Self { name, parts: builder.finish()?.split_columns(&[4, 4, 4])?, loaded: 1 })
    }

    fn might_contain(&self, key: u64) -> bool {
        self.parts[..self.loaded].iter().all(|part| part.contains(key))
    }

    fn bytes(&self) -> usize {
        self.parts[..self.loaded].iter().map(Filter::size_in_bytes).sum()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut hot = Table::new("hot", 0..100_000)?;
    let cold = Table::new("cold", 100_000..200_000)?;
    hot.loaded = 3;
    for table in [&hot, &cold] {
        let wrong = (1_000_000..2_000_000).filter(|&key| table.might_contain(key)).count();
        println!(
            "{}: {} bytes in memory, {wrong} of 10^6 absent keys read",
            table.name,
            table.bytes()
        );
    }

    // A table that stays cold does not need the columns that are never loaded, not even on disk.
    let whole = Filter::build(0..100_000, 0.001)?;
    let small = whole.shrink_to_rate(0.05)?;
    println!(
        "shrunk from {} to {} bytes without the keys",
        whole.size_in_bytes(),
        small.size_in_bytes()
    );
    assert!((0..100_000).all(|key| small.contains(key)));
    Ok(())
}
