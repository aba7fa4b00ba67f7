//! The simulations behind the constants of the planner.

mod homogeneous;
mod standard;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    variant: Variant,
}

#[derive(clap::Subcommand)]
enum Variant {
    /// Overhead of one seed's success against the planner's formula
    Standard(standard::Arguments),
    /// Rate and queue of homogeneous systems against the planner's formula
    Homogeneous(homogeneous::Arguments),
}

pub fn run(arguments: &Arguments) {
    match &arguments.variant {
        Variant::Standard(arguments) => standard::run(arguments),
        Variant::Homogeneous(arguments) => homogeneous::run(arguments),
    }
}
