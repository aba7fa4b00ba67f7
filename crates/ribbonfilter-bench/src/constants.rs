//! The simulations behind the constants of the planner.

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
    /// Overhead of one seed's success against the planner's formula
    Standard(standard::Arguments),
    /// Rate and queue of homogeneous systems against the planner's formula
    Homogeneous(homogeneous::Arguments),
    /// The least slots of a Balanced system against the planner's
    Balanced(balanced::Arguments),
    /// Slots that stay empty in the layers of a Bumped system
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
