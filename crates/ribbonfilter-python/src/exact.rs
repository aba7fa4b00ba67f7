//! The Python class `ExactSet`.

use crate::buffer::Exported;
use crate::errors;
use crate::interrupt::watched;
use crate::keys::{Collector, Keys, Nulls, Piece};
use crate::objects::{self, Kind};
use crate::set::{self, Set};
use crate::settings::Settings;
use crate::stored::{self, Bytes, Stored};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyType};
use ribbonfilter::{BuildError, ExactSetBuilder, Key, OtherKeys};
use std::ffi::CStr;

/// The hash that stands for the unnamed group.
const UNNAMED: u64 = 0;

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_ExactSet")]
pub struct ExactSet(ribbonfilter::ExactSet<Bytes>);

impl Exported for ExactSet {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.ExactSet";
    const PYTHON_DOC: &'static CStr = c"ExactSet(data, /)\n--\n\n\
A static set with exact membership queries for all keys of a known universe.

The universe are the members and the other keys that the set is built from. The keys are not
stored: if one key in a hundred is a member, the set takes about 8.6 bits per member.

KEYS OUTSIDE THE UNIVERSE GET AN ARBITRARY RESULT. Such a key is reported as a member with
probability `expected_rate`, and nothing shows the mistake.

>>> issued = range(100_000)
>>> revoked = ExactSet.build(issued[17::100], lambda: (n for n in issued if n % 100 != 17))
>>> 4717 in revoked, 4718 in revoked
(True, False)
>>> revoked.contains([17, 18, 117]).tolist()
[True, False, True]
>>> len(revoked), revoked.universe_len
(1000, 100000)

`ExactSet.build` builds a set, `ExactSet.build_groups` one whose keys belong to groups,
`ExactSet.open` opens a file, `ExactSet(data)` takes the bytes of a set.

A set is immutable, so threads can share it. It can be pickled, and `memoryview(s)` gives
access to its bytes without a copy. Sets are equal if their bytes are, and unhashable.
";
}

