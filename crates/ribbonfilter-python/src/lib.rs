//! The Python package `ribbonfilter`: filters, functions, exact sets and shards over Python objects,
//! NumPy arrays and Arrow columns.
//!
//! All keys are converted to hashes, a `Piece` at a time (`keys.rs`), by the hash function of the
//! Rust library. So a key has the same hash in Python, in Rust and in the command. A `Consumer`
//! pushes the hashes to a builder or looks them up. Builds, and the hashing and lookup of columns
//! in memory, run without the GIL.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "docstrings are for Python: `f[12]` is not a link"
)]

mod answers;
mod arrow;
mod buffer;
mod errors;
mod exact;
mod filter;
mod function;
mod interrupt;
mod keys;
mod numpy;
mod objects;
mod parallel;
mod plan;
mod set;
mod settings;
mod shards;
mod stored;

use pyo3::prelude::*;

/// Ribbon filters: static approximate sets of keys, and static functions.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::filter::Builder;
    #[pymodule_export]
    use super::keys::key_hash;
    #[pymodule_export]
    use super::plan::{Plan, max_keys, plan};
    #[pymodule_export]
    use super::shards::hash_and_shard;
    use super::{
        Bound, PyModule, PyModuleMethods, PyResult, buffer, exact, filter, function, shards,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("Filter", buffer::exported::<filter::Filter>(module.py())?)?;
        module.add("Function", buffer::exported::<function::Function>(module.py())?)?;
        module.add("ExactSet", buffer::exported::<exact::ExactSet>(module.py())?)?;
        module.add("Shards", buffer::exported::<shards::Shards>(module.py())?)?;
        module.add("Shard", buffer::exported::<shards::Shard>(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
