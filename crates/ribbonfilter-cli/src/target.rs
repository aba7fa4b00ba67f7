//! The filter options that `build` and `plan` share.

use crate::values;
use clap::Args;
use ribbonfilter::{
    BuildOptions, Effort, Filter, FilterBuilder, Shards, ShardsBuilder, Split, Variant, Width,
};

#[derive(Args)]
#[command(next_help_heading = "Filter options")]
pub struct TargetArguments {
    /// The false-positive rate, such as 0.01, 1% or 1/100 [default: 0.01]
    #[arg(long, value_name = "RATE", value_parser = values::rate, group = "target")]
    fpr: Option<f64>,
    /// Maximum size of the filter in bits per key, such as 8.2
    #[arg(long, value_name = "BITS", group = "target")]
    bits_per_key: Option<f64>,
    /// Maximum size of the filter, such as 4096 or 1.5GiB
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, group = "target")]
    size: Option<u64>,
    /// The ribbon variant [default: the smallest]
    #[arg(long, ignore_case = true, value_parser = values::variant())]
    pub variant: Option<Variant>,
    /// The ribbon width; wider is smaller and slower [default: the best for the variant]
    #[arg(long, value_parser = values::width())]
    pub width: Option<Width>,
    /// How long the build may search for a smaller filter. Thorough takes several times as long for
    /// small sets; use it for filters that are built once and shipped to many
    #[arg(long, ignore_case = true, value_parser = values::effort(), default_value_t)]
    effort: Effort,
    /// Number of threads; 0 for one per core. The filter does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
}

impl TargetArguments {
    /// These options, without a target.
    pub fn options(&self) -> BuildOptions {
        let mut options = BuildOptions::default();
        (options.variant, options.width) = (self.variant, self.width);
        (options.effort, options.threads) = (self.effort, self.threads);
        options
    }

    /// A filter builder with the target.
    pub fn builder(&self) -> FilterBuilder<'static> {
        let builder = Filter::builder();
        match (self.fpr, self.bits_per_key, self.size) {
            (Some(rate), _, _) => builder.false_positive_rate(rate),
            (_, Some(bits), _) => builder.bits_per_key(bits),
            (_, _, Some(bytes)) => builder.total_bytes(bytes),
            _ => builder,
        }
    }

    /// A builder of a container with the target, unless it is a size or bits per key.
    pub fn shards_builder(&self, split: Split) -> ShardsBuilder<'static> {
        let builder = Shards::builder(split);
        match self.fpr {
            Some(rate) => builder.false_positive_rate(rate),
            None => builder,
        }
    }
}
