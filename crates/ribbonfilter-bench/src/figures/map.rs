//! The paper's figure 1: (a) the fastest filter for each space overhead and rate, by the total time
//! of a build and three queries; (b) its times.

use crate::race::{Family, Row};
use crate::svg::{Axis, Chart, Shape, keys_text, number_text};

/// The number of field edges along the overhead axis, one more than there are fields.
const COLUMNS: usize = 65;
/// From 1 to 16 bits in steps of half a bit.
const LINES: usize = 31;

/// Measured rates fluctuate; this number of bits above or below the window of rates is allowed.
const SLACK: f64 = 0.05;
/// Times that differ by less are considered equal when numbers of keys are compared.
const CLEARLY: f64 = 1.05;

/// The fastest filter of each line (rate) and column (overhead).
pub struct Map<'a> {
    keys: u64,
    overheads: Vec<f64>,
    winners: Winners<'a>,
    /// Other numbers of keys, and where a filter of another family wins with them.
    others: Vec<u64>,
    differs: Vec<Vec<bool>>,
}

type Winners<'a> = Vec<Vec<Option<&'a Row>>>;

impl<'a> Map<'a> {
    /// Creates the map for `keys` keys.
    pub fn new(rows: &'a [Row], keys: u64) -> Self {
        let overheads = overhead_axis().spread(COLUMNS);
        let winners = winners(rows.iter().filter(|row| row.keys == keys), &overheads);
        let differs = vec![vec![false; COLUMNS - 1]; LINES];
        Self { keys, overheads, winners, others: vec![], differs }
    }

    /// Marks the fields in which another family wins with another number of keys, by more than
    /// `CLEARLY`. Compares only filters that were measured with both.
    pub fn compared(mut self, rows: &'a [Row], others: &[u64]) -> Self {
        for &other in others {
            let is_in = |row: &Row, keys| {
                rows.iter().any(|found| found.keys == keys && found.name == row.name)
            };
            let of =
                |keys, than| rows.iter().filter(move |row| row.keys == keys && is_in(row, than));
            let here = winners(of(self.keys, other), &self.overheads);
            let there: Vec<&Row> = of(other, self.keys).collect();
            for (line, differs) in self.differs.iter_mut().enumerate() {
                for (column, differs) in differs.iter_mut().enumerate() {
                    let fits = |row: &&Row| fits(row, bits_of(line), self.overheads[column]);
                    *differs |= here[line][column].is_some_and(|here| {
                        is_beaten(here.family, there.iter().copied().filter(fits))
                    });
                }
            }
            self.others.push(other);
        }
        self
    }

    /// Figure 1 (a).
    pub fn fastest(&self) -> Chart {
        let title =
            format!("The fastest filter for each overhead and rate, {} keys", keys_text(self.keys));
        let mut chart = Chart::new(title, overhead_axis(), rate_axis());
        self.fields(&mut chart, |row| row.family.class());
        self.hatch(&mut chart);
        for family in self.families() {
            if let Some((x, y)) = self.label_area(&chart, family) {
                chart.word(family.label(), x, y);
            }
            chart.entry(&family.class(), Shape::Field, family.label());
        }
        if !self.others.is_empty() {
            let others: Vec<String> = self.others.iter().map(|&keys| keys_text(keys)).collect();
            let label = format!("another kind wins with {} keys", others.join(" or "));
            chart.entry("", Shape::Hatched, &label);
        }
        chart
    }

    /// Hatches the marked fields.
    fn hatch(&self, chart: &mut Chart) {
        for (line, differs) in self.differs.iter().enumerate() {
            let y = [bottom_of(line), bottom_of(line + 1)];
            let mut column = 0;
            for run in differs.chunk_by(|one, other| one == other) {
                if run[0] {
                    chart.hatch([self.overheads[column], self.overheads[column + run.len()]], y);
                }
                column += run.len();
            }
        }
    }

    /// The fraction of the won fields that are marked.
    pub fn marked(&self) -> f64 {
        let marked = self.differs.iter().flatten().filter(|differs| **differs).count();
        marked as f64 / self.cells().count().max(1) as f64
    }

    /// Figure 1 (b): a time of the fastest filter.
    pub fn times(&self, name: &str, time: fn(&Row) -> f64) -> Chart {
        let title = format!("{name} of the fastest filter, {} keys", keys_text(self.keys));
        let mut chart = Chart::new(title, overhead_axis(), rate_axis());
        let bounds = bounds(self.cells().map(time).collect());
        let step = |row: &Row| bounds.iter().filter(|&&bound| time(row) >= bound).count();
        self.fields(&mut chart, |row| format!("step-{}", step(row)));
        for index in 0..=bounds.len() {
            let label = match (index.checked_sub(1).map(|below| bounds[below]), bounds.get(index)) {
                (None, Some(above)) => format!("below {above} ns"),
                (Some(below), Some(above)) => format!("{below} to {above}"),
                (Some(below), None) => format!("{below} and more"),
                (None, None) => continue,
            };
            chart.entry(&format!("step-{index}"), Shape::Field, &label);
        }
        chart
    }

