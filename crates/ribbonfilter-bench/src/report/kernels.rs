//! Our filters with the kernels of two instruction sets, side by side. The rows of the second kernel
//! are in a directory of their own, within that of the first.

use crate::race::Row;
use crate::report::Section;
use crate::results::{Run, read, runs};
use crate::svg::keys_text;
use crate::table::{Cell, Table};
use std::path::Path;

/// The times that are compared.
const TIMES: [(&str, Time); 4] = [
    ("build", |row| Some(row.build.min)),
    ("query", |row| Some(row.query())),
    ("batch", Row::batched),
    ("latency", |row| Some(row.latency.min)),
];

type Time = fn(&Row) -> Option<f64>;

/// Rows of one kernel, and how they were measured.
pub struct Kernel {
    name: String,
    pub runs: Vec<Run>,
    rows: Vec<Row>,
}

/// The directories within `folder` that contain rows of another kernel, in alphabetical order.
pub fn others(folder: &Path) -> Result<Vec<Kernel>, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.join("runs.jsonl").exists()).collect();
    folders.sort();
    folders.iter().map(|folder| Kernel::read(folder)).collect()
}

impl Kernel {
    fn read(folder: &Path) -> Result<Self, String> {
        let runs = runs(folder)?;
        let name = runs.last().map_or(String::new(), |run| run.machine.kernel.clone());
        let mut rows: Vec<Row> = read(&folder.join("peers.jsonl"))?;
        rows.extend(read::<Row>(&folder.join("functions.jsonl"))?);
        Ok(Self { name, runs, rows })
    }
}

/// A table for each number of keys that was measured with both kernels.
pub fn section(main: &str, rows: &[Row], others: &[Kernel]) -> Option<Section> {
    let tables: Vec<Table> = others.iter().flat_map(|other| tables(main, rows, other)).collect();
    let text = "The same filters and functions on the same machine, with the kernels of two \
                instruction sets. Each kernel was measured in a process of its own, at another \
                time. In brackets: the time relative to the first kernel. Bytes and results are \
                the same.";
    (!tables.is_empty()).then(|| Section {
        title: "Kernels side by side".into(),
        text: vec![text.into()],
        figures: vec![],
        tables,
    })
}

fn tables(main: &str, rows: &[Row], other: &Kernel) -> Vec<Table> {
    let mut numbers: Vec<u64> = other.rows.iter().map(|row| row.keys).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|keys| table(main, rows, other, keys)).collect()
}

fn table(main: &str, rows: &[Row], other: &Kernel, keys: u64) -> Table {
    let columns =
        TIMES.iter().flat_map(|(time, _)| [main, &other.name].map(|kernel| (time, kernel)));
    // Columns live as long as the program, and there are few.
    let columns = columns.map(|(time, kernel)| &*format!("{time}, {kernel}").leak());
    let line = |theirs: &Row| {
        let ours = rows.iter().find(|row| row.is_same(theirs))?;
        let mut cells = vec![Cell::text(&ours.name).strong(true)];
        for (_, time) in TIMES {
            let (first, second) = (time(ours), time(theirs));
            let ratio = first.zip(second).map(|(first, second)| second / first);
            let ratio = ratio.map_or(String::new(), |ratio| format!(" ({ratio:.2})"));
            cells.push(Cell::or_none(first.map(|time| Cell::number(time, 1))));
            cells.push(Cell::or_none(second.map(|time| Cell::number(time, 1).and(&ratio))));
        }
        Some(cells)
    };
    let is_ours = |row: &&Row| row.keys == keys && row.family.is_ours();
    Table {
        title: format!("{} keys, {main} and {}", keys_text(keys), other.name),
        note: "Times in ns per key on one thread. Queries and batches: the mean of absent, half \
               present and present keys."
            .into(),
        columns: ["filter"].into_iter().chain(columns).collect(),
        rows: other.rows.iter().filter(is_ours).filter_map(line).collect(),
    }
}
