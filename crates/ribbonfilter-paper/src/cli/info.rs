//! `ribbon-paper info`: what a file contains.

use super::{Outcome, files};
use ribbonfilter_paper::filter::Header;
use ribbonfilter_paper::ribbon::Ribbon;
use ribbonfilter_paper::{Filter, Part, Shards, Stored, UntilFull};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Print what a file contains: variant, width, columns, size, rate, overhead
#[derive(clap::Args)]
pub struct Arguments {
    /// The file
    filter: PathBuf,
}

/// Prints a name and a value in each line.
pub fn run(arguments: &Arguments) -> Outcome {
    let stored = files::read(&arguments.filter)?;
    let bytes = stored.to_bytes().len();
    let out = &mut io::stdout().lock();
    match &stored {
        Stored::Filter(filter) => of_filter(out, filter)?,
        Stored::Part(part) => of_part(out, part)?,
        Stored::Shards(shards) => of_shards(out, shards)?,
        Stored::UntilFull(shards) => of_until_full(out, shards)?,
    }
    writeln!(out, "bytes\t{bytes}")?;
    if let Some((keys, rate)) = keys_and_rate(&stored).filter(|&(keys, _)| keys > 0) {
        let bits = 8.0 * bytes as f64 / keys as f64;
        writeln!(out, "bits_per_key\t{bits:.4}")?;
        writeln!(out, "false_positive_rate\t{rate:.4e}")?;
        writeln!(out, "overhead\t{:.2} %", 100.0 * (bits / -rate.log2() - 1.0))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A part has no rate of its own.
fn keys_and_rate(stored: &Stored) -> Option<(u64, f64)> {
    match stored {
        Stored::Filter(filter) => Some((filter.keys(), filter.rate())),
        Stored::Part(_) => None,
        Stored::Shards(shards) => Some((shards.keys(), shards.rate())),
        Stored::UntilFull(shards) => Some((shards.keys(), shards.rate())),
    }
}

fn of_header(out: &mut dyn Write, header: &Header) -> io::Result<()> {
    writeln!(out, "variant\t{}", header.variant)?;
    writeln!(out, "keys\t{}", header.keys)?;
    writeln!(out, "key_seed\t{}", header.key_seed)?;
    writeln!(out, "first_column\t{}", header.first_column)
}

fn of_filter(out: &mut dyn Write, filter: &Filter) -> io::Result<()> {
    writeln!(out, "kind\tfilter")?;
    of_header(out, filter.header())?;
    let ribbon = filter.ribbon();
    writeln!(out, "width\t{}", ribbon.solutions()[0].layout().width())?;
    writeln!(out, "columns\t{:.4}", ribbon.columns())?;
    writeln!(out, "slots\t{}", ribbon.slots())?;
    writeln!(out, "metadata_bytes\t{}", ribbon.metadata_bytes())?;
    match ribbon {
        Ribbon::Single(single) => {
            writeln!(out, "smash\t{}", single.smash())?;
            writeln!(out, "seed\t{}", single.seed())
        }
        Ribbon::Balanced(balanced) => writeln!(out, "shards\t{}", balanced.metadata().len()),
        Ribbon::Bumped(bumped) => writeln!(out, "layers\t{}", bumped.layers().len() + 1),
        Ribbon::Soft(soft) => writeln!(out, "shards\t{}", soft.seeds().len()),
    }
}

fn of_part(out: &mut dyn Write, part: &Part) -> io::Result<()> {
    writeln!(out, "kind\tpart")?;
    of_header(out, part.header())?;
    writeln!(out, "columns\t{:.4}", part.columns())?;
    writeln!(out, "starts\t{} to {}", part.starts().start, part.starts().end - 1)
}

fn of_shards(out: &mut dyn Write, shards: &Shards) -> io::Result<()> {
    writeln!(out, "kind\tshards by hash")?;
    let filters = shards.filters();
    writeln!(out, "variant\t{}", filters[0].header().variant)?;
    writeln!(out, "keys\t{}", shards.keys())?;
    writeln!(out, "shards\t{}", filters.len())?;
    let columns = filters.iter().map(|filter| filter.ribbon().columns());
    let (min, max) = columns.fold((f64::INFINITY, 0.0), |(min, max): (f64, f64), columns| {
        (min.min(columns), max.max(columns))
    });
    writeln!(out, "columns\t{min:.4} to {max:.4}")
}

fn of_until_full(out: &mut dyn Write, shards: &UntilFull) -> io::Result<()> {
    writeln!(out, "kind\tshards until full")?;
    writeln!(out, "keys\t{}", shards.keys())?;
    writeln!(out, "shards\t{}", shards.shards().len())?;
    writeln!(out, "slots\t{}", shards.slots())?;
    let first = shards.shards()[0].solution().layout();
    writeln!(out, "width\t{}", first.width())?;
    writeln!(out, "columns\t{:.4}", first.columns())
}
