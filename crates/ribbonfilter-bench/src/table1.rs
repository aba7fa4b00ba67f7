//! The paper's Table 1: the overhead of slots over keys that a Standard ribbon needs.
//!
//! Keys are added to a system until one is linearly dependent on the preceding keys. The
//! distribution of their number gives the overhead for every failure probability, and its mean
//! gives the row "add until failure".

use crate::progress::Progress;
use crate::random::trials;
use crate::results::{Folder, Rows, Running};
use crate::table::{Cell, Table};
use ribbonfilter::Width;
use ribbonfilter::simulate::keys_until_failure;
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub struct Arguments {
    /// Add m = 2^20 and 2^24
    #[arg(long)]
    full: bool,
    /// Number of keys to insert per cell, at least; more where a quantile of the paper needs them
    #[arg(long, default_value_t = 2e8)]
    keys: f64,
    #[command(flatten)]
    folder: Folder,
}

/// One column of the table: width, log2 of the slots, smash, and the paper's overheads in percent
/// for a failure probability of 0.5, for the mean, for 0.05 and for 0.001. A negative overhead
/// means that the paper gives only a lower bound, and minus infinity its "≫ 100".
type Column = (Width, u32, u64, [Option<f64>; 4]);

const NONE: Option<f64> = None;
const ABOVE: Option<f64> = Some(-100.0);
const FAR_ABOVE: Option<f64> = Some(f64::NEG_INFINITY);

#[rustfmt::skip]
const PAPER: [Column; 28] = [
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
    (Width::W16, 17, 0, [NONE, ABOVE, NONE, NONE]),
    (Width::W128, 20, 0, [NONE; 4]),
    (Width::W64, 20, 0, [NONE; 4]),
    (Width::W32, 20, 0, [NONE; 4]),
    (Width::W16, 20, 0, [NONE; 4]),
    (Width::W128, 24, 0, [Some(4.7), Some(4.8), Some(5.9), Some(-7.0)]),
    (Width::W64, 24, 0, [Some(11.7), Some(12.1), Some(15.0), Some(-19.0)]),
    (Width::W32, 24, 0, [NONE, Some(35.2), NONE, NONE]),
    (Width::W16, 24, 0, [NONE, FAR_ABOVE, NONE, NONE]),
];

/// The results for one column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    width: u32,
    slots_log: u32,
    smash: u64,
    trials: u64,
    /// Low end, middle and high end of each overhead in percent, in the order of the paper.
    overheads: [Option<[f64; 3]>; 4],
    /// The number of trials whose overhead exceeds the paper's lower bound for a failure
    /// probability of 0.001.
    #[serde(default)]
    above_bound: Option<u64>,
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("table1");
    let mut rows = Rows::<Row>::open(&arguments.folder, "table1")?;
    let columns = PAPER.iter().filter(|column| column.1 <= 17 || arguments.full);
    let mut progress = Progress::new(columns.clone().count());
    for column in columns {
        progress.group(&format!("w = {}, m = 2^{}, smash {}", column.0, column.1, column.2));
        if !rows.all.iter().any(|row| row.is_of(column)) {
            rows.add(vec![simulate(column, arguments.keys)])?;
        }
    }
    println!("{}", table(&rows.all).text());
    running.end(&arguments.folder)
}

fn simulate(&(width, slots_log, smash, paper): &Column, keys: f64) -> Row {
    let slots = 1u64 << slots_log;
    let count = ((keys / slots as f64) as u64).clamp(min_trials(&paper), 100_000);
    let mut taken = trials(count, |random| keys_until_failure(width, slots, smash, random) as f64);
    taken.sort_unstable_by(f64::total_cmp);
    let overhead = |keys: f64| (slots as f64 / keys - 1.0) * 100.0;
    let cells =
        [quantile(&taken, 0.5), mean(&taken), quantile(&taken, 0.05), quantile(&taken, 0.001)];
    // Fewer keys mean more overhead, so the ends of the interval are swapped.
    let overheads =
        cells.map(|cell| cell.map(|[low, middle, high]| [high, middle, low].map(overhead)));
    let bound = paper[3].filter(|&bound| bound < 0.0).map(|bound| -bound);
    let above = |bound| taken.iter().filter(|&&keys| overhead(keys) > bound).count() as u64;
    let above_bound = bound.map(above);
    Row { width: width.bits(), slots_log, smash, trials: count, overheads, above_bound }
}

/// Enough trials for the figures that the paper has: 95 % intervals of the quantiles exist.
fn min_trials(paper: &[Option<f64>; 4]) -> u64 {
    match paper {
        [.., Some(0.0..)] => 4000,
        [_, _, Some(_), _] => 100,
        _ => 30,
    }
}

impl Row {
    fn is_of(&self, column: &Column) -> bool {
        (self.width, self.slots_log, self.smash) == (column.0.bits(), column.1, column.2)
    }
}

