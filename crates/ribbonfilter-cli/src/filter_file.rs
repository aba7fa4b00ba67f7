//! Opens and describes the file of a filter, map, part, container or exact set.

use crate::error::{Error, Result};
use crate::{show, values};
use ribbonfilter::{ExactSet, Filter, Function, Kind, MappedBytes, OpenError, Part, Shards};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;

/// Maps the file of a filter.
#[expect(unsafe_code, reason = "maps a file, which must not be modified, as the help says")]
pub fn open(path: &Path) -> Result<Filter<MappedBytes>> {
    // SAFETY: the help of every command that maps a file says that it must not be modified.
    let filter = unsafe { Filter::map_file(path) };
    filter.map_err(|error| failed(path, &error))
}

/// Maps the file of a function.
#[expect(unsafe_code, reason = "maps a file, which must not be modified, as the help says")]
pub fn open_function(path: &Path) -> Result<Function<MappedBytes>> {
    // SAFETY: as above.
    let function = unsafe { Function::map_file(path) };
    function.map_err(|error| failed(path, &error))
}

/// Maps the file of a part.
#[expect(unsafe_code, reason = "maps a file, which must not be modified, as the help says")]
pub fn open_part(path: &Path) -> Result<Part<MappedBytes>> {
    // SAFETY: as above.
    let part = unsafe { Part::map_file(path) };
    part.map_err(|error| failed(path, &error))
}

/// Maps the file of an exact set.
#[expect(unsafe_code, reason = "maps a file, which must not be modified, as the help says")]
pub fn open_exact(path: &Path) -> Result<ExactSet<MappedBytes>> {
    // SAFETY: as above.
    let set = unsafe { ExactSet::map_file(path) };
    set.map_err(|error| failed(path, &error))
}

/// A set of keys: a filter, or a container of shards.
pub enum Set<D = MappedBytes> {
    Filter(Filter<D>),
    Shards(Shards<D>),
}

/// Maps the file of a filter or of a container.
#[expect(unsafe_code, reason = "maps a file, which must not be modified, as the help says")]
pub fn open_set(path: &Path) -> Result<Set> {
    // SAFETY: the help of every command that maps a file says that it must not be modified.
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

    pub fn description(&self) -> Description {
        match self {
            Self::Filter(filter) => Description::of(filter),
            Self::Shards(shards) => Description::of_shards(shards),
        }
    }
}

/// Reads every byte of a filter, map, part, container or exact set and compares the checksums.
#[expect(unsafe_code, reason = "maps a file, which must not be modified, as the help says")]
pub fn verify(path: &Path) -> Result<()> {
    // SAFETY: the help of every command that maps a file says that it must not be modified.
    let verified = match unsafe { Filter::map_file(path) } {
        Err(OpenError::WrongKind { found: Kind::Function, .. }) => open_function(path)?.verify(),
        Err(OpenError::WrongKind { found: Kind::Part, .. }) => open_part(path)?.verify(),
        Err(OpenError::WrongKind { found: Kind::ExactSet, .. }) => open_exact(path)?.verify(),
        _ => open_set(path)?.verify(),
    };
    verified.map_err(|error| failed(path, &error))
}

/// Converts an error of opening or verifying a file.
pub fn failed(path: &Path, error: &OpenError) -> Error {
    match error {
        OpenError::Io(error) if error.kind() == ErrorKind::InvalidInput => {
            Error::at(path, "is not a regular file: name the file of a filter")
        }
        OpenError::Io(error) => Error::io(path, error),
        OpenError::WrongKind { expected, found } => Error::at(path, wrong_kind(*expected, *found)),
        other => Error::at(path, other),
    }
}

/// The message for a file of the wrong kind, with the command to use instead.
fn wrong_kind(expected: Kind, found: Kind) -> String {
    let instead = match (expected, found) {
        (_, Kind::Part) => "join all parts with `ribbon join`",
        (_, Kind::Function) => "use `ribbon map get` or `ribbon map info`",
        (_, Kind::ExactSet) => "use `ribbon exact query` or `ribbon exact info`",
        (Kind::Part, Kind::Filter) => "name the files that `ribbon cut` wrote",
        (Kind::Function | Kind::ExactSet, Kind::Filter | Kind::Container) => {
            "use `ribbon query` or `ribbon info`"
        }
        _ => "name another file",
    };
    format!("is {}, not {}: {instead}", with_article(found), with_article(expected))
}

fn with_article(kind: Kind) -> String {
    let article = if kind == Kind::ExactSet { "an" } else { "a" };
    format!("{article} {kind}")
}

/// The properties of a filter or container: the fields of `ribbon info --json`.
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

    /// Labels and values of the text output.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        vec![
            ("keys", show::count(self.keys)),
            ("size", show::size(self.bytes)),
            ("bits per key", show::bits(self.bits_per_key)),
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

    /// The main properties in one line.
    pub fn summary(&self) -> String {
        format!(
            "{} keys, {} bytes, {} bits per key, overhead {}, expected rate {}",
            show::count(self.keys),
            show::count(self.bytes),
            show::bits(self.bits_per_key),
            show::percent(self.overhead),
            show::rate(self.expected_rate),
        )
    }
}

/// The number of stored bits over the theoretical minimum for the rate, minus one.
pub fn overhead(bits_per_key: f64, rate: f64) -> f64 {
    bits_per_key / -rate.log2() - 1.0
}

/// The version of the byte format: the low four bits of the ninth byte from the end (see
/// `docs/format.md`).
pub fn format_version(bytes: &[u8]) -> u8 {
    bytes.iter().rev().nth(8).map_or(0, |versions| versions & 15)
}
