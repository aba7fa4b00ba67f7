//! The filter policy for SlateDB: the settings of the filters and their name.

use crate::builder::RibbonFilterBuilder;
use crate::filter::RibbonFilter;
use crate::keys::Keys;
use ribbonfilter::{BuildError, BuildOptions, Effort, Filter, FilterBuilder, Variant, Width};
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
    options: BuildOptions,
    keys: Arc<Keys>,
    name: String,
    /// For size estimates. SlateDB requests one for every write, and a plan takes longer than a
    /// write.
    bytes_per_key: f64,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    Rate(f64),
    BitsPerKey(f64),
}

/// Settings are checked for the smallest table that gets a filter with SlateDB's default settings.
const FEW_KEYS: u64 = 1000;

/// Estimates assume this number of keys. For larger tables, the bits per key hardly change.
const MANY_KEYS: u64 = 100_000;

impl RibbonFilterPolicy {
    /// The prefix of every policy's name. It identifies format version 1 of `ribbonfilter` and the
    /// hash function for keys, and changes if one of them changes.
    ///
    /// Rate, bits per key, variant, width and effort are not part of the name: every filter stores
    /// its own parameters, so these settings can be changed at any time.
    pub const NAME: &'static str = "ribbonfilter:v1";

    /// Creates a policy for filters with at most this false-positive rate.
    ///
    /// ```
    /// use ribbonfilter_slatedb::RibbonFilterPolicy;
    ///
    /// assert!(RibbonFilterPolicy::with_rate(0.001).is_ok());
    /// assert!(RibbonFilterPolicy::with_rate(1.5).is_err());
    /// ```
    ///
    /// # Errors
    /// If no filter can have this rate.
    pub fn with_rate(rate: f64) -> Result<Self, BuildError> {
        Self::new(Target::Rate(rate)).checked()
    }

    /// Creates a policy for filters with at most this number of bits per key, footer included.
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
    /// If this is too few bits for a filter.
    pub fn with_bits_per_key(bits: f64) -> Result<Self, BuildError> {
        Self::new(Target::BitsPerKey(bits)).checked()
    }

    fn new(target: Target) -> Self {
        let keys = Keys { whole: true, extractor: None };
        // One thread, as by default: SlateDB writes several tables concurrently.
        let mut options = BuildOptions::default();
        options.variant = Some(Variant::Bumped);
        options.width = Some(Width::W64);
        Self { target, options, name: name(&keys), keys: Arc::new(keys), bytes_per_key: 0.0 }
    }

    /// Uses this variant instead of [`Variant::Bumped`]. [`Variant::Homogeneous`] is faster to
    /// build and 4 to 9 % larger.
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
    /// If the variant is incompatible with the other settings.
    pub fn with_variant(mut self, variant: Variant) -> Result<Self, BuildError> {
        self.options.variant = Some(variant);
        self.checked()
    }

    /// Uses this width instead of [`Width::W64`]. [`Width::W128`] saves a few tenths of a percent
    /// of the size and takes up to twice as long to build. If the width does not suit the number of
    /// keys of a table, the table gets another width.
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
    /// If the width is incompatible with the other settings.
    pub fn with_width(mut self, width: Width) -> Result<Self, BuildError> {
        self.options.width = Some(width);
        self.checked()
    }

    /// Uses this effort instead of [`Effort::Normal`]. [`Effort::Thorough`] makes the filters of
    /// small tables slightly smaller and takes several times as long to build them. Use it for
    /// tables that are written once and read often.
    ///
    /// The effort makes no difference for Homogeneous and Balanced filters, nor for Bumped filters
    /// of larger tables: from 2^12 keys on for [`Width::W64`], from 2^14 on for [`Width::W128`].
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
    /// If the effort is incompatible with the other settings.
    pub fn with_effort(mut self, effort: Effort) -> Result<Self, BuildError> {
        self.options.effort = effort;
        self.checked()
    }

    /// Also adds the prefixes of keys to the filters, so that prefix scans can skip tables. Each
    /// distinct prefix of a table takes the same number of bits as a key.
    ///
    /// The extractor's name becomes part of the policy's name: filters that were built with another
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

    /// Sets whether the filters contain whole keys; the default is `true`. Without whole keys, the
    /// filters contain only prefixes, and a read of a key looks up its prefix.
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
        let settings = Filter::builder().options(self.options.clone());
        match self.target {
            Target::Rate(rate) => settings.false_positive_rate(rate),
            Target::BitsPerKey(bits) => settings.bits_per_key(bits),
        }
    }
}

/// The name of a policy, distinct for each way to hash keys. The extractor's name comes last, since
/// it may contain any characters.
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
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
