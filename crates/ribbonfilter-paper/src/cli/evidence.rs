//! `ribbon-paper table1`, `table2`, `figures` and `simulate`: the paper's numbers beside ours.

use super::{Failure, Outcome};
use ribbonfilter_paper::{simulate as simulations, tables};
use std::io;
use std::process::ExitCode;

/// Print Table 1: the slots that a Standard ribbon needs, simulated
#[derive(clap::Args)]
pub struct Table1 {
    /// Keys to insert for each column, at least
    #[arg(long, default_value_t = 2e7)]
    keys: f64,
    /// Add systems of 2^24 slots
    #[arg(long)]
    full: bool,
}

/// Print Table 2: space, construction and query times of every ribbon
#[derive(clap::Args)]
pub struct Table2 {
    /// Numbers of keys
    #[arg(long, value_delimiter = ',', default_value = "1e6")]
    keys: Vec<f64>,
    /// Rounds; the minimum time counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
}

/// Print figures 2, 3, 5 and 7 as text or rows
#[derive(clap::Args)]
pub struct Figures {
    /// The numbers of the figures [default: all]
    figures: Vec<u32>,
    /// Keys of a filter
    #[arg(long, default_value_t = 1e6)]
    keys: f64,
}

/// Simulate a statement of the paper
#[derive(clap::Args)]
pub struct Simulate {
    /// displacement, regular, smash, smash-time, free-rows, lemma, epsilon, fractions, locality,
    /// layouts, shard-size or balanced [default: all]
    names: Vec<String>,
    /// Scales the number of systems
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
}

/// Prints Table 1.
pub fn table1(arguments: &Table1) -> Outcome {
    tables::table1::run(&mut io::stdout(), arguments.keys, arguments.full)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints Table 2.
pub fn table2(arguments: &Table2) -> Outcome {
    for &keys in &arguments.keys {
        tables::table2::run(&mut io::stdout(), number_of_keys(keys)?, arguments.rounds)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints figures.
pub fn figures(arguments: &Figures) -> Outcome {
    let keys = number_of_keys(arguments.keys)?;
    let known = tables::figures::ALL;
    let is_known = |number: &&u32| known.iter().any(|figure| figure.0 == **number);
    if let Some(unknown) = arguments.figures.iter().find(|number| !is_known(number)) {
        let message = format!("figure {unknown}: there are figures 2, 3, 5 and 7");
        return Err(Failure::Message(message));
    }
    for (number, print) in known {
        if arguments.figures.is_empty() || arguments.figures.contains(&number) {
            print(&mut io::stdout(), keys)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints simulations.
pub fn simulate(arguments: &Simulate) -> Outcome {
    let is_known = |name: &&String| simulations::ALL.iter().any(|known| known.0 == **name);
    if let Some(unknown) = arguments.names.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = simulations::ALL.iter().map(|known| known.0).collect();
        let message = format!("simulation {unknown}: expected one of {}", names.join(", "));
        return Err(Failure::Message(message));
    }
    for (name, run) in simulations::ALL {
        if arguments.names.is_empty() || arguments.names.iter().any(|wanted| wanted == name) {
            run(&mut io::stdout(), arguments.scale.clamp(1e-3, 1e4))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A number like 1e6.
fn number_of_keys(keys: f64) -> Result<usize, Failure> {
    match (1.0..=1e10).contains(&keys) {
        true => Ok(keys as usize),
        false => Err(Failure::Message(format!("{keys} keys: use 1 to 1e10"))),
    }
}
