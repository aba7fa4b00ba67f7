//! Table 2 of the paper (section 7): space, rate, construction and query times of every ribbon, and
//! the paper's own figures. Its other filters have rows with the paper's figures only; the workspace
//! measures such filters elsewhere (`ribbon-bench`).

use super::number;
use crate::random::hashes;
use crate::{Filter, Settings, Variant, Width, simulate::smash_time::times};
use std::io::{self, Write};
use std::time::Instant;

/// The paper's figures: overhead in percent, construction and query in ns per key; each for 10^6
/// and for 10^8 keys.
type Figures = [[f64; 2]; 3];

/// A ribbon of the table: `r`, the extra slots where they are more than needed, the paper's
/// figures.
struct Row {
    variant: Variant,
    width: Width,
    columns: f64,
    epsilon: Option<f64>,
    paper: Option<Figures>,
}

const fn row(variant: Variant, width: Width, columns: f64, paper: Figures) -> Row {
    Row { variant, width, columns, epsilon: None, paper: Some(paper) }
}

/// More slots than needed, for a faster construction: the rows with a dagger.
const fn dagger(row: Row, epsilon: f64) -> Row {
    Row { epsilon: Some(epsilon), ..row }
}

/// Not in the paper.
const fn more(variant: Variant, width: Width, columns: f64) -> Row {
    Row { variant, width, columns, epsilon: None, paper: None }
}

use Variant::{Balanced, Bumped, Homogeneous, Soft, Standard};
use Width::{W16, W32, W64, W128};

#[rustfmt::skip]
const RIBBONS: [Row; 43] = [
    row(Homogeneous, W16, 7.0, [[52.0; 2], [56.0, 101.0], [40.0, 88.0]]),
    row(Homogeneous, W32, 7.0, [[20.6; 2], [58.0, 116.0], [38.0, 85.0]]),
    row(Standard, W64, 7.0, [[14.0, 20.0], [71.0, 130.0], [42.0, 94.0]]),
    row(Homogeneous, W64, 7.0, [[10.1; 2], [83.0, 160.0], [39.0, 90.0]]),
    row(Standard, W128, 7.0, [[6.0, 8.0], [166.0, 235.0], [58.0, 140.0]]),
    row(Homogeneous, W128, 7.0, [[5.1; 2], [164.0, 270.0], [53.0, 145.0]]),
    dagger(row(Balanced, W32, 7.0, [[15.3; 2], [84.0, 278.0], [47.0, 104.0]]), 0.15),
    row(Balanced, W32, 7.0, [[2.5; 2], [162.0, 372.0], [48.0, 107.0]]),
    row(Balanced, W64, 7.0, [[0.7; 2], [292.0, 516.0], [49.0, 111.0]]),
    row(Balanced, W128, 7.0, [[0.3; 2], [985.0, 1335.0], [66.0, 162.0]]),
    more(Soft, W64, 7.0),
    more(Soft, W128, 7.0),
    more(Bumped, W16, 7.0),
    more(Bumped, W32, 7.0),
    more(Bumped, W64, 7.0),
    more(Bumped, W128, 7.0),
    dagger(more(Standard, W64, 7.0), 0.2),
    dagger(more(Standard, W128, 7.0), 0.1),
    dagger(more(Balanced, W64, 7.0), 0.15),
    dagger(more(Bumped, W64, 7.0), 0.15),
    row(Homogeneous, W32, 7.7, [[22.7; 2], [61.0, 120.0], [43.0, 96.0]]),
    row(Homogeneous, W32, 8.0, [[22.1; 2], [61.0, 116.0], [39.0, 86.0]]),
    row(Homogeneous, W16, 3.0, [[34.6; 2], [46.0, 91.0], [23.0, 66.0]]),
    row(Homogeneous, W32, 3.0, [[16.1; 2], [52.0, 108.0], [21.0, 55.0]]),
    row(Standard, W64, 3.0, [[14.0, 20.0], [66.0, 124.0], [22.0, 62.0]]),
    row(Homogeneous, W64, 3.0, [[8.0; 2], [71.0, 152.0], [21.0, 72.0]]),
    row(Standard, W128, 3.0, [[6.0, 8.0], [145.0, 213.0], [35.0, 79.0]]),
    row(Homogeneous, W128, 3.0, [[4.2; 2], [156.0, 266.0], [33.0, 79.0]]),
    row(Balanced, W32, 3.0, [[2.8; 2], [155.0, 377.0], [29.0, 68.0]]),
    row(Balanced, W64, 3.0, [[0.8; 2], [288.0, 517.0], [29.0, 84.0]]),
    more(Bumped, W32, 3.0),
    more(Bumped, W64, 3.0),
    more(Bumped, W128, 3.0),
    row(Homogeneous, W32, 11.0, [[28.0; 2], [74.0, 129.0], [51.0, 118.0]]),
    row(Standard, W64, 11.0, [[14.0, 20.0], [78.0, 139.0], [54.0, 138.0]]),
    row(Homogeneous, W64, 11.0, [[12.7; 2], [89.0, 163.0], [51.0, 118.0]]),
    row(Standard, W128, 11.0, [[6.0, 9.0], [173.0, 247.0], [71.0, 164.0]]),
    row(Homogeneous, W128, 11.0, [[7.3; 2], [189.0, 292.0], [72.0, 166.0]]),
    row(Balanced, W32, 11.0, [[2.3; 2], [169.0, 394.0], [60.0, 142.0]]),
    row(Balanced, W64, 11.0, [[0.5; 2], [301.0, 536.0], [61.0, 147.0]]),
    more(Bumped, W32, 11.0),
    more(Bumped, W64, 11.0),
    more(Bumped, W128, 11.0),
];

