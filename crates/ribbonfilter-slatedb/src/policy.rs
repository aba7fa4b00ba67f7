//! What SlateDB is given: how filters shall be, and the name that goes with them.

use crate::builder::RibbonFilterBuilder;
use crate::filter::RibbonFilter;
use crate::keys::Keys;
use ribbonfilter::{BuildError, Effort, Filter, FilterBuilder, Variant, Width};
use slatedb::PrefixExtractor;
use std::fmt;
use std::sync::Arc;

/// Ribbon filters for the tables of a SlateDB database.
///
/// ```
/// use ribbonfilter_slatedb::RibbonFilterPolicy;
/// use slatedb::FilterPolicy;
///
/// let policy = RibbonFilterPolicy::with_rate(0.01)?;
/// assert!(policy.estimate_size(100_000) * 8 < 680_000); // Bloom: 1,000,000 bits
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone)]
pub struct RibbonFilterPolicy {
    target: Target,
    variant: Variant,
    width: Width,
    effort: Effort,
    keys: Arc<Keys>,
    name: String,
    /// For estimates: SlateDB asks for one at every write, and a plan takes longer than that.
    bytes_per_key: f64,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    Rate(f64),
    BitsPerKey(f64),
}

/// Settings are tried on the smallest table that gets a filter by SlateDB's default.
const FEW_KEYS: u64 = 1000;

/// Estimates are those of larger tables: from here on hardly a bit a key is saved.
const MANY_KEYS: u64 = 100_000;

impl RibbonFilterPolicy {
    /// What the name of every policy begins with: it stands for format version 1 of
    /// `ribbonfilter` and for the hash of a key, and will be another one with another of these.
    ///
    /// Rate, bits per key, variant, width and effort are no part of the name: a filter tells its
    /// shape itself, and any of them can be changed at any time.
    pub const NAME: &'static str = "ribbonfilter:v1";

    /// Filters that report an absent key with at most this rate.
    ///
    /// ```
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    ///
    /// assert!(RibbonFilterPolicy::with_rate(0.001).is_ok());
    /// assert!(RibbonFilterPolicy::with_rate(1.5).is_err());
    /// ```
    ///
    /// # Errors
    /// If no filter has that rate.
    pub fn with_rate(rate: f64) -> Result<Self, BuildError> {
        Self::new(Target::Rate(rate)).checked()
    }

    /// Filters of at most so many bits a key, everything stored included.
    ///
    /// ```
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    /// use slatedb::FilterPolicy;
    ///
    /// let policy = RibbonFilterPolicy::with_bits_per_key(10.0)?;
    /// assert!(policy.estimate_size(8000) <= 10_000);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the bits are too few for a filter.
    pub fn with_bits_per_key(bits: f64) -> Result<Self, BuildError> {
        Self::new(Target::BitsPerKey(bits)).checked()
    }

    fn new(target: Target) -> Self {
        let keys = Keys { whole: true, extractor: None };
        Self {
            target,
            variant: Variant::Bumped,
            width: Width::W64,
            effort: Effort::Normal,
            name: name(&keys),
            keys: Arc::new(keys),
            bytes_per_key: 0.0,
        }
    }

    /// Takes this variant instead of [`Variant::Bumped`]. [`Variant::Homogeneous`] builds faster
    /// and takes 4 to 9 % more bytes.
    ///
    /// ```
    /// use ribbonfilter::{Variant, Width};
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    ///
    /// let policy = RibbonFilterPolicy::with_rate(0.01)?
    ///     .with_variant(Variant::Homogeneous)?
    ///     .with_width(Width::W32)?;
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the variant does not go with the other settings.
    pub fn with_variant(mut self, variant: Variant) -> Result<Self, BuildError> {
        self.variant = variant;
        self.checked()
    }

    /// Takes this width instead of [`Width::W64`]: twice that saves some thousandths of the bytes
    /// and takes up to twice as long to build. A table whose number of keys the width does not
    /// suit gets another one.
    ///
    /// ```
    /// use ribbonfilter::Width;
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    ///
    /// let policy = RibbonFilterPolicy::with_rate(0.01)?.with_width(Width::W128)?;
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the width does not go with the other settings.
    pub fn with_width(mut self, width: Width) -> Result<Self, BuildError> {
        self.width = width;
        self.checked()
    }

