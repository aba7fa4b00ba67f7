//! The keyword arguments of the functions that build and plan.

use crate::errors;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ribbonfilter::{
    BuildOptions, Effort, ExactSet, ExactSetBuilder, Filter, FilterBuilder, Function,
    FunctionBuilder, Shards, ShardsBuilder, Split, Variant, Width,
};

/// The options that all builds have in common.
const COMMON: [&str; 3] = ["effort", "threads", "key_seed"];

/// The options that must not be `None`.
const NEVER_NONE: [&str; 3] = ["effort", "threads", "key_seed"];

/// The target of a filter's size or rate.
#[derive(Clone, Copy, Debug)]
enum Target {
    Rate(f64),
    BitsPerKey(f64),
    TotalBytes(u64),
    Columns(f64),
    ShardBytes(u64),
}

/// A number of shards: a power of two, or as many as it takes.
#[derive(Clone, Copy, Debug)]
pub enum ShardCount {
    TwoToThe(u32),
    UntilFull,
}

impl<'py> FromPyObject<'_, 'py> for ShardCount {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<String>() {
            Ok(text) if text == "until-full" => Ok(Self::UntilFull),
            Ok(text) => Err(PyValueError::new_err(format!(
                "shards must be a power of two or \"until-full\", but is {text:?}"
            ))),
            Err(_) => bits_of(unsigned("shards", &value)?).map(Self::TwoToThe),
        }
    }
}

/// All settings.
#[derive(Clone, Debug)]
pub struct Settings {
    target: Option<Target>,
    options: BuildOptions,
}

impl Settings {
    /// The settings of a filter: the rate, which is a positional argument, and the options.
    pub fn of_filter(fpr: Option<f64>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let specific = ["bits_per_key", "total_bytes", "variant", "width", "max_memory"];
        Self::of_rate(fpr).with(options, &specific)
    }

    /// The settings of shards. A shard does not know the total number of keys, so there is no
    /// target for the size.
    pub fn of_shards(fpr: Option<f64>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_rate(fpr).with(options, &["columns", "shard_bytes", "variant", "width"])
    }

    /// The settings of a function, which has no target.
    pub fn of_function(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_rate(None).with(options, &["variant", "width", "max_memory"])
    }

    /// The settings of an exact set, which chooses all but the time and the memory of the build.
    pub fn of_exact_set(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_rate(None).with(options, &["max_memory"])
    }

    fn of_rate(fpr: Option<f64>) -> Self {
        let mut options = BuildOptions::default();
        // All that there are: a Python program has no other use for them while it waits.
        options.threads = 0;
        Self { target: fpr.map(Target::Rate), options }
    }

    pub fn key_seed(&self) -> u64 {
        self.options.key_seed
    }

