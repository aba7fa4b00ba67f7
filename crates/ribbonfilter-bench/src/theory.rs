//! Experiments on the paper's claims beside its tables: where the overhead of Homogeneous ribbons
//! is least, what smash saves and costs, the work of Algorithm 1, the natural size of a shard, the
//! cost of fractional columns, and the cache lines of a query.

mod cache_lines;
mod displacement;
mod fractions;
mod shard_size;
mod smash;
pub mod smash_time;
mod sweep;

use crate::results::{Folder, Running, read};
use crate::table::Table;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// The experiments [default: all]
    #[arg(value_enum)]
    experiments: Vec<Experiment>,
    /// Multiplies the number of random systems of the simulations
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    #[command(flatten)]
    folder: Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Experiment {
    /// Homogeneous overheads over widths and columns, beside the paper's rule
    Sweep,
    /// Systems with and without smash
    Smash,
    /// The time and the instructions of a query with and without smash
    SmashTime,
    /// Displacements and row additions of Algorithm 1
    Displacement,
    /// Empty slots of shards that are filled until the first failure
    ShardSize,
    /// What fractional columns cost
    Fractions,
    /// Cache lines and pages of a query
    CacheLines,
}

use Experiment::{CacheLines, Displacement, Fractions, ShardSize, Smash, SmashTime, Sweep};

const ALL: [Experiment; 7] =
    [Sweep, Smash, SmashTime, Displacement, ShardSize, Fractions, CacheLines];

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let chosen = match arguments.experiments.is_empty() {
        true => &ALL[..],
        false => &arguments.experiments,
    };
    for &experiment in chosen {
        run_one(experiment, &arguments.folder, arguments.scale)?;
    }
    Ok(())
}

fn run_one(experiment: Experiment, folder: &Folder, scale: f64) -> Result<(), String> {
    let running = Running::begin(experiment.rows());
    match experiment {
        Sweep => sweep::run(folder, scale)?,
        Smash => smash::run(folder, scale)?,
        SmashTime => smash_time::run(folder)?,
        Displacement => displacement::run(folder, scale)?,
        ShardSize => shard_size::run(folder, scale)?,
        Fractions => fractions::run(folder)?,
        CacheLines => {}
    }
    for table in experiment.tables(&folder.results)? {
        println!("{}", table.text());
    }
    // Cache lines are computed, without any rows.
    if experiment == CacheLines { Ok(()) } else { running.end(folder) }
}

impl Experiment {
    /// The name of its rows.
    fn rows(self) -> &'static str {
        match self {
            Sweep => "sweep",
            Smash => "smash-systems",
            SmashTime => "smash-time",
            Displacement => "displacement",
            ShardSize => "shard-size",
            Fractions => "fractions",
            CacheLines => "",
        }
    }

    /// The title of its section in the report, and the text before its tables.
    fn title(self) -> (&'static str, &'static str) {
        match self {
            Sweep => ("Homogeneous Ribbon: where the overhead is least", sweep::TEXT),
            Smash => ("Smash: systems with and without", smash::TEXT),
            SmashTime => ("Smash: the time of a query", smash_time::TEXT),
            Displacement => ("Displacements of Algorithm 1", displacement::TEXT),
            ShardSize => ("The natural size of a shard", shard_size::TEXT),
            Fractions => ("The cost of fractional columns", fractions::TEXT),
            CacheLines => ("Cache lines of a query", cache_lines::TEXT),
        }
    }

    /// The file of its rows.
    fn path(self, folder: &Path) -> PathBuf {
        folder.join(self.rows()).with_extension("jsonl")
    }

    fn tables(self, folder: &Path) -> Result<Vec<Table>, String> {
        let path = self.path(folder);
        Ok(match self {
            Sweep => sweep::tables(&read(&path)?),
            Smash => smash::tables(&read(&path)?),
            SmashTime => smash_time::tables(&read(&path)?),
            Displacement => displacement::tables(&read(&path)?),
            ShardSize => shard_size::tables(&read(&path)?),
            Fractions => fractions::tables(&read(&path)?),
            CacheLines => cache_lines::tables(),
        })
    }
}

/// Title, text and tables of a section.
type Titled = (&'static str, String, Vec<Table>);

/// Every section for which there are rows.
pub fn sections(folder: &Path) -> Result<Vec<Titled>, String> {
    let section = |experiment: Experiment| {
        let (title, text) = experiment.title();
        let sentence = match experiment {
            Smash => smash::sentence(&read(&experiment.path(folder))?),
            _ => None,
        };
        let text = [text.to_string()].into_iter().chain(sentence).collect::<Vec<_>>().join(" ");
        Ok((title, text, experiment.tables(folder)?))
    };
    let all: Result<Vec<_>, String> = ALL.into_iter().map(section).collect();
    Ok(all?.into_iter().filter(|(_, _, tables)| !tables.is_empty()).collect())
}

/// The mean of some values and its standard error.
fn mean_and_error(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    [mean, (variance / count).sqrt()]
}