/// The paper's rows of other filters.
#[rustfmt::skip]
const OTHERS: [(&str, &str, Figures); 15] = [
    ("BlockedBloom (Lang et al.)", "2^-7", [[52.0; 2], [11.0, 32.0], [14.0, 37.0]]),
    ("BlockedBloom (RocksDB)", "2^-7", [[49.8; 2], [21.0, 72.0], [10.0, 36.0]]),
    ("Cuckoo12, more space", "2^-7", [[46.2; 2], [69.0, 147.0], [21.0, 58.0]]),
    ("Cuckoo12", "2^-7", [[40.3; 2], [91.0, 205.0], [20.0, 58.0]]),
    ("Morton12", "2^-7", [[40.5; 2], [87.0, 106.0], [55.0, 125.0]]),
    ("Xor, r=7", "2^-7", [[23.0; 2], [195.0, 264.0], [21.0, 66.0]]),
    ("Xor, r=8", "2^-8", [[23.0; 2], [148.0, 211.0], [15.0, 50.0]]),
    ("Xor+, r=8", "2^-8", [[14.5; 2], [171.0, 299.0], [35.0, 104.0]]),
    ("Xor, r=3", "2^-3", [[23.1; 2], [194.0, 264.0], [16.0, 55.0]]),
    ("Cuckoo16, more space", "2^-11", [[36.0; 2], [68.0, 147.0], [20.0, 59.0]]),
    ("Cuckoo16", "2^-11", [[30.2; 2], [84.0, 201.0], [20.0, 59.0]]),
    ("CuckooSemiSort", "2^-11", [[26.6; 2], [146.0, 323.0], [50.0, 143.0]]),
    ("Xor, r=12", "2^-12", [[23.1; 2], [175.0, 251.0], [23.0, 74.0]]),
    ("Xor, r=10.666", "2^-10.7", [[23.0; 2], [191.0, 284.0], [20.0, 61.0]]),
    ("Xor+, r=11", "2^-11", [[12.8; 2], [185.0, 317.0], [38.0, 107.0]]),
];

impl Row {
    fn settings(&self) -> Settings {
        let epsilon = self.epsilon;
        Settings { epsilon, ..Settings::new(self.variant, self.width, self.columns) }
    }

    fn name(&self) -> String {
        let more = self.epsilon.map_or(String::new(), |eps| format!(" +{:.0} %", 100.0 * eps));
        format!("{} w={} r={}{more}", self.variant, self.width, self.columns)
    }
}

/// The paper's figures for about this number of keys.
fn of_paper(figures: Option<Figures>, keys: usize) -> [Option<f64>; 3] {
    let of = |[million, many]: [f64; 2]| match keys {
        ..3_000_000 => Some(million),
        30_000_000.. => Some(many),
        // In between, only what does not depend on the number of keys.
        _ => (million == many).then_some(million),
    };
    figures.map_or([None; 3], |figures| figures.map(of))
}

