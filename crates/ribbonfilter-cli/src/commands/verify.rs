//! `ribbon verify`: checks that a file is intact and that no key is missing.

use crate::error::{Error, NOT_FOUND, Result, shown};
use crate::filter_file;
use crate::input::{self, Batch, Flow, Format, InputArguments, Inputs};
use crate::lookup::{Hits, Lookup};
use crate::output::print;
use crate::progress::Progress;
use crate::show;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check that a filter, map, part, container or exact set is intact and that no key is missing
///
/// Reads every byte and compares the checksums. With --keys, also looks up every key in a filter
/// and reports the first missing one. A missing key means that the filter was built from other
/// keys, or with other input options (--input, --column).
///
/// Exit status: 0 on success, 1 if a key is missing, 2 if the file is corrupt or after another
/// error. The file must not be modified while it is in use.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file of a filter, map, part, container or exact set, which must not be modified during the run
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// A file of keys that must all be in the filter (`-` is standard input); may be repeated
    #[arg(long, value_name = "FILE")]
    keys: Vec<PathBuf>,
    /// Number of threads; 0 for one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    input: InputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon verify words.ribbon
  ribbon verify ages.map
  ribbon verify words.ribbon --keys words.txt";

pub fn run(arguments: &Arguments) -> Result {
    let path = &arguments.filter;
    if arguments.keys.is_empty() {
        filter_file::verify(path)?;
        print(format!("{}: intact\n", shown(path)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let filter = filter_file::open_set(path)?;
    filter.verify().map_err(|error| filter_file::failed(path, &error))?;
    match look_for_all(
        &arguments.keys,
        arguments.input.format()?,
        arguments.threads,
        &filter,
        true,
    )? {
        Ok(keys) => {
            print(format!("{}: intact, all {} keys found\n", shown(path), show::count(keys)))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Wrong { location, record, .. }) => Ok(report_wrong(
            path,
            &format!("the key of {location} is missing ({record}): was it built from other keys?"),
        )),
    }
}

/// Reports a key with a wrong result, and returns the exit status.
pub fn report_wrong(path: &Path, message: &str) -> ExitCode {
    Error::at(path, message).report();
    ExitCode::from(NOT_FOUND)
}

/// A key with another result than expected.
pub struct Wrong {
    pub location: String,
    /// The text of the record.
    pub record: String,
    /// Whether the set has no key of its group.
    pub unknown_group: bool,
}

/// Looks up the keys of all files. Returns their number, or the first key whose result is not the
/// expected one.
pub fn look_for_all(
    files: &[PathBuf],
    format: Format,
    threads: usize,
    set: &impl Lookup,
    expected: bool,
) -> Result<std::result::Result<u64, Wrong>> {
    let inputs = Inputs::new(files)?;
    let progress = Progress::bytes("verifying", inputs.total());
    let options = input::Options { key_seed: set.key_seed(), threads, progress: &progress };
    let (mut keys, mut wrong) = (0, None);
    let work = |batch: &Batch, hits: &mut Hits| {
        set.look_up(batch.groups(), batch.hashes(), hits);
    };
    input::read(&inputs, format, options, work, |batch, hits| {
        keys += batch.hashes().len() as u64;
        let unknown = hits.unknown.first().copied();
        let other = hits.select(expected).next();
        let Some(index) = unknown.into_iter().chain(other).min() else {
            return Ok(Flow::Continue);
        };
        wrong = Some(Wrong {
            location: batch.location(index, &inputs, &format),
            record: batch.record(index).trim_ascii_end().escape_ascii().to_string(),
            unknown_group: unknown == Some(index),
        });
        Ok(Flow::Stop)
    })?;
    Ok(wrong.map_or(Ok(keys), Err))
}
