//! Predicts the properties of a filter before it is built.

use crate::handle;
use crate::settings::{number_of, ribbon_settings};
use crate::status::{Failure, guarded, ribbon_status};

/// The predicted properties of a filter of a given number of keys.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ribbon_plan {
    /// As in `ribbon_settings`.
    pub variant: u32,
    /// As in `ribbon_settings`.
    pub width: u32,
    /// The average number of columns.
    pub columns: f64,
    /// The expected false-positive rate.
    pub expected_rate: f64,
    /// The expected number of seeds that a build tries per segment of the system, on average.
    pub expected_solutions: f64,
    /// The size of the filter in bytes, footer included.
    pub bytes: u64,
    /// The peak memory of the build in bytes, including the hashes of the keys and the filter.
    pub peak_memory: u64,
}

/// Plans a filter of `keys` keys. If `settings` is null, uses the default settings.
///
/// # Safety
/// `settings` is null or valid; `out` is null or points to a writable `ribbon_plan`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_plan_for(
    settings: *const ribbon_settings,
    keys: u64,
    out: *mut ribbon_plan,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (settings, out) = unsafe { (settings.as_ref(), handle::output(out, "result")?) };
        let builder = settings.copied().unwrap_or_default().builder()?;
        let plan = builder.plan_for(keys).map_err(Failure::of(ribbon_status::INVALID_ARGUMENT))?;
        out.set(ribbon_plan {
            variant: number_of(plan.variant()),
            width: plan.width().bits(),
            columns: plan.columns(),
            expected_rate: plan.expected_rate(),
            expected_solutions: plan.expected_solutions(),
            bytes: plan.size_in_bytes(),
            peak_memory: plan.peak_memory(),
        });
        Ok(())
    })
}
