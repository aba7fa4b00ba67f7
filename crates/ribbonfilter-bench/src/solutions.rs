//! Counts the seeds that builds try, compared with the expected number of the plan, and measures
//! the overheads.

use crate::random::trials;
use ribbonfilter::simulate::{PlannedBuild, planned_build};
use ribbonfilter::{Effort, Variant, Width};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys
    #[arg(long, value_delimiter = ',', default_value = "1e3,1e4,1e5,1e6")]
    keys: Vec<f64>,
    /// The variant
    #[arg(long, value_parser = crate::spill::variant, default_value = "homogeneous")]
    variant: Variant,
    /// Search for the smallest filter
    #[arg(long)]
    thorough: bool,
    /// Ribbon widths
    #[arg(long, value_delimiter = ',', default_value = "16,32,64,128")]
    widths: Vec<u32>,
    /// Columns; unsupported combinations with a width are skipped
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,7,8,11,16")]
    columns: Vec<f64>,
    /// Key sets per line
    #[arg(long, default_value_t = 100)]
    sets: u64,
}

pub fn run(arguments: &Arguments) {
    let effort = if arguments.thorough { Effort::Thorough } else { Effort::Normal };
    println!(
        "keys w r: solutions on average (expected), fractions with 1 and at most 2, max; overhead"
    );
    for &keys in &arguments.keys {
        for width in Width::ALL.into_iter().filter(|w| arguments.widths.contains(&w.bits())) {
            for &columns in &arguments.columns {
                let builds = trials(arguments.sets, |random| {
                    let hashes = random.take(keys as usize);
                    planned_build(arguments.variant, width, effort, columns, hashes)
                });
                let builds: Vec<_> = builds.into_iter().flatten().collect();
                if !builds.is_empty() {
                    println!("{keys:e} {width} {columns}: {}", summary(&builds, keys));
                }
            }
        }
    }
}

fn summary(builds: &[PlannedBuild], keys: f64) -> String {
    let count = builds.len() as f64;
    let up_to = |max| builds.iter().filter(|build| build.solutions <= max).count() as f64 / count;
    let average = builds.iter().map(|build| build.solutions).sum::<f64>() / count;
    let max = builds.iter().map(|build| build.solutions).fold(0.0, f64::max);
    let overhead =
        |build: &PlannedBuild| build.bytes as f64 * 8.0 / (keys * -build.rate.log2()) - 1.0;
    let overhead = builds.iter().map(overhead).sum::<f64>() / count;
    format!(
        "{average:.3} ({:.3}), {:.3} {:.3}, {max:.2}; {:.2} %",
        builds[0].expected_solutions,
        up_to(1.0),
        up_to(2.0),
        100.0 * overhead,
    )
}
