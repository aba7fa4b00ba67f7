//! Cutting a finished filter at block boundaries, and joining its parts again (paper, section
//! 5.1).
//!
//! Every key of a Standard or a Homogeneous filter has one location, `w` slots that begin in one
//! block. A part owns some blocks and has a copy of the following ones that equations reach into
//! ([`BlockRange`]), so that every query reads a single part. The bytes of the parts are copies:
//! no system is solved again, no result changes, and joined they are the filter.

use crate::error::{JoinError, Kind, OpenError, ShrinkError};
use crate::format::part::{self, Label};
use crate::format::{self, FOOTER_BYTES, Footer, pieces};
use crate::query::{InPart, Membership, Probe};
use crate::ribbon::range::BlockRange;
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::try_reserve;
use crate::storage::over_bytes::over_bytes;
use crate::{Filter, Key, Variant, Width};
use alloc::vec::Vec;
use core::fmt;

/// Some of the blocks of a [`Filter`], which are enough to query the keys that start there.
///
/// [`Filter::cut`] makes parts, [`Filter::join`] puts them together again. A system can load the
/// parts of a large filter one by one, or spread them over machines: every query
/// needs one part, and [`covers`](Self::covers) says which. The rate is that of the filter; the price
/// of a part is a block that its neighbour has, too (two if w = 128), a seed byte for each
/// segment it covers in a Standard filter, and 52 bytes.
///
/// ```
/// use ribbonfilter::{Filter, Part, Variant};
///
/// let mut builder = Filter::builder().variant(Variant::Homogeneous);
/// builder.extend(0..10_000);
/// let filter = builder.finish()?;
///
/// let parts = filter.cut(4)?;
/// let view = Part::open(parts[2].as_bytes())?;
/// assert_eq!((view.number(), view.part_count()), (2, 4));
/// for key in 0..20_000 {
///     let part = parts.iter().find(|part| part.covers_key(key)).expect("one covers it");
///     assert_eq!(part.contains(key), filter.contains(key));
/// }
/// assert_eq!(Filter::join(&parts)?.as_bytes(), filter.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// As of a filter, the bytes of a part may be any `AsRef<[u8]>`; a foreign one that later returns
/// bytes of another length covers no key any more.
#[derive(Clone)]
pub struct Part<D = OwnedBytes> {
    data: D,
    /// That of the filter.
    pub(crate) footer: Footer,
    label: Label,
    range: BlockRange,
    probe: Probe<Membership, InPart>,
    /// The bytes that `data` had when it was opened.
    len: usize,
}

impl<D: AsRef<[u8]>> Filter<D> {
    /// Cuts the filter into this number of parts, whose numbers of blocks differ by at most one, so
    /// that they have about the same number of keys. Needs no keys and works on a view.
    ///
    /// ```
    /// use ribbonfilter::{Filter, Variant};
    ///
    /// let mut builder = Filter::builder().variant(Variant::Standard);
    /// builder.extend(0..10_000);
    /// let filter = builder.finish()?;
    /// let parts = filter.cut(7)?;
    /// assert_eq!(parts.len(), 7);
    /// // A query of all parts gives the result of the filter.
    /// assert!((0..20_000).all(|key| {
    ///     parts.iter().all(|part| part.contains(key)) == filter.contains(key)
    /// }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter is Balanced or Bumped: keys that find no slot at their first location have
    /// another elsewhere, so that no cut keeps both together. If there are no parts, or more
    /// than the filter has blocks (of 16, 32 or 64 slots; an empty filter can be cut into one
    /// part). If the filter is corrupt, or if memory runs out.
    pub fn cut(&self, parts: u32) -> Result<Vec<Part>, ShrinkError> {
        let footer = self.footer();
        let shape = &footer.shape;
        if !part::can_be_cut(shape.variant) {
            return Err(ShrinkError::CannotBeCut { variant: shape.variant });
        }
        let max = BlockRange::max(shape);
        if parts == 0 || u64::from(parts) > max {
            return Err(ShrinkError::WrongParts { parts: parts.into(), max });
        }
        let filter = self.whole_bytes()?;
        let mut cut = Vec::new();
        try_reserve(&mut cut, parts as usize)?;
        for number in 0..parts {
            let label = Label { number, parts, filter: part::check_of(filter) };
            cut.push(Part::of(filter, &footer, label)?);
        }
        Ok(cut)
    }
}

