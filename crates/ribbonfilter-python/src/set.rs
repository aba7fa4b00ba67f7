//! Membership queries for one key or several, shared by filters, exact sets and sets in shards.

use crate::keys::{Keys, Nulls};
use crate::objects;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// A set that can be queried by hash.
pub trait Set: Send + Sync {
    fn key_seed(&self) -> u64;

    fn contains_hash(&self, hash: u64) -> bool;

    fn contains_hash_batch_into(&self, hashes: &[u64], hits: &mut [bool]);
}

/// Whether a key is in the set, or might be.
pub fn contains_one(set: &impl Set, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (_, hash) = objects::key_hash(key, set.key_seed())?;
    Ok(set.contains_hash(hash))
}

/// Which of the keys are in the set, or might be. For a single key the result is a `bool`.
pub fn contains<'py>(
    set: &impl Set,
    keys: &Bound<'py, PyAny>,
    nulls: Nulls,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = keys.py();
    if objects::is_key(keys) {
        return Ok(PyBool::new(py, contains_one(set, keys)?).to_owned().into_any());
    }
    let query = |hashes: &[u64], hits: &mut [bool]| set.contains_hash_batch_into(hashes, hits);
    let mut keys = Keys::of(keys, nulls, set.key_seed())?;
    let hits = keys.query_on(threads, py, query)?;
    keys.to_array(py, &hits)
}
