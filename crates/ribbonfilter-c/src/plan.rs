//! What will come out, before any work.

use crate::handle;
use crate::settings::{number_of, ribbon_settings};
use crate::status::{Failure, guarded, ribbon_status};

/// What a filter of a given number of keys will be.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ribbon_plan {
    /// As in `ribbon_settings`.
    pub variant: u32,
    /// As in `ribbon_settings`.
    pub width: u32,
    /// The mean number of columns.
    pub columns: f64,
    /// The false-positive rate to expect.
    pub expected_rate: f64,
    /// How many seeds a segment of the system is expected to need, on average.
    pub expected_solutions: f64,
    /// All bytes of the filter.
    pub bytes: u64,
    /// The memory that the build takes, the hashes of the keys and the filter included.
    pub peak_memory: u64,
}

/// Plans a filter of `keys` keys. `settings` may be null, for the defaults.
///
/// # Safety
/// `settings` is null or valid, `out` is null or a place for a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_plan_for(
    settings: *const ribbon_settings,
    keys: u64,
    out: *mut ribbon_plan,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (settings, out) = unsafe { (settings.as_ref(), handle::place(out, "result")?) };
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
