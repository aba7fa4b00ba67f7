//! Table 1 of the paper (section 5.4): the overhead of slots over keys that a Standard ribbon needs.
//!
//! Keys are added to a system until one depends on the preceding ones. The distribution of their
//! number gives the overhead for every failure probability, and its mean gives the row "add till
//! failure".

use super::number;
use crate::Width;
use crate::simulate::{mean_and_error, trials, until_failure::keys_until_failure};
use std::io::{self, Write};

/// An overhead in percent as the paper prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Printed {
    /// Nothing.
    None,
    /// A number, rounded to 0.1.
    Is(f64),
    /// A lower bound.
    Above(f64),
}

use Printed::{Above, Is, None as No};

/// A column of the table for one width: log2 of the slots, smash, and the overheads for a failure
/// probability of 0.5, for the mean, for 0.05 and for 0.001.
pub struct Column {
    width: Width,
    slots_log: u32,
    smash: u64,
    printed: [Printed; 4],
}

const fn column(width: Width, slots_log: u32, smash: u64, printed: [Printed; 4]) -> Column {
    Column { width, slots_log, smash, printed }
}

const fn mean(width: Width, slots_log: u32, smash: u64, mean: Printed) -> Column {
    column(width, slots_log, smash, [No, mean, No, No])
}

/// The paper's figures.
pub const PAPER: [Column; 24] = [
    column(Width::W128, 10, 64, [Is(0.2), Is(0.2), Is(0.5), Is(1.1)]),
    column(Width::W128, 10, 32, [Is(0.1), Is(0.2), Is(0.5), Is(1.2)]),
    column(Width::W128, 10, 0, [Is(1.0), Is(1.1), Is(2.2), Is(4.1)]),
    column(Width::W128, 14, 0, [Is(1.1), Is(1.2), Is(2.6), Is(4.6)]),
    column(Width::W128, 17, 0, [Is(2.2), Is(2.3), Is(3.7), Is(5.8)]),
    column(Width::W128, 24, 0, [Is(4.7), Is(4.8), Is(5.9), Above(7.0)]),
    column(Width::W64, 10, 32, [Is(0.3), Is(0.8), Is(3.7), Is(11.4)]),
    column(Width::W64, 10, 16, [Is(0.4), Is(0.8), Is(2.9), Is(7.1)]),
    column(Width::W64, 10, 0, [Is(2.0), Is(2.2), Is(4.8), Is(9.2)]),
    column(Width::W64, 14, 0, [Is(3.8), Is(4.1), Is(7.0), Is(11.5)]),
    column(Width::W64, 17, 0, [Is(6.3), Is(6.5), Is(9.4), Is(13.8)]),
    column(Width::W64, 24, 0, [Is(11.7), Is(12.1), Is(15.0), Above(19.0)]),
    mean(Width::W32, 10, 16, Is(5.9)),
    mean(Width::W32, 10, 8, Is(5.2)),
    mean(Width::W32, 10, 0, Is(6.3)),
    mean(Width::W32, 14, 0, Is(13.2)),
    mean(Width::W32, 17, 0, Is(19.2)),
    mean(Width::W32, 24, 0, Is(35.2)),
    mean(Width::W16, 10, 8, Is(28.9)),
    mean(Width::W16, 10, 4, Is(27.0)),
    mean(Width::W16, 10, 0, Is(27.5)),
    mean(Width::W16, 14, 0, Is(67.3)),
    mean(Width::W16, 17, 0, Above(100.0)),
    mean(Width::W16, 24, 0, Above(100.0)),
];

/// The growth for each doubling of the slots in the paper, in points.
const DOUBLING: [(Width, f64); 3] = [(Width::W128, 0.38), (Width::W64, 0.83), (Width::W32, 2.0)];

/// The names of the four figures of a column.
const NAMES: [&str; 4] = ["0.5", "mean", "0.05", "0.001"];

/// A simulated overhead in percent: the low end of its 95 % interval, the middle, the high end.
type Interval = [f64; 3];

/// Prints the table, without 2^24 slots unless `full`. Each column is simulated with about `keys`
/// insertions; more, where a quantile needs them.
pub fn run(out: &mut dyn Write, keys: f64, full: bool) -> io::Result<()> {
    writeln!(out, "# Table 1: slots over keys, minus one, in %, by failure probability")?;
    writeln!(out, "w\tslots\tsmash\tfailure\ttrials\toverhead\tlow\thigh\tpaper\tagrees")?;
    let (mut compared, mut agree, mut means) = (0, 0, Vec::new());
    for column in PAPER.iter().filter(|column| column.slots_log < 24 || full) {
        let (trials, intervals) = column.simulate(keys);
        for ((interval, printed), name) in intervals.into_iter().zip(column.printed).zip(NAMES) {
            let Some(interval) = interval.filter(|_| printed != No) else { continue };
            let agrees = printed.agrees(interval);
            compared += 1;
            agree += u32::from(agrees);
            let Column { width, slots_log, smash, .. } = column;
            let [low, middle, high] = interval;
            writeln!(
                out,
                "{width}\t2^{slots_log}\t{smash}\t{name}\t{trials}\t{middle:.2}\t{low:.2}\t\
                 {high:.2}\t{}\t{}",
                printed.text(),
                if agrees { "yes" } else { "no" }
            )?;
        }
        means.extend(intervals[1].map(|interval| (column, interval[1])));
        out.flush()?;
    }
    writeln!(
        out,
        "# {agree} of {compared} figures agree: the 95 % interval has a value that rounds"
    )?;
    writeln!(out, "# to the paper's, or that is above its bound.")?;
    for (width, paper) in DOUBLING {
        let growth = growth(&means, width);
        writeln!(out, "# w={width}, each doubling: +{} (+{paper})", number(growth, 2))?;
    }
    Ok(())
}

