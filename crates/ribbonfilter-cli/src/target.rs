//! What a filter shall be: the arguments that `build` and `plan` share.

use crate::values;
use clap::Args;
use ribbonfilter::{Effort, Filter, FilterBuilder, Shards, ShardsBuilder, Split, Variant, Width};

#[derive(Args)]
#[command(next_help_heading = "What it shall be")]
pub struct TargetArguments {
    /// The false-positive rate, as 0.01, 1% or 1/100 [default: 0.01]
    #[arg(long, value_name = "RATE", value_parser = values::rate, group = "target")]
    fpr: Option<f64>,
    /// All the bits that the filter may take for a key, as 8.2
    #[arg(long, value_name = "BITS", group = "target")]
    bits_per_key: Option<f64>,
    /// All the bytes that the filter may take, as 4096 or 1.5GiB
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, group = "target")]
    size: Option<u64>,
    /// The member of the ribbon family [default: the smallest]
    #[arg(long, ignore_case = true, value_parser = values::variant())]
    pub variant: Option<Variant>,
    /// The ribbon width: wider is smaller and slower [default: the variant's best]
    #[arg(long, value_parser = values::width())]
    pub width: Option<Width>,
    /// How much time the build may take for a smaller filter. Thorough takes several times as long
    /// for small sets: for whoever builds once and ships to many
    #[arg(long, ignore_case = true, value_parser = values::effort(), default_value_t)]
    effort: Effort,
    /// Threads; 0 takes all there are. The filter is the same for any number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
}

impl TargetArguments {
    /// A builder that knows all of this but variant and width.
    pub fn bare_builder(&self) -> FilterBuilder<'static> {
        let builder = Filter::builder().effort(self.effort).threads(self.threads);
        match (self.fpr, self.bits_per_key, self.size) {
            (Some(rate), _, _) => builder.false_positive_rate(rate),
            (_, Some(bits), _) => builder.bits_per_key(bits),
            (_, _, Some(bytes)) => builder.total_bytes(bytes),
            _ => builder,
        }
    }

    /// A builder that knows all of this.
    pub fn builder(&self) -> FilterBuilder<'static> {
        let mut builder = self.bare_builder();
        if let Some(variant) = self.variant {
            builder = builder.variant(variant);
        }
        if let Some(width) = self.width {
            builder = builder.width(width);
        }
        builder
    }
    /// A builder of a container that knows all of this but bits a key and size.
    pub fn shards_builder(&self, split: Split) -> ShardsBuilder<'static> {
        let mut builder = Shards::builder(split).effort(self.effort).threads(self.threads);
        if let Some(rate) = self.fpr {
            builder = builder.false_positive_rate(rate);
        }
        if let Some(variant) = self.variant {
            builder = builder.variant(variant);
        }
        if let Some(width) = self.width {
            builder = builder.width(width);
        }
        builder
    }
}
