//! Prefetching of memory. It depends on the target alone, not on the kernel.
#![expect(unsafe_code, reason = "prefetch instructions")]

/// Prefetches the cache line of an address. The address need not be readable.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(crate) fn prefetch(address: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch has no effect that the program can observe, and at an address that cannot
    // be read it does nothing. SSE is part of every x86-64 CPU.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

#[inline(always)]
#[cfg(target_arch = "aarch64")]
pub(crate) fn prefetch(address: *const u8) {
    // SAFETY: a prefetch has no effect that the program can observe, and at an address that cannot
    // be read it does nothing.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(nostack, preserves_flags, readonly),
        );
    }
}
