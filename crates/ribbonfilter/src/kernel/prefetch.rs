//! Asking for memory before it is needed. It depends on the target alone, not on the kernel.
#![expect(unsafe_code, reason = "prefetch instructions")]

/// Asks for the cache line of an address, which need not be one that can be read.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(crate) fn prefetch(address: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing that the program could see, and of an address that
    // cannot be read it does nothing; SSE is part of every x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

#[inline(always)]
#[cfg(target_arch = "aarch64")]
pub(crate) fn prefetch(address: *const u8) {
    // SAFETY: a prefetch changes nothing that the program could see, and of an address that
    // cannot be read it does nothing.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(nostack, preserves_flags, readonly),
        );
    }
}