impl Filter {
    /// Joins all parts of a filter, in any order, to the same bytes.
    ///
    /// ```
    /// use ribbonfilter::{Filter, Variant};
    ///
    /// let mut builder = Filter::builder().variant(Variant::Standard);
    /// builder.extend(0..10_000);
    /// let filter = builder.finish()?;
    /// let mut parts = filter.cut(3)?;
    /// parts.swap(0, 2);
    /// assert_eq!(Filter::join(&parts)?.as_bytes(), filter.as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a part is missing, duplicate, corrupt, or of another filter or cut; or if memory runs out.
    pub fn join<D: AsRef<[u8]>>(parts: &[Part<D>]) -> Result<Self, JoinError> {
        let first = parts.first().ok_or(JoinError::Empty)?;
        check_all_given(first, parts)?;
        let mut joined =
            OwnedBytes::allocate(first.footer.shape.data_bytes() + FOOTER_BYTES as u64)?;
        for (position, part) in parts.iter().enumerate() {
            let bytes = part.intact_bytes(position)?;
            part::put_back(joined.as_mut(), bytes, &part.footer, &part.range);
        }
        let end = first.intact_bytes(0)?;
        if !part::complete(joined.as_mut(), end, first.label) {
            return Err(JoinError::WrongChecksum);
        }
        Self::open(joined).map_err(|_| JoinError::WrongChecksum)
    }
}

/// Checks that every part of the first one's filter is given once, and no other.
fn check_all_given<D: AsRef<[u8]>>(first: &Part<D>, parts: &[Part<D>]) -> Result<(), JoinError> {
    for (position, part) in parts.iter().enumerate() {
        let Label { number, parts, filter } = part.label;
        let mismatch = |field| {
            Err(JoinError::Mismatch { kind: Kind::Part, number: number.into(), position, field })
        };
        if part.footer != first.footer || filter != first.label.filter {
            return mismatch("filter");
        }
        if parts != first.label.parts {
            return mismatch("number of parts");
        }
    }
    let numbers = parts.iter().map(|part| part.label.number.into());
    pieces::in_order(Kind::Part, first.label.parts.into(), numbers).map(|_| ())
}

impl Part {
    /// A part of a filter.
    fn of(filter: &[u8], footer: &Footer, label: Label) -> Result<Self, ShrinkError> {
        let range = BlockRange::new(&footer.shape, label.number, label.parts);
        let mut bytes = OwnedBytes::allocate(part::part_bytes(footer, &range))?;
        part::write(bytes.as_mut(), filter, footer, &range, label);
        Ok(Self::open(bytes).expect("what was cut can be opened"))
    }
}

impl<D: AsRef<[u8]>> Part<D> {
    /// Opens a part over existing bytes, in constant time and without a copy, as
    /// [`Filter::open`] does, which refuses parts as this refuses filters.
    ///
    /// ```
    /// use ribbonfilter::{Filter, OpenError, Part};
    ///
    /// let filter = Filter::build(["ada", "grace"], 0.01)?;
    /// let parts = filter.cut(1)?;
    /// assert!(Part::open(parts[0].as_bytes())?.contains("ada"));
    /// assert!(matches!(Filter::open(parts[0].as_bytes()), Err(OpenError::WrongKind { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a part that this version can read, or not all of one.
    pub fn open(data: D) -> Result<Self, OpenError> {
        let bytes = data.as_ref();
        let (len, (footer, label, range)) = (bytes.len(), part::read(bytes)?);
        let probe = Probe::of_part(&footer, &range, bytes);
        Ok(Self { data, footer, label, range, probe, len })
    }