    /// Takes this effort instead of [`Effort::Normal`]. [`Effort::Thorough`] makes the filters of
    /// small tables a little smaller and takes several times as long to build them: for tables
    /// that are written once and read by many.
    ///
    /// Homogeneous and Balanced filters are the same with either, and so are Bumped ones of larger
    /// tables: from 2^12 keys on for [`Width::W64`], from 2^14 on for [`Width::W128`].
    ///
    /// ```
    /// use ribbonfilter::Effort;
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    ///
    /// let policy = RibbonFilterPolicy::with_rate(0.01)?.with_effort(Effort::Thorough)?;
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the effort does not go with the other settings.
    pub fn with_effort(mut self, effort: Effort) -> Result<Self, BuildError> {
        self.effort = effort;
        self.checked()
    }

    /// Puts the prefixes of keys into the filters, too, so that scans of a prefix skip tables. Each
    /// prefix of a table takes as many bits as a key.
    ///
    /// The extractor's name becomes part of the policy's: filters that were built with another
    /// extractor are ignored.
    ///
    /// ```
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    /// use slatedb::{FilterPolicy, PrefixExtractor, PrefixTarget};
    /// use std::sync::Arc;
    ///
    /// struct FirstFour;
    ///
    /// impl PrefixExtractor for FirstFour {
    ///     fn name(&self) -> &str {
    ///         "first-four"
    ///     }
    ///     fn prefix_len(&self, of: &PrefixTarget) -> Option<usize> {
    ///         let (PrefixTarget::Point(bytes) | PrefixTarget::Prefix(bytes)) = of;
    ///         (bytes.len() >= 4).then_some(4)
    ///     }
    /// }
    ///
    /// let policy = RibbonFilterPolicy::with_rate(0.01)?.with_prefix_extractor(Arc::new(FirstFour));
    /// assert_eq!(policy.name(), "ribbonfilter:v1:p=first-four");
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[must_use]
    pub fn with_prefix_extractor(self, extractor: Arc<dyn PrefixExtractor>) -> Self {
        let whole = self.keys.whole;
        self.with_keys(Keys { whole, extractor: Some(extractor) })
    }

    /// Whether whole keys are in the filters: they are, unless this is called with `false`.
    /// Without them filters have the prefixes alone, and reads of one key ask for its prefix.
    ///
    /// ```
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    /// use slatedb::FilterPolicy;
    ///
    /// let policy = RibbonFilterPolicy::with_rate(0.01)?.with_whole_key_filtering(false);
    /// assert_eq!(policy.name(), "ribbonfilter:v1:wh=0");
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[must_use]
    pub fn with_whole_key_filtering(self, whole: bool) -> Self {
        let extractor = self.keys.extractor.clone();
        self.with_keys(Keys { whole, extractor })
    }

    fn with_keys(self, keys: Keys) -> Self {
        Self { name: name(&keys), keys: Arc::new(keys), ..self }
    }

    fn checked(mut self) -> Result<Self, BuildError> {
        let few = self.settings().plan_for(FEW_KEYS)?;
        let plan = self.settings().plan_for(MANY_KEYS).unwrap_or(few);
        self.bytes_per_key = plan.bits_per_key() / 8.0;
        Ok(self)
    }

    fn settings(&self) -> FilterBuilder<'static> {
        // SlateDB writes several tables at a time: each on its own thread is enough.
        let settings = Filter::builder().threads(1).variant(self.variant).width(self.width);
        let settings = settings.effort(self.effort);
        match self.target {
            Target::Rate(rate) => settings.false_positive_rate(rate),
            Target::BitsPerKey(bits) => settings.bits_per_key(bits),
        }
    }
}

/// One name for each way to hash keys. The extractor's name comes last, since it may contain
/// anything.
fn name(keys: &Keys) -> String {
    let whole = if keys.whole { "" } else { ":wh=0" };
    match &keys.extractor {
        Some(extractor) => format!("{}{whole}:p={}", RibbonFilterPolicy::NAME, extractor.name()),
        None => format!("{}{whole}", RibbonFilterPolicy::NAME),
    }
}

impl slatedb::FilterPolicy for RibbonFilterPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn builder(&self) -> Box<dyn slatedb::FilterBuilder> {
        Box::new(RibbonFilterBuilder::new(Arc::clone(&self.keys), self.settings()))
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn slatedb::Filter> {
        Arc::new(RibbonFilter::decode(Arc::clone(&self.keys), data))
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        (num_keys as f64 * self.bytes_per_key) as usize
    }

    fn supports_prefix_queries(&self) -> bool {
        self.keys.extractor.is_some()
    }
}

impl fmt::Debug for RibbonFilterPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RibbonFilterPolicy")
            .field("name", &self.name)
            .field("target", &self.target)
            .field("variant", &self.variant)
            .field("width", &self.width)
            .field("effort", &self.effort)
            .finish_non_exhaustive()
    }
}