pub fn table(rows: &[Row]) -> Table {
    let of = |column| rows.iter().find(|row| row.is_of(column)).map(|row| line(row, &column.3));
    Table {
        title: "Overhead of Standard Ribbon".into(),
        note: "Slots over keys, minus one, in percent, for a failure probability of 0.5, 0.05 and \
               0.001, and the mean when keys are added until one fails: simulated [95 % interval] \
               (paper). A star marks entries where the paper's figure, which is rounded to 0.1, is \
               outside the interval. With 2^10 slots a single key is 0.1, so a median may differ by \
               one key there. Where the paper gives only a lower bound for 0.001, the number of \
               trials that fail with more overhead is shown: 0.1 % of them if the bound were exact."
            .into(),
        columns: ["w", "slots", "smash", "trials"].into_iter().chain(NAMES).collect(),
        rows: PAPER.iter().filter_map(of).collect(),
    }
}

/// The columns of the table, by their failure probability.
const NAMES: [&str; 4] = ["0.5", "until failure", "0.05", "0.001"];

/// Compares the rows with the paper: how many of its figures agree, and the growth per doubling.
pub fn sentences(rows: &[Row]) -> Vec<String> {
    let (mut compared, mut apart) = (0, Vec::new());
    for column in &PAPER {
        let Some(row) = rows.iter().find(|row| row.is_of(column)) else { continue };
        for ((found, paper), name) in row.overheads.iter().zip(&column.3).zip(NAMES) {
            let (Some(interval), Some(paper @ 0.0..)) = (found, *paper) else { continue };
            compared += 1;
            if !agrees(interval, paper) {
                let Row { width, slots_log, smash, .. } = row;
                apart.push(format!(
                    "w = {width}, 2^{slots_log} slots, smash {smash}, {name}: {:.2} ({paper})",
                    interval[1]
                ));
            }
        }
    }
    let list = if apart.is_empty() { "none".into() } else { apart.join("; ") };
    let agreement = format!(
        "Of {compared} figures of the paper {} agree with the simulation: a value that rounds to the \
         paper's is in the 95 % interval. With such intervals, about one in twenty is expected not \
         to agree, and the paper's figures have errors of their own. Not in agreement: {list}.",
        compared - apart.len()
    );
    let growth: Vec<String> =
        DOUBLING.iter().filter_map(|&(width, paper)| growth(rows, width, paper)).collect();
    let growth = (!growth.is_empty()).then(|| {
        format!(
            "Each doubling of the slots adds to the overhead at the mean number of keys, from 2^17 to \
             2^24 slots, in points with 95 % intervals (paper): {}.",
            growth.join("; ")
        )
    });
    [agreement].into_iter().chain(growth).collect()
}

/// The growth for each doubling of the slots in the paper, in points.
const DOUBLING: [(Width, f64); 3] = [(Width::W128, 0.38), (Width::W64, 0.83), (Width::W32, 2.0)];

/// The growth of the mean for each doubling, from 2^17 to 2^24 slots.
fn growth(rows: &[Row], width: Width, paper: f64) -> Option<String> {
    let mean = |slots_log: u32| {
        let of = |row: &&Row| (row.width, row.slots_log) == (width.bits(), slots_log);
        rows.iter().find(of)?.overheads[1]
    };
    let ([low, first, high], [low_2, second, high_2]) = (mean(17)?, mean(24)?);
    let error = ((high - low) / 2.0).hypot((high_2 - low_2) / 2.0) / 7.0;
    Some(format!("w = {width}: {:.2} ± {error:.2} ({paper})", (second - first) / 7.0))
}

/// Whether a value that rounds to the paper's figure is in the interval.
fn agrees(&[low, _, high]: &[f64; 3], paper: f64) -> bool {
    paper + 0.05 >= low && paper - 0.05 <= high
}

fn line(row: &Row, paper: &[Option<f64>; 4]) -> Vec<Cell> {
    let mut cells = vec![
        Cell::number(row.width.into(), 0),
        Cell { value: Some(row.slots_log.into()), ..Cell::text(format!("2^{}", row.slots_log)) },
        Cell::number(row.smash as f64, 0),
        Cell::number(row.trials as f64, 0),
    ];
    cells.extend(row.overheads.iter().zip(paper).map(|(found, paper)| {
        let Some([low, middle, high]) = *found else {
            return Cell::or_none(paper.zip(row.above_bound).map(|(paper, above)| {
                Cell::text(format!("{above} of {} above {} (> {})", row.trials, -paper, -paper))
            }));
        };
        let paper = paper.map_or(String::new(), |paper| match paper {
            f64::NEG_INFINITY => " (≫ 100)".into(),
            ..0.0 => format!(" (> {})", -paper),
            _ if !agrees(&[low, middle, high], paper) => format!(" ({paper})*"),
            _ => format!(" ({paper})"),
        });
        Cell::number(middle, 2).and(&format!(" [{low:.2}, {high:.2}]{paper}"))
    }));
    cells
}

/// The mean and its 95 % interval.
fn mean(sorted: &[f64]) -> Option<[f64; 3]> {
    let count = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let variance = sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = 1.96 * (variance / count).sqrt();
    Some([mean - error, mean, mean + error])
}

/// A quantile and its 95 % interval from the order statistics, if there are enough trials.
fn quantile(sorted: &[f64], probability: f64) -> Option<[f64; 3]> {
    let count = sorted.len() as f64;
    let error = 1.96 * (count * probability * (1.0 - probability)).sqrt();
    let at = |rank: f64| sorted.get(rank.round() as usize).copied();
    let middle = probability * count;
    let low = middle - error;
    (low >= 0.0).then(|| Some([at(low)?, at(middle)?, at(middle + error)?]))?
}
