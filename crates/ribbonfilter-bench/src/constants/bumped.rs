//! The number of empty slots in one bumping layer of a Bumped system, its variance, and the number
//! of buckets that bump all their keys.

use crate::random::trials;
use ribbonfilter::Width;
use ribbonfilter::simulate::bumping_layer;

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys
    #[arg(long, value_delimiter = ',', default_value = "1e4,1e5,5e5")]
    keys: Vec<f64>,
    /// Total number of keys of all layers of a line
    #[arg(long, default_value = "4e6")]
    total: f64,
}

/// Slots of a layer per key, as in the planner.
const LOADS: [(Width, f64); 3] = [(Width::W32, 0.89), (Width::W64, 0.92), (Width::W128, 0.964)];

pub fn run(arguments: &Arguments) {
    println!(
        "{:>4} {:>8} {:>7} {:>9} {:>9} {:>10}",
        "w", "keys", "layers", "empty", "variance", "exceptions"
    );
    for (width, load) in LOADS {
        for &keys in &arguments.keys {
            print_line(width, load, keys as usize, (arguments.total / keys).max(1.0) as u64);
        }
    }
}

fn print_line(width: Width, load: f64, keys: usize, layers: u64) {
    let found = trials(layers, |random| bumping_layer(width, load, random.take(keys)));
    let mean = found.iter().map(|layer| layer.empty as f64).sum::<f64>() / layers as f64;
    let squares = found.iter().map(|layer| (layer.empty as f64 - mean).powi(2));
    let variance = squares.sum::<f64>() / layers as f64;
    let exceptions: usize = found.iter().map(|layer| layer.exceptions).sum();
    println!("{width:>4} {keys:>8} {layers:>7} {mean:>9.1} {variance:>9.1} {exceptions:>10}");
}
