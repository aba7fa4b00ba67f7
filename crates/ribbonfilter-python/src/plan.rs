//! Plans: the properties of a filter before it is built.

use crate::errors;
use crate::settings::{Settings, unsigned, variant_name};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The properties of a filter, known before it is built: see `plan`.
#[pyclass(frozen, module = "ribbonfilter")]
pub struct Plan(ribbonfilter::Plan);

#[pymethods]
impl Plan {
    /// The number of keys planned for.
    #[getter]
    fn keys(&self) -> u64 {
        self.0.keys()
    }

    /// The variant: "standard", "homogeneous", "balanced" or "bumped".
    #[getter]
    fn variant(&self) -> String {
        variant_name(self.0.variant())
    }

    /// The ribbon width: 16, 32, 64 or 128.
    #[getter]
    fn width(&self) -> u32 {
        self.0.width().bits()
    }

    /// The mean number of columns: the bits that a query compares.
    #[getter]
    fn columns(&self) -> f64 {
        self.0.columns()
    }

    /// The false-positive rate of the filter: at most this, unless the build needs more slots than
    /// planned and the target is a size, or none of sixteen solutions of a Homogeneous filter reaches
    /// it.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.0.expected_rate()
    }

    /// The expected number of seeds that a segment of the system needs, on average.
    #[getter]
    fn expected_solutions(&self) -> f64 {
        self.0.expected_solutions()
    }

    /// The size of the filter in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.size_in_bytes()
    }

    /// The size of the filter in bits, divided by the number of keys.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.0.bits_per_key()
    }

    /// The peak memory of the build, in bytes.
    #[getter]
    fn peak_memory(&self) -> u64 {
        self.0.peak_memory()
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.Plan: {} keys, {} w = {}, {} bytes, rate {:.3e}, peak memory {} bytes>",
            self.keys(),
            self.variant(),
            self.width(),
            self.nbytes(),
            self.expected_rate(),
            self.peak_memory(),
        )
    }
}

/// Plans a filter of `n` keys: its size, rate and variant, and the memory to build it.
///
/// Takes the settings of `Filter.build`.
///
/// >>> planned = plan(1_000_000, fpr=0.01)
/// >>> planned.variant, planned.width
/// ('bumped', 128)
/// >>> planned.nbytes < 850_000   # a Bloom filter takes 1,200,000
/// True
/// >>> plan(4000, effort="thorough").nbytes < plan(4000).nbytes
/// True
#[pyfunction]
#[pyo3(signature = (n, fpr = None, **settings), text_signature = "(n, fpr=None, *, bits_per_key=None, total_bytes=None, variant=None, width=None, effort='normal', threads=0, key_seed=0, max_memory=None)")]
pub fn plan(
    n: &Bound<'_, PyAny>,
    fpr: Option<f64>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Plan> {
    let n = unsigned("n", n)?;
    let builder = Settings::of_filter(fpr, settings)?.filter_builder();
    builder.plan_for(n).map(Plan).map_err(errors::build)
}

/// The maximum number of keys whose filter takes at most `nbytes` bytes, or 0 if there is none.
///
/// >>> n = max_keys(4096, fpr=0.01)
/// >>> plan(n, fpr=0.01).nbytes <= 4096 < plan(n + 1, fpr=0.01).nbytes
/// True
#[pyfunction]
#[pyo3(signature = (nbytes, fpr = None, **settings), text_signature = "(nbytes, fpr=None, *, bits_per_key=None, variant=None, width=None, effort='normal')")]
pub fn max_keys(
    nbytes: &Bound<'_, PyAny>,
    fpr: Option<f64>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<u64> {
    let nbytes = unsigned("nbytes", nbytes)?;
    let builder = Settings::of_filter(fpr, settings)?.filter_builder();
    builder.max_keys(nbytes).map_err(errors::build)
}
