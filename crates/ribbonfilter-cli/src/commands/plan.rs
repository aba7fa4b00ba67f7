//! `ribbon plan`: compares the variants before anything is built.

use super::info::json;
use crate::error::{Error, Result};
use crate::filter_file::overhead;
use crate::output::print;
use crate::target::TargetArguments;
use crate::{show, values};
use clap::Args;
use ribbonfilter::{Plan, Width};
use serde::Serialize;
use std::process::ExitCode;

/// Compare the variants for a number of keys, before building
///
/// Shows the size, rate and memory of every variant and width that suits the number of keys. `*`
/// marks the default of `ribbon build`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The number of keys, such as 1000000 or 1e6
    #[arg(long, value_name = "N", value_parser = values::count)]
    keys: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: TargetArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon plan --keys 1e6
  ribbon plan --keys 5e7 --fpr 0.001 --threads 2
  ribbon plan --keys 20000 --size 16K --json";

/// One variant and width: an object of `ribbon plan --json`.
#[derive(Serialize)]
struct Row {
    variant: String,
    width: u32,
    default: bool,
    keys: u64,
    bytes: u64,
    bits_per_key: f64,
    overhead: f64,
    expected_rate: f64,
    columns: f64,
    expected_solutions: f64,
    peak_memory: u64,
}

pub fn run(arguments: &Arguments) -> Result {
    // Fails with the reason if no variant can be planned.
    let target = &arguments.target;
    let builder = target.builder().options(target.options());
    let chosen = builder.plan_for(arguments.keys).map_err(Error::new)?;
    let rows = rows(arguments, &chosen);
    print(if arguments.json { json(&rows)? } else { table(&rows) })?;
    Ok(ExitCode::SUCCESS)
}

/// A row for each variant and width that the arguments allow and that can be planned.
fn rows(arguments: &Arguments, chosen: &Plan) -> Vec<Row> {
    let target = &arguments.target;
    let variants = values::VARIANTS.into_iter().map(|(_, variant)| variant);
    let variants = variants.filter(|variant| target.variant.is_none_or(|only| only == *variant));
    let pairs = variants.flat_map(|variant| Width::ALL.map(|width| (variant, width)));
    let pairs = pairs.filter(|(_, width)| target.width.is_none_or(|only| only == *width));
    let plans = pairs.filter_map(|(variant, width)| {
        let builder = target.builder().options(target.options()).variant(variant).width(width);
        builder.plan_for(arguments.keys).ok()
    });
    plans.map(|plan| Row::new(&plan, chosen)).collect()
}

impl Row {
    fn new(plan: &Plan, chosen: &Plan) -> Self {
        Self {
            variant: values::variant_name(plan.variant()),
            width: plan.width().bits(),
            default: (plan.variant(), plan.width()) == (chosen.variant(), chosen.width()),
            keys: plan.keys(),
            bytes: plan.size_in_bytes(),
            bits_per_key: plan.bits_per_key(),
            overhead: overhead(plan.bits_per_key(), plan.expected_rate()),
            expected_rate: plan.expected_rate(),
            columns: plan.columns(),
            expected_solutions: plan.expected_solutions(),
            peak_memory: plan.peak_memory(),
        }
    }

    fn cells(&self) -> [String; 8] {
        [
            if self.default { "*".into() } else { String::new() },
            self.variant.clone(),
            self.width.to_string(),
            show::bytes(self.bytes),
            show::bits(self.bits_per_key),
            show::percent(self.overhead),
            show::significant(self.expected_rate),
            show::bytes(self.peak_memory),
        ]
    }
}

const TITLES: [&str; 8] =
    ["", "variant", "width", "size", "bits per key", "overhead", "rate", "memory to build"];

/// Aligns the columns: names to the left, numbers to the right.
fn table(rows: &[Row]) -> String {
    let mut lines = vec![TITLES.map(String::from)];
    lines.extend(rows.iter().map(Row::cells));
    let width_of = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width_of);
    let mut text = String::new();
    for line in &lines {
        let cells =
            line.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
                0 | 1 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
        text.push_str(&cells.collect::<Vec<_>>().join("  "));
        text.push('\n');
    }
    text
}
