//! Converts the finished rows to a page for a browser, which needs no network, and to
//! `docs/results.md` with its pictures. Both show the same sections.

mod ahead;
mod kernels;
mod markdown;
mod page;

use crate::figures::map::Map;
use crate::figures::{reach, sizes};
use crate::race::{Chains, Row};
use crate::results::{Run, read, runs};
use crate::svg::{Chart, keys_text};
use crate::table::{Cell, Table};
use crate::{functions, latency, peers, spill, table1, table2, theory};
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
    let others = kernels::others(folder)?;
    let (peers, functions, table2) = (rows("peers")?, rows("functions")?, rows("table2")?);
    let latency: Vec<Chains> = read(&folder.join("latency.jsonl"))?;
    let kernel = &runs[runs.len() - 1].machine.kernel;
    let both: Vec<Row> = peers.iter().chain(&functions).cloned().collect();
    let all_runs: Vec<Run> =
        runs.iter().chain(others.iter().flat_map(|other| &other.runs)).cloned().collect();

    let mut sections = vec![machine(&all_runs)];
    sections.extend(comparison(&peers));
    sections.extend(chains(&latency));
    sections.extend(functions_section(&functions));
    sections.extend(kernels::section(kernel, &both, &others));
    sections.extend(maps(&map_rows(rows("map")?, &table2), &runs));
    sections.push(reached());
    sections.extend(growth(&rows("sizes")?, &rows("threads")?));
    sections.extend(second(&table2, &runs));
    sections.extend(scale(&read(&folder.join("spill.jsonl"))?, &runs));
    sections.extend(first(&read(&folder.join("table1.jsonl"))?, &runs));
    sections.extend(theory::sections(folder)?.into_iter().map(|(title, text, tables)| Section {
        title: title.into(),
        text: vec![text],
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
            Cell::text(&run.machine.cpu),
            Cell::text(&run.machine.kernel),
            Cell::or_none(run.load.map(|load| Cell::number(load, 1))),
            Cell::or_none(run.others.map(|others| Cell::number(others, 2))),
            Cell::number(run.seconds, 0),
        ]
    };
    let busy = runs.iter().filter_map(|run| run.others).fold(0.0, f64::max);
    let cores = runs[0].machine.cores;
    let busy = (busy > 0.5).then(|| {
        format!(
            "The machine was not idle: other processes kept up to {busy:.1} of {cores} cores busy \
             during a run (column \"others\"). Sizes, rates and overheads do not depend on that; \
             times of such a run are too long."
        )
    });
    let mut machines: Vec<String> = Vec::new();
    for run in runs {
        let machine = run.machine.to_string();
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    Section {
        title: "Machine and commands".into(),
        text: vec![
            format!("Measured on: {}.", machines.join("; ")),
            "Times depend on the machine and on its load, so compare rows of one table: the table of \
             runs says on which machine each was measured. The filters \
             of a table are measured alternately in one process, with the same random 64-bit keys \
             and the same loops, and the minimum of the rounds counts. A key is pushed and \
             queried as a 64-bit hash where a crate allows it; fastbloom hashes it once more, as \
             its users would. Overhead is all stored bits over the theoretical minimum, \
             log2(1/rate) per key, minus one. It uses the exact rate if the filter knows it, and a \
             measured one otherwise."
                .into(),
            "Our filters request huge pages, which make random accesses to more than a few megabytes \
             faster. Other crates do not, so `scripts/results` lets glibc request them (variable \
             GLIBC_TUNABLES): all filters have them here. Where the system gives none by default \
             and a program does not set this variable, the others are slower with 10⁷ keys and more."
                .into(),
            "Rows named \"ours, for comparison\" are filters of the paper that no well-kept crate \
             has, written for these tables in `crates/ribbonfilter-bench/src/peers`: cuckoo filters, \
             Xor and Xor+ filters of any width, Bloom filters in blocks of 512 and 64 bits. Queries \
             of 512-bit blocks use AVX2, as in RocksDB; the others are plain code. Their tests compare \
             rates and sizes with theory."
                .into(),
        ]
        .into_iter()
        .chain(busy)
        .collect(),
        figures: vec![],
        tables: vec![Table {
            title: "Runs".into(),
            note: "Load is the number of busy processes in the minute before the run; others, the \
                   number of cores that other processes kept busy during the run, on average. A quiet \
                   machine shows 0."
                .into(),
            columns: vec!["command", "date", "CPU", "kernel", "load", "others", "seconds"],
            rows: runs.iter().map(line).collect(),
        }],
    }
}

/// How the rows of this name were measured.
fn measured(runs: &[Run], rows: &str) -> Vec<String> {
    let of_rows = runs.iter().filter(|run| run.rows.split(' ').any(|name| name == rows));
    of_rows
        .map(|run| {
            let number = |value: Option<f64>| match value {
                Some(value) => format!("{value:.1}"),
                None => "unknown".into(),
            };
            format!(
                "`{}`: {}, {}, kernel {}, load before {}, cores kept busy by others {}, {:.0} s.",
                run.command,
                run.date,
                run.machine.cpu,
                run.machine.kernel,
                number(run.load),
                number(run.others),
                run.seconds
            )
        })
        .collect()
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
        let filters: Vec<Row> =
            rows.iter().filter(|row| row.keys == keys && row.threads == 1).cloned().collect();
        let mut tables = ahead::tables(&filters);
        tables.push(peers::table(&filters));
        Section {
            title: format!("Comparison with other crates, {} keys", keys_text(keys)),
            text: ahead::sentences(&filters),
            figures: vec![],
            tables,
        }
    };
    numbers_of_keys(rows).into_iter().map(of_keys).collect()
}

