//! A filter or a container of shards in its file, and what there is to tell about it.

use crate::error::{Error, Result};
use crate::{show, values};
use ribbonfilter::{Filter, Function, Kind, MappedBytes, OpenError, Part, Shards};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;

/// Maps a filter's file.
#[expect(unsafe_code, reason = "the map of a file that nobody may change, as the help says")]
pub fn open(path: &Path) -> Result<Filter<MappedBytes>> {
    // SAFETY: the help of every command that maps a file demands that nobody change it.
    let filter = unsafe { Filter::map_file(path) };
    filter.map_err(|error| failed(path, &error))
}

/// Maps the file of a function.
#[expect(unsafe_code, reason = "the map of a file that nobody may change, as the help says")]
pub fn open_function(path: &Path) -> Result<Function<MappedBytes>> {
    // SAFETY: as above.
    let function = unsafe { Function::map_file(path) };
    function.map_err(|error| failed(path, &error))
}

/// Maps the file of a part.
#[expect(unsafe_code, reason = "the map of a file that nobody may change, as the help says")]
pub fn open_part(path: &Path) -> Result<Part<MappedBytes>> {
    // SAFETY: as above.
    let part = unsafe { Part::map_file(path) };
    part.map_err(|error| failed(path, &error))
}

/// What can be asked for keys: a filter, or a container of them.
pub enum Set<D = MappedBytes> {
    Filter(Filter<D>),
    Shards(Shards<D>),
}

/// Maps the file of a filter or of a container.
#[expect(unsafe_code, reason = "the map of a file that nobody may change, as the help says")]
pub fn open_set(path: &Path) -> Result<Set> {
    // SAFETY: the help of every command that maps a file demands that nobody change it.
    let opened = match unsafe { Filter::map_file(path) } {
        Err(OpenError::WrongKind { found: Kind::Container, .. }) => {
            // SAFETY: as above.
            unsafe { Shards::map_file(path) }.map(Set::Shards)
        }
        opened => opened.map(Set::Filter),
    };
    opened.map_err(|error| failed(path, &error))
}

impl<D: AsRef<[u8]>> Set<D> {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Filter(filter) => filter.as_bytes(),
            Self::Shards(shards) => shards.as_bytes(),
        }
    }

    pub fn verify(&self) -> std::result::Result<(), OpenError> {
        match self {
            Self::Filter(filter) => filter.verify(),
            Self::Shards(shards) => shards.verify(),
        }
    }

    pub fn key_seed(&self) -> u64 {
        match self {
            Self::Filter(filter) => filter.key_seed(),
            Self::Shards(shards) => shards.key_seed(),
        }
    }

    pub fn contains_hash(&self, hash: u64) -> bool {
        match self {
            Self::Filter(filter) => filter.contains_hash(hash),
            Self::Shards(shards) => shards.contains_hash(hash),
        }
    }

    pub fn contains_hash_batch_into(&self, hashes: &[u64], hits: &mut [bool]) {
        match self {
            Self::Filter(filter) => filter.contains_hash_batch_into(hashes, hits),
            Self::Shards(shards) => shards.contains_hash_batch_into(hashes, hits),
        }
    }

    pub fn description(&self) -> Description {
        match self {
            Self::Filter(filter) => Description::of(filter),
            Self::Shards(shards) => Description::of_shards(shards),
        }
    }
}

/// Reads every byte of a filter, map, part or container and compares the checksums.
#[expect(unsafe_code, reason = "the map of a file that nobody may change, as the help says")]
pub fn verify(path: &Path) -> Result<()> {
    // SAFETY: the help of every command that maps a file demands that nobody change it.
    let verified = match unsafe { Filter::map_file(path) } {
        Err(OpenError::WrongKind { found: Kind::Function, .. }) => open_function(path)?.verify(),
        Err(OpenError::WrongKind { found: Kind::Part, .. }) => open_part(path)?.verify(),
        _ => open_set(path)?.verify(),
    };
    verified.map_err(|error| failed(path, &error))
}

