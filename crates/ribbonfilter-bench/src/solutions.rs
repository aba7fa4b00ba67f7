//! How often a Homogeneous system is solved until its rate is what was planned, and its overhead.

use crate::random::trials;
use ribbonfilter::Width;
use ribbonfilter::simulate::{HomogeneousBuild, homogeneous_build};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys
    #[arg(long, value_delimiter = ',', default_value = "1e3,1e4,1e5,1e6")]
    keys: Vec<f64>,
    /// Ribbon widths
    #[arg(long, value_delimiter = ',', default_value = "16,32,64,128")]
    widths: Vec<u32>,
    /// Columns; those that a width does not support are left out
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,7,8,11,16")]
    columns: Vec<f64>,
    /// Key sets for each line
    #[arg(long, default_value_t = 100)]
    sets: u64,
}

pub fn run(arguments: &Arguments) {
    println!("keys w r: mean solutions, share with 1 and with at most 2, most; overhead");
    for &keys in &arguments.keys {
        for width in Width::ALL.into_iter().filter(|w| arguments.widths.contains(&w.bits())) {
            for &columns in &arguments.columns {
                let builds = trials(arguments.sets, |random| {
                    homogeneous_build(width, columns, random.take(keys as usize))
                });
                let builds: Vec<_> = builds.into_iter().flatten().collect();
                if columns <= f64::from(width.bits() / 2) && !builds.is_empty() {
                    println!("{keys:e} {width} {columns}: {}", summary(&builds, keys));
                }
            }
        }
    }
}

fn summary(builds: &[HomogeneousBuild], keys: f64) -> String {
    let count = builds.len() as f64;
    let up_to = |most| builds.iter().filter(|build| build.solutions <= most).count() as f64 / count;
    let mean = builds.iter().map(|build| f64::from(build.solutions)).sum::<f64>() / count;
    let most = builds.iter().map(|build| build.solutions).max().unwrap_or(0);
    let overhead =
        |build: &HomogeneousBuild| build.bytes as f64 * 8.0 / (keys * -build.rate.log2()) - 1.0;
    let overhead = builds.iter().map(overhead).sum::<f64>() / count;
    format!("{mean:.3}, {:.3} {:.3}, {most}; {:.2} %", up_to(1), up_to(2), 100.0 * overhead,)
}
