//! AVX-512: 64 keys together. See `sixty_four.rs` for the two steps.
#![expect(unsafe_code, reason = "loads through pointers, and code that needs the CPU's features")]

use super::avx512::XOR_AND;
use super::sixty_four::{Geometry, Located, OFFSET_BITS};
use crate::ribbon::bucket::{BUCKET_STARTS, IN_BUCKET_BITS};
use crate::ribbon::equation::{FRACTION_BITS, HIGH, LOW, Mixer};
use crate::ribbon::system::SEGMENT_BITS;
use core::arch::x86_64::*;

/// Locates 64 keys.
///
/// # Safety
/// The geometry is that of a filter whose bytes are at `bytes`, with codes if `BUMPED`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512ifma")]
pub(super) unsafe fn locate<const W: usize, const WHOLE: bool, const BUMPED: bool>(
    geometry: &Geometry,
    bytes: *const u8,
    keys: &[u64; 64],
    located: &mut Located,
) {
    let (mut full, mut unsure) = (0, 0);
    for group in 0..8 {
        let at = 8 * group;
        // SAFETY: eight keys.
        let keys = unsafe { _mm512_loadu_si512(keys[at..at + 8].as_ptr().cast()) };
        let mixed = mix(_mm512_xor_si512(keys, all(Mixer::WHITEN)), geometry.multiplier);
        let position = position(mixed, geometry.starts);
        let segment = _mm512_srli_epi64::<{ FRACTION_BITS + SEGMENT_BITS }>(position);
        let start = _mm512_srli_epi64::<FRACTION_BITS>(position);
        let mut block = _mm512_add_epi64(start, _mm512_mul_epu32(segment, all(W as u64 - 1)));
        let mut slow = _mm512_cmpeq_epi64_mask(block, all(geometry.trimmed));
        if !WHOLE && W > 2 {
            let after = _mm512_sub_epi64(block, all(geometry.crossing));
            slow |= _mm512_cmplt_epu64_mask(after, all(W as u64 - 2));
        }
        block = _mm512_maskz_mov_epi64(!slow, block);
        let offset = if WHOLE {
            _mm512_slli_epi64::<6>(block)
        } else {
            let boundary = all(geometry.boundary);
            let has_all = _mm512_cmpge_epu64_mask(block, boundary);
            full |= u64::from(has_all) << at;
            let fewer = all(u64::from(geometry.columns - 1) << (OFFSET_BITS + 3));
            let stride = _mm512_mask_add_epi64(fewer, has_all, fewer, all(8 << OFFSET_BITS));
            let words = _mm512_mul_epu32(block, all(geometry.columns.into()));
            let words = _mm512_sub_epi64(words, _mm512_min_epu64(block, boundary));
            _mm512_or_si512(_mm512_slli_epi64::<3>(words), stride)
        };
        unsure |= u64::from(slow) << at;
        store(&mut located.offsets, at, offset);
        if BUMPED {
            store(&mut located.positions, at, position);
        }
        let high = _mm512_srli_epi64::<32>(mixed);
        for (i, words) in located.words.iter_mut().enumerate().take(W) {
            let low = _mm512_mul_epu32(mixed, all(LOW[i].into()));
            let high = _mm512_mul_epu32(high, all(HIGH[i].into()));
            store(words, at, _mm512_xor_si512(low, _mm512_rol_epi64::<32>(high)));
        }
        let fingerprints = _mm512_cvtepi64_epi8(mixed);
        // SAFETY: eight bytes.
        unsafe { _mm_storeu_si64(located.fingerprints[at..at + 8].as_mut_ptr(), fingerprints) };
    }
    if BUMPED {
        // SAFETY: the caller guarantees that all positions have codes.
        unsure |= unsafe { bumped(geometry, bytes, &located.positions) };
    }
    (located.full, located.unsure) = (full, unsure);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn all(value: u64) -> __m512i {
    _mm512_set1_epi64(value as i64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(array: &mut [u64; 64], at: usize, vector: __m512i) {
    // SAFETY: eight words.
    unsafe { _mm512_storeu_si512(array[at..at + 8].as_mut_ptr().cast(), vector) };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(array: &[u64; 64], at: usize) -> __m512i {
    // SAFETY: eight words.
    unsafe { _mm512_loadu_si512(array[at..at + 8].as_ptr().cast()) }
}

/// The same vector. The compiler does not know that it comes from memory or is a constant, so that it
/// stays in a register and is permuted there.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque(mut vector: __m512i) -> __m512i {
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            inout(zmm_reg) vector,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    vector
}

/// Both halves of a product of 64 bits, combined by exclusive or.
///
/// The numbers are `a + 2^52 b` with 12 bits of `b`. The high half is the sum of four products:
/// `(a a' >> 52) + a b' + b a' + 2^52 b b'`, shifted to the right by 12.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn mix(x: __m512i, multiplier: u64) -> __m512i {
    let zero = _mm512_setzero_si512();
    let (m, m_top) = (all(multiplier), all(multiplier >> 52));
    let top = _mm512_srli_epi64::<52>(x);
    let low = _mm512_mullo_epi64(x, m);
    // Weight 2^52, less than 2^54.
    let middle = _mm512_madd52hi_epu64(zero, x, m);
    let middle = _mm512_madd52lo_epu64(middle, top, m);
    let middle = _mm512_madd52lo_epu64(middle, x, m_top);
    // Weight 2^104.
    let high = _mm512_madd52hi_epu64(zero, x, m_top);
    let high = _mm512_madd52hi_epu64(high, top, m);
    let high = _mm512_madd52lo_epu64(high, top, m_top);
    let high = _mm512_add_epi64(_mm512_srli_epi64::<12>(middle), _mm512_slli_epi64::<40>(high));
    _mm512_xor_si512(low, high)
}

/// [`equation::position`](crate::ribbon::equation::position): `mixed * starts >> 48`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn position(mixed: __m512i, starts: u64) -> __m512i {
    let scaled = all(starts << (FRACTION_BITS - (64 - 52)));
    let top = _mm512_mul_epu32(_mm512_srli_epi64::<52>(mixed), scaled);
    _mm512_madd52hi_epu64(top, mixed, scaled)
}

/// Which keys are bumped.
///
/// # Safety
/// All positions must have a code.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
unsafe fn bumped(geometry: &Geometry, bytes: *const u8, positions: &[u64; 64]) -> u64 {
    let codes = bytes.wrapping_add(geometry.codes);
    let bytes = geometry.starts.div_ceil(4 * BUCKET_STARTS);
    let pairs = if bytes <= 64 * TABLE as u64 { bytes.div_ceil(128) as usize } else { 0 };
    let mut table = [_mm512_setzero_si512(); TABLE];
    let mut read = [0; 64];
    if pairs > 0 {
        for (i, part) in table.iter_mut().enumerate().take(2 * pairs) {
            let exist = _bzhi_u64(u64::MAX, (bytes.saturating_sub(64 * i as u64)).min(64) as u32);
            let codes = codes.wrapping_add(64 * i).cast();
            // SAFETY: these codes exist.
            *part = unsafe { _mm512_maskz_loadu_epi8(exist, codes) };
        }
    } else {
        // One by one: gathers take twice as long.
        for (read, &position) in read.iter_mut().zip(positions) {
            let at = super::opaque((position >> (IN_BUCKET_BITS + 2)) as usize);
            // SAFETY: the caller guarantees it.
            *read = unsafe { *codes.wrapping_add(at) };
        }
    }
    let [a, b, c, d] = geometry.thresholds.map(i64::from);
    let thresholds = _mm512_setr_epi64(a, b, c, d, a, b, c, d);
    let mut bumped = 0;
    for at in (0..64).step_by(8) {
        let position = load(positions, at);
        let codes = if pairs > 0 {
            let at = _mm512_srli_epi64::<{ IN_BUCKET_BITS + 2 }>(position);
            let mut codes = _mm512_permutex2var_epi8(table[0], at, table[1]);
            for pair in 1..pairs {
                let other = _mm512_permutex2var_epi8(table[2 * pair], at, table[2 * pair + 1]);
                let here = _mm512_cmpeq_epi64_mask(_mm512_srli_epi64::<7>(at), all(pair as u64));
                codes = _mm512_mask_mov_epi64(codes, here, other);
            }
            codes
        } else {
            // SAFETY: eight bytes.
            _mm512_cvtepu8_epi64(unsafe { _mm_loadu_si64(read[at..at + 8].as_ptr()) })
        };
        let shift = _mm512_and_si512(_mm512_srli_epi64::<{ IN_BUCKET_BITS - 1 }>(position), all(6));
        let code = _mm512_and_si512(_mm512_srlv_epi64(codes, shift), all(3));
        let threshold = _mm512_permutexvar_epi64(code, thresholds);
        let in_bucket = _mm512_and_si512(position, all((1 << IN_BUCKET_BITS) - 1));
        bumped |= u64::from(_mm512_cmplt_epu64_mask(in_bucket, threshold)) << at;
    }
    bumped
}

/// How many vectors of codes are searched for a code. More would take as long as single reads.
const TABLE: usize = 8;

/// Bit `i` is set if all columns of key `i` are as expected.
///
/// # Safety
/// 64 bytes must be readable from `bytes` and each of the `W` blocks of each offset on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,gfni,bmi2")]
pub(super) unsafe fn evaluate<const W: usize, const WHOLE: bool>(
    bytes: *const u8,
    columns: u32,
    located: &Located,
) -> u64 {
    let mut parities = _mm512_setzero_si512();
    let lanes: [__m512i; 8] = core::array::from_fn(|lane| opaque(all(lane as u64)));
    for group in 0..8 {
        let at = 8 * group;
        let words: [__m512i; W] = core::array::from_fn(|i| opaque(load(&located.words[i], at)));
        for (lane, &number) in lanes.iter().enumerate() {
            let offset = located.offsets[at + lane];
            let (offset, stride) = match WHOLE {
                true => (offset, 64),
                false => (offset & !(u64::MAX << OFFSET_BITS), offset >> OFFSET_BITS),
            };
            let first = bytes.wrapping_add(offset as usize);
            let mut sum = _mm512_setzero_si512();
            for (i, &words) in words.iter().enumerate() {
                let block = first.wrapping_add(i * stride as usize);
                // SAFETY: the caller guarantees that 64 bytes are readable.
                let block = unsafe { _mm512_loadu_si512(block.cast()) };
                // Loads have time left if no block crosses a cache line.
                let word = match WHOLE {
                    true => all(located.words[i][at + lane]),
                    false => _mm512_permutexvar_epi64(number, words),
                };
                sum = match i {
                    0 => _mm512_and_si512(block, word),
                    _ => _mm512_ternarylogic_epi64::<XOR_AND>(sum, block, word),
                };
            }
            parities = _mm512_shrdi_epi64::<1>(parities, _mm512_popcnt_epi64(sum));
        }
    }
    let mut wrong = _mm512_xor_si512(parities, by_columns(&located.fingerprints));
    if !WHOLE {
        // Some keys do not have the last column, none has those after it.
        let last = 1 << (columns - 1);
        let compared = _mm512_mask_mov_epi64(all(u64::MAX), last, all(located.full));
        wrong = _mm512_maskz_and_epi64(last | (last - 1), wrong, compared);
    }
    !(_mm512_reduce_or_epi64(wrong) as u64)
}

/// Byte `8 i + j` of the result is byte `8 j + i`.
const TRANSPOSED: [u8; 64] = {
    let mut order = [0; 64];
    let mut i = 0;
    while i < 64 {
        order[i] = (i % 8 * 8 + i / 8) as u8;
        i += 1;
    }
    order
};

/// Byte `8 i + j` of the result is byte `8 i + 7 - j`.
const REVERSED: [u8; 64] = {
    let mut order = [0; 64];
    let mut i = 0;
    while i < 64 {
        order[i] = (i ^ 7) as u8;
        i += 1;
    }
    order
};

/// Bit `c` of each of 64 bytes in lane `c`.
///
/// Each group of eight bytes is a bit matrix; GF2P8AFFINEQB, applied to the unit vectors, transposes it
/// if its rows are reversed. Then byte `c` of lane `g` has column `c` of group `g`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn by_columns(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: each of them has 64 bytes.
    let [bytes, reversed, transposed] = [bytes, &REVERSED, &TRANSPOSED]
        .map(|array| unsafe { _mm512_loadu_si512(array.as_ptr().cast()) });
    let rows = _mm512_permutexvar_epi8(reversed, bytes);
    let columns = _mm512_gf2p8affine_epi64_epi8::<0>(all(0x8040_2010_0804_0201), rows);
    _mm512_permutexvar_epi8(transposed, columns)
}