/// Prints the table for a number of keys. Every time is the minimum of some rounds.
pub fn run(out: &mut dyn Write, keys: usize, rounds: u32) -> io::Result<()> {
    writeln!(out, "# Table 2, {keys} keys; the paper's figures in brackets, from another machine")?;
    writeln!(out, "# times in ns per key on one thread, minimum of {rounds} rounds")?;
    writeln!(out, "# queries: 0, 50 and 100 % of the keys present")?;
    let paper = "overhead %\t(paper)\tbuild\t(paper)\tquery 0 %\t50 %\t100 %\t(paper)";
    writeln!(out, "filter\tbits/key\trate\t{paper}")?;
    let members = hashes(keys, 1);
    for row in &RIBBONS {
        measure(out, row, &members, rounds)?;
        out.flush()?;
    }
    writeln!(out, "# other filters: the paper's figures only")?;
    for (name, rate, figures) in OTHERS {
        let [overhead, build, query] = of_paper(Some(figures), keys).map(|n| number(n, 1));
        writeln!(out, "{name}\t-\t{rate}\t-\t{overhead}\t-\t{build}\t-\t-\t-\t{query}")?;
    }
    Ok(())
}

fn measure(out: &mut dyn Write, row: &Row, members: &[u64], rounds: u32) -> io::Result<()> {
    let (mut build, mut built) = (f64::INFINITY, None);
    for _ in 0..rounds.max(1) {
        let begin = Instant::now();
        built = Filter::from_hashes(&row.settings(), members).ok();
        build = build.min(begin.elapsed().as_nanos() as f64 / members.len().max(1) as f64);
    }
    let Some(filter) = built else { return Ok(()) };
    let [overhead, paper_build, query] = of_paper(row.paper, members.len());
    write!(out, "{}\t{:.3}\t{:.3e}\t", row.name(), filter.bits_per_key(), filter.rate())?;
    write!(out, "{:.2}\t{}\t", 100.0 * filter.overhead(), number(overhead, 1))?;
    write!(out, "{build:.1}\t{}\t", number(paper_build, 0))?;
    for percent in [0, 50, 100] {
        write!(out, "{:.1}\t", query_time(&filter, members, percent, rounds))?;
    }
    writeln!(out, "{}", number(query, 0))
}

/// The time of a query in ns, with a percentage of members among the queried keys.
fn query_time(filter: &Filter, members: &[u64], percent: u64, rounds: u32) -> f64 {
    let absent = hashes((16 * members.len()).min(1 << 18), 2);
    let mut random = crate::random::Random::new(3);
    let query = |&absent: &u64| match random.below(100) < percent {
        true => members[random.below(members.len() as u64) as usize],
        false => absent,
    };
    let queries: Vec<u64> = absent.iter().map(query).collect();
    times(filter, &queries, rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ribbon_of_the_paper_has_a_row() {
        assert_eq!(RIBBONS.iter().filter(|row| row.paper.is_some()).count(), 27);
        let mut names: Vec<String> = RIBBONS.iter().map(Row::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), RIBBONS.len());
    }

    /// The overheads of the paper for 10^6 keys; our Standard systems are planned for a higher
    /// probability of failure, and smaller. 0.5 points are for the variance of Homogeneous rates.
    #[test]
    fn overheads_are_those_of_the_paper() {
        let members = hashes(1_000_000, 1);
        for row in RIBBONS.iter().filter(|row| row.columns == 7.0) {
            let [Some(paper), ..] = of_paper(row.paper, members.len()) else { continue };
            let filter = Filter::from_hashes(&row.settings(), &members).expect("a seed");
            let overhead = 100.0 * filter.overhead();
            assert!(overhead < paper + 0.5 + 0.02 * paper, "{}: {overhead}", row.name());
        }
    }

    #[test]
    fn figures_for_a_number_of_keys() {
        let standard = RIBBONS[2].paper;
        assert_eq!(of_paper(standard, 1_000_000), [Some(14.0), Some(71.0), Some(42.0)]);
        assert_eq!(of_paper(standard, 10_000_000), [None; 3]);
        assert_eq!(of_paper(standard, 100_000_000)[1], Some(130.0));
    }

    #[test]
    fn a_small_table_is_printed() {
        let mut bytes = Vec::new();
        run(&mut bytes, 2000, 1).expect("a buffer takes everything");
        let text = String::from_utf8(bytes).expect("text");
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows.len(), 1 + RIBBONS.len() + OTHERS.len());
        assert!(rows.iter().all(|row| row.split('\t').count() == 11), "{text}");
    }
}