    /// Describes where each family wins.
    pub fn sentences(&self) -> Vec<String> {
        let all = self.cells().count() as f64;
        let mut families = self.families();
        let count = |family| self.cells().filter(|row| row.family == family).count();
        families.sort_by_key(|&family| std::cmp::Reverse(count(family)));
        let sentence = |family: &Family| {
            let overhead = self.min_overhead(*family);
            format!(
                "{} is the fastest in {:.0} % of the map, from {} % overhead on.",
                family.label(),
                100.0 * count(*family) as f64 / all,
                number_text(overhead)
            )
        };
        families.iter().map(sentence).collect()
    }

    /// The minimum overhead at which a family wins.
    fn min_overhead(&self, family: Family) -> f64 {
        let wins = |column: &usize| self.is_won(*column, family);
        (0..COLUMNS - 1).find(wins).map_or(f64::NAN, |column| self.overheads[column])
    }

    fn is_won(&self, column: usize, family: Family) -> bool {
        self.winners.iter().any(|line| line[column].is_some_and(|row| row.family == family))
    }

    fn cells(&self) -> impl Iterator<Item = &'a Row> {
        self.winners.iter().flatten().flatten().copied()
    }

    fn families(&self) -> Vec<Family> {
        let wins = |family: &Family| self.cells().any(|row| row.family == *family);
        Family::ALL.into_iter().filter(wins).collect()
    }

    /// Draws runs of equal winners as one field.
    fn fields(&self, chart: &mut Chart, class: impl Fn(&Row) -> String) {
        for (line, winners) in self.winners.iter().enumerate() {
            let y = [bottom_of(line), bottom_of(line + 1)];
            let mut column = 0;
            for run in winners.chunk_by(|one, other| name(one) == name(other)) {
                let x = [self.overheads[column], self.overheads[column + run.len()]];
                match run[0] {
                    Some(row) => chart.field(&class(row), x, y, &tooltip(row)),
                    None => chart.field("none", x, y, "no filter is as small"),
                }
                column += run.len();
            }
        }
    }

    /// The largest rectangle of fields that a family wins and that its label fits in.
    fn label_area(&self, chart: &Chart, family: Family) -> Option<([f64; 2], [f64; 2])> {
        let mut best = (0, None);
        for low in 0..LINES {
            for left in 0..COLUMNS - 1 {
                let mut width = COLUMNS;
                for high in low..LINES {
                    width = width.min(self.run(high, left, family));
                    if width == 0 {
                        break;
                    }
                    let x = [self.overheads[left], self.overheads[left + width]];
                    let y = [bottom_of(low), bottom_of(high + 1)];
                    let area = width * (high - low + 1);
                    if area > best.0 && chart.fits(family.label(), x, y) {
                        best = (area, Some((x, y)));
                    }
                }
            }
        }
        best.1
    }

    /// The number of consecutive fields of a line that a family wins, starting at `from`.
    fn run(&self, line: usize, from: usize, family: Family) -> usize {
        let wins = |row: &&Option<&Row>| row.is_some_and(|row| row.family == family);
        self.winners[line][from..].iter().take_while(wins).count()
    }
}

/// Whether a filter of another family is clearly faster than all filters of this one.
fn is_beaten<'a>(family: Family, rows: impl Iterator<Item = &'a Row> + Clone) -> bool {
    let min = |same: bool| {
        let rows = rows.clone().filter(|row| (row.family == family) == same);
        rows.map(Row::mix).fold(f64::INFINITY, f64::min)
    };
    min(false) * CLEARLY < min(true)
}

/// The fastest of these rows for each line and column.
fn winners<'a>(rows: impl Iterator<Item = &'a Row>, overheads: &[f64]) -> Winners<'a> {
    let rows: Vec<&Row> = rows.collect();
    let fastest = |bits: f64, overhead: f64| {
        let fit = rows.iter().filter(|row| fits(row, bits, overhead));
        fit.min_by(|a, b| a.mix().total_cmp(&b.mix())).copied()
    };
    // A field shows the filter for the overhead at its left edge, which is allowed in the whole
    // field.
    let edges = &overheads[..COLUMNS - 1];
    let line = |line| edges.iter().map(|&overhead| fastest(bits_of(line), overhead)).collect();
    (0..LINES).map(line).collect()
}

/// Whether a filter has at most an overhead, in percent, and about a rate.
fn fits(row: &Row, bits: f64, overhead: f64) -> bool {
    row.overhead * 100.0 <= overhead && is_near(row, bits)
}

/// Whether a filter has between half and twice the rate of 2^-`bits`.
fn is_near(row: &Row, bits: f64) -> bool {
    (-row.rate.log2() - bits).abs() <= 1.0 + SLACK
}

/// Whether a filter takes at most `factor` times as long as the fastest one of at most its size and
/// about its rate, or was not measured.
pub fn is_contender(rows: &[Row], keys: u64, name: &str, factor: f64) -> bool {
    let of_keys = || rows.iter().filter(|row| row.keys == keys);
    let Some(row) = of_keys().find(|row| row.name == name) else {
        return true;
    };
    let bits = -row.rate.log2();
    let rivals = of_keys().filter(|rival| rival.overhead <= row.overhead && is_near(rival, bits));
    let fastest = rivals.map(Row::mix).fold(f64::INFINITY, f64::min);
    row.mix() <= factor * fastest
}