#[pymethods]
impl ExactSet {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let bytes = Bytes::of(data)?;
        let set = ribbonfilter::ExactSet::open(bytes.clone()).map_err(errors::open)?;
        Ok(PyClassInitializer::from(Stored(bytes)).add_subclass(Self(set)))
    }

    /// Builds a set that is exact for all keys of both sides.
    ///
    /// Both sides are keys as for `Filter.build`. A key on both sides is an error, unless
    /// `others_include_members=True`: then it is a member, and `others` may be the whole universe.
    ///
    /// The build stores 8 bytes per key. `others` may also be a function without arguments that
    /// returns the keys: it is called two or three times, must return the same keys every time, and
    /// only a fraction of them is stored. It should return each key once: duplicates are not
    /// noticed, and `universe_len` counts them.
    ///
    /// The other settings are those of `Filter.build`.
    ///
    /// >>> primes = ExactSet.build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])
    /// >>> 7 in primes, 9 in primes
    /// (True, False)
    /// >>> primes == ExactSet.build([2, 3, 5, 7], range(10), others_include_members=True)
    /// True
    #[classmethod]
    #[pyo3(
        signature = (members, others, *, others_include_members = false, nulls = Nulls::Error, **settings),
        text_signature = "($cls, members, others, *, others_include_members=False, effort='normal', threads=0, nulls='error', key_seed=0, max_memory=None)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        members: &Bound<'py, PyAny>,
        others: &Bound<'py, PyAny>,
        others_include_members: bool,
        nulls: Nulls,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = Settings::of_exact_set(settings)?;
        let reader = Reader::new(false, nulls, settings.key_seed());
        let builder = settings.exact_set_builder().others_include_members(others_include_members);
        build(class, builder, reader, members, others)
    }

    /// Builds a set whose keys belong to groups, such as certificates to their issuers.
    ///
    /// Both sides map groups to keys: as a mapping, or as an iterable of pairs of a group and keys,
    /// in which a group may occur several times. Groups are str, bytes or int; `None` stands for
    /// the keys that have no group, which `in` and `contains` look up. The same key in another
    /// group is another key. Each group is stored in the way that is best for its own fraction of
    /// members, and one that has only members, or none, takes a few bytes.
    ///
    /// As for `build`, `others` may be a function, here one that returns a mapping or pairs, and
    /// the settings are the same.
    ///
    /// >>> revoked = {"issuer": [17], "careful": []}
    /// >>> valid = {"issuer": range(100, 1000), "careful": range(1000)}
    /// >>> s = ExactSet.build_groups(revoked, valid)
    /// >>> s.contains_in("issuer", 17), s.contains_in("careful", 17)
    /// (True, False)
    #[classmethod]
    #[pyo3(
        signature = (members, others, *, others_include_members = false, nulls = Nulls::Error, **settings),
        text_signature = "($cls, members, others, *, others_include_members=False, effort='normal', threads=0, nulls='error', key_seed=0, max_memory=None)"
    )]
    fn build_groups<'py>(
        class: &Bound<'py, PyType>,
        members: &Bound<'py, PyAny>,
        others: &Bound<'py, PyAny>,
        others_include_members: bool,
        nulls: Nulls,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = Settings::of_exact_set(settings)?;
        let reader = Reader::new(true, nulls, settings.key_seed());
        let builder = settings.exact_set_builder().others_include_members(others_include_members);
        build(class, builder, reader, members, others)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        set::contains_one(&self.0, key)
    }

    /// Which of the keys are members: a NumPy array of bool, or an Arrow array if `keys` is one.
    /// For a single key the result is a bool. It is arbitrary for keys outside the universe.
    ///
    /// Nulls and threads are those of `Filter.contains`. If all keys of the set belong to groups,
    /// no key is a member: use `contains_in`.
    ///
    /// >>> ExactSet.build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9]).contains([2, 4, 7]).tolist()
    /// [True, False, True]
    #[pyo3(signature = (keys, *, nulls = Nulls::Error, threads = 1), text_signature = "($self, keys, *, nulls='error', threads=1)")]
    fn contains<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        nulls: Nulls,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        set::contains(&self.0, keys, nulls, threads)
    }

    /// `contains` for keys of a group; `None` if the universe has no key of this group.
    ///
    /// >>> s = ExactSet.build_groups({"issuer": [17]}, {"issuer": [18]})
    /// >>> s.contains_in("issuer", 17), s.contains_in("issuer", 18), s.contains_in("nobody", 17)
    /// (True, False, None)
    /// >>> s.contains_in("issuer", [17, 18]).tolist()
    /// [True, False]
    #[pyo3(signature = (group, keys, *, nulls = Nulls::Error, threads = 1), text_signature = "($self, group, keys, *, nulls='error', threads=1)")]
    fn contains_in<'py>(
        &self,
        group: &Bound<'py, PyAny>,
        keys: &Bound<'py, PyAny>,
        nulls: Nulls,
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (_, group) = group_hash(group, self.0.key_seed())?;
        if self.0.expected_rate_in(Hashed(group)).is_none() {
            return Ok(None);
        }
        set::contains(&Group { set: &self.0, group }, keys, nulls, threads).map(Some)
    }

    /// The number of members.
    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    /// The number of keys for which the set is exact, members included.
    #[getter]
    fn universe_len(&self) -> u64 {
        self.0.universe_len()
    }

    /// The number of groups that have keys; 1 if no key has a group.
    #[getter]
    fn group_count(&self) -> u64 {
        self.0.groups()
    }

    /// The size in bits, divided by the number of members; infinite without members.
    #[getter]
    fn bits_per_member(&self) -> f64 {
        self.0.bits_per_member()
    }

    /// The minimum number of bits of any exact set: log2 of the number of ways to choose the members
    /// from the universe. With groups, the sum over all groups.
    #[getter]
    fn lower_bound_bits(&self) -> f64 {
        self.0.lower_bound_bits()
    }

    /// The size in bits, divided by `lower_bound_bits`, minus one; infinite if that is 0.
    #[getter]
    fn overhead(&self) -> f64 {
        self.0.overhead()
    }

    /// The fraction of keys outside the universe, without a group, that are reported as members.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.0.expected_rate()
    }

    /// `expected_rate` for keys of a group; `None` if the universe has no key of this group.
    ///
    /// >>> s = ExactSet.build_groups({"issuer": range(10)}, {"issuer": range(10, 1000)})
    /// >>> s.expected_rate_in("issuer") < 0.02, s.expected_rate_in("nobody")
    /// (True, None)
    fn expected_rate_in(&self, group: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let (_, group) = group_hash(group, self.0.key_seed())?;
        Ok(self.0.expected_rate_in(Hashed(group)))
    }

    /// The seed of the hash function for keys and groups.
    #[getter]
    fn key_seed(&self) -> u64 {
        self.0.key_seed()
    }

    /// Verifies the checksums of all bytes; raises FormatError if they are corrupt.
    ///
    /// >>> ExactSet.build(["ada"], ["grace"]).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(errors::open)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.ExactSet: {} of {} keys in {} groups, {} bytes>",
            self.0.len(),
            self.universe_len(),
            self.group_count(),
            self.0.size_in_bytes(),
        )
    }
}

