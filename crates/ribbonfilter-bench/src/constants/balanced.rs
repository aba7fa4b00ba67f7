//! The minimum number of slots with which the first seed of a Balanced system succeeds, compared
//! with the number that the planner chooses.

use crate::random::trials;
use ribbonfilter::Width;
use ribbonfilter::simulate::balanced_instance;

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys; 2^12 and more for w = 32, 2^13 for w = 64, 2^14 for w = 128
    #[arg(long, value_delimiter = ',', default_value = "17e3,24e3,32e3,66e3,1e5,13e4,26e4,1e6")]
    keys: Vec<f64>,
    /// Ribbon widths
    #[arg(long, value_delimiter = ',', default_value = "32,64,128")]
    width: Vec<u32>,
    /// Systems to solve for each line
    #[arg(long, default_value_t = 20)]
    systems: u64,
}

pub fn run(arguments: &Arguments) {
    println!("slots above keys in percent: needed by the first seed, and planned");
    println!(
        "{:>4} {:>9} {:>10} {:>8} {:>7} {:>7} {:>7} {:>8} {:>7}",
        "w", "keys", "keys/shard", "min", "median", "90 %", "max", "planned", "works"
    );
    for &bits in &arguments.width {
        let width = Width::ALL.into_iter().find(|width| width.bits() == bits);
        let width = width.expect("a width of 32, 64 or 128");
        for &keys in &arguments.keys {
            print_line(width, keys as usize, arguments.systems);
        }
    }
}

fn print_line(width: Width, keys: usize, systems: u64) {
    let systems = trials(systems, |random| balanced_instance(width, random.take(keys)));
    let Some(mut systems) = systems.into_iter().collect::<Option<Vec<_>>>() else {
        return; // a single shard
    };
    systems.sort_by(|one, other| one.min.total_cmp(&other.min));
    let count = systems.len();
    let works = systems.iter().filter(|system| system.works).count();
    print!("{width:>4} {keys:>9} {:>10.0}", systems[0].shard_keys);
    for rank in [0, count / 2, count * 9 / 10, count - 1] {
        print!(" {:>7.3}", systems[rank].min * 100.0);
    }
    println!(" {:>8.3} {:>5.1} %", systems[0].planned * 100.0, 100.0 * works as f64 / count as f64);
}
