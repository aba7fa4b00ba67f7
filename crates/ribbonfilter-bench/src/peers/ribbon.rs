//! Our filters and functions.

use crate::kernel;
use crate::race::{Peer, Size, batched, value_of};
use ribbonfilter::{Filter, FilterBuilder, Function, Variant, Width};

/// The settings of a ribbon filter.
#[derive(Clone, Copy, Debug)]
pub struct Ribbon {
    pub variant: Variant,
    pub width: Width,
    pub columns: f64,
    /// More slots than needed, for a faster build.
    pub overhead: Option<f64>,
}

impl Ribbon {
    pub const fn new(variant: Variant, width: Width, columns: f64) -> Self {
        Self { variant, width, columns, overhead: None }
    }

    /// Every variant and width with `columns` columns.
    pub fn all(columns: f64) -> impl Iterator<Item = Self> {
        Variant::ALL.iter().flat_map(move |&variant| {
            Width::ALL.into_iter().map(move |width| Self::new(variant, width, columns))
        })
    }

    pub fn name(&self) -> String {
        let Self { variant, width, columns, overhead } = self;
        let extra = overhead.map_or(String::new(), |extra| format!(" +{:.0} %", extra * 100.0));
        format!("{variant} w={width} r={columns}{extra}")
    }

    pub fn builder(&self) -> FilterBuilder<'static> {
        let builder =
            Filter::builder().variant(self.variant).width(self.width).columns(self.columns);
        match self.overhead {
            Some(overhead) => builder.overhead(overhead),
            None => builder,
        }
    }

    /// Whether the planner accepts these settings for `keys` keys.
    pub fn is_suitable(&self, keys: usize) -> bool {
        self.builder().plan_for(keys as u64).is_ok()
    }

    pub fn peer(self, threads: usize) -> Box<dyn Peer> {
        filter(self.name(), self.variant, threads, move || self.builder())
    }
}

/// The default filter for a rate.
pub fn default_at(rate: f64, threads: usize) -> Box<dyn Peer> {
    let builder = move || Filter::builder().false_positive_rate(rate);
    // The default is Bumped for all but the smallest sets.
    filter(format!("default at {rate}"), Variant::Bumped, threads, builder)
}

/// A variant and width at a rate, usually with fractional columns.
pub fn at_rate(variant: Variant, width: Width, rate: f64, threads: usize) -> Box<dyn Peer> {
    let builder = move || Filter::builder().variant(variant).width(width).false_positive_rate(rate);
    filter(format!("{variant} w={width} at {rate}"), variant, threads, builder)
}

fn filter(
    name: String,
    variant: Variant,
    threads: usize,
    builder: impl Fn() -> FilterBuilder<'static> + 'static,
) -> Box<dyn Peer> {
    batched(
        name,
        variant.into(),
        move |keys| {
            let mut builder = builder().threads(threads).kernel(kernel());
            builder.extend_hashes(keys.iter().copied());
            let filter = builder.finish().expect("random keys build").with_kernel(kernel());
            let rate = Some(filter.expected_rate());
            let size = Size { bytes: filter.size_in_bytes(), rate };
            (filter, size)
        },
        |filter: &Filter, key| filter.contains_hash(key),
        |filter, keys, hits| {
            filter.contains_hash_batch_into(keys, hits);
            true
        },
    )
}

/// A function with values of `bits` bits.
pub fn function(variant: Variant, width: Width, bits: u32, threads: usize) -> Box<dyn Peer> {
    batched(
        format!("Function {variant} w={width} r={bits}"),
        variant.into(),
        move |keys| {
            let mut builder = Function::builder()
                .variant(variant)
                .width(width)
                .value_bits(bits)
                .threads(threads)
                .kernel(kernel());
            builder.extend_hashes(keys.iter().map(|&key| (key, value_of(key, bits))));
            let function = builder.finish().expect("random keys build").with_kernel(kernel());
            let rate = Some(0.5_f64.powi(bits as i32));
            let size = Size { bytes: function.size_in_bytes(), rate };
            ((function, bits), size)
        },
        |(function, bits), key| function.get_hash(key) == value_of(key, *bits),
        get_batch,
    )
}

/// Looks up the values of a batch in pieces and compares them with the expected values.
fn get_batch((function, bits): &(Function, u32), keys: &[u64], hits: &mut [bool]) -> bool {
    let mut values = [0; 1024];
    for (keys, hits) in keys.chunks(values.len()).zip(hits.chunks_mut(values.len())) {
        function.get_hash_batch_into(keys, &mut values);
        for ((&key, &value), hit) in keys.iter().zip(&values).zip(hits) {
            *hit = value == value_of(key, *bits);
        }
    }
    true
}