    /// Checks every byte against the checksums.
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        format::verify(self.data.as_ref(), Kind::Part)
    }

    /// The bytes, if they are what was cut and still what was opened.
    fn intact_bytes(&self, position: usize) -> Result<&[u8], JoinError> {
        let bytes = self.data.as_ref();
        let read = format::verify(bytes, Kind::Part).and_then(|()| part::read(bytes));
        match read {
            Ok((footer, label, _)) if footer == self.footer && label == self.label => Ok(bytes),
            _ => {
                let number = self.label.number.into();
                Err(JoinError::Corrupt { kind: Kind::Part, number, position })
            }
        }
    }

    /// Whether the key with this hash is queried in this part. Of all parts of a filter exactly
    /// one covers it.
    ///
    /// ```
    /// use ribbonfilter::{Filter, Key};
    ///
    /// let parts = Filter::build(0..1000, 0.01)?.cut(5)?;
    /// let hash = 7u64.key_hash(0);
    /// assert_eq!(parts.iter().filter(|part| part.covers(hash)).count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn covers(&self, key_hash: u64) -> bool {
        self.probe.covers(self.data.as_ref(), key_hash)
    }

    /// [`covers`](Self::covers) for a key.
    ///
    /// ```
    /// let parts = ribbonfilter::Filter::build(0..1000, 0.01)?.cut(2)?;
    /// assert!(parts[0].covers_key(7) != parts[1].covers_key(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn covers_key(&self, key: impl Key) -> bool {
        self.covers(key.key_hash(self.footer.key_seed))
    }

    /// Whether the key might be in the set: the filter's result, if this part
    /// [`covers`](Self::covers) the key. Every other key might be.
    ///
    /// ```
    /// let parts = ribbonfilter::Filter::build(0..1000, 0.01)?.cut(2)?;
    /// assert!((0..1000).all(|key| parts[0].contains(key)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(key.key_hash(self.footer.key_seed))
    }

    /// [`contains`](Self::contains) for the key with this hash.
    ///
    /// ```
    /// use ribbonfilter::{Filter, Key};
    ///
    /// let parts = Filter::build(["ada"], 0.01)?.cut(1)?;
    /// assert!(parts[0].contains_hash("ada".key_hash(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn contains_hash(&self, key_hash: u64) -> bool {
        self.probe.query(self.data.as_ref(), key_hash)
    }

    /// The number of the part, counted from 0, in the order of the filter's blocks.
    pub fn number(&self) -> u64 {
        self.label.number.into()
    }

    /// How many parts the filter was cut into.
    pub fn part_count(&self) -> u64 {
        self.label.parts.into()
    }

    /// All bytes, the footer included.
    pub fn size_in_bytes(&self) -> usize {
        self.len
    }

    /// The number of keys of the filter. How many of them the part covers is not stored.
    pub fn filter_len(&self) -> u64 {
        self.footer.keys
    }

    /// The false-positive rate of the filter.
    pub fn filter_rate(&self) -> f64 {
        self.footer.rate()
    }

    /// The filter's variant.
    pub fn variant(&self) -> Variant {
        self.footer.shape.variant
    }

    /// The filter's ribbon width.
    pub fn width(&self) -> Width {
        self.footer.shape.width
    }

    /// The seed under which keys are hashed.
    pub fn key_seed(&self) -> u64 {
        self.footer.key_seed
    }
}

over_bytes!(Part, "part", "ribbonfilter::Filter::build(0..100, 0.01)?.cut(1)?.remove(0)");

impl<D: AsRef<[u8]>> fmt::Debug for Part<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part")
            .field("number", &self.number())
            .field("part_count", &self.part_count())
            .field("variant", &self.variant())
            .field("width", &self.width())
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
