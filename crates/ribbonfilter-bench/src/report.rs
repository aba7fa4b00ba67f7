//! Converts the finished rows to a page for a browser, which needs no network, and to
//! `docs/results.md` with its pictures. Both show the same sections.

mod ahead;
mod markdown;
mod page;

use crate::figures::map::Map;
use crate::figures::{reach, sizes};
use crate::race::Row;
use crate::results::{Run, read, runs};
use crate::svg::{Chart, keys_text};
use crate::table::{Cell, Table};
use crate::{peers, table1, table2, theory};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// The directory of finished rows
    #[arg(long, default_value = "target/results")]
    results: PathBuf,
    /// The page [default: report.html in the directory of finished rows]
    #[arg(long)]
    html: Option<PathBuf>,
    /// Also write results.md, and its pictures in a subdirectory `results`, to this directory
    #[arg(long)]
    docs: Option<PathBuf>,
}

/// One part of the report.
pub struct Section {
    title: String,
    text: Vec<String>,
    figures: Vec<Figure>,
    tables: Vec<Table>,
}

/// A chart, its file name and its caption.
pub struct Figure {
    name: String,
    caption: String,
    chart: Chart,
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let sections = sections(&arguments.results)?;
    let html = arguments.html.clone().unwrap_or_else(|| arguments.results.join("report.html"));
    write(&html, &page::page(&sections))?;
    println!("{}", html.display());
    if let Some(docs) = &arguments.docs {
        write(&docs.join("results.md"), &markdown::document(&sections))?;
        for figure in sections.iter().flat_map(|section| &section.figures) {
            write(
                &docs.join("results").join(format!("{}.svg", figure.name)),
                &figure.chart.file(),
            )?;
        }
        println!("{}", docs.join("results.md").display());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

/// The sections for which there are rows.
fn sections(folder: &Path) -> Result<Vec<Section>, String> {
    let rows = |name: &str| read::<Row>(&folder.join(name).with_extension("jsonl"));
    let runs = runs(folder)?;
    if runs.is_empty() {
        let folder = folder.display();
        return Err(format!("{folder} contains no finished rows: run `ribbon-bench peers` first"));
    }
    let (peers, map) = (rows("peers")?, rows("map")?);
    let mut sections = vec![machine(&runs)];
    sections.extend(comparison(&peers));
    sections.extend(maps(&map));
    sections.push(reached());
    sections.extend(growth(&rows("sizes")?, &rows("threads")?));
    sections.extend(second(&rows("table2")?));
    sections.extend(first(&read(&folder.join("table1.jsonl"))?));
    sections.extend(theory::sections(folder)?.into_iter().map(|(title, text, tables)| Section {
        title: title.into(),
        text: vec![text.into()],
        figures: vec![],
        tables,
    }));
    Ok(sections)
}

fn machine(runs: &[Run]) -> Section {
    let line = |run: &Run| {
        vec![
            Cell::text(&run.command),
            Cell::text(&run.date),
            Cell::or_none(run.load.map(|load| Cell::number(load, 1))),
            Cell::number(run.seconds, 0),
        ]
    };
    let load = runs.iter().filter_map(|run| run.load).fold(0.0, f64::max);
    let cores = runs[0].machine.cores;
    // The preceding command itself leaves a load of one process per core.
    let busy = (load > cores as f64 + 1.0).then(|| {
        format!(
            "The machine was busy with other work: up to {load:.0} processes for {cores} cores. Sizes, \
             rates and overheads do not depend on that. Times are too long by a factor that varies \
             within a table: do not rely on single times, and ignore small differences. \
             `scripts/results --fresh` on a quiet machine replaces them."
        )
    });
    let mut machines: Vec<String> = runs.iter().map(|run| run.machine.to_string()).collect();
    machines.dedup();
    Section {
        title: "Machine and commands".into(),
        text: vec![
            format!("Measured on: {}.", machines.join("; ")),
            "Times depend on the machine and on its load, so compare rows of one table. The filters \
             of a table are measured alternately in one process, with the same random 64-bit keys \
             and the same loops, and the minimum of several rounds counts. A key is pushed and \
             queried as a 64-bit hash where a crate allows it; fastbloom hashes it once more, as \
             its users would. Overhead is all stored bits over the theoretical minimum, \
             log2(1/rate) per key, minus one. It uses the exact rate if the filter knows it, and a \
             measured one otherwise."
                .into(),
        ]
        .into_iter()
        .chain(busy)
        .collect(),
        figures: vec![],
        tables: vec![Table {
            title: "Runs".into(),
            note: "Load is the number of busy processes in the minute before the run; a quiet \
                   machine shows 0."
                .into(),
            columns: vec!["command", "date", "load", "seconds"],
            rows: runs.iter().map(line).collect(),
        }],
    }
}

/// The distinct numbers of keys of these rows, in ascending order.
fn numbers_of_keys(rows: &[Row]) -> Vec<u64> {
    let mut numbers: Vec<u64> = rows.iter().map(|row| row.keys).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn comparison(rows: &[Row]) -> Vec<Section> {
    let of_keys = |keys: u64| {
        let mine = rows.iter().filter(|row| row.keys == keys && row.threads == 1).cloned();
        let (functions, filters): (Vec<Row>, Vec<Row>) = mine.partition(Row::is_function);
        let mut tables = ahead::tables(&filters);
        tables.push(peers::table("filters", &filters));
        if !functions.is_empty() {
            tables.push(peers::table("functions", &functions));
        }
        Section {
            title: format!("Comparison with other crates, {} keys", keys_text(keys)),
            text: ahead::sentences(&filters),
            figures: vec![],
            tables,
        }
    };
    numbers_of_keys(rows).into_iter().map(of_keys).collect()
}

fn maps(rows: &[Row]) -> Option<Section> {
    let numbers = numbers_of_keys(rows);
    let mut text = vec![
        "The paper's figure 1, with binary fuse and Bumped Ribbon added. For each allowed overhead \
         and each rate the figures show the fastest filter and its times. The time that decides is \
         that of a build and three queries per key (absent, present, and half of them present). \
         Candidates are the filters of at most that overhead and between half and twice that rate. \
         Because of this window, a filter that is fast at one rate can also win at rates up to a \
         factor of two away."
            .to_string(),
    ];
    let mut figures = Vec::new();
    for &keys in &numbers {
        let map = Map::new(rows, keys);
        text.push(format!("With {} keys: {}", keys_text(keys), map.sentences().join(" ")));
        let mut add = |name: &str, caption: &str, chart: Chart| {
            let caption = format!("{caption}, {} keys.", keys_text(keys));
            figures.push(Figure { name: format!("{name}-{keys}"), caption, chart });
        };
        add("fastest", "(a) The fastest filter", map.fastest());
        add(
            "fastest-build",
            "(b) Build of the fastest, ns per key",
            map.times("Build", |row| row.build.min),
        );
        add(
            "fastest-query",
            "(b) Query of the fastest, ns, the mean of three",
            map.times("Query", Row::query),
        );
    }
    let title = "The fastest filter for each overhead and rate".into();
    (!numbers.is_empty()).then_some(Section { title, text, figures, tables: vec![] })
}

fn reached() -> Section {
    let figure = |keys: u64| Figure {
        name: format!("reach-{keys}"),
        caption: format!("Overhead of every variant and width, {} keys.", keys_text(keys)),
        chart: reach::chart(keys),
    };
    Section {
        title: "Overhead of ribbons".into(),
        text: vec![
            "Sizes are planned, so these figures are exact and the same on every machine.".into(),
        ],
        figures: [10_000, 1_000_000].map(figure).into(),
        tables: vec![],
    }
}

fn growth(sizes: &[Row], threads: &[Row]) -> Option<Section> {
    let mut figures = Vec::new();
    if !sizes.is_empty() {
        let times: [(&str, &str, sizes::Time); 4] = [
            ("build", "Build per key", |row| Some(row.build.min)),
            ("query", "Single query", |row| Some(row.query())),
            ("batch", "Query in a batch", Row::batched),
            ("latency", "Query that depends on the last", |row| Some(row.latency.min)),
        ];
        figures.extend(times.map(|(name, title, time)| Figure {
            name: format!("keys-{name}"),
            caption: format!("{title} against the number of keys, rate about 1/256."),
            chart: sizes::against_keys(title, sizes, time),
        }));
    }
    if !threads.is_empty() {
        figures.push(Figure {
            name: "threads".into(),
            caption: format!("Build against threads, {} keys.", keys_text(threads[0].keys)),
            chart: sizes::against_threads(threads),
        });
    }
    let text = vec!["One thread, except in the last figure. Queries are the mean of absent, half present and present keys.".into()];
    let title = "Growth with keys and threads".into();
    (!figures.is_empty()).then_some(Section { title, text, figures, tables: vec![] })
}

fn second(rows: &[Row]) -> Vec<Section> {
    let of_keys = |keys: u64| {
        let tables =
            table2::GROUPS.iter().map(|group| table2::table(group, &group.rows(rows, keys)));
        Section {
            title: format!("The paper's Table 2, {} keys", keys_text(keys)),
            text: vec![table2::overheads(rows, keys)],
            figures: vec![],
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
        }
    };
    numbers_of_keys(rows).into_iter().map(of_keys).collect()
}

fn first(rows: &[table1::Row]) -> Option<Section> {
    (!rows.is_empty()).then(|| Section {
        title: "The paper's Table 1".into(),
        text: vec![],
        figures: vec![],
        tables: vec![table1::table(rows)],
    })
}
