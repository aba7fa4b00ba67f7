//! From the hash of a key to its equation.
//!
//! A key is an equation over the slots of a system: it starts at a *block* of 64 slots, covers `W`
//! whole blocks from there on, and each bit of `W` words of coefficients says whether a slot takes
//! part. The exclusive or of these slots must be the key's fingerprint or value.
//!
//! ```text
//! key hash ── Mixer ──> mixed hash h ──┬─ position(h, starts) ──> start, fraction
//!                                      ├─ coefficients(h) ──────> W words
//!                                      └─ low bits ─────────────> fingerprint of a filter
//! ```
//!
//! What must hold: the start is monotone in the mixed hash. Segments, threads, shards and spilled
//! runs are ranges of mixed hashes because of that; [`position`] is the only place that knows it.
//!
//! Why one multiplication suffices, and how bad hashes are repaired by a seed, is decided in
//! `docs/decisions/hash.md`; where the words come from, in `docs/decisions/words.md`.

/// Mixes key hashes, which need not be random, into hashes whose bits all depend on all of them.
///
/// One 128-bit product, folded. The multiplier depends on the seed: a seed that is bad for the
/// keys of a set (because they have structure, or by bad luck) is replaced by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mixer {
    multiplier: u64,
}

/// So that the hash 0 is nothing special.
const WHITEN: u64 = 0x9b05_688c_2b3e_6c1f;

impl Mixer {
    /// The mixer of a seed.
    pub(crate) const fn new(seed: u8) -> Self {
        // Odd, with bits that look random for each seed: the finalizer of SplitMix64.
        let z = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self { multiplier: z ^ z >> 31 | 1 }
    }

    /// The mixed hash.
    #[inline(always)]
    pub(crate) const fn mix(self, key_hash: u64) -> u64 {
        let product = (key_hash ^ WHITEN) as u128 * self.multiplier as u128;
        product as u64 ^ (product >> 64) as u64
    }

    /// The factor, for kernels that mix several hashes together.
    #[inline(always)]
    pub(crate) const fn multiplier(self) -> u64 {
        self.multiplier
    }

    /// What is added to a hash before it is multiplied, for the same kernels.
    pub(crate) const WHITEN: u64 = WHITEN;
}

/// The hash of a bumped key in the second layer: other starts, so that keys that were crowded in
/// the first layer are spread. Each seed gives other ones.
#[inline(always)]
pub(crate) const fn rehash(mixed: u64, seed: u8) -> u64 {
    mixed.wrapping_mul(rehash_factor(seed))
}

/// The factor of [`rehash`]; odd.
#[inline(always)]
pub(crate) const fn rehash_factor(seed: u8) -> u64 {
    0xcbbb_9d5d_c105_9ed9u64.wrapping_add((seed as u64).wrapping_mul(0x2545_f491_4f6c_dd1e))
}

/// The bits of a position below the start: how far into the keys of its start a key lies.
pub(crate) const FRACTION_BITS: u32 = 16;

/// The position of a mixed hash: its start, and 16 bits that are uniform among the keys of a start.
/// Monotone in the hash. `span` is the number of starts times 2^16.
#[inline(always)]
pub(crate) const fn position(mixed: u64, span: u64) -> u64 {
    ((mixed as u128 * span as u128) >> 64) as u64
}

/// The start of a mixed hash, below `starts`.
#[inline(always)]
pub(crate) const fn start(mixed: u64, starts: u64) -> u64 {
    position(mixed, starts)
}

/// The number of words that can be made of a mixed hash.
pub(crate) const WORDS: usize = 4;

/// Odd factors of the lower and of the upper half of a hash: half of the fractions of the square
/// roots of the first primes, as in SHA-2, made odd.
pub(crate) const LOW: [u32; WORDS] = [0x2b3e_6c1f, 0xfb41_bd6b, 0xc105_9ed9, 0x367c_d507];
pub(crate) const HIGH: [u32; WORDS] = [0x9b05_688d, 0x1f83_d9ab, 0xcbbb_9d5d, 0x629a_292b];

/// One word of a mixed hash. Products of 32-bit halves, because every vector unit has them.
#[inline(always)]
pub(crate) const fn word(mixed: u64, index: usize) -> u64 {
    let low = (mixed as u32 as u64) * LOW[index] as u64;
    let high = (mixed >> 32) * HIGH[index] as u64;
    low ^ high.rotate_left(32)
}

/// The coefficients of an equation over `W` blocks.
#[inline(always)]
pub(crate) fn coefficients<const W: usize>(mixed: u64) -> [u64; W] {
    core::array::from_fn(|index| word(mixed, index))
}

/// The coefficients of an equation that selects eight slots of four blocks: for maps with wide
/// values, whose rows are read one by one. The slots lie in different residue classes modulo 8, so
/// that the bit at which a row begins in its byte is known from the class.
#[inline(always)]
pub(crate) fn eight_slots(mixed: u64) -> [u8; 8] {
    let bytes = word(mixed, 0).to_le_bytes();
    core::array::from_fn(|class| bytes[class] & 0xf8 | class as u8)
}

/// The bits of a filter's fingerprint: as many low bits of the mixed hash as there are columns.
pub(crate) const MAX_COLUMNS: u32 = 32;

/// The fingerprint in the row of a map, of at most 63 bits. It follows from the key hash, so that it
/// does not change with the seed, by two products, since it is all that tells keys apart.
#[inline(always)]
pub(crate) const fn map_fingerprint(key_hash: u64, bits: u32) -> u64 {
    let mixed = Mixer::new(u8::MAX).mix(Mixer::new(u8::MAX - 1).mix(key_hash));
    mixed & !(u64::MAX << bits)
}