impl Set for ribbonfilter::ExactSet<Bytes> {
    fn key_seed(&self) -> u64 {
        self.key_seed()
    }

    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch_into(&self, hashes: &[u64], hits: &mut [bool]) {
        self.contains_hash_batch_into(hashes, hits);
    }
}

/// A group of a set, which the universe has keys of.
struct Group<'a> {
    set: &'a ribbonfilter::ExactSet<Bytes>,
    group: u64,
}

impl Set for Group<'_> {
    fn key_seed(&self) -> u64 {
        self.set.key_seed()
    }

    fn contains_hash(&self, hash: u64) -> bool {
        self.set.contains_hash_in_group(self.group, hash).is_member()
    }

    fn contains_hash_batch_into(&self, hashes: &[u64], hits: &mut [bool]) {
        let keys: Vec<_> = hashes.iter().copied().map(Hashed).collect();
        let found = self.set.contains_batch_in(Hashed(self.group), &keys);
        hits.copy_from_slice(&found.unwrap_or_else(|| vec![false; keys.len()]));
    }
}

/// A key or a group that is hashed already.
struct Hashed(u64);

impl Key for Hashed {
    fn key_hash(&self, _key_seed: u64) -> u64 {
        self.0
    }
}

/// The hash of a group, and the kind of its name.
fn group_hash(group: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<(Option<Kind>, u64)> {
    if group.is_none() {
        return Ok((None, UNNAMED));
    }
    let (kind, hash) = objects::key_hash(group, key_seed)
        .map_err(|error| objects::with_context(group.py(), error, "in the name of a group"))?;
    Ok((Some(kind), hash))
}

/// Reads keys, with or without groups, from Python objects.
struct Reader {
    grouped: bool,
    nulls: Nulls,
    key_seed: u64,
    /// The kind of the keys so far.
    kind: Option<Kind>,
    /// The kind of the groups so far.
    group_kind: Option<Kind>,
}

impl Reader {
    fn new(grouped: bool, nulls: Nulls, key_seed: u64) -> Self {
        Self { grouped, nulls, key_seed, kind: None, group_kind: None }
    }

    /// Calls `feed` with the hash of each group and its keys.
    fn read<'py>(
        &mut self,
        side: &Bound<'py, PyAny>,
        mut feed: impl FnMut(u64, &mut Keys<'py>) -> PyResult<()>,
    ) -> PyResult<()> {
        if !self.grouped {
            return self.read_group(UNNAMED, side, &mut feed);
        }
        for pair in pairs(side)?.try_iter()? {
            let (group, keys) = group_and_keys(&pair?)?;
            let (kind, hash) = group_hash(&group, self.key_seed)?;
            if let Some(kind) = kind {
                objects::check_kind(&mut self.group_kind, kind).map_err(|error| {
                    objects::with_context(side.py(), error, "in the name of a group")
                })?;
            }
            self.read_group(hash, &keys, &mut feed)?;
        }
        Ok(())
    }

    fn read_group<'py>(
        &mut self,
        group: u64,
        keys: &Bound<'py, PyAny>,
        feed: &mut impl FnMut(u64, &mut Keys<'py>) -> PyResult<()>,
    ) -> PyResult<()> {
        let mut keys = Keys::of(keys, self.nulls, self.key_seed)?;
        keys.kind = self.kind;
        feed(group, &mut keys)?;
        self.kind = keys.kind;
        Ok(())
    }
}

/// The pairs of groups and keys, of a mapping or an iterable.
fn pairs<'py>(side: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match side.cast::<PyMapping>() {
        Ok(mapping) => Ok(mapping.items()?.into_any()),
        Err(_) => Ok(side.clone()),
    }
}

