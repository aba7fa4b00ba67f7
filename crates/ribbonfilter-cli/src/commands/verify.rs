//! `ribbon verify`: checks that a file is intact and that no key is missing.

use crate::error::{Error, NOT_FOUND, Result, shown};
use crate::filter_file::{self, Set};
use crate::input::{self, Batch, Flow, Format, InputArguments, Inputs};
use crate::output::print;
use crate::progress::Progress;
use crate::show;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check that a filter, map, part or container is intact and that no key is missing
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
    /// The file of a filter, map, part or container, which must not be modified during the run
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
    match look_for_all(arguments, &filter)? {
        Ok(keys) => {
            print(format!("{}: intact, all {} keys found\n", shown(path), show::count(keys)))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(missing) => {
            Error::at(path, format_args!("{missing}: was it built from other keys?")).report();
            Ok(ExitCode::from(NOT_FOUND))
        }
    }
}

/// Looks up all keys. Returns their number, or a description of the first missing key.
fn look_for_all(arguments: &Arguments, filter: &Set) -> Result<std::result::Result<u64, String>> {
    let inputs = Inputs::new(&arguments.keys)?;
    let format = arguments.input.format()?;
    let progress = Progress::bytes("verifying", inputs.total());
    let options = input::Options {
        key_seed: filter.key_seed(),
        threads: arguments.threads,
        progress: &progress,
    };
    let (mut keys, mut missing) = (0, None);
    let work = |batch: &Batch, hits: &mut Vec<bool>| {
        hits.resize(batch.hashes().len(), false);
        filter.contains_hash_batch_into(batch.hashes(), hits);
    };
    input::read(&inputs, format, options, work, |batch, hits| {
        keys += batch.hashes().len() as u64;
        let Some(index) = hits.iter().position(|hit| !hit) else { return Ok(Flow::Continue) };
        missing = Some(describe(batch, index, &inputs, &format));
        Ok(Flow::Stop)
    })?;
    Ok(missing.map_or(Ok(keys), Err))
}

fn describe(batch: &Batch, index: usize, inputs: &Inputs, format: &Format) -> String {
    let location = batch.location(index, inputs, format);
    let record = batch.record(index).trim_ascii_end();
    format!("the key of {location} is missing ({})", record.escape_ascii())
}