fn name<'a>(row: &Option<&'a Row>) -> Option<&'a str> {
    row.map(|row| row.name.as_str())
}

fn tooltip(row: &Row) -> String {
    format!(
        "{}: {:.1} ns for a build and three queries (build {:.1}, query {:.1}), overhead {:.2} %, \
         rate 2^-{:.1}",
        row.name,
        row.mix(),
        row.build.min,
        row.query(),
        row.overhead * 100.0,
        -row.rate.log2()
    )
}

/// The bits of a line.
fn bits_of(line: usize) -> f64 {
    1.0 + line as f64 / 2.0
}

fn bottom_of(line: usize) -> f64 {
    bits_of(line) - 0.25
}

fn overhead_axis() -> Axis {
    let ticks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
    let ticks = ticks.map(|tick| (tick, number_text(tick))).to_vec();
    Axis::logarithmic("space overhead allowed, %", 0.05, 100.0, ticks)
}

fn rate_axis() -> Axis {
    let ticks = [
        (1, "½"),
        (3, "1/8"),
        (5, "1/32"),
        (7, "1/128"),
        (9, "2⁻⁹"),
        (11, "2⁻¹¹"),
        (13, "2⁻¹³"),
        (15, "2⁻¹⁵"),
    ];
    let ticks = ticks.map(|(bits, label)| (f64::from(bits), label.to_string())).to_vec();
    Axis::linear("false-positive rate", bottom_of(0), bottom_of(LINES), ticks)
}

/// Five round numbers that divide the times into six groups of about the same size.
fn bounds(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    let mut bounds: Vec<f64> = (1..6)
        .filter_map(|part| times.get(times.len() * part / 6))
        .map(|&time| if time < 20.0 { time.round() } else { (time / 5.0).round() * 5.0 })
        .collect();
    bounds.dedup();
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::Times;

    fn row(name: &str, family: Family, bits: f64, overhead: f64, time: f64) -> Row {
        let times = Times::first(time);
        Row {
            name: name.into(),
            family,
            keys: 10,
            threads: 1,
            bits_per_key: 1.0,
            rate: 0.5_f64.powf(bits),
            overhead,
            build: times,
            single: [times; 3],
            batch: None,
            latency: times,
            instructions: None,
        }
    }

    #[test]
    fn the_fastest_that_is_small_enough_wins() {
        let rows = [
            row("small", Family::Bumped, 8.0, 0.001, 20.0),
            row("fast", Family::Bloom, 8.0, 0.5, 1.0),
        ];
        let map = Map::new(&rows, 10);
        let line = &map.winners[14]; // 8 bits
        assert_eq!(name(&line[0]), None, "no filter is as small as 0.05 %");
        assert_eq!(name(&line[30]), Some("small"));
        assert_eq!(name(line.last().unwrap()), Some("fast"));
        assert_eq!(name(map.winners[18].last().unwrap()), None, "10 bits are another rate");
        assert!(map.fastest().inline().contains(">Bumped</text>"));
        assert_eq!(map.sentences().len(), 2);
    }

    #[test]
    fn fields_with_another_winner_are_hatched() {
        let more_keys = |row: Row| Row { keys: 20, ..row };
        let rows = [
            row("xor", Family::Xor, 8.0, 0.2, 2.0),
            row("bloom", Family::Bloom, 8.0, 0.3, 1.0),
            row("only here", Family::Cuckoo, 8.0, 0.0005, 0.5),
            more_keys(row("xor", Family::Xor, 8.0, 0.2, 2.0)),
            more_keys(row("bloom", Family::Bloom, 8.0, 0.3, 3.0)),
        ];
        let map = Map::new(&rows, 10).compared(&rows, &[20]);
        let differs = &map.differs[14]; // 8 bits
        assert!(!differs[0] && *differs.last().unwrap());
        let first = differs.iter().position(|&differs| differs).unwrap();
        assert!(map.overheads[first] >= 30.0 && map.overheads[first - 1] < 30.0);
        assert!(map.fastest().inline().contains("with 20 keys"));
        assert_eq!(Map::new(&rows, 10).compared(&rows, &[10]).marked(), 0.0);
    }

    #[test]
    fn contenders_are_nearly_as_fast_as_the_best_of_their_size() {
        let rows = [
            row("small", Family::Bumped, 8.0, 0.001, 30.0),
            row("fast", Family::Bloom, 8.0, 0.5, 10.0),
            row("slow", Family::Cuckoo, 8.0, 0.6, 16.0),
            row("other rate", Family::Cuckoo, 10.0, 0.6, 100.0),
        ];
        let contends = |name| is_contender(&rows, 10, name, 1.5);
        assert!(contends("small") && contends("fast") && contends("other rate"));
        assert!(contends("not measured") && !contends("slow"));
    }
}
