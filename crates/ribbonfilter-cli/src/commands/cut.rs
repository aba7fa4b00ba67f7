//! `ribbon cut`: cuts a filter into parts, one of which is enough to look up a key.

use crate::error::{Error, Result, shown};
use crate::filter_file;
use crate::output::{print, write_numbered};
use crate::show;
use clap::Args;
use ribbonfilter::Part;
use std::path::PathBuf;
use std::process::ExitCode;

/// Cut a filter into parts, by slots
///
/// Each part covers a fraction of the keys, at the filter's rate. It repeats a few rows of the next
/// part, so that a query needs only one part. Programs query parts through the library; `ribbon
/// join` joins them again. The files are named OUT.0, OUT.1, …
///
/// Only standard and homogeneous filters can be cut.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter file, which must not be modified during the run
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    // All files stay open until the last is written, and a process has a limit of open files.
    /// Number of parts, up to 500
    #[arg(long, short = 'k', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    parts: u32,
    /// Name of the part files, without their number
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace existing files
    #[arg(long, short)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon build --variant homogeneous words.txt -o words.ribbon
  ribbon cut words.ribbon -k 4 -o words.part
  ribbon join words.part.* -o joined.ribbon";

pub fn run(arguments: &Arguments) -> Result {
    let path = &arguments.filter;
    let filter = filter_file::open(path)?;
    let parts = filter.cut(arguments.parts).map_err(|error| Error::at(path, error))?;
    let bytes = parts.iter().map(Part::as_bytes);
    let targets = write_numbered(&arguments.output, arguments.force, bytes)?;
    for (target, part) in targets.iter().zip(&parts) {
        let (number, count) = (part.number(), part.part_count());
        let bytes = show::count(part.size_in_bytes() as u64);
        print(format!("{}: part {number} of {count}, {bytes} bytes\n", shown(target)))?;
    }
    Ok(ExitCode::SUCCESS)
}
