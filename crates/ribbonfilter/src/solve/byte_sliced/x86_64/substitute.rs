//! Back substitution over planes, a panel at a time.

use super::vectors::Vectors;
use super::{ByteSliced, DIAGONAL};
use crate::ribbon::layout::{Layout, MAX_COLUMNS};
use crate::solve::bit_matrix::{ABOVE, solved_upwards};

/// The bits of a panel's own columns before its rows', which belong to the panel `w` rows
/// behind.
const BELOW: u64 = !(DIAGONAL | ABOVE);

/// See [`ByteSliced::solve`].
#[inline(always)]
pub(super) fn solve<V: Vectors>(cpu: V, planes: &ByteSliced, layout: &Layout, bytes: &mut [u8]) {
    match (planes.coefficient_planes, planes.all_planes - planes.coefficient_planes) {
        (4, 1) => substitute::<V, 4, 1>(cpu, planes, layout, bytes),
        (4, 2..=4) => substitute::<V, 4, 4>(cpu, planes, layout, bytes),
        (4, _) => substitute::<V, 4, 8>(cpu, planes, layout, bytes),
        (8, 1) => substitute::<V, 8, 1>(cpu, planes, layout, bytes),
        (8, 2..=4) => substitute::<V, 8, 4>(cpu, planes, layout, bytes),
        (8, _) => substitute::<V, 8, 8>(cpu, planes, layout, bytes),
        (_, 1) => substitute::<V, 16, 1>(cpu, planes, layout, bytes),
        (_, 2..=4) => substitute::<V, 16, 4>(cpu, planes, layout, bytes),
        (_, _) => substitute::<V, 16, 8>(cpu, planes, layout, bytes),
    }
}

/// Back substitution for up to `BYTES` bytes of a row.
///
/// The panels last solved, as many as a row can reach, are kept ready to be multiplied by: what
/// the rows of a panel ask of another panel is a product.
#[inline(always)]
fn substitute<V: Vectors, const COEFFICIENTS: usize, const BYTES: usize>(
    cpu: V,
    planes: &ByteSliced,
    layout: &Layout,
    bytes: &mut [u8],
) {
    let count = planes.all_planes;
    let right_sides = count - COEFFICIENTS;
    let block_slots = layout.first_slot_of(1) as usize;
    let mut behind = [[cpu.keep(0); COEFFICIENTS]; BYTES];
    // The rows of a block, a byte each.
    let mut solved = [[0u8; 64]; BYTES];
    for (panel, words) in planes.words.chunks_exact(count).enumerate().rev() {
        let (asked, demanded) =
            words.split_first_chunk::<COEFFICIENTS>().expect("planes of coefficients");
        let near = panel % COEFFICIENTS;
        let inverse = solved_upwards(asked[near] & ABOVE, DIAGONAL);
        let sums = cpu.sums(asked, (near, BELOW), &behind);
        for byte in 0..right_sides.min(BYTES) {
            // What is left is among the panel's own rows.
            let rows = cpu.product(demanded[byte] ^ sums[byte], inverse);
            behind[byte][near] = cpu.keep(rows);
            solved[byte][8 * panel % block_slots..][..8].copy_from_slice(&rows.to_le_bytes());
        }
        let block = (8 * panel / block_slots) as u64;
        // There may be more rows than slots.
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

/// The first bits of 64 bytes in one word, the second ones in another, and so on.
#[inline(always)]
fn bit_columns<V: Vectors>(cpu: V, bytes: &[u8; 64], columns: &mut [u64]) {
    for (number, lanes) in bytes.chunks_exact(V::LANES).enumerate() {
        for (column, bits) in columns.iter_mut().zip(cpu.columns(cpu.load(lanes))) {
            *column |= bits << (V::LANES * number);
        }
    }
}
