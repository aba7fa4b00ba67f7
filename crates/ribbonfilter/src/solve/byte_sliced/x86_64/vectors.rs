//! What elimination by planes asks of a CPU: vectors of bytes, and squares times bytes.

use super::Pool;

/// Runs instructions that a token in scope proves the CPU to have, on references to as many bytes
/// as they load or store.
macro_rules! proven {
    ($body:expr) => {{
        // SAFETY: as above.
        unsafe { $body }
    }};
}
pub(super) use proven;

/// What no lane is: a row that none becomes.
pub(super) const NO_LANE: u64 = u64::MAX;

/// Vectors of bytes, one a lane, and products of squares with them.
///
/// The types that implement this are tokens: one exists only where the CPU has the
/// instructions. A *square* is a word of eight bytes, and a byte *times* it the sum of those of
/// its bytes that the byte's bits select.
pub(super) trait Vectors: Copy {
    /// Lanes of a vector, 32 or 64.
    const LANES: usize;
    /// A byte for each lane.
    type Vector: Copy;
    /// A square made ready to be multiplied by.
    type Table: Copy;
    /// The same in memory.
    type Kept: Copy;
    /// Words of memory that it takes.
    const KEPT_WORDS: usize;
    /// Bytes made ready to select.
    type Factors: Copy;
    /// Which lanes to bring together.
    type Gather<const VECTORS: usize>;

    fn zero(self) -> Self::Vector;
    /// The first lanes of a slice, which has as many as a vector.
    fn load(self, lanes: &[u8]) -> Self::Vector;
    fn store(self, lanes: &mut [u8], vector: Self::Vector);
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// All bits of so many lanes, of all if they are more than a vector has.
    fn up_to(self, count: usize) -> Self::Vector;
    /// A bit for each lane that is not zero.
    fn nonzero(self, vector: Self::Vector) -> u64;
    /// The first bits of all lanes in one word, the second ones in another, and so on.
    fn columns(self, vector: Self::Vector) -> [u64; 8];
    /// The lanes whose bits are in such words.
    fn lanes(self, columns: [u64; 8]) -> Self::Vector;

    fn table(self, square: u64) -> Self::Table;
    fn keep(self, square: u64) -> Self::Kept;
    fn kept(self, kept: &Self::Kept) -> Self::Table;
    /// Memory for squares.
    fn places(words: &mut [u64]) -> &mut [Self::Kept];
    fn factors(self, bytes: Self::Vector) -> Self::Factors;
    /// Every lane times a square.
    fn times(self, table: Self::Table, factors: Self::Factors) -> Self::Vector;
    /// The bytes of a word times a square.
    fn word_times(self, table: Self::Table, bytes: u64) -> u64;
    /// The same where the square is not used again.
    fn product(self, square: u64, bytes: u64) -> u64;
    /// For each group of squares the sum of all words, each times its square. Of one word only
    /// the bits under a mask count.
    fn sums<const WORDS: usize, const GROUPS: usize>(
        self,
        words: &[u64; WORDS],
        masked: (usize, u64),
        squares: &[[Self::Kept; WORDS]; GROUPS],
    ) -> [u64; GROUPS];

    /// Prepares to bring eight lanes together, of which any may be [`NO_LANE`].
    fn gather<const VECTORS: usize>(self, lanes: [u64; 8]) -> Self::Gather<VECTORS>;
    /// Those lanes in one word, zero for none.
    fn gathered<const VECTORS: usize>(
        self,
        gather: &Self::Gather<VECTORS>,
        vectors: &[Self::Vector; VECTORS],
    ) -> u64;

    /// Runs something as a function of its own, so that registers are given out for it alone.
    fn apart<T>(self, work: impl FnOnce() -> T) -> T;
    /// Lays the lanes of a pool out in planes.
    fn transpose(self, pool: &mut Pool);
}
