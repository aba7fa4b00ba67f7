//! What the keyword arguments of the functions that build and plan say.

use crate::errors;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ribbonfilter::{
    Effort, Filter, FilterBuilder, Function, FunctionBuilder, Shards, ShardsBuilder, Split,
    Variant, Width,
};

/// The options of everything that is built.
const OF_ALL: [&str; 5] = ["variant", "width", "effort", "threads", "key_seed"];

/// The options that may not be `None`.
const NEVER_NONE: [&str; 3] = ["effort", "threads", "key_seed"];

/// What a filter shall reach.
#[derive(Clone, Copy, Debug)]
enum Target {
    Rate(f64),
    BitsPerKey(f64),
    TotalBytes(u64),
    Columns(f64),
}

/// Everything that can be chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    target: Option<Target>,
    variant: Option<Variant>,
    width: Option<Width>,
    effort: Effort,
    threads: usize,
    pub key_seed: u64,
    max_memory: Option<u64>,
}

impl Settings {
    /// The settings of a filter: a rate, which has its place among the arguments, and options.
    pub fn of_filter(fpr: Option<f64>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_rate(fpr).with(options, &["bits_per_key", "total_bytes", "max_memory"])
    }

    /// The settings of shards, none of which knows how many keys there are in all.
    pub fn of_shards(fpr: Option<f64>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_rate(fpr).with(options, &["columns"])
    }

    /// The settings of a function, which has no rate or size to aim for.
    pub fn of_function(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::default().with(options, &["max_memory"])
    }

    fn of_rate(fpr: Option<f64>) -> Self {
        Self { target: fpr.map(Target::Rate), ..Self::default() }
    }

    fn with(mut self, options: Option<&Bound<'_, PyDict>>, besides: &[&str]) -> PyResult<Self> {
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            match name.as_str() {
                name if !OF_ALL.contains(&name) && !besides.contains(&name) => {
                    return Err(unknown(name));
                }
                name if !NEVER_NONE.contains(&name) && value.is_none() => {}
                "bits_per_key" => self.aim(Target::BitsPerKey(value.extract()?))?,
                "total_bytes" => self.aim(Target::TotalBytes(whole(&name, &value)?))?,
                "columns" => self.aim(Target::Columns(value.extract()?))?,
                "variant" => self.variant = Some(variant(&value)?),
                "width" => self.width = Some(width(&value)?),
                "effort" => self.effort = effort(&value)?,
                "threads" => self.threads = whole(&name, &value)?.try_into()?,
                "key_seed" => self.key_seed = whole(&name, &value)?,
                "max_memory" => self.max_memory = Some(whole(&name, &value)?),
                _ => return Err(unknown(&name)),
            }
        }
        Ok(self)
    }

    fn aim(&mut self, target: Target) -> PyResult<()> {
        match self.target.replace(target) {
            None => Ok(()),
            Some(_) => Err(PyValueError::new_err(
                "fpr, bits_per_key, total_bytes and columns exclude each other: give one of them",
            )),
        }
    }

    pub fn filter_builder(&self) -> FilterBuilder<'static> {
        let builder = Filter::builder().threads(self.threads).key_seed(self.key_seed);
        let builder = match self.target {
            None => builder,
            Some(Target::Rate(rate)) => builder.false_positive_rate(rate),
            Some(Target::BitsPerKey(bits)) => builder.bits_per_key(bits),
            Some(Target::TotalBytes(bytes)) => builder.total_bytes(bytes),
            Some(Target::Columns(columns)) => builder.columns(columns),
        };
        let builder = self.variant.into_iter().fold(builder, FilterBuilder::variant);
        let builder = self.width.into_iter().fold(builder, FilterBuilder::width);
        let builder = builder.effort(self.effort);
        self.max_memory.into_iter().fold(builder, FilterBuilder::max_memory)
    }

    /// The builder of a container of so many shards, if its settings are right.
    pub fn shards_builder(&self, shards: u64) -> PyResult<ShardsBuilder<'static>> {
        let builder = Shards::builder(Split::ByHash { bits: bits_of(shards)? });
        let builder = builder.threads(self.threads).key_seed(self.key_seed);
        let builder = match self.target {
            Some(Target::Rate(rate)) => builder.false_positive_rate(rate),
            Some(Target::Columns(columns)) => builder.columns(columns),
            // The other targets are of filters alone.
            _ => builder,
        };
        let builder = self.variant.into_iter().fold(builder, ShardsBuilder::variant);
        let builder = self.width.into_iter().fold(builder, ShardsBuilder::width);
        let builder = builder.effort(self.effort);
        builder.check().map_err(errors::build)?;
        Ok(builder)
    }

    pub fn function_builder(&self) -> FunctionBuilder<'static> {
        let builder = Function::builder().threads(self.threads).key_seed(self.key_seed);
        let builder = self.variant.into_iter().fold(builder, FunctionBuilder::variant);
        let builder = self.width.into_iter().fold(builder, FunctionBuilder::width);
        let builder = builder.effort(self.effort);
        self.max_memory.into_iter().fold(builder, FunctionBuilder::max_memory)
    }

    /// Refuses now what would be refused when all keys have come.
    pub fn checked(self) -> PyResult<Self> {
        self.filter_builder().plan_for(0).map_err(errors::build)?;
        Ok(self)
    }
}

/// The bits of a hash that tell one of so many shards.
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

/// A number that is whole and not negative.
pub fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|error: PyErr| {
        let text = format!("{name} must be a whole number from 0 to 2^64 - 1, but is {value}");
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
    let bits = whole("width", value)?;
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

/// The name of a variant as Python and the command have it.
pub fn variant_name(variant: Variant) -> String {
    variant.to_string().to_lowercase()
}
