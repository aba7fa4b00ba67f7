//! The row groups of Parquet files.

use super::files::{Batches, check_compression, column_index, corrupt, first_bytes};
use super::guard::guarded;
use crate::error::{Error, Result};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Number of rows that are decoded together.
const ROWS: usize = 1 << 14;
/// The first and last bytes of a file.
const MAGIC: &[u8] = b"PAR1";
/// The size of the footer's length and the magic number at the end of a file.
const FILE_END: usize = 8;

/// Reads the metadata of a Parquet file. The Arrow schema in it may say that columns are dictionaries.
/// They are read as their values: a row group may have more values than fit into the index type.
pub fn metadata(path: &Path, column: Option<&str>) -> Result<ArrowReaderMetadata> {
    let failed = |error: io::Error| Error::io(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    check_compression(path, &first_bytes(&mut file).map_err(failed)?)?;
    guarded(path, || {
        let options = ArrowReaderOptions::new();
        let metadata = ArrowReaderMetadata::load(&file, options.clone());
        let metadata = metadata.map_err(|error| corrupt(path, "Parquet", error))?;
        let schema = metadata.schema();
        check_offsets(path, &file, metadata.metadata())?;
        check_writer(path, &metadata, schema.field(column_index(path, schema, column)?))?;
        let fields: Vec<FieldRef> = schema.fields().iter().map(without_dictionary).collect();
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        let options = options.with_schema(Arc::new(schema));
        ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
            .map_err(|error| corrupt(path, "Parquet", error))
    })
}

/// Refuses a column that cannot be read as its values: for dictionaries of fixed-size binary, the Rust
/// writer (59.3 at least) precedes each value by its length, which the format does not allow.
fn check_writer(path: &Path, metadata: &ArrowReaderMetadata, field: &Field) -> Result<()> {
    let DataType::Dictionary(_, values) = field.data_type() else { return Ok(()) };
    let writer = metadata.metadata().file_metadata().created_by().unwrap_or_default();
    if matches!(**values, DataType::FixedSizeBinary(_)) && writer.starts_with("parquet-rs") {
        let what = format!(
            "{writer} writes dictionaries of {values} that cannot be read: write it again without \
             the dictionary"
        );
        return Err(Error::at(path, what));
    }
    Ok(())
}

fn without_dictionary(field: &FieldRef) -> FieldRef {
    match field.data_type() {
        DataType::Dictionary(_, values) => {
            Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone()))
        }
        _ => Arc::clone(field),
    }
}

/// Refuses concatenated files: the footer is that of the last, but its offsets locate data of the
/// first. The data of the last then ends before its footer by the size of those that precede it, so
/// two magic numbers meet at that offset.
fn check_offsets(path: &Path, file: &File, metadata: &ParquetMetaData) -> Result<()> {
    let columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let data_end = columns.map(data_end).max().unwrap_or(MAGIC.len() as u64);
    match files_meet(file, data_end).map_err(|error| Error::io(path, &error))? {
        true => Err(Error::at(path, "is several Parquet files in sequence: name each of them")),
        false => Ok(()),
    }
}

/// The end of a column chunk and of its indices and Bloom filter.
fn data_end(column: &ColumnChunkMetaData) -> u64 {
    let (start, len) = column.byte_range();
    let others = [
        (column.column_index_offset(), column.column_index_length()),
        (column.offset_index_offset(), column.offset_index_length()),
        (column.bloom_filter_offset(), column.bloom_filter_length()),
    ];
    let end = |(start, len): (Option<i64>, Option<i32>)| {
        u64::try_from(start?.checked_add(len?.into())?).ok()
    };
    others.into_iter().filter_map(end).fold(start.saturating_add(len), u64::max)
}

/// Whether a file ends and another begins at the distance of the footer from the end of the data.
fn files_meet(mut file: &File, data_end: u64) -> io::Result<bool> {
    let end = file.seek(SeekFrom::End(-(FILE_END as i64)))?;
    let mut len = [0; 4];
    file.read_exact(&mut len)?;
    let footer = end.saturating_sub(u32::from_le_bytes(len).into());
    let border = footer.saturating_sub(data_end);
    let Some(start) = border.checked_sub(MAGIC.len() as u64) else { return Ok(false) };
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = [0; 2 * MAGIC.len()];
    file.read_exact(&mut bytes)?;
    Ok(bytes[..] == [MAGIC, MAGIC].concat())
}

/// The batches of one row group, with the wanted column only.
pub fn read(
    path: &Path,
    group: usize,
    metadata: &ArrowReaderMetadata,
    column: Option<&str>,
) -> Result<Batches> {
    let index = column_index(path, metadata.schema(), column)?;
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), [index]);
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
    let reader = builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(ROWS);
    Ok(Box::new(reader.build().map_err(|error| corrupt(path, "Parquet", error))?))
}
