//! Values of which the compiler knows nothing.
#![expect(unsafe_code, reason = "assembly without instructions")]

/// The same number. The compiler cannot combine what is before with what follows, so it does not
/// replace a few loads by a gather, which takes several times as long.
#[inline(always)]
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
pub(crate) fn opaque(mut value: usize) -> usize {
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            inout(reg) value,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    value
}

/// The same number.
#[inline(always)]
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
pub(crate) fn opaque(value: usize) -> usize {
    value
}
