//! The paper's Table 1: how many more slots than keys a Standard ribbon needs.
//!
//! Keys are added to a system until one depends on those before it; the distribution of
//! their number gives the overhead for every failure probability, and its mean the row
//! "add until failure".

use crate::random::trials;
use ribbonfilter::Width;
use ribbonfilter::simulate::keys_until_failure;

#[derive(clap::Args)]
pub struct Arguments {
    /// Add m = 2^20 and 2^24
    #[arg(long)]
    full: bool,
    /// Keys to insert for each cell
    #[arg(long, default_value_t = 2e8)]
    keys: f64,
}

/// One column of the table: width, log2 of the slots, smash, and the paper's overheads in
/// percent for failure 0.5, the mean, 0.05 and 0.001.
type Column = (Width, u32, u64, [Option<f64>; 4]);

const NONE: Option<f64> = None;

#[rustfmt::skip]
const PAPER: [Column; 24] = [
    (Width::W128, 10, 64, [Some(0.2), Some(0.2), Some(0.5), Some(1.1)]),
    (Width::W128, 10, 32, [Some(0.1), Some(0.2), Some(0.5), Some(1.2)]),
    (Width::W128, 10, 0, [Some(1.0), Some(1.1), Some(2.2), Some(4.1)]),
    (Width::W128, 14, 0, [Some(1.1), Some(1.2), Some(2.6), Some(4.6)]),
    (Width::W128, 17, 0, [Some(2.2), Some(2.3), Some(3.7), Some(5.8)]),
    (Width::W64, 10, 32, [Some(0.3), Some(0.8), Some(3.7), Some(11.4)]),
    (Width::W64, 10, 16, [Some(0.4), Some(0.8), Some(2.9), Some(7.1)]),
    (Width::W64, 10, 0, [Some(2.0), Some(2.2), Some(4.8), Some(9.2)]),
    (Width::W64, 14, 0, [Some(3.8), Some(4.1), Some(7.0), Some(11.5)]),
    (Width::W64, 17, 0, [Some(6.3), Some(6.5), Some(9.4), Some(13.8)]),
    (Width::W32, 10, 16, [NONE, Some(5.9), NONE, NONE]),
    (Width::W32, 10, 8, [NONE, Some(5.2), NONE, NONE]),
    (Width::W32, 10, 0, [NONE, Some(6.3), NONE, NONE]),
    (Width::W32, 14, 0, [NONE, Some(13.2), NONE, NONE]),
    (Width::W32, 17, 0, [NONE, Some(19.2), NONE, NONE]),
    (Width::W16, 10, 8, [NONE, Some(28.9), NONE, NONE]),
    (Width::W16, 10, 4, [NONE, Some(27.0), NONE, NONE]),
    (Width::W16, 10, 0, [NONE, Some(27.5), NONE, NONE]),
    (Width::W16, 14, 0, [NONE, Some(67.3), NONE, NONE]),
    (Width::W128, 20, 0, [NONE; 4]),
    (Width::W64, 20, 0, [NONE; 4]),
    (Width::W128, 24, 0, [Some(4.7), Some(4.8), Some(5.9), NONE]),
    (Width::W64, 24, 0, [Some(11.7), Some(12.1), Some(15.0), NONE]),
    (Width::W32, 24, 0, [NONE, Some(35.2), NONE, NONE]),
];

pub fn run(arguments: &Arguments) {
    println!("overhead in percent: simulated [95 % interval] (paper)");
    println!("{:>4} {:>5} {:>5} {:>7}  {}", "w", "m", "smash", "trials", HEADINGS.join("  "));
    for column in PAPER.iter().filter(|column| column.1 <= 17 || arguments.full) {
        print_column(column, arguments.keys);
    }
}

const HEADINGS: [&str; 4] = [
    "failure 0.5              ",
    "add until failure        ",
    "failure 0.05             ",
    "failure 0.001            ",
];

fn print_column(&(width, slots_log, smash, paper): &Column, keys: f64) {
    let slots = 1u64 << slots_log;
    let count = ((keys / slots as f64) as u64).clamp(30, 100_000);
    let mut taken = trials(count, |random| keys_until_failure(width, slots, smash, random) as f64);
    taken.sort_unstable_by(f64::total_cmp);
    let overhead = |keys: f64| (slots as f64 / keys - 1.0) * 100.0;
    let cells =
        [quantile(&taken, 0.5), mean(&taken), quantile(&taken, 0.05), quantile(&taken, 0.001)];
    print!("{width:>4}  2^{slots_log:<2} {smash:>5} {count:>7}");
    for (cell, paper) in cells.into_iter().zip(paper) {
        let text = cell.map_or(String::from("-"), |[low, middle, high]| {
            // Fewer keys mean more overhead.
            format!("{:.2} [{:.2}, {:.2}]", overhead(middle), overhead(high), overhead(low))
        });
        let paper = paper.map_or(String::new(), |paper| format!("({paper})"));
        print!("  {text:<18} {paper:<6}");
    }
    println!();
}

/// The mean and its 95 % interval.
fn mean(sorted: &[f64]) -> Option<[f64; 3]> {
    let count = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let variance = sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = 1.96 * (variance / count).sqrt();
    Some([mean - error, mean, mean + error])
}

/// A quantile and its 95 % interval from the order statistics, if there are enough.
fn quantile(sorted: &[f64], share: f64) -> Option<[f64; 3]> {
    let count = sorted.len() as f64;
    let error = 1.96 * (count * share * (1.0 - share)).sqrt();
    let at = |place: f64| sorted.get(place.round() as usize).copied();
    let low = share * count - error;
    (low >= 0.0).then(|| Some([at(low)?, at(share * count)?, at(share * count + error)?]))?
}
