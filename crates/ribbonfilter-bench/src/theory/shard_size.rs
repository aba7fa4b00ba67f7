//! Shards that are filled until the first failure. The paper's section 5.4 finds that the median
//! fraction of empty slots is least at about w^2 / 4 slots, the natural size of a shard.

use super::mean_and_error;
use crate::progress::Progress;
use crate::random::trials;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use ribbonfilter::Width;
use ribbonfilter::simulate::keys_until_failure;
use serde::{Deserialize, Serialize};

pub const TEXT: &str = "The paper, section 5.4: if keys are added to a shard until one fails, the \
    median fraction of slots that stay empty is least at about w^2 / 4 slots.";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    width: u32,
    slots: u64,
    smash: u64,
    trials: u64,
    /// The median fraction of empty slots, and the mean with its standard error.
    median: f64,
    mean: [f64; 2],
}

pub fn run(folder: &Folder, scale: f64) -> Result<(), String> {
    let mut rows = Rows::<Row>::open(folder, "shard-size")?;
    let mut progress = Progress::new(Width::ALL.len());
    for width in Width::ALL {
        progress.group(&format!("w = {width}"));
        let w = u64::from(width.bits());
        // From w^2 / 64 to 4 w^2, but not less than the width.
        for slots in (0..9).map(|step| (w * w / 64) << step).filter(|&slots| slots >= w) {
            if rows.all.iter().any(|row| (row.width, row.slots) == (width.bits(), slots)) {
                continue;
            }
            let trials = ((3e7 * scale) as u64 / slots).clamp(100, 50_000);
            rows.add([w / 4, w / 2].map(|smash| measure(width, slots, smash, trials)).into())?;
        }
    }
    Ok(())
}

fn measure(width: Width, slots: u64, smash: u64, count: u64) -> Row {
    let mut empty = trials(count, |random| slots - keys_until_failure(width, slots, smash, random));
    empty.sort_unstable();
    let fractions: Vec<f64> = empty.iter().map(|&empty| empty as f64 / slots as f64).collect();
    Row {
        width: width.bits(),
        slots,
        smash,
        trials: count,
        median: median(&empty) / slots as f64,
        mean: mean_and_error(&fractions),
    }
}

/// The median of sorted integers, interpolated within the integer that contains it. Without this it
/// would be a whole number of slots, too coarse for small shards.
fn median(sorted: &[u64]) -> f64 {
    let (count, middle) = (sorted.len(), sorted[sorted.len() / 2]);
    let below = sorted.partition_point(|&value| value < middle);
    let up_to = sorted.partition_point(|&value| value <= middle);
    let within = (count as f64 / 2.0 - below as f64) / (up_to - below) as f64;
    middle as f64 - 0.5 + within
}

pub fn tables(rows: &[Row]) -> Vec<Table> {
    let w2 = |row: &Row| f64::from(row.width) * f64::from(row.width);
    // The least value among the rows of one width and relative smash.
    let is_least = |row: &Row, of: fn(&Row) -> f64| {
        let same = |other: &&Row| {
            other.width == row.width
                && other.smash * 4 / u64::from(row.width) == row.smash * 4 / u64::from(row.width)
        };
        rows.iter().filter(same).all(|other| of(row) <= of(other))
    };
    let line = |pair: &[Row]| {
        let row = &pair[0];
        let mut cells = vec![
            Cell::number(row.width.into(), 0),
            Cell::number(row.slots as f64, 0),
            Cell::number(row.slots as f64 / w2(row), 4),
            Cell::number(row.trials as f64, 0),
        ];
        for row in pair {
            let median = Cell::percent(row.median, 3).strong(is_least(row, |row| row.median));
            let [mean, error] = row.mean.map(|value| 100.0 * value);
            let mean = Cell::number(mean, 3).and(&format!(" ± {:.3}", 1.96 * error));
            cells.extend([median, mean.strong(is_least(row, |row| row.mean[0]))]);
        }
        cells
    };
    let table = Table {
        title: "Empty slots at the first failure".into(),
        note: "In percent of the slots, for a smash of w/4, which the library uses, and of w/2: the \
               median, interpolated within one slot, and the mean with its 95 % interval. The least \
               of each width is bold."
            .into(),
        columns: vec![
            "w", "slots", "slots / w^2", "trials", "median, w/4", "mean, w/4", "median, w/2",
            "mean, w/2",
        ],
        rows: rows.chunks_exact(2).map(line).collect(),
    };
    if rows.is_empty() { vec![] } else { vec![table] }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_interpolated() {
        assert_eq!(median(&[1, 1, 1, 1]), 1.0);
        assert_eq!(median(&[0, 1, 1, 1]), 0.5 + 1.0 / 3.0);
        assert_eq!(median(&[0, 0, 1, 2]), 0.5);
    }
}
