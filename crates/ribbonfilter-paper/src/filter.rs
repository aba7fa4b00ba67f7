//! Filters (paper, section 2): a static function of fingerprints, or a homogeneous solution.

use crate::hash::{fingerprint, key_hash};
use crate::ribbon::{Item, Ribbon};
use crate::{Error, Settings, Variant, format, rate};

/// What a query must know besides the solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The variant.
    pub variant: Variant,
    /// The seed of the key hash.
    pub key_seed: u64,
    /// The number of keys.
    pub keys: u64,
    /// The bit of the fingerprint that the first column holds. It is not 0 if the filter is a part
    /// of one that was split by columns.
    pub first_column: u32,
}

impl Header {
    /// The bits that a query of a member returns.
    pub(crate) fn expected(&self, hash: u64) -> u64 {
        match self.variant {
            Variant::Homogeneous => 0,
            _ => u64::from(fingerprint(hash)) >> self.first_column,
        }
    }
}

/// A static set of keys: no false negatives, and about one false positive in `2^r` absent keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    pub(crate) header: Header,
    pub(crate) ribbon: Ribbon,
}

impl Filter {
    /// Builds a filter from keys.
    ///
    /// ```
    /// use ribbonfilter_paper::{Filter, Settings, Variant, Width};
    ///
    /// let settings = Settings::new(Variant::Standard, Width::W64, 7.0);
    /// let filter = Filter::build(&settings, ["ada", "grace", "edsger"])?;
    /// assert!(filter.contains("ada"));
    /// # Ok::<(), ribbonfilter_paper::Error>(())
    /// ```
    pub fn build<K: AsRef<[u8]>>(
        settings: &Settings,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Self, Error> {
        let hashes: Vec<u64> =
            keys.into_iter().map(|key| key_hash(key.as_ref(), settings.key_seed)).collect();
        Self::from_hashes(settings, &hashes)
    }

    /// Builds a filter from the hashes of keys. Equal hashes are one key, but take the space of
    /// several.
    pub fn from_hashes(settings: &Settings, hashes: &[u64]) -> Result<Self, Error> {
        settings.check()?;
        let ribbon = match settings.variant {
            Variant::Homogeneous => {
                let items: Vec<Item<()>> =
                    hashes.iter().map(|&hash| Item { hash, value: () }).collect();
                Ribbon::build(settings, &items)?
            }
            _ => {
                let item = |&hash| Item { hash, value: fingerprint(hash) };
                Ribbon::build(settings, &hashes.iter().map(item).collect::<Vec<_>>())?
            }
        };
        let Settings { variant, key_seed, .. } = *settings;
        let header = Header { variant, key_seed, keys: hashes.len() as u64, first_column: 0 };
        Ok(Self { header, ribbon })
    }

    /// Whether a key may be in the set.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.contains_hash(key_hash(key.as_ref(), self.header.key_seed))
    }

    /// Whether the key of a hash may be in the set.
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.ribbon.matches(hash, self.header.expected(hash))
    }

    /// What a query must know besides the solution.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The solutions.
    pub fn ribbon(&self) -> &Ribbon {
        &self.ribbon
    }

    /// The number of keys.
    pub fn keys(&self) -> u64 {
        self.header.keys
    }

    /// The false-positive rate. That of a homogeneous filter is exact.
    pub fn rate(&self) -> f64 {
        if self.keys() == 0 {
            return 0.0;
        }
        let rate = match self.header.variant {
            Variant::Homogeneous => self.ribbon.homogeneous_rate(),
            _ => self.ribbon.nominal_rate(),
        };
        rate::with_collisions(rate, self.keys())
    }

    /// The size of the file, with everything that is stored.
    pub fn size(&self) -> usize {
        format::size(self)
    }

    /// Bits of the file per key.
    pub fn bits_per_key(&self) -> f64 {
        8.0 * self.size() as f64 / (self.keys() as f64).max(1.0)
    }

    /// The space above the lower bound for this rate: `bits / log2(1/f) - 1` (section 4.1).
    pub fn overhead(&self) -> f64 {
        self.bits_per_key() / -libm::log2(self.rate()) - 1.0
    }
}
