//! `ribbon-paper shrink`, `cut` and `join`: other files from finished ones, without the keys.

use super::{Failure, Outcome, files};
use ribbonfilter_paper::{Error, Filter, Part, Stored};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Drop columns of a filter or of shards
#[derive(clap::Args)]
pub struct Shrink {
    /// The file
    filter: PathBuf,
    /// The number of columns to keep; may be a fraction
    #[arg(long)]
    columns: f64,
    /// The file to write
    #[arg(short, long)]
    output: PathBuf,
}

/// Cut a Standard or Homogeneous filter into parts: OUTPUT.0, OUTPUT.1, …
#[derive(clap::Args)]
pub struct Cut {
    /// The file
    filter: PathBuf,
    /// The number of parts
    #[arg(short = 'n', long)]
    parts: u64,
    /// The files to write, without their numbers
    #[arg(short, long)]
    output: PathBuf,
}

/// Join all parts of a filter
#[derive(clap::Args)]
pub struct Join {
    /// The parts, in any order
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long)]
    output: PathBuf,
}

/// Drops columns.
pub fn shrink(arguments: &Shrink) -> Outcome {
    let Shrink { filter, columns, output } = arguments;
    let smaller = match files::read(filter)? {
        Stored::Filter(filter) => filter.shrink(*columns).map(Stored::Filter),
        Stored::Shards(shards) => shards.shrink(*columns).map(Stored::Shards),
        Stored::Part(_) | Stored::UntilFull(_) => {
            Err(Error::Unsupported("parts and shards until full keep their columns: build again"))
        }
    };
    save(filter, smaller, output)
}

/// Cuts a filter.
pub fn cut(arguments: &Cut) -> Outcome {
    let Cut { filter, parts, output } = arguments;
    let cut = match files::read(filter)? {
        Stored::Filter(filter) => filter.cut(*parts),
        _ => Err(Error::Unsupported("only filters can be cut")),
    };
    for (number, part) in cut.map_err(|error| Failure::at(filter, error))?.into_iter().enumerate() {
        let mut name = output.clone().into_os_string();
        name.push(format!(".{number}"));
        files::write(Path::new(&name), &Stored::Part(part))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Joins parts.
pub fn join(arguments: &Join) -> Outcome {
    let part = |path: &PathBuf| match files::read(path)? {
        Stored::Part(part) => Ok(part),
        _ => Err(Failure::at(path, "not a part of a filter: cut a filter first")),
    };
    let parts: Vec<Part> = arguments.parts.iter().map(part).collect::<Result<_, _>>()?;
    save(&arguments.parts[0], Filter::join(&parts).map(Stored::Filter), &arguments.output)
}

fn save(from: &Path, stored: Result<Stored, Error>, output: &Path) -> Outcome {
    files::write(output, &stored.map_err(|error| Failure::at(from, error))?)?;
    Ok(ExitCode::SUCCESS)
}