    fn with(mut self, options: Option<&Bound<'_, PyDict>>, specific: &[&str]) -> PyResult<Self> {
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            match name.as_str() {
                name if !COMMON.contains(&name) && !specific.contains(&name) => {
                    return Err(unknown(name));
                }
                name if !NEVER_NONE.contains(&name) && value.is_none() => {}
                "bits_per_key" => self.set_target(Target::BitsPerKey(value.extract()?))?,
                "total_bytes" => self.set_target(Target::TotalBytes(unsigned(&name, &value)?))?,
                "shard_bytes" => self.set_target(Target::ShardBytes(unsigned(&name, &value)?))?,
                "columns" => self.set_target(Target::Columns(value.extract()?))?,
                "variant" => self.options.variant = Some(variant(&value)?),
                "width" => self.options.width = Some(width(&value)?),
                "effort" => self.options.effort = effort(&value)?,
                "threads" => self.options.threads = unsigned(&name, &value)?.try_into()?,
                "key_seed" => self.options.key_seed = unsigned(&name, &value)?,
                "max_memory" => self.options.max_memory = Some(unsigned(&name, &value)?),
                _ => return Err(unknown(&name)),
            }
        }
        Ok(self)
    }

    fn set_target(&mut self, target: Target) -> PyResult<()> {
        match self.target.replace(target) {
            None => Ok(()),
            Some(_) => Err(PyValueError::new_err(
                "fpr, bits_per_key, total_bytes, columns and shard_bytes are mutually exclusive: pass only one of them",
            )),
        }
    }

    pub fn filter_builder(&self) -> FilterBuilder<'static> {
        let builder = Filter::builder().options(self.options.clone());
        match self.target {
            None => builder,
            Some(Target::Rate(rate)) => builder.false_positive_rate(rate),
            Some(Target::BitsPerKey(bits)) => builder.bits_per_key(bits),
            Some(Target::TotalBytes(bytes)) => builder.total_bytes(bytes),
            Some(Target::Columns(columns)) => builder.columns(columns),
            // For shards only.
            Some(Target::ShardBytes(_)) => builder,
        }
    }

    /// The builder of a container with the given number of shards, if the settings are valid.
    pub fn shards_builder(&self, shards: ShardCount) -> PyResult<ShardsBuilder<'static>> {
        let builder = Shards::builder(self.split(shards)?).options(self.options.clone());
        let builder = match self.target {
            Some(Target::Rate(rate)) => builder.false_positive_rate(rate),
            Some(Target::Columns(columns)) => builder.columns(columns),
            // The other targets are for filters only.
            _ => builder,
        };
        builder.check().map_err(errors::build)?;
        Ok(builder)
    }

    fn split(&self, shards: ShardCount) -> PyResult<Split> {
        match (shards, self.target) {
            (ShardCount::TwoToThe(bits), Some(Target::ShardBytes(bytes))) => {
                Ok(Split::FixedSize { bits, bytes })
            }
            (ShardCount::TwoToThe(bits), _) => Ok(Split::ByHash { bits }),
            (ShardCount::UntilFull, Some(Target::ShardBytes(_))) => {
                Err(PyValueError::new_err("shard_bytes needs a number of shards"))
            }
            (ShardCount::UntilFull, _) => Ok(Split::UntilFull),
        }
    }

    pub fn function_builder(&self) -> FunctionBuilder<'static> {
        Function::builder().options(self.options.clone())
    }

    pub fn exact_set_builder(&self) -> ExactSetBuilder<'static> {
        ExactSet::builder().options(self.options.clone())
    }

    /// Reports invalid settings before any key is read.
    pub fn checked(self) -> PyResult<Self> {
        self.filter_builder().plan_for(0).map_err(errors::build)?;
        Ok(self)
    }
}

/// The number of bits of a hash that select one of `shards` shards.
pub fn bits_of(shards: u64) -> PyResult<u32> {
    match shards.is_power_of_two() {
        true => Ok(shards.trailing_zeros()),
        false => Err(PyValueError::new_err(format!(
            "the number of shards must be a power of two, but is {shards}"
        ))),
    }
}

fn unknown(name: &str) -> PyErr {
    PyTypeError::new_err(format!("unexpected keyword argument '{name}'"))
}

/// A non-negative integer.
pub fn unsigned(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|error: PyErr| {
        let text = format!("{name} must be an integer from 0 to 2^64 - 1, but is {value}");
        match error.is_instance_of::<PyOverflowError>(value.py()) {
            true => PyValueError::new_err(text),
            false => PyTypeError::new_err(text),
        }
    })
}

fn variant(value: &Bound<'_, PyAny>) -> PyResult<Variant> {
    let text = value.str()?.to_string();
    let named = |variant: &Variant| variant.to_string().eq_ignore_ascii_case(&text);
    Variant::ALL.iter().copied().find(named).ok_or_else(|| {
        PyValueError::new_err(format!(
            "variant must be \"standard\", \"homogeneous\", \"balanced\" or \"bumped\", but is {text:?}"
        ))
    })
}

fn width(value: &Bound<'_, PyAny>) -> PyResult<Width> {
    let bits = unsigned("width", value)?;
    Width::ALL.into_iter().find(|width| u64::from(width.bits()) == bits).ok_or_else(|| {
        PyValueError::new_err(format!("width must be 16, 32, 64 or 128, but is {bits}"))
    })
}

fn effort(value: &Bound<'_, PyAny>) -> PyResult<Effort> {
    let text = value.str()?.to_string();
    let named = |effort: &Effort| effort.to_string().eq_ignore_ascii_case(&text);
    Effort::ALL.iter().copied().find(named).ok_or_else(|| {
        PyValueError::new_err(format!("effort must be \"normal\" or \"thorough\", but is {text:?}"))
    })
}

/// The name of a variant in Python and in the command.
pub fn variant_name(variant: Variant) -> String {
    variant.to_string().to_lowercase()
}
