//! The simulations for the constants of the planner.

mod balanced;
mod bumped;
mod homogeneous;
mod standard;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    variant: Variant,
}

#[derive(clap::Subcommand)]
enum Variant {
    /// Overhead for each success probability of one seed, compared with the planner's formula
    Standard(standard::Arguments),
    /// Rates and queues of Homogeneous systems, compared with the planner's formula
    Homogeneous(homogeneous::Arguments),
    /// Minimum slots of a Balanced system, compared with the planner's
    Balanced(balanced::Arguments),
    /// Empty slots in the layers of a Bumped system
    Bumped(bumped::Arguments),
}

pub fn run(arguments: &Arguments) {
    match &arguments.variant {
        Variant::Standard(arguments) => standard::run(arguments),
        Variant::Homogeneous(arguments) => homogeneous::run(arguments),
        Variant::Balanced(arguments) => balanced::run(arguments),
        Variant::Bumped(arguments) => bumped::run(arguments),
    }
}