/// The growth of the mean for each doubling, between the two largest systems without smash.
fn growth(means: &[(&Column, f64)], width: Width) -> Option<f64> {
    let of = |(column, _): &&(&Column, f64)| column.width == width && column.slots_log > 10;
    let mut last = means.iter().filter(of).rev();
    let (&(large, more), &(small, less)) = (last.next()?, last.next()?);
    Some((more - less) / f64::from(large.slots_log - small.slots_log))
}

impl Column {
    /// The number of trials, and the overheads in the order of the paper.
    fn simulate(&self, keys: f64) -> (u64, [Option<Interval>; 4]) {
        let slots = 1u64 << self.slots_log;
        let count = ((keys / slots as f64) as u64).clamp(self.min_trials(), 100_000);
        let one = |random: &mut _| keys_until_failure(self.width, slots, self.smash, random) as f64;
        let mut taken = trials(count, one);
        taken.sort_unstable_by(f64::total_cmp);
        let (mean, error) = mean_and_error(&taken);
        let mean = Some([mean - 1.96 * error, mean, mean + 1.96 * error]);
        let quantile = |probability| quantile(&taken, probability);
        let overhead = |keys: f64| (slots as f64 / keys - 1.0) * 100.0;
        // Fewer keys mean more overhead, so the ends of the interval are swapped.
        let swap = |[low, middle, high]: Interval| [high, middle, low].map(overhead);
        let figures = [quantile(0.5), mean, quantile(0.05), quantile(0.001)];
        (count, figures.map(|figure| figure.map(swap)))
    }

    /// Enough trials for the figures that the paper has.
    fn min_trials(&self) -> u64 {
        match self.printed {
            [.., Is(_)] => 4000,
            [_, _, Is(_), _] => 100,
            _ => 20,
        }
    }
}

impl Printed {
    fn agrees(self, [low, _, high]: Interval) -> bool {
        match self {
            No => true,
            Is(paper) => low - 0.05 <= paper && paper <= high + 0.05,
            Above(paper) => high > paper,
        }
    }

    fn text(self) -> String {
        match self {
            No => "-".into(),
            Is(paper) => paper.to_string(),
            Above(paper) => format!(">{paper}"),
        }
    }
}

/// A quantile of sorted values and its 95 % interval, if there are enough values.
fn quantile(sorted: &[f64], probability: f64) -> Option<Interval> {
    let count = sorted.len() as f64;
    let error = 1.96 * libm::sqrt(count * probability * (1.0 - probability));
    let at = |rank: f64| sorted.get(libm::round(rank) as usize).copied();
    let middle = probability * count;
    let low = middle - error;
    (low >= 0.0).then(|| Some([at(low)?, at(middle)?, at(middle + error)?]))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's figures for 2^10 slots, and the mean for 2^14, with few trials. An interval of
    /// 95 % misses one figure in twenty, and the paper's have errors of their own.
    #[test]
    fn figures_of_the_paper_are_met() {
        let (mut compared, mut agree) = (0, 0);
        for column in PAPER.iter().filter(|column| column.slots_log <= 14) {
            let mut column = Column { ..*column };
            column.printed[3] = No;
            let (_, intervals) = column.simulate(4e6 / f64::from(column.slots_log - 8));
            for (interval, printed) in intervals.into_iter().zip(column.printed) {
                if let (Some(interval), true) = (interval, printed != No) {
                    compared += 1;
                    agree += u32::from(printed.agrees(interval));
                }
            }
        }
        assert!(compared >= 30 && agree + 4 >= compared, "{agree} of {compared}");
    }

    #[test]
    fn quantiles_have_intervals_if_there_are_enough_values() {
        let values: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), Some([4902.0, 5000.0, 5098.0]));
        assert_eq!(quantile(&values[..1000], 0.001), None);
    }

    #[test]
    fn all_figures_of_the_paper_are_there() {
        let figures = PAPER.iter().flat_map(|column| column.printed);
        assert_eq!(figures.filter(|&printed| printed != No).count(), 60);
    }
}
