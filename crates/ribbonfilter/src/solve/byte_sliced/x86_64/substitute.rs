//! Back substitution in byte-sliced form, one panel at a time.

use super::vectors::Vectors;
use super::{ByteSliced, DIAGONAL};
use crate::ribbon::layout::{Layout, MAX_COLUMNS};
use crate::solve::bit_matrix::{ABOVE, solved_upwards};

/// The bits below the diagonal in a panel's own columns. They belong to the panel `w` rows later.
const BELOW: u64 = !(DIAGONAL | ABOVE);

/// See [`ByteSliced::solve`].
#[inline(always)]
pub(super) fn solve<V: Vectors>(cpu: V, system: &ByteSliced, layout: &Layout, bytes: &mut [u8]) {
    match (system.coefficient_planes, system.all_planes - system.coefficient_planes) {
        (4, 1) => substitute::<V, 4, 1>(cpu, system, layout, bytes),
        (4, 2..=4) => substitute::<V, 4, 4>(cpu, system, layout, bytes),
        (4, _) => substitute::<V, 4, 8>(cpu, system, layout, bytes),
        (8, 1) => substitute::<V, 8, 1>(cpu, system, layout, bytes),
        (8, 2..=4) => substitute::<V, 8, 4>(cpu, system, layout, bytes),
        (8, _) => substitute::<V, 8, 8>(cpu, system, layout, bytes),
        (_, 1) => substitute::<V, 16, 1>(cpu, system, layout, bytes),
        (_, 2..=4) => substitute::<V, 16, 4>(cpu, system, layout, bytes),
        (_, _) => substitute::<V, 16, 8>(cpu, system, layout, bytes),
    }
}

/// Back substitution for up to `BYTES` bytes of a row.
///
/// The contribution of one panel to the rows of another is a product of bit matrices. The
/// `COEFFICIENTS` panels solved last, which are all that a row can reach, are kept prepared for
/// multiplication.
///
/// They form a ring buffer: `following[byte][panel % COEFFICIENTS]`. When a panel is solved, the entry
/// at its own index still holds the panel `w` rows later, which shares a byte of the cyclic
/// coefficients with it. In that byte the bits below the diagonal belong to the later panel
/// ([`BELOW`]), and the others to the panel's own rows, which `inverse` solves. The entry is
/// overwritten only afterwards.
#[inline(always)]
fn substitute<V: Vectors, const COEFFICIENTS: usize, const BYTES: usize>(
    cpu: V,
    system: &ByteSliced,
    layout: &Layout,
    bytes: &mut [u8],
) {
    let count = system.all_planes;
    let right_sides = count - COEFFICIENTS;
    let block_slots = layout.first_slot_of(1) as usize;
    let mut following = [[cpu.keep(0); COEFFICIENTS]; BYTES];
    // The rows of a block, one byte per row.
    let mut solved = [[0u8; 64]; BYTES];
    for (panel, words) in system.words.chunks_exact(count).enumerate().rev() {
        let (coefficients, right_sides_of_rows) =
            words.split_first_chunk::<COEFFICIENTS>().expect("planes of coefficients");
        let near = panel % COEFFICIENTS;
        let inverse = solved_upwards(coefficients[near] & ABOVE, DIAGONAL);
        let sums = cpu.sums(coefficients, (near, BELOW), &following);
        for byte in 0..right_sides.min(BYTES) {
            // The remaining coefficients are among the panel's own rows.
            let rows = cpu.product(right_sides_of_rows[byte] ^ sums[byte], inverse);
            following[byte][near] = cpu.keep(rows);
            solved[byte][8 * panel % block_slots..][..8].copy_from_slice(&rows.to_le_bytes());
        }
        let block = (8 * panel / block_slots) as u64;
        // Rows are rounded up to a multiple of 64, so there may be blocks past the last one.
        if (8 * panel).is_multiple_of(block_slots) && block < layout.blocks() {
            let mut columns = [0; MAX_COLUMNS];
            let stored = layout.columns_of(block);
            for (rows, columns) in solved.iter().zip(columns[..stored].chunks_mut(8)) {
                bit_columns(cpu, rows, columns);
            }
            layout.write_block(bytes, block, &columns[..stored]);
        }
    }
}

/// Bit columns: the first bits of 64 bytes in one word, the second bits in another, and so on.
#[inline(always)]
fn bit_columns<V: Vectors>(cpu: V, bytes: &[u8; 64], columns: &mut [u64]) {
    for (number, lanes) in bytes.chunks_exact(V::LANES).enumerate() {
        for (column, bits) in columns.iter_mut().zip(cpu.columns(cpu.load(lanes))) {
            *column |= bits << (V::LANES * number);
        }
    }
}