fn chains(rows: &[Chains]) -> Option<Section> {
    let mut numbers: Vec<u64> = rows.iter().map(|row| row.keys).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let sentences = numbers.iter().flat_map(|&keys| latency::sentences(rows, keys));
    (!rows.is_empty()).then(|| Section {
        title: "Latency".into(),
        text: sentences.collect(),
        figures: vec![],
        tables: numbers.iter().map(|&keys| latency::table(rows, keys)).collect(),
    })
}

fn functions_section(rows: &[Row]) -> Option<Section> {
    let tables = numbers_of_keys(rows).into_iter().map(|keys| functions::table(rows, keys));
    (!rows.is_empty()).then(|| Section {
        title: "Static functions".into(),
        text: vec![],
        figures: vec![],
        tables: tables.collect(),
    })
}

/// The rows of the maps. With very many keys, rows of Table 2 are among them.
fn map_rows(mut rows: Vec<Row>, table2: &[Row]) -> Vec<Row> {
    let numbers = numbers_of_keys(&rows);
    let is_new = |row: &&Row| {
        row.keys >= 50_000_000
            && numbers.contains(&row.keys)
            && !rows.iter().any(|old| old.is_same(row))
    };
    let new: Vec<Row> = table2.iter().filter(is_new).cloned().collect();
    rows.extend(new);
    rows
}

/// The number of keys of the paper's map.
const MAIN_MAP: u64 = 10_000_000;

fn maps(rows: &[Row], runs: &[Run]) -> Option<Section> {
    let numbers = numbers_of_keys(rows);
    let main =
        numbers.iter().copied().find(|&keys| keys == MAIN_MAP).or(numbers.last().copied())?;
    let others: Vec<u64> = numbers.iter().copied().filter(|&keys| keys != main).collect();
    let mut text = vec![
        "The paper's figure 1, with binary fuse and Bumped Ribbon added. For each allowed overhead \
         and each rate the figures show the fastest filter and its times. The time that decides is \
         that of a build and three queries per key (absent, present, and half of them present). \
         Candidates are the filters of at most that overhead and between half and twice that rate \
         (and 0.05 bits more, since rates are measured). Because of this window, a filter that is fast at one rate can also win at rates up to a \
         factor of two away."
            .to_string(),
        "Rates: 2^-1 to 2^-9 and 2^-11, 2^-13, 2^-15, 2^-16 with up to 10⁷ keys; 2^-1, 2^-3, … \
         2^-15 with 10⁸. With 10⁷ and 10⁸ keys, filters are left out that took 2 or 1.5 times as \
         long as a filter of at most their size and about their rate with a tenth of the keys. With \
         10⁸ keys, the filters of three of the rates are those of Table 2. Hatched fields compare \
         only filters that were measured with both numbers of keys; the difference is more than \
         5 %. The option `--rounds` of the commands below says how often each time was measured; \
         after one round, fields whose best filters take about the same time are decided by noise."
            .to_string(),
    ];
    text.extend(measured(runs, "map"));
    let mut figures = Vec::new();
    for &keys in [main].iter().chain(&others) {
        let map = Map::new(rows, keys);
        text.push(format!("With {} keys: {}", keys_text(keys), map.sentences().join(" ")));
        let mut add = |name: &str, caption: &str, chart: Chart| {
            let caption = format!("{caption}, {} keys.", keys_text(keys));
            figures.push(Figure { name: format!("{name}-{keys}"), caption, chart });
        };
        if keys != main {
            add("fastest", "(a) The fastest filter", map.fastest());
            continue;
        }
        let map = map.compared(rows, &others);
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(|&keys| keys_text(keys)).collect();
            text.push(format!(
                "Another kind wins with {} keys in {:.0} % of this map (hatched).",
                others.join(" or "),
                100.0 * map.marked()
            ));
        }
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
    Some(Section { title, text, figures, tables: vec![] })
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
            "Planned sizes, with the footer, and planned rates: the same on every machine. Filters \
             are built with exactly these sizes; the rate of a Homogeneous filter is usually below \
             the planned one, so its overhead is a little smaller than shown here."
                .into(),
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
            ("latency", "Latency of a query", |row| Some(row.latency.min)),
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

fn second(rows: &[Row], runs: &[Run]) -> Vec<Section> {
    let of_keys = |keys: u64| {
        let tables =
            table2::GROUPS.iter().map(|group| table2::table(group, &group.rows(rows, keys)));
        Section {
            title: format!("The paper's Table 2, {} keys", keys_text(keys)),
            text: table2::sentences(rows, keys),
            figures: vec![],
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
        }
    };
    let mut sections: Vec<Section> = numbers_of_keys(rows).into_iter().map(of_keys).collect();
    if let Some(first) = sections.first_mut() {
        first.text.push(table2::MISSING.into());
        first.text.extend(measured(runs, "table2"));
    }
    sections
}

fn scale(rows: &[spill::Spilled], runs: &[Run]) -> Option<Section> {
    (!rows.is_empty()).then(|| Section {
        title: "Scale: 4 * 10^9 keys".into(),
        text: measured(runs, "spill").into_iter().chain(spill::sentences(rows, runs)).collect(),
        figures: vec![],
        tables: vec![spill::table(rows)],
    })
}

fn first(rows: &[table1::Row], runs: &[Run]) -> Option<Section> {
    (!rows.is_empty()).then(|| Section {
        title: "The paper's Table 1".into(),
        text: table1::sentences(rows).into_iter().chain(measured(runs, "table1")).collect(),
        figures: vec![],
        tables: vec![table1::table(rows)],
    })
}
