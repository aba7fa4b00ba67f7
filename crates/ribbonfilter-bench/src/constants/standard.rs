//! Adds keys to a system with smash until the first failure. Each quantile of their number is a
//! point (success probability, keys, overhead), to be compared with the planner's formula.

use crate::random::trials;
use ribbonfilter::Width;
use ribbonfilter::simulate::{keys_until_failure, standard_overhead};

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys to insert per line
    #[arg(long, default_value_t = 1e8)]
    keys: f64,
    /// Largest system, as a power of two
    #[arg(long, default_value_t = 17)]
    largest: u32,
}

const PROBABILITIES: [f64; 7] = [0.95, 0.75, 0.5, 0.25, 0.125, 0.0625, 0.015_625];

pub fn run(arguments: &Arguments) {
    println!("overhead in percent for each success probability: simulated (formula)");
    print!("{:>4} {:>5} {:>7}", "w", "m", "trials");
    PROBABILITIES.iter().for_each(|probability| print!("  {probability:<14}"));
    println!();
    for width in Width::ALL {
        let smallest = width.bits().ilog2() + 1;
        for slots_log in smallest..=arguments.largest {
            print_line(width, slots_log, arguments.keys);
        }
    }
}

fn print_line(width: Width, slots_log: u32, keys: f64) {
    let slots = 1u64 << slots_log;
    let count = ((keys / slots as f64) as u64).clamp(100, 100_000);
    let smash = u64::from(width.bits()) / 4;
    let mut taken = trials(count, |random| keys_until_failure(width, slots, smash, random));
    taken.sort_unstable();
    print!("{width:>4}  2^{slots_log:<2} {count:>7}");
    for probability in PROBABILITIES {
        // The maximum number of keys that can be inserted with this probability.
        let keys = taken[((1.0 - probability) * count as f64) as usize] as f64;
        let simulated = slots as f64 / keys - 1.0;
        let formula = standard_overhead(keys, width, probability);
        print!("  {:6.2} ({:5.2})", simulated * 100.0, formula * 100.0);
    }
    println!();
}
