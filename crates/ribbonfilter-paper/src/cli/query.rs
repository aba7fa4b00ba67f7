//! `ribbon-paper query`: like grep, the keys that match.

use super::{Failure, Outcome, files, lines};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the keys that may be in the set: those given, or the lines of standard input
///
/// The exit status is 0 if a key was selected, 1 if none was, and 2 if an error occurred. A part of
/// a filter selects only keys that belong to it.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file of the filter
    filter: PathBuf,
    /// The keys [default: the lines of standard input]
    keys: Vec<String>,
    /// Select the keys that are not in the set
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only the number of selected keys
    #[arg(short, long)]
    count: bool,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
}

/// Prints the selected keys.
pub fn run(arguments: &Arguments) -> Outcome {
    let stored = files::read(&arguments.filter)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut selected = 0u64;
    let mut each = |key: &[u8]| -> Result<(), Failure> {
        if stored.contains(key).is_some_and(|found| found != arguments.invert) {
            selected += 1;
            if !arguments.count && !arguments.quiet {
                out.write_all(key)?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    };
    if arguments.keys.is_empty() {
        lines::for_each_line(Path::new("-"), each)?;
    } else {
        arguments.keys.iter().try_for_each(|key| each(key.as_bytes()))?;
    }
    if arguments.count && !arguments.quiet {
        writeln!(out, "{selected}")?;
    }
    out.flush()?;
    Ok(if selected > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