fn group_and_keys<'py>(
    pair: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    pair.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "expected a mapping from groups to keys, or pairs of a group and keys, but got {}",
            objects::type_name(pair)
        ))
    })
}

/// The side of a set that keys belong to.
#[derive(Clone, Copy)]
enum Side {
    Members,
    Others,
}

/// A consumer that adds the keys of a group to a builder.
struct Adding<'a> {
    builder: &'a mut ExactSetBuilder<'static>,
    side: Side,
    group: u64,
}

impl Collector for Adding<'_> {
    fn extend_hashes(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            match self.side {
                Side::Members => self.builder.push_member_hash_in(self.group, hash),
                Side::Others => self.builder.push_other_hash_in(self.group, hash),
            }
        }
    }
}

fn build<'py>(
    class: &Bound<'py, PyType>,
    mut builder: ExactSetBuilder<'static>,
    mut reader: Reader,
    members: &Bound<'py, PyAny>,
    others: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let mut add = |reader: &mut Reader, side, keys| {
        reader.read(keys, |group, keys| {
            keys.feed(py, &mut Adding { builder: &mut builder, side, group })
        })
    };
    add(&mut reader, Side::Members, members)?;
    if others.is_callable() {
        let built = finish_with(py, builder, reader, others.clone().unbind())?;
        return stored::object(class, built.into_inner());
    }
    add(&mut reader, Side::Others, others)?;
    let built = watched(py, |watch| builder.progress(|_| watch.check()).finish())?;
    stored::object(class, built.into_inner())
}

/// Builds the set from the members in `builder` and the keys that `others` returns when it is
/// called.
fn finish_with(
    py: Python<'_>,
    builder: ExactSetBuilder<'static>,
    mut reader: Reader,
    others: Py<PyAny>,
) -> PyResult<ribbonfilter::ExactSet> {
    let mut raised = None;
    let built = watched(py, |watch| {
        builder.progress(|_| watch.check()).finish_with(|keys| {
            let outcome = Python::attach(|py| read_others(&mut reader, others.bind(py), keys));
            match outcome {
                // What stopped the build is known to it.
                Err(_) if keys.is_stopped() => Ok(()),
                Err(error) => {
                    raised = Some(error);
                    Err(BuildError::Cancelled)
                }
                Ok(()) => Ok(()),
            }
        })
    });
    raised.map_or(built, Err)
}

fn read_others(
    reader: &mut Reader,
    others: &Bound<'_, PyAny>,
    keys: &mut OtherKeys<'_>,
) -> PyResult<()> {
    let py = others.py();
    reader.read(&others.call0()?, |group, group_keys| {
        group_keys.feed_attached(py, |piece: &Piece| {
            piece.runs().flatten().for_each(|&hash| keys.push_hash_in(group, hash));
            match keys.is_stopped() {
                true => Err(PyRuntimeError::new_err("the build was stopped")),
                false => Ok(()),
            }
        })
    })
}
