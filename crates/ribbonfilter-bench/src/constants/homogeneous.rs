//! Solves Homogeneous systems of random keys and computes their exact rates.

use crate::random::trials;
use ribbonfilter::Width;
use ribbonfilter::simulate::{Instance, homogeneous_instance};

#[derive(clap::Args)]
pub struct Arguments {
    /// Keys of each system
    #[arg(long, default_value_t = 1e4)]
    keys: f64,
    /// Ribbon width
    #[arg(long, default_value_t = 64)]
    width: u32,
    /// Columns
    #[arg(long, default_value_t = 8)]
    columns: u32,
    /// Slots above the number of keys, in percent
    #[arg(long, value_delimiter = ',', default_value = "2,3,4,5,6,7,8,9")]
    epsilon: Vec<f64>,
    /// Without smash
    #[arg(long)]
    no_smash: bool,
    /// Systems for each line
    #[arg(long, default_value_t = 300)]
    systems: u64,
}

pub fn run(arguments: &Arguments) {
    let width = Width::ALL.into_iter().find(|width| width.bits() == arguments.width);
    let width = width.expect("a width of 16, 32, 64 or 128");
    let (keys, r) = (arguments.keys, f64::from(arguments.columns));
    println!("n = {keys}, w = {width}, r = {r}; ratio of exact to nominal rate over the seeds");
    for epsilon in &arguments.epsilon {
        let slots = (keys * (1.0 + epsilon / 100.0)).ceil() as u64;
        let instances = trials(arguments.systems, |random| {
            let keys = random.take(keys as usize);
            homogeneous_instance(width, slots, !arguments.no_smash, arguments.columns, keys)
        });
        print!("eps {epsilon:5.2} %: {}", summary(&instances, keys, slots as f64, r));
        for margin in [0, 4, 6, 8, 10, 12, 14, 16, 18] {
            print!("  q<=w-{margin}: {}", screened(&instances, width.bits() - margin));
        }
        println!();
    }
}

fn summary(instances: &[Instance], keys: f64, slots: f64, r: f64) -> String {
    let mut ratios: Vec<f64> = instances.iter().map(|instance| instance.ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let at = |fraction: f64| ratios[((ratios.len() - 1) as f64 * fraction) as usize];
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let overhead = slots * r / keys / (r - mean.log2()) - 1.0;
    let redundant: u64 = instances.iter().map(|instance| instance.redundant).sum();
    format!(
        "mean {mean:.4} median {:.4} 90 % {:.4} worst {:.3}, overhead at the mean {:.2} %, redundant {:.1e};",
        at(0.5),
        at(0.9),
        at(1.0),
        overhead * 100.0,
        redundant as f64 / instances.len() as f64 / keys,
    )
}

/// The fraction of systems that pass a screen, and among them the fractions whose rate is within
/// 2 % and within 5 % of the nominal rate.
fn screened(instances: &[Instance], limit: u32) -> String {
    let passed: Vec<_> = instances.iter().filter(|i| i.longest_queue <= limit).collect();
    let good = |ratio: f64| {
        let good = passed.iter().filter(|instance| instance.ratio <= ratio).count();
        good as f64 / passed.len().max(1) as f64
    };
    let fraction = passed.len() as f64 / instances.len() as f64;
    format!("{fraction:.2} {:.2} {:.2}", good(1.02), good(1.05))
}
