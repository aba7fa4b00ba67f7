//! A filter in its file, and what there is to tell about it.

use crate::error::{Error, Result};
use crate::{show, values};
use ribbonfilter::{Filter, Function, MappedBytes, OpenError, Part};
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

/// What could not be opened or verified, as an error at its place.
pub fn failed(path: &Path, error: &OpenError) -> Error {
    match error {
        OpenError::Io(error) if error.kind() == ErrorKind::InvalidInput => {
            Error::at(path, "is not a regular file: name a filter's file")
        }
        OpenError::Io(error) => Error::io(path, error),
        OpenError::WrongKind { expected, found } => Error::at(path, wrong_kind(expected, found)),
        other => Error::at(path, other),
    }
}

/// What to do with a file of another kind than a command takes.
fn wrong_kind(expected: &str, found: &str) -> String {
    let instead = match (expected, found) {
        (_, "part of a filter") => "`ribbon join` puts all parts together",
        (_, "function") => "`ribbon map` knows what to do with it",
        ("part of a filter", "filter") => "name the files that `ribbon cut` wrote",
        ("function", "filter") => "`ribbon query` and `ribbon info` know what to do with it",
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
    shards: u32,
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
