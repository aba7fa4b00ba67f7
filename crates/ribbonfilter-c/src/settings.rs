//! The settings of a filter or an exact set: a plain struct in which zero means the default.

use crate::status::{Failure, ribbon_status};
use ribbonfilter::{
    BuildOptions, Effort, ExactSet, ExactSetBuilder, Filter, FilterBuilder, Variant, Width,
};

/// The settings of a filter or an exact set. Initialize all fields with zero (`ribbon_settings settings = {0};`),
/// then set the ones you need. At most one of the four targets `false_positive_rate`,
/// `bits_per_key`, `total_bytes` and `columns` may be set; without one, the false-positive rate is
/// 1 %.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ribbon_settings {
    /// Target: a false-positive rate above 0 and below 1.
    pub false_positive_rate: f64,
    /// Target: bits per key, footer included.
    pub bits_per_key: f64,
    /// Target: a total size in bytes, footer included.
    pub total_bytes: u64,
    /// Target: columns, which give a false-positive rate of about 2^-columns.
    pub columns: f64,
    /// 1 Standard, 2 Homogeneous, 3 Balanced, 4 Bumped; 0 chooses by the number of keys.
    pub variant: u32,
    /// The ribbon width: 16, 32, 64 or 128; 0 chooses by the variant.
    pub width: u32,
    /// The number of build threads; 0 for one per core.
    pub threads: u32,
    /// How long a build may search for a smaller filter: 0 normal, 1 thorough. A thorough build of
    /// a small set takes several times as long.
    pub effort: u32,
    /// The maximum memory of a build in bytes; 0 for no limit.
    pub max_memory: u64,
    /// The seed under which keys are hashed.
    pub key_seed: u64,
}

impl ribbon_settings {
    /// Creates a builder with these settings.
    pub(crate) fn builder(&self) -> Result<FilterBuilder<'static>, Failure> {
        self.target(Filter::builder().options(self.options()?))
    }

    /// These settings without a target.
    fn options(&self) -> Result<BuildOptions, Failure> {
        let mut options = BuildOptions::default();
        options.variant = self.variant()?;
        options.width = self.width()?;
        options.effort = self.effort()?;
        options.threads = self.threads as usize;
        options.max_memory = (self.max_memory > 0).then_some(self.max_memory);
        options.key_seed = self.key_seed;
        Ok(options)
    }

    /// Creates a builder of an exact set with these settings.
    pub(crate) fn exact_builder(&self) -> Result<ExactSetBuilder<'static>, Failure> {
        if self.has_target() || self.variant != 0 || self.width != 0 {
            return Err(invalid("an exact set has no target, variant or width: set them to 0"));
        }
        Ok(ExactSet::builder().options(self.options()?))
    }

    fn has_target(&self) -> bool {
        let Self { false_positive_rate: rate, bits_per_key, total_bytes, columns, .. } = *self;
        rate != 0.0 || bits_per_key != 0.0 || total_bytes != 0 || columns != 0.0
    }

    /// Sets the one target that is not zero.
    fn target(&self, builder: FilterBuilder<'static>) -> Result<FilterBuilder<'static>, Failure> {
        let Self { false_positive_rate: rate, bits_per_key, total_bytes, columns, .. } = *self;
        let given = [rate != 0.0, bits_per_key != 0.0, total_bytes != 0, columns != 0.0];
        match given {
            [false, false, false, false] => Ok(builder.false_positive_rate(0.01)),
            [true, false, false, false] => Ok(builder.false_positive_rate(rate)),
            [false, true, false, false] => Ok(builder.bits_per_key(bits_per_key)),
            [false, false, true, false] => Ok(builder.total_bytes(total_bytes)),
            [false, false, false, true] => Ok(builder.columns(columns)),
            _ => Err(invalid(
                "only one of false_positive_rate, bits_per_key, total_bytes and columns can be set",
            )),
        }
    }

    fn variant(&self) -> Result<Option<Variant>, Failure> {
        match self.variant {
            0 => Ok(None),
            1 => Ok(Some(Variant::Standard)),
            2 => Ok(Some(Variant::Homogeneous)),
            3 => Ok(Some(Variant::Balanced)),
            4 => Ok(Some(Variant::Bumped)),
            other => Err(invalid(&format!("the variant must be 0 to 4, but is {other}"))),
        }
    }

    fn width(&self) -> Result<Option<Width>, Failure> {
        match self.width {
            0 => Ok(None),
            16 => Ok(Some(Width::W16)),
            32 => Ok(Some(Width::W32)),
            64 => Ok(Some(Width::W64)),
            128 => Ok(Some(Width::W128)),
            other => {
                Err(invalid(&format!("the width must be 0, 16, 32, 64 or 128, but is {other}")))
            }
        }
    }

    fn effort(&self) -> Result<Effort, Failure> {
        match self.effort {
            0 => Ok(Effort::Normal),
            1 => Ok(Effort::Thorough),
            other => Err(invalid(&format!("the effort must be 0 or 1, but is {other}"))),
        }
    }
}

/// The number of a variant in `ribbon_settings`.
pub(crate) fn number_of(variant: Variant) -> u32 {
    match variant {
        Variant::Standard => 1,
        Variant::Homogeneous => 2,
        Variant::Balanced => 3,
        _ => 4,
    }
}

fn invalid(message: &str) -> Failure {
    Failure::new(ribbon_status::INVALID_ARGUMENT, message)
}
