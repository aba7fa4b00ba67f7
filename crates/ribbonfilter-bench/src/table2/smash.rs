//! Compares systems with and without smash, which saves slots at the ends of a system. A user
//! cannot choose it, so this simulates the library's systems: the number of keys until a Standard
//! system fails, and the exact rate of a Homogeneous system with the paper's number of slots.

use crate::random::trials;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use ribbonfilter::Width;
use ribbonfilter::simulate::{homogeneous_instance, keys_until_failure};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Smash {
    variant: String,
    width: u32,
    slots: u64,
    /// The overheads with and without smash.
    on: f64,
    off: f64,
}

const SYSTEMS: u64 = 100;
const COLUMNS: u32 = 8;

pub fn run(folder: &Folder) -> Result<(), String> {
    let mut rows = Rows::open(folder, "smash")?;
    if rows.all.is_empty() {
        let of_width = |width| [10, 12, 14].map(|slots_log| standard(width, 1 << slots_log));
        let mut found: Vec<Smash> = Width::ALL.into_iter().flat_map(of_width).collect();
        let of_width = |width| [1_000, 4_000, 16_000].map(|keys| homogeneous(width, keys));
        found.extend(Width::ALL.into_iter().flat_map(of_width));
        rows.add(found)?;
    }
    println!("{}", table(&rows.all).text());
    Ok(())
}

/// Slots over the mean number of keys that were inserted until the first failure.
fn standard(width: Width, slots: u64) -> Smash {
    let overhead = |smash: u64| {
        let taken = trials(SYSTEMS, |random| keys_until_failure(width, slots, smash, random));
        (slots * SYSTEMS) as f64 / taken.iter().sum::<u64>() as f64 - 1.0
    };
    let on = overhead(u64::from(width.bits()) / 4);
    Smash { variant: "Standard".into(), width: width.bits(), slots, on, off: overhead(0) }
}

/// Bits per key over the minimum for the median of the exact rates. The mean would be dominated by
/// a few bad seeds, which a build rejects.
fn homogeneous(width: Width, keys: usize) -> Smash {
    // The paper's equation (4). With fewer slots, as the planner chooses them, few seeds succeed.
    let extra = (4.0 + f64::from(COLUMNS) / 4.0) / f64::from(width.bits());
    let slots = (keys as f64 * (1.0 + extra)).ceil() as u64;
    let overhead = |smash: bool| {
        let mut rates = trials(SYSTEMS, |random| {
            homogeneous_instance(width, slots, smash, COLUMNS, random.take(keys)).ratio
        });
        rates.sort_unstable_by(f64::total_cmp);
        let bits = f64::from(COLUMNS) - rates[rates.len() / 2].log2();
        slots as f64 * f64::from(COLUMNS) / keys as f64 / bits - 1.0
    };
    let (on, off) = (overhead(true), overhead(false));
    Smash { variant: "Homogeneous".into(), width: width.bits(), slots, on, off }
}

pub fn table(rows: &[Smash]) -> Table {
    let line = |row: &Smash| {
        vec![
            Cell::text(format!("{} w={}", row.variant, row.width)).strong(true),
            Cell::number(row.slots as f64, 0),
            Cell::percent(row.on, 2),
            Cell::percent(row.off, 2),
        ]
    };
    Table {
        title: "Smash on and off".into(),
        note: format!(
            "Overhead in percent. Standard: slots over the mean number of keys until the first \
             failure, a smash of w/4. Homogeneous: at the median exact rate, {COLUMNS} columns, the \
             slots of the paper's equation (4). {SYSTEMS} random systems each. The library uses \
             smash wherever it saves space: always, except for large Homogeneous systems."
        ),
        columns: vec!["system", "slots", "smash on", "smash off"],
        rows: rows.iter().map(line).collect(),
    }
}
