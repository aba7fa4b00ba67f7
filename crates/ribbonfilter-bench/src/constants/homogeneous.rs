//! The exact rates of Homogeneous systems of random keys: of one seed each, or as planned and built.

use crate::random::trials;
use ribbonfilter::simulate::{Instance, PlannedBuild, homogeneous_instance, planned_build};
use ribbonfilter::{Effort, Variant, Width};

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
    /// Filters as a builder plans and builds them, instead of one seed with given slots
    #[arg(long, conflicts_with_all = ["epsilon", "no_smash"])]
    planned: bool,
    /// Systems for each line
    #[arg(long, default_value_t = 300)]
    systems: u64,
}

/// The classes of ratios that are counted, by their largest ratio. All others are in one more class.
const CLASSES: [f64; 9] = [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 5.0, 10.0];

pub fn run(arguments: &Arguments) {
    let width = Width::ALL.into_iter().find(|width| width.bits() == arguments.width);
    let width = width.expect("a width of 16, 32, 64 or 128");
    let (keys, r) = (arguments.keys, arguments.columns);
    println!("n = {keys}, w = {width}, r = {r}; ratio of exact to nominal rate over the seeds");
    if arguments.planned {
        return planned(arguments, width);
    }
    for epsilon in &arguments.epsilon {
        let slots = (keys * (1.0 + epsilon / 100.0)).ceil() as u64;
        let instances = trials(arguments.systems, |random| {
            let keys = random.take(keys as usize);
            homogeneous_instance(width, slots, !arguments.no_smash, r, keys)
        });
        let ratios = Ratios::new(instances.iter().map(|instance| instance.ratio));
        let redundant: u64 = instances.iter().map(|instance| instance.redundant).sum();
        let redundant = redundant as f64 / instances.len() as f64 / keys;
        print!("{}, redundant {redundant:.1e};", ratios.summary(slots as f64 / keys, r));
        for margin in [0, 4, 6, 8, 10, 12, 14, 16, 18] {
            print!("  q<=w-{margin}: {}", screened(&instances, width.bits() - margin));
        }
        println!("\n{}", ratios.classes());
    }
}

fn planned(arguments: &Arguments, width: Width) {
    let columns = f64::from(arguments.columns);
    let builds = trials(arguments.systems, |random| {
        let hashes = random.take(arguments.keys as usize);
        planned_build(Variant::Homogeneous, width, Effort::Normal, columns, hashes)
    });
    let builds: Vec<PlannedBuild> =
        builds.into_iter().map(|build| build.expect("a suitable width")).collect();
    let ratios = Ratios::new(builds.iter().map(|build| build.rate * columns.exp2()));
    let slots_per_key = builds[0].bytes as f64 * 8.0 / columns / arguments.keys;
    let mut seeds: Vec<f64> = builds.iter().map(|build| build.seed).collect();
    seeds.sort_unstable_by(f64::total_cmp);
    let mean =
        |of: fn(&PlannedBuild) -> f64| builds.iter().map(of).sum::<f64>() / seeds.len() as f64;
    println!(
        "{}, solutions {:.3}, seed {:.2}, 90 % {};",
        ratios.summary(slots_per_key, arguments.columns),
        mean(|build| build.solutions),
        mean(|build| build.seed),
        quantile(&seeds, 0.9),
    );
    println!("{}", ratios.classes());
}

/// The value at a fraction of the way through sorted values, rounded down.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * fraction) as usize]
}

/// Exact rates over nominal ones, in ascending order.
struct Ratios(Vec<f64>);

impl Ratios {
    fn new(ratios: impl Iterator<Item = f64>) -> Self {
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_unstable_by(f64::total_cmp);
        Self(ratios)
    }

    fn summary(&self, slots_per_key: f64, columns: u32) -> String {
        let at = |fraction| quantile(&self.0, fraction);
        let mean = self.0.iter().sum::<f64>() / self.0.len() as f64;
        let r = f64::from(columns);
        let overhead = slots_per_key * r / (r - mean.log2()) - 1.0;
        format!(
            "eps {:5.2} %: mean {mean:.4} median {:.4} 90 % {:.4} 99 % {:.4} worst {:.3}, overhead at \
             the mean {:.2} %",
            (slots_per_key - 1.0) * 100.0,
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0),
            overhead * 100.0,
        )
    }

    /// The percentage of the ratios in each class.
    fn classes(&self) -> String {
        let percent = |low: f64, high: f64| {
            let count = self.0.iter().filter(|&&ratio| low < ratio && ratio <= high).count();
            100.0 * count as f64 / self.0.len() as f64
        };
        let mut text = "  percent with a ratio".to_string();
        let mut low = 0.0;
        for high in CLASSES {
            text += &format!(" up to {high}: {:.3},", percent(low, high));
            low = high;
        }
        text + &format!(" more: {:.3}", percent(low, f64::INFINITY))
    }
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

#[cfg(test)]
mod tests {
    use super::Ratios;

    #[test]
    fn every_ratio_is_in_one_class() {
        let ratios = Ratios::new([3.0, 0.9, 1.01, 1.02, 100.0].into_iter());
        assert_eq!(
            ratios.classes(),
            "  percent with a ratio up to 1.01: 40.000, up to 1.02: 20.000, up to 1.05: 0.000, up to \
             1.1: 0.000, up to 1.2: 0.000, up to 1.5: 0.000, up to 2: 0.000, up to 5: 20.000, up to \
             10: 0.000, more: 20.000"
        );
    }
}
