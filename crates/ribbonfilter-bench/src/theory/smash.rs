//! Systems with and without smash, which fills the ends of a system. A user cannot choose it, so
//! this simulates the library's systems: the number of keys until a Standard system fails, and how
//! many seeds of a Homogeneous system reach the planned rate.

use super::mean_and_error;
use crate::progress::Progress;
use crate::random::trials;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use ribbonfilter::simulate::{homogeneous_instance, keys_until_failure};
use ribbonfilter::{Filter, Variant, Width};
use serde::{Deserialize, Serialize};

pub const TEXT: &str = "The library always uses a smash of w/4, except for Homogeneous systems of 2^17 \
    keys or more, whose ends do not matter. The Standard systems have sizes for which the ends \
    matter: w^2/4, w^2 and 4 w^2 slots. Cases whose difference was within the error were measured \
    again, with more systems, until it was not: so their 95 % intervals are too narrow. Homogeneous, w = \
    64, with 10^5 keys was measured three times, and barely separates.";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    variant: String,
    width: u32,
    slots: u64,
    systems: u64,
    /// The figure with and without smash, each with its standard error.
    on: [f64; 2],
    off: [f64; 2],
}

const COLUMNS: u32 = 8;
/// A seed is accepted if its rate exceeds the nominal rate by at most this factor.
const ALLOWANCE: f64 = 1.02;
/// Homogeneous systems whose seeds are screened: width, keys and systems.
const SCREENED: [(Width, usize, f64); 7] = [
    (Width::W32, 1_000, 40_000.0),
    (Width::W64, 1_000, 40_000.0),
    (Width::W64, 10_000, 6_000.0),
    (Width::W64, 100_000, 600.0),
    (Width::W128, 1_000, 40_000.0),
    (Width::W128, 10_000, 6_000.0),
    (Width::W128, 100_000, 600.0),
];

pub fn run(folder: &Folder, scale: f64) -> Result<(), String> {
    let mut rows = Rows::<Row>::open(folder, "smash-systems")?;
    let mut progress = Progress::new(3 * Width::ALL.len() + SCREENED.len());
    for width in Width::ALL {
        for slots in [1, 4, 16].map(|times| times * u64::from(width.bits()).pow(2) / 4) {
            progress.group(&format!("Standard w = {width}, {slots} slots"));
            let systems = ((1.5e8 * scale) as u64 / slots).clamp(100, 200_000);
            if !rows.all.iter().any(|row: &Row| row.is_of("Standard", width, slots)) {
                rows.add(vec![standard(width, slots, systems)])?;
            }
        }
    }
    for (width, keys, systems) in SCREENED {
        progress.group(&format!("Homogeneous w = {width}, {keys} keys"));
        let slots = planned_slots(width, keys);
        if !rows.all.iter().any(|row| row.is_of("Homogeneous", width, slots)) {
            let systems = (systems * scale).max(100.0) as u64;
            rows.add(vec![homogeneous(width, keys, slots, systems)])?;
        }
    }
    Ok(())
}

/// Slots over the mean number of keys that were inserted until the first failure, minus one.
fn standard(width: Width, slots: u64, systems: u64) -> Row {
    let overhead = |smash: u64| {
        let taken =
            trials(systems, |random| keys_until_failure(width, slots, smash, random) as f64);
        let ([mean, error], slots) = (mean_and_error(&taken), slots as f64);
        [slots / mean - 1.0, slots * error / (mean * mean)]
    };
    let (on, off) = (overhead(u64::from(width.bits()) / 4), overhead(0));
    Row { variant: "Standard".into(), width: width.bits(), slots, systems, on, off }
}

/// The fraction of seeds that reach the planned rate with the planned slots.
fn homogeneous(width: Width, keys: usize, slots: u64, systems: u64) -> Row {
    let fraction = |smash: bool| {
        let good = trials(systems, |random| {
            let found = homogeneous_instance(width, slots, smash, COLUMNS, random.take(keys));
            f64::from(u8::from(found.ratio <= ALLOWANCE))
        });
        mean_and_error(&good)
    };
    let (on, off) = (fraction(true), fraction(false));
    Row { variant: "Homogeneous".into(), width: width.bits(), slots, systems, on, off }
}

fn planned_slots(width: Width, keys: usize) -> u64 {
    let builder =
        Filter::builder().variant(Variant::Homogeneous).width(width).columns(COLUMNS.into());
    builder.plan_for(keys as u64).expect("eight columns suit these widths").slots()
}

impl Row {
    fn is_of(&self, variant: &str, width: Width, slots: u64) -> bool {
        (self.variant.as_str(), self.width, self.slots) == (variant, width.bits(), slots)
    }

    /// What smash changes, and the half width of the 95 % interval.
    fn difference(&self) -> (f64, f64) {
        (self.on[0] - self.off[0], 1.96 * self.on[1].hypot(self.off[1]))
    }

    fn verdict(&self) -> &'static str {
        let (difference, error) = self.difference();
        // An overhead should be low, a fraction of good seeds high.
        match (difference < 0.0) == (self.variant == "Standard") {
            _ if difference.abs() <= error => "not separated",
            true => "helps",
            false => "harms",
        }
    }
}

pub fn tables(rows: &[Row]) -> Vec<Table> {
    let table = |variant: &str, title: &str, note: String| {
        let mine: Vec<_> = rows.iter().filter(|row| row.variant == variant).collect();
        let rows = mine.iter().map(|row| line(row)).collect();
        let columns = vec!["w", "slots", "systems", "smash on", "smash off", "smash"];
        (!mine.is_empty()).then(|| Table { title: title.into(), note, columns, rows })
    };
    let verdicts = "The last column says what smash does; \"not separated\": zero is in the 95 % \
                    interval of the difference.";
    let standard = table(
        "Standard",
        "Standard: slots over the mean number of keys until the first failure",
        format!("Overhead in percent, with 95 % intervals. {verdicts}"),
    );
    let homogeneous = table(
        "Homogeneous",
        "Homogeneous: seeds that reach the planned rate",
        format!(
            "In percent, with 95 % intervals; {COLUMNS} columns, the planner's slots for 10^3, 10^4 \
             and 10^5 keys, a rate of at most {ALLOWANCE} times the nominal one, seeds not screened. \
             {verdicts}"
        ),
    );
    standard.into_iter().chain(homogeneous).collect()
}

/// In how many cases smash helps.
pub fn sentence(rows: &[Row]) -> Option<String> {
    let number = |verdict: &str| rows.iter().filter(|row| row.verdict() == verdict).count();
    let harms = match number("harms") {
        0 => String::new(),
        harms => format!(" and harms in {harms}"),
    };
    let unclear = match number("not separated") {
        0 => String::new(),
        unclear => format!("; in the other {unclear} the difference is within the error"),
    };
    (!rows.is_empty()).then(|| {
        let helps = number("helps");
        format!("Smash helps in {helps} of {} measured cases{harms}{unclear}.", rows.len())
    })
}

fn line(row: &Row) -> Vec<Cell> {
    let [on, off] = [row.on, row.off];
    let (difference, error) = row.difference();
    let verdict = row.verdict();
    let cell =
        |[value, error]: [f64; 2]| Cell::percent(value, 3).and(&format!(" ± {:.3}", 196.0 * error));
    vec![
        Cell::number(row.width.into(), 0),
        Cell::number(row.slots as f64, 0),
        Cell::number(row.systems as f64, 0),
        cell(on),
        cell(off),
        Cell::text(format!("{verdict} ({:+.3} ± {:.3})", 100.0 * difference, 100.0 * error)),
    ]
}
