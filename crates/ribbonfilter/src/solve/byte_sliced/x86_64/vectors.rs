//! The operations that byte-sliced elimination needs: vectors of bytes, and bit matrices times
//! bytes.

use super::Pool;

/// Stands for no lane: no lane becomes this row.
pub(super) const NO_LANE: u64 = u64::MAX;

/// Vectors of bytes, one per lane, and products of bit matrices with them.
///
/// The types that implement this are tokens: one exists only where the CPU has the instructions. A
/// *matrix* here is an 8 × 8 bit matrix, a word of eight bytes. A byte *times* a matrix is the sum
/// of those bytes of the matrix that the bits of the byte select.
pub(super) trait Vectors: Copy {
    /// Number of lanes in a vector, 32 or 64.
    const LANES: usize;
    /// One byte for each lane.
    type Vector: Copy;
    /// A matrix prepared for multiplication.
    type Table: Copy;
    /// A prepared matrix in memory.
    type Kept: Copy;
    /// Number of words of a prepared matrix in memory.
    const KEPT_WORDS: usize;
    /// Bytes prepared to be multiplied by a matrix.
    type Factors: Copy;
    /// The lanes to gather.
    type Gather<const VECTORS: usize>;

    fn zero(self) -> Self::Vector;
    /// Loads a slice, which must have the length of a vector.
    fn load(self, lanes: &[u8]) -> Self::Vector;
    fn store(self, lanes: &mut [u8], vector: Self::Vector);
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// All bits of the first `count` lanes, or of all lanes if the vector has fewer.
    fn up_to(self, count: usize) -> Self::Vector;
    /// A word with a bit set for each lane that is not zero.
    fn nonzero(self, vector: Self::Vector) -> u64;
    /// Bit columns: the first bits of all lanes in one word, the second bits in another, and so on.
    fn columns(self, vector: Self::Vector) -> [u64; 8];
    /// The inverse of [`Self::columns`].
    fn lanes(self, columns: [u64; 8]) -> Self::Vector;

    fn table(self, matrix: u64) -> Self::Table;
    fn keep(self, matrix: u64) -> Self::Kept;
    fn kept(self, kept: &Self::Kept) -> Self::Table;
    /// Views words as memory for prepared matrices.
    fn as_tables(words: &mut [u64]) -> &mut [Self::Kept];
    fn factors(self, bytes: Self::Vector) -> Self::Factors;
    /// Every lane times a matrix.
    fn times(self, table: Self::Table, factors: Self::Factors) -> Self::Vector;
    /// The bytes of a word times a matrix.
    fn word_times(self, table: Self::Table, bytes: u64) -> u64;
    /// The bytes of a word times a matrix that is not used again.
    fn product(self, matrix: u64, bytes: u64) -> u64;
    /// For each group of matrices, the sum of all words, each times its matrix. Word `masked.0` is
    /// first masked with `masked.1`.
    fn sums<const WORDS: usize, const GROUPS: usize>(
        self,
        words: &[u64; WORDS],
        masked: (usize, u64),
        matrices: &[[Self::Kept; WORDS]; GROUPS],
    ) -> [u64; GROUPS];

    /// Prepares to gather eight lanes, of which any may be [`NO_LANE`].
    fn gather<const VECTORS: usize>(self, lanes: [u64; 8]) -> Self::Gather<VECTORS>;
    /// The bytes of these lanes in one word, zero for [`NO_LANE`].
    fn gathered<const VECTORS: usize>(
        self,
        gather: &Self::Gather<VECTORS>,
        vectors: &[Self::Vector; VECTORS],
    ) -> u64;

    /// Runs `work` as a function of its own, so that its registers are allocated separately.
    ///
    /// The loops of a pass keep a table and some vectors in registers. Inlined into one sweep with
    /// all other numbers of vectors, they would share its registers and spill.
    ///
    /// `work` must be a closure in a function that is compiled for the features already. As the
    /// *only* way into the features, in place of the functions in `InstructionSet::eliminate` and
    /// `solve`, it was tried and reverted: the compiler then no longer inlined what runs in it, and
    /// builds took 1.3 times as long, with 16 columns 2.7 times.
    fn apart<T>(self, work: impl FnOnce() -> T) -> T;
    /// Transposes the lanes of a pool into planes.
    fn transpose(self, pool: &mut Pool);
}
