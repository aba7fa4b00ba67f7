//! The work of Algorithm 1. The paper's proof of theorem 3.2 counts the displacements of keys: a key
//! that starts at slot s and fills row i takes at most i - s row additions, and their sum D does not
//! depend on the order of the keys. It expects about D/2 additions.

use crate::random::trials;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use ribbonfilter::Width;
use ribbonfilter::simulate::{InsertionOrder, Work, insertion_work};
use serde::{Deserialize, Serialize};

pub const TEXT: &str = "The paper, section 3: a key that starts at slot s and fills row i takes at \
    most i - s row additions. The sum D of these displacements does not depend on the order of the \
    keys, and about D/2 additions are expected. Counted in systems of 2^18 slots without smash.";

const SLOTS: u64 = 1 << 18;
const EPSILONS: [f64; 6] = [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125];
const ORDERS: [InsertionOrder; 3] =
    [InsertionOrder::Given, InsertionOrder::Ascending, InsertionOrder::Descending];

/// The sums over all systems; displacements and additions for each order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    width: u32,
    epsilon: f64,
    systems: u64,
    inserted: u64,
    redundant: u64,
    displacement: [u64; 3],
    additions: [u64; 3],
}

pub fn run(folder: &Folder, scale: f64) -> Result<(), String> {
    let mut rows = Rows::<Row>::open(folder, "displacement")?;
    if rows.all.is_empty() {
        let systems = (8.0 * scale).max(1.0) as u64;
        for width in Width::ALL {
            rows.add(EPSILONS.map(|epsilon| measure(width, epsilon, systems)).into())?;
        }
    }
    Ok(())
}

fn measure(width: Width, epsilon: f64, systems: u64) -> Row {
    let keys = (SLOTS as f64 / (1.0 + epsilon)).round() as usize;
    let found = trials(systems, |random| {
        ORDERS.map(|order| insertion_work(width, SLOTS, order, random.clone().take(keys)))
    });
    let sum = |of: &dyn Fn(&[Work; 3]) -> u64| found.iter().map(of).sum();
    let sums = |of: fn(&Work) -> u64| std::array::from_fn(|order| sum(&|work| of(&work[order])));
    Row {
        width: width.bits(),
        epsilon,
        systems,
        inserted: sum(&|work| work[0].inserted),
        redundant: sum(&|work| work[0].redundant),
        displacement: sums(|work| work.displacement),
        additions: sums(|work| work.additions),
    }
}

pub fn tables(rows: &[Row]) -> Vec<Table> {
    let line = |row: &Row| {
        let keys = row.inserted as f64;
        let same = row.displacement.iter().all(|&sum| sum == row.displacement[0]);
        let mut cells = vec![
            Cell::number(row.width.into(), 0),
            Cell::percent(row.epsilon, 2),
            Cell::text(format!("{:.1e}", row.redundant as f64 / keys)),
            Cell::number(row.displacement[0] as f64 / keys, 2).and(if same { "" } else { "*" }),
            Cell::number(0.5 / row.epsilon, 2),
        ];
        cells.extend(row.additions.map(|sum| Cell::number(sum as f64 / keys, 2)));
        cells.push(Cell::number(row.additions[0] as f64 / row.displacement[0] as f64, 3));
        cells
    };
    let table = Table {
        title: "Row operations per key".into(),
        note: format!(
            "{} systems for each line. eps: slots above keys. D/n: the displacement per key that \
             filled a row; a star marks systems in which it depends on the order, because other keys \
             are then the redundant ones. 1/(2 eps): the mean wait in a queue with Poisson arrivals \
             that serves one key per slot, for comparison. Additions per key in random order of the \
             keys, by ascending and by descending starts.",
            rows.first().map_or(0, |row| row.systems)
        ),
        columns: vec![
            "w",
            "eps %",
            "redundant",
            "D/n",
            "1/(2 eps)",
            "additions",
            "ascending",
            "descending",
            "additions / D",
        ],
        rows: rows.iter().map(line).collect(),
    };
    if rows.is_empty() { vec![] } else { vec![table] }
}