/// What could not be opened or verified, as an error at its place.
pub fn failed(path: &Path, error: &OpenError) -> Error {
    match error {
        OpenError::Io(error) if error.kind() == ErrorKind::InvalidInput => {
            Error::at(path, "is not a regular file: name a filter's file")
        }
        OpenError::Io(error) => Error::io(path, error),
        OpenError::WrongKind { expected, found } => Error::at(path, wrong_kind(*expected, *found)),
        other => Error::at(path, other),
    }
}

/// What to do with a file of another kind than a command takes.
fn wrong_kind(expected: Kind, found: Kind) -> String {
    let instead = match (expected, found) {
        (_, Kind::Part) => "`ribbon join` puts all parts together",
        (_, Kind::Function) => "`ribbon map get` and `ribbon map info` know what to do with it",
        (Kind::Part, Kind::Filter) => "name the files that `ribbon cut` wrote",
        (Kind::Function, Kind::Filter) => {
            "`ribbon query` and `ribbon info` know what to do with it"
        }
        _ => "name another file",
    };
    format!("is a {found}, not a {expected}: {instead}")
}

/// What there is to tell: the fields of `ribbon info --json`.
#[derive(Serialize)]
pub struct Description {
    pub keys: u64,
    pub bytes: u64,
    pub bits_per_key: f64,
    pub overhead: f64,
    pub expected_rate: f64,
    variant: String,
    width: u32,
    columns: f64,
    /// The seed under which keys are hashed.
    seed: u64,
    shards: u64,
    /// The version of the byte format.
    version: u8,
}

impl Description {
    pub fn of<D: AsRef<[u8]>>(filter: &Filter<D>) -> Self {
        Self {
            keys: filter.len(),
            bytes: filter.size_in_bytes() as u64,
            bits_per_key: filter.bits_per_key(),
            overhead: overhead(filter.bits_per_key(), filter.expected_rate()),
            expected_rate: filter.expected_rate(),
            variant: values::variant_name(filter.variant()),
            width: filter.width().bits(),
            columns: filter.columns(),
            seed: filter.key_seed(),
            shards: 1,
            version: format_version(filter.as_bytes()),
        }
    }

    fn of_shards<D: AsRef<[u8]>>(shards: &Shards<D>) -> Self {
        Self {
            keys: shards.len(),
            bytes: shards.size_in_bytes() as u64,
            bits_per_key: shards.bits_per_key(),
            overhead: overhead(shards.bits_per_key(), shards.expected_rate()),
            expected_rate: shards.expected_rate(),
            variant: values::variant_name(shards.variant()),
            width: shards.width().bits(),
            columns: shards.columns(),
            seed: shards.key_seed(),
            shards: shards.shard_count(),
            version: format_version(shards.as_bytes()),
        }
    }

    /// Labels and values, for people.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        vec![
            ("keys", show::count(self.keys)),
            ("size", show::size(self.bytes)),
            ("bits a key", self.bits_shown()),
            ("overhead", show::percent(self.overhead)),
            ("expected rate", show::rate(self.expected_rate)),
            ("variant", self.variant.clone()),
            ("width", self.width.to_string()),
            ("columns", format!("{:.3}", self.columns)),
            ("key seed", self.seed.to_string()),
            ("shards", self.shards.to_string()),
            ("format version", self.version.to_string()),
        ]
    }

    /// Everything that matters in one line.
    pub fn summary(&self) -> String {
        format!(
            "{} keys, {} bytes, {} bits a key, overhead {}, expected rate {}",
            show::count(self.keys),
            show::count(self.bytes),
            self.bits_shown(),
            show::percent(self.overhead),
            show::rate(self.expected_rate),
        )
    }

    fn bits_shown(&self) -> String {
        show::bits(self.bits_per_key)
    }
}

/// All stored bits over those that theory demands for the rate, minus one.
pub fn overhead(bits_per_key: f64, rate: f64) -> f64 {
    bits_per_key / -rate.log2() - 1.0
}

/// The version of the byte format: the lower half of the byte that lies 9 bytes before the
/// end, as `docs/format.md` has it.
pub fn format_version(bytes: &[u8]) -> u8 {
    bytes.iter().rev().nth(8).map_or(0, |versions| versions & 15)
}
